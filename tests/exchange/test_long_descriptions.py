"""A host that refuses a long description of a tool is sent its beginning; the rest goes on in the instructions."""

from __future__ import annotations

import json
from typing import Any

from tests.corpus.driver import open_exchange
from tests.exchange.test_odd_hosts import refused
from tests.named_rows import each_row

#: Refusals, as hosts word them: Azure by both APIs (OpenHands#4838, modelcontextprotocol/servers#799), hosts that check
#: by a schema.
REFUSALS = {
    "Azure": "Invalid 'tools[2].function.description': string too long. Expected a string with maximum length 1024, "
    "but got a string with length 4394 instead.",
    "Azure, Responses": "Invalid 'tools[0].description': string too long. Expected a string with maximum length 1024, "
    "but got a string with length 3542 instead.",
    "a schema": "tools.0.function.description: String should have at most 1024 characters",
}
LONG = " ".join(f"Rule {number} of the tool." for number in range(200))
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}
CHAT: list[dict[str, Any]] = [
    {"type": "function", "function": {"name": "short", "description": "Short.", "parameters": SCHEMA}},
    {"type": "function", "function": {"name": "long", "description": LONG, "parameters": SCHEMA}},
]
USER = {"role": "user", "content": "hi"}
RULES = {"role": "system", "content": "Rules."}
#: Door -> its request.
ASKED: dict[str, dict[str, Any]] = {
    "chat_completions": {"messages": [RULES, USER], "tools": CHAT},
    "responses": {
        "instructions": "Rules.", "input": [USER],
        "tools": [{"type": "function", **tool["function"], "strict": False} for tool in CHAT],
    },
    "messages": {
        "max_tokens": 99, "system": "Rules.", "messages": [USER],
        "tools": [
            {"name": name, "description": words, "input_schema": SCHEMA}
            for name, words in (("short", "Short."), ("long", LONG))
        ],
    },
}  # fmt: skip


def told(body: bytes) -> tuple[dict[str, str], str]:
    """Each tool's description, and all that is said before the user's turn."""
    sent = json.loads(body)
    tools = [tool.get("function", tool) for tool in sent["tools"]]
    history = sent.get("messages") or sent["input"]
    before = [sent.get("instructions") or "", *(json.dumps(turn) for turn in history[:-1])]
    assert history[-1]["role"] == "user"
    return {tool["name"]: tool["description"] for tool in tools}, "\n".join(before)


@each_row("wire", ["openai_chat", "openai_responses"])
@each_row("door", ASKED)
@each_row("refusal", REFUSALS)
def test_the_rest_of_a_long_description_is_in_the_instructions(refusal: str, door: str, wire: str) -> None:
    body = json.dumps({"model": "m", **ASKED[door]}).encode()
    profile = "azure" if wire == "openai_responses" else "compatible"
    exchange = open_exchange(body, door=door, wire=wire, profile=profile, model="gpt-5.6")
    assert told(exchange.upstream_request.body)[0] == {"short": "Short.", "long": LONG}
    assert not refused(exchange, 400, REFUSALS[refusal])
    descriptions, instructions = told(exchange.upstream_request.body)
    assert descriptions["short"] == "Short."
    begun = descriptions["long"].removesuffix(" (It goes on in the instructions.)")
    assert len(descriptions["long"]) <= 1024
    assert LONG.startswith(begun)
    assert "Rules." in instructions
    assert "The description of the tool `long` goes on:" in instructions
    assert LONG[len(begun) :].strip() in instructions
    assert "tool_description_split" in exchange.figures.warnings
    assert refused(exchange, 400, REFUSALS[refusal])


@each_row("message", [
    "Invalid 'tools[25].function.name': string too long. Expected a string with maximum length 64",
    "Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 217.",
    "Invalid 'messages[1].content': string too long. Expected a string with maximum length 1048576",
])  # fmt: skip
def test_what_is_too_long_elsewhere_says_nothing_of_descriptions(message: str) -> None:
    exchange = open_exchange(json.dumps({"model": "m", **ASKED["chat_completions"]}).encode(), profile="compatible")
    refused(exchange, 400, message)
    assert LONG in exchange.upstream_request.body.decode()
