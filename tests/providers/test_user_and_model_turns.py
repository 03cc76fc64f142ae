"""What the wires whose turns alternate write alike: `providers/user_and_model_turns.py`."""

from __future__ import annotations

import json
from typing import Any

from tests.named_rows import each_row
from toolwire.model.request import ChatRequest, Message, TextPart, ToolCallPart, ToolResultPart
from toolwire.model.settings import ProviderConfig, Target
from toolwire.providers import load_provider, profile_of

#: Wire -> where its body has a call's arguments.
WIRES: dict[str, Any] = {
    "anthropic_messages": lambda body: body["messages"][1]["content"][0]["input"],
    "bedrock_converse": lambda body: body["messages"][1]["content"][0]["toolUse"]["input"],
    "gemini": lambda body: body["contents"][1]["parts"][0]["functionCall"]["args"],
}

#: A call's arguments, as they are written, and whether they had to be wrapped.
ARGUMENTS = {
    "none": ("", b"{}", False),
    "digits and order": ('{"b":1.10, "a":12345678901234567890}', b'{"b":1.10, "a":12345678901234567890}', False),
    "half a surrogate pair": ('{"a":"\ud83d"}', rb'{"a":"\ud83d"}', False),
    "cut": ('{"a":', rb'{"_raw_arguments":"{\"a\":"}', True),
    "an array": ("[1]", b'{"_raw_arguments":"[1]"}', True),
}


@each_row("name", ARGUMENTS)
@each_row("wire", WIRES)
def test_arguments_are_an_object_of_the_same_text(wire: str, name: str) -> None:
    given, written, is_wrapped = ARGUMENTS[name]
    call, result = ToolCallPart("c1", "f", given), ToolResultPart("c1", (TextPart("ok"),))
    history = (Message("user", (TextPart("?"),)), Message("assistant", (call,)), Message("tool", (result,)))
    target = Target(ProviderConfig("up", wire, "https://up.example"), "m")
    built, warnings = load_provider(wire).build_request(ChatRequest("m", history), target, profile_of(target), "key")

    assert written in built.body
    assert WIRES[wire](json.loads(built.body)) == json.loads(written)
    assert ("history_arguments_wrapped" in warnings) == is_wrapped
