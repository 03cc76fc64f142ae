"""Arguments of earlier calls that are no JSON object: cut by an output limit, misspelt by a model, empty.

OpenAI takes any text. vLLM, SGLang, llama.cpp, MiniMax, DashScope and others parse it, and refuse every further turn of
the conversation.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.corpus.driver import open_exchange

#: A call's arguments -> what an object is sent in their place, and whether that needs a warning.
TEXTS: dict[str, tuple[str, str, bool]] = {
    "an object": ('{"b":1.10, "a":12345678901234567890}', '{"b":1.10, "a":12345678901234567890}', False),
    "empty": ("", "{}", False),
    "white": (" \n", "{}", False),
    "null": ("null", "{}", False),
    "cut": ('{"a":', '{"_raw_arguments":"{\\"a\\":"}', True),
    "an array": ("[1]", '{"_raw_arguments":"[1]"}', True),
    "a text": ('"Rome"', '{"_raw_arguments":"\\"Rome\\""}', True),
    "two objects": ('{"a":1}{"b":2}', '{"_raw_arguments":"{\\"a\\":1}{\\"b\\":2}"}', True),
    "Python": ("{'a': 1}", '{"_raw_arguments":"{\'a\': 1}"}', True),
}

#: Wire and profile -> where the upstream's body has a call's arguments, and whether they may be any text.
HOSTS: dict[str, tuple[str, str, bool]] = {
    "a compatible host": ("openai_chat", "compatible", False),
    "Mistral": ("openai_chat", "mistral", False),
    "Groq": ("openai_chat", "groq", False),
    "Google's endpoint for OpenAI's clients": ("openai_chat", "gemini-compat", False),
    "a compatible host's Responses": ("openai_responses", "compatible", False),
    "OpenAI": ("openai_chat", "openai", True),
    "OpenAI's Responses": ("openai_responses", "openai", True),
}


def request(door: str, arguments: str) -> bytes:
    call = {"name": "f", "arguments": arguments}
    history: dict[str, Any] = {
        "messages": [
            {"role": "user", "content": "hi"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "call_a", "type": "function", "function": call}],
            },
            {"role": "tool", "tool_call_id": "call_a", "content": "ok"},
        ]
    }
    if door == "responses":
        history = {
            "input": [
                {"role": "user", "content": "hi"},
                {"type": "function_call", "call_id": "call_a"} | call,
                {"type": "function_call_output", "call_id": "call_a", "output": "ok"},
            ]
        }
    return json.dumps({"model": "m", **history}).encode()


def sent_arguments(wire: str, body: bytes) -> str:
    document: Any = json.loads(body)
    if wire == "openai_responses":
        return str(next(item for item in document["input"] if item.get("type") == "function_call")["arguments"])
    return str(document["messages"][1]["tool_calls"][0]["function"]["arguments"])


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("door", ["chat", "responses"])
def test_a_host_that_parses_arguments_is_sent_an_object(door: str, host: str, text: str) -> None:
    (wire, profile, any_text), (given, written, warned) = HOSTS[host], TEXTS[text]
    exchange = open_exchange(request(door, given), door=door, wire=wire, profile=profile)
    sent = sent_arguments(wire, exchange.upstream_request.body)
    if any_text:
        assert sent in (given, written)
    else:
        assert sent == written
        assert ("history_arguments_wrapped" in exchange.attempt.warnings) == warned
