"""The order of the rewrites of a request that CONTRIBUTING.md shows, held to the order in which they do run."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import toolwire
from tests.corpus.driver import open_exchange
from toolwire.providers import WIRES

REWRITE = re.compile(r"(with|without|check)_|bridged$|restored$")
ROOT = Path(__file__).parents[1]
PACKAGE = Path(toolwire.__file__).parent

#: Whose rewrites -> their names, in the order in which they are told.
TOLD = {
    whose: re.findall(r"`(\w+)`", order)
    for whose, order in re.findall(
        r"^\| (every provider's|the wire's) \| (.*) \|$", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.MULTILINE
    )
}

#: For hosts that are known to need it by a refusal only.
LEARNED = {
    "with_alternating_turns",
    "with_instructions_of_the_user",
    "with_single_calls",
    "without_blank_texts",
    "without_earlier_images",
}

#: Wire -> hosts and models that differ in what they take: profile, model.
HOSTS: dict[str, list[tuple[str | None, str]]] = {
    "openai_chat": [("openai", "gpt-4o"), ("compatible", "m"), ("deepseek", "deepseek-chat"), ("mistral", "m"),
                    ("groq", "openai/gpt-oss-120b"), ("moonshot", "m"), ("cerebras", "m")],
    "openai_responses": [("openai", "gpt-5.6"), ("compatible", "m")],
    "anthropic_messages": [(None, "claude-sonnet-4-5"), (None, "claude-sonnet-5"), (None, "claude-3-5-haiku-latest")],
    "gemini": [(None, "gemini-2.5-pro"), (None, "gemini-3-pro"), (None, "gemini-2.0-flash")],
    "bedrock_converse": [(None, "anthropic.claude-sonnet-4-5-v1:0"), (None, "amazon.nova-pro-v1:0"),
                         (None, "anthropic.claude-3-haiku-v1:0"), (None, "meta.llama3-3-70b-instruct-v1:0")],
    "bedrock_messages": [(None, "anthropic.claude-sonnet-4-5-v1:0"), (None, "anthropic.claude-3-haiku-v1:0")],
}  # fmt: skip

_CALL = {"id": "a", "type": "function", "function": {"name": "weather", "arguments": {"city": "Rome"}}}
_TOOL = {"name": "weather", "description": "d", "parameters": {"type": "object", "properties": {"city": {}}}}
_SHAPE = {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object"}}}
_TURN = [{"role": "user", "content": "hi"}, {"role": "assistant", "tool_calls": [_CALL]}]
_RESULT = {"role": "tool", "tool_call_id": "a", "content": "dry"}
REQUESTS: list[dict[str, Any]] = [
    {
        "messages": [*_TURN, _RESULT],
        "tools": [{"type": "function", "function": _TOOL}],
        "reasoning_effort": "high",
        "response_format": _SHAPE,
    },
    {"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "so "}]},
]


def ran(wire: str, profile: str | None, model: str, request: dict[str, Any]) -> tuple[list[str], list[str]]:
    """The rewrites of a request of another API's client, each where it first runs: every provider's, and the wire's."""
    seen: dict[str, list[str]] = {"exchange/attempt.py": [], "providers": []}

    def note(frame: FrameType, event: str, _: object) -> None:
        if event != "call" or frame.f_back is None or not REWRITE.match(frame.f_code.co_name):
            return
        called, caller = _room(frame), _room(frame.f_back)
        if called in ("rewrite", "conversation/restore.py") and caller in seen:
            seen[caller].append(frame.f_code.co_name)

    body = json.dumps({"model": "m", **request}).encode()
    open_exchange(body, door="native", wire=wire, profile=profile, model=model)  # imports what it needs
    sys.setprofile(note)
    try:
        open_exchange(body, door="native", wire=wire, profile=profile, model=model)
    finally:
        sys.setprofile(None)
    return list(dict.fromkeys(seen["exchange/attempt.py"])), list(dict.fromkeys(seen["providers"]))


def _room(frame: FrameType) -> str:
    """The room that a function stands in; its module where the room does more than to write requests."""
    file = Path(frame.f_code.co_filename)
    if not file.is_relative_to(PACKAGE):
        return ""
    within = file.relative_to(PACKAGE)
    return within.parts[0] if within.parts[0] in ("rewrite", "providers") else str(within)


def test_every_wire_has_hosts() -> None:
    assert set(HOSTS) == set(WIRES)


@pytest.mark.parametrize("wire", WIRES)
def test_the_order_is_as_it_is_told(wire: str) -> None:
    for profile, model in HOSTS[wire]:
        for request in REQUESTS:
            of_all, of_wire = ran(wire, profile, model, request)
            assert of_all == [name for name in TOLD["every provider's"] if name not in LEARNED]
            assert of_wire == [name for name in TOLD["the wire's"] if name in of_wire], f"{profile}, {model}"


def test_no_rewrite_is_told_that_no_wire_has() -> None:
    rows = ((wire, *host, request) for wire, hosts in HOSTS.items() for host in hosts for request in REQUESTS)
    learned = LEARNED - set(TOLD["every provider's"])
    assert {name for row in rows for name in ran(*row)[1]} | learned == set(TOLD["the wire's"])
