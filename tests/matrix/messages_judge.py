"""Whether a client of the messages door hears what a scenario says: anthropic-python reads the answer."""

from __future__ import annotations

import json
import re
from typing import Any

import anthropic
import pytest

from tests.corpus.driver import Answer
from tests.doors.messages.messages_reader import read, sdk_answer, sdk_stream
from tests.matrix.scenarios import Scenario, Usage

_PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}}
#: How a turn may end, in this API's words.
_ENDINGS = {"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens", "content_filter": "refusal"}


def ask_messages(stream: bool) -> bytes:
    """The door's request for any scenario."""
    call = {"type": "tool_use", "id": "toolu_9", "name": "get_time", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "toolu_9", "content": "noon"}
    request = {
        "model": "m",
        "max_tokens": 1000,
        "system": "Be brief.",
        "messages": [
            {"role": "user", "content": "What time is it?"},
            {"role": "assistant", "content": [call]},
            {"role": "user", "content": [result, {"type": "text", "text": "Well?"}]},
        ],
        "tools": [{"name": name, "input_schema": _PARAMETERS} for name in ("get_weather", "get_time")],
    }
    return json.dumps(request | ({"stream": True} if stream else {})).encode()


def messages(scenario: Scenario, answer: Answer, stream: bool) -> None:
    """Fails unless anthropic-python hears the scenario, and a strict reader finds no fault in a stream."""
    streams = stream and answer.status == 200
    if scenario.failure is not None:
        _failure(scenario, answer, streams)
        return
    refused = bool(scenario.refusal)
    stop = "refusal" if refused else _ENDINGS[scenario.finish]
    if scenario.name == "length_in_call":
        _cut_call(scenario, answer, stream)
        return
    heard = sdk_stream(answer.body) if stream else sdk_answer(answer.status, answer.headers, answer.body)
    assert (heard["type"], heard["role"], heard["stop_reason"]) == ("message", "assistant", stop)
    blocks = heard["content"]
    assert _joined(blocks, "text") == scenario.text + scenario.refusal
    assert _joined(blocks, "thinking") == scenario.reasoning
    calls = [block for block in blocks if block["type"] == "tool_use"]
    assert [(call["name"], call["input"]) for call in calls] == [
        (call.name, json.loads(call.arguments or "{}")) for call in scenario.calls
    ]
    if stream:
        said = read(answer.body)
        assert [text for _, _, text in said.calls] == [
            call.arguments or text for call, (_, _, text) in _paired(scenario, said.calls)
        ]
    else:
        for call in scenario.calls:
            assert (call.arguments or "{}").encode() in answer.body
    ids = [call["id"] for call in calls]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch("[A-Za-z0-9_-]{1,64}", id) for id in ids)
    assert _tokens(heard["usage"]) == scenario.usage


def _paired(scenario: Scenario, calls: list[tuple[str, str, str]]) -> list[tuple[Any, tuple[str, str, str]]]:
    """Each call said with the one heard. Of no arguments either "" or "{}" may be heard."""
    pairs = list(zip(scenario.calls, calls, strict=True))
    assert all(text in ("", "{}") for call, (_, _, text) in pairs if not call.arguments)
    return pairs


def _cut_call(scenario: Scenario, answer: Answer, stream: bool) -> None:
    """The stop reason says so, and what there is of the arguments is completed to nothing."""
    (call,) = scenario.calls
    if stream:
        said = read(answer.body)
        assert said.stop_reason == "max_tokens"
        assert [(name, text) for _, name, text in said.calls] == [(call.name, call.arguments)]
        return
    heard = sdk_answer(answer.status, answer.headers, answer.body)
    assert heard["stop_reason"] == "max_tokens"
    (block,) = heard["content"]
    assert (block["name"], block["input"]) == (call.name, {"_raw_arguments": call.arguments})
    assert answer.headers["x-toolwire-warnings"] == f"tool_call_cut:{call.name}"


def _joined(blocks: list[dict[str, Any]], kind: str) -> str:
    return "".join(block[kind] for block in blocks if block["type"] == kind)


def _tokens(usage: dict[str, Any]) -> Usage:
    cached = usage["cache_read_input_tokens"]
    reasoning = (usage.get("output_tokens_details") or {}).get("thinking_tokens", 0)
    return Usage(
        usage["input_tokens"] + cached + usage["cache_creation_input_tokens"], usage["output_tokens"], cached, reasoning
    )


def _failure(scenario: Scenario, answer: Answer, streams: bool) -> None:
    if streams:
        said = read(answer.body)
        assert said.error is not None
        assert said.stop_reason is None, "a failure never looks like a clean stop"
        assert said.of("text") == scenario.text
        with pytest.raises(anthropic.APIStatusError, match=re.escape(said.error["error"]["message"])):
            sdk_stream(answer.body)
        return
    error = json.loads(answer.body)
    assert (error["type"], bool(error["request_id"])) == ("error", True)
    kind = anthropic.RateLimitError if scenario.failure == "refused" else anthropic.InternalServerError
    with pytest.raises(kind, match=re.escape(error["error"]["message"])):
        sdk_answer(answer.status, answer.headers, answer.body)
