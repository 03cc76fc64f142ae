"""Whether a client of the Responses door hears what a scenario says: openai-python reads the answer."""

from __future__ import annotations

import json
import re
from typing import Any

import openai
import pytest

from tests.corpus.driver import Answer
from tests.doors.responses.responses_reader import read, sdk_answer, sdk_events, sdk_stream
from tests.matrix.scenarios import Scenario, Usage
from tests.open_responses.judge import document_faults, error_faults, stream_faults

#: How a turn may end -> status and reason, as this API has them.
_ENDINGS = {
    "stop": ("completed", None),
    "tool_calls": ("completed", None),
    "length": ("incomplete", "max_output_tokens"),
    "content_filter": ("incomplete", "content_filter"),
}


def responses(scenario: Scenario, answer: Answer, stream: bool) -> None:
    """Fails unless openai-python hears the scenario, the answer is valid by the standard, and a strict reader finds no
    fault in a stream."""
    streams = stream and answer.status == 200
    find = stream_faults if streams else document_faults if answer.status == 200 else error_faults
    assert find(answer.body) == []
    if scenario.failure is not None:
        _failure(scenario, answer, streams)
        return
    heard = _heard(answer, stream)
    status, reason = _ENDINGS[scenario.finish]
    assert (heard["status"], (heard.get("incomplete_details") or {}).get("reason")) == (status, reason)
    assert heard["object"] == "response"
    assert heard["error"] is None
    items = heard["output"]
    contents = [part for item in items if item["type"] == "message" for part in item["content"]]
    assert "".join(part["text"] for part in contents if part["type"] == "output_text") == scenario.text
    assert "".join(part["refusal"] for part in contents if part["type"] == "refusal") == scenario.refusal
    assert _reasoning(items) == scenario.reasoning
    calls = [item for item in items if item["type"] == "function_call"]
    assert [(call["name"], call["arguments"]) for call in calls] == [
        (call.name, call.arguments or "{}") for call in scenario.calls
    ]
    _check_ids([call["call_id"] for call in calls], 64)
    _check_ids([item["id"] for item in items], 64)
    kinds = [item["type"] for item in items]
    assert kinds == sorted(kinds, key=["reasoning", "message", "function_call"].index), "as it was said"
    if status == "incomplete":
        assert items[-1]["status"] == "incomplete"
    assert _tokens(heard["usage"]) == scenario.usage


def _heard(answer: Answer, stream: bool) -> dict[str, Any]:
    if not stream:
        return sdk_answer(answer.status, answer.headers, answer.body)
    said = read(answer.body)
    assert said.final is not None
    if said.final["status"] == "completed":
        return sdk_stream(answer.body)
    (ending,) = (event["response"] for event in sdk_events(answer.body)[-1:])
    assert isinstance(ending, dict)
    return ending


def _reasoning(items: list[dict[str, Any]]) -> str:
    return "".join(part["text"] for item in items if item["type"] == "reasoning" for part in item["summary"])


def _check_ids(ids: list[str], most: int) -> None:
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(f"[A-Za-z0-9_-]{{1,{most}}}", id) for id in ids)


def _tokens(usage: dict[str, Any]) -> Usage:
    assert usage["total_tokens"] == usage["input_tokens"] + usage["output_tokens"]
    cached = usage["input_tokens_details"]["cached_tokens"]
    return Usage(
        usage["input_tokens"], usage["output_tokens"], cached, usage["output_tokens_details"]["reasoning_tokens"]
    )


def _failure(scenario: Scenario, answer: Answer, streams: bool) -> None:
    if streams:
        said = read(answer.body)
        assert said.final is not None
        assert said.final["status"] == "failed", "a failure never looks like a clean stop"
        texts = [event["delta"] for event in said.events if event["type"] == "response.output_text.delta"]
        assert "".join(texts) == scenario.text
        assert all(item["status"] != "completed" for item in said.items.values() if item["id"] not in _done(said.done))
        with pytest.raises(RuntimeError, match="completed"):
            sdk_stream(answer.body)
        assert sdk_events(answer.body)[-1]["response"]["error"]["message"] == said.final["error"]["message"]
        return
    error = json.loads(answer.body)["error"]
    kind = openai.RateLimitError if scenario.failure == "refused" else openai.InternalServerError
    with pytest.raises(kind, match=re.escape(error["message"])):
        sdk_answer(answer.status, answer.headers, answer.body)


def _done(items: dict[int, dict[str, Any]]) -> set[str]:
    return {item["id"] for item in items.values()}
