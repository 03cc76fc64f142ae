"""Arguments of earlier calls that are no JSON object: cut by an output limit, misspelt by a model, empty.

OpenAI takes any text. vLLM, SGLang, llama.cpp, MiniMax, DashScope and others parse it, and refuse every further turn of
the conversation. In the same API the host decides, and what it refuses is mended.
"""

from __future__ import annotations

import json
from typing import Any

from tests.corpus.driver import open_exchange
from tests.named_rows import each_row

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


#: What hosts say of such arguments.
REFUSALS = [
    "Expecting ',' delimiter: line 1 column 12 (char 11)",
    "Unterminated string starting at: line 1 column 12 (char 11)",
    "Expecting value: line 1 column 1 (char 0)",
    "Extra data: line 1 column 8 (char 7)",
    "'str object' has no attribute 'items'",
    "Failed to parse tool call arguments as JSON: [json.exception.parse_error.101] parse error at line 1",
    "invalid params, invalid function arguments json string, tool_call_id: call_a (2013)",
    'The "function.arguments" parameter of the code model must be in JSON format.',
    "Invalid request: messages.1.tool_calls.0.function.arguments: arguments must be a valid JSON object string",
    "unexpected end of JSON input",
    "invalid tool call arguments",
]

#: The door whose API a wire is.
OWN = {"openai_chat": "chat_completions", "openai_responses": "responses"}


@each_row("text", TEXTS)
@each_row("host", HOSTS)
@each_row("door", ["chat_completions", "responses"])
def test_a_host_that_parses_arguments_is_sent_an_object(door: str, host: str, text: str) -> None:
    (wire, profile, any_text), (given, written, warned) = HOSTS[host], TEXTS[text]
    exchange = open_exchange(request(door, given), door=door, wire=wire, profile=profile)
    own = OWN[wire] == door
    if own:
        assert sent_arguments(wire, exchange.upstream_request.body) == given
        refused = json.dumps({"error": {"message": REFUSALS[0], "type": "BadRequestError"}}).encode()
        actions = exchange.receive_head(400, {"content-type": "application/json"})
        actions += exchange.receive_data(refused) + exchange.receive_end()
        assert (not actions) == (given != written), "asked once more where that changes the request"
    sent = sent_arguments(wire, exchange.upstream_request.body)
    if any_text and not own:
        assert sent in (given, written)
    else:
        assert sent == written
        assert ("history_arguments_wrapped" in exchange.figures.warnings) == warned


@each_row("said", REFUSALS)
@each_row("status", [400, 422])
def test_the_words_of_hosts(status: int, said: str) -> None:
    exchange = open_exchange(request("chat_completions", "{"))
    refused = json.dumps({"object": "error", "message": said, "code": status}).encode()
    actions = exchange.receive_head(status, {"content-type": "application/json"})
    actions += exchange.receive_data(refused) + exchange.receive_end()
    assert not actions
    assert sent_arguments("openai_chat", exchange.upstream_request.body) == '{"_raw_arguments":"{"}'
