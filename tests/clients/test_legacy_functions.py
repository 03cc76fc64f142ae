"""The deprecated `functions` of Chat Completions: as they are in the lane, as tools everywhere else, and back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.clients.sending import MODELS, send
from tests.corpus import driver
from toolwire.model.errors import RequestError
from toolwire.model.settings import Tenant

USER = {"role": "user", "content": "x"}
F = {"name": "weather", "description": "d", "parameters": {"type": "object", "properties": {"n": {"type": "number"}}}}
MADE = {"role": "assistant", "content": None, "function_call": {"name": "weather", "arguments": '{"n": 1.10}'}}
RESULT = {"role": "function", "name": "weather", "content": "sunny"}
HISTORY = [USER, MADE, RESULT, MADE, RESULT | {"content": "rain"}]
FOREIGN = sorted(set(MODELS) - {"openai_chat"})


def test_in_the_lane_they_are_the_clients_own() -> None:
    members: dict[str, Any] = {"messages": HISTORY, "functions": [F], "function_call": {"name": "weather"}}
    found = send("chat_completions", "openai_chat", **members)
    assert found.body == {"model": "m", **members}
    assert found.warnings == []


@pytest.mark.parametrize("wire", FOREIGN)
def test_elsewhere_they_are_tools_and_results_keep_their_calls(wire: str) -> None:
    found = send("chat_completions", wire, messages=HISTORY, functions=[F])
    told = json.dumps(found.turns)
    assert found.tools["weather"]["properties"] == {"n": {"type": "number"}}
    assert told.count("1.1") == 2
    assert told.index("sunny") < told.index("rain")
    assert [code for code in found.warnings if code not in ("reasoning_turned_off",)] in (
        [], ["not_supported:parallel_tool_calls"],
    )  # fmt: skip


CHOICES: dict[str, tuple[Any, Any]] = {
    "auto": ("auto", {"type": "auto", "disable_parallel_tool_use": True}),
    "none": ("none", {"type": "none"}),
    "named": ({"name": "weather"}, {"type": "tool", "name": "weather", "disable_parallel_tool_use": True}),
}


@pytest.mark.parametrize("name", CHOICES)
def test_function_call_is_a_choice(name: str) -> None:
    given, expected = CHOICES[name]
    found = send("chat_completions", "anthropic_messages", messages=[USER], functions=[F], function_call=given)
    assert found.body["tool_choice"] == expected


def test_a_result_without_its_call_is_refused_by_its_place() -> None:
    with pytest.raises(RequestError) as refused:
        send("chat_completions", "gemini", messages=[USER, RESULT], functions=[F])
    assert (refused.value.code, refused.value.param) == ("unsupported_content", "messages[1]")


@pytest.mark.parametrize("wire", sorted(MODELS))
def test_the_allowlist_holds_for_functions_too(wire: str) -> None:
    body = json.dumps({"model": "m", "messages": [USER], "functions": [F]}).encode()
    tenant = Tenant(allowlist=("other",))
    with pytest.raises(RequestError) as refused:
        driver.open_exchange(body, wire=wire, profile=None, model=MODELS[wire], tenant=tenant)
    assert refused.value.code == "tool_not_allowed"


EVENTS: list[tuple[str, dict[str, Any]]] = [
    ("message_start", {"message": {"id": "msg_1", "model": "m", "usage": {"input_tokens": 1, "output_tokens": 1}}}),
    ("content_block_start",
     {"index": 0, "content_block": {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {}}}),
    ("content_block_delta", {"index": 0, "delta": {"type": "input_json_delta", "partial_json": '{"n":'}}),
    ("content_block_delta", {"index": 0, "delta": {"type": "input_json_delta", "partial_json": " 1.10}"}}),
    ("content_block_stop", {"index": 0}),
    ("message_delta", {"delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 3}}),
    ("message_stop", {}),
]  # fmt: skip
WHOLE = {
    "type": "message", "id": "msg_1", "model": "m", "role": "assistant", "stop_reason": "tool_use",
    "content": [{"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {"n": 1}}],
    "usage": {"input_tokens": 1, "output_tokens": 1},
}  # fmt: skip


def answer(stream: bool) -> str:
    body = json.dumps({"model": "m", "stream": stream, "messages": [USER], "functions": [F]}).encode()
    exchange = driver.open_exchange(body, wire="anthropic_messages", profile=None, model="claude-opus-5")
    if not stream:
        said = driver.answer(exchange, [json.dumps(WHOLE).encode()], content_type="application/json")
        return said.body.decode()
    pieces = [f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n".encode() for kind, data in EVENTS]
    return driver.answer(exchange, pieces).body.decode()


def test_the_call_comes_back_as_function_call() -> None:
    (choice,) = json.loads(answer(stream=False))["choices"]
    assert choice["finish_reason"] == "function_call"
    assert choice["message"]["function_call"] == {"name": "weather", "arguments": '{"n": 1}'}
    assert "tool_calls" not in choice["message"]


def test_it_streams_as_function_call() -> None:
    chunks = [json.loads(line[6:]) for line in answer(stream=True).splitlines() if line.startswith("data: {")]
    deltas = [chunk["choices"][0] for chunk in chunks if chunk["choices"]]
    pieces = [choice["delta"]["function_call"] for choice in deltas if "function_call" in choice["delta"]]
    assert pieces[0]["name"] == "weather"
    assert "".join(piece["arguments"] for piece in pieces) == '{"n": 1.10}'
    assert deltas[-1]["finish_reason"] == "function_call"
    assert "tool_calls" not in answer(stream=True)
