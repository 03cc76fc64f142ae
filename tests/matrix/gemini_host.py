"""Gemini's generateContent and streamGenerateContent."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.matrix.reply import Reply, encoded, failed, held_place, whole, with_arguments
from tests.matrix.scenarios import Call, Reasoning, Scenario, Text

_REASONS = {"stop": "STOP", "tool_calls": "STOP", "length": "MAX_TOKENS", "content_filter": "SAFETY"}
_SIGNATURE = "CiQBcsjafBsignature+of/a/thought=="


def gemini(scenario: Scenario, stream: bool) -> Reply:
    if scenario.failure == "refused":
        return failed(429, _error(429, "RESOURCE_EXHAUSTED", "Slow down."))
    if not stream:
        if scenario.failure == "error":
            return failed(503, _error(503, "UNAVAILABLE", "The model is overloaded."))
        parts = [part for parts in _pieces(scenario) for part in parts]
        answer = _answer(scenario, parts, _REASONS.get(scenario.finish))
        # Google writes it for people to read.
        return whole(scenario, with_arguments(json.dumps(answer, ensure_ascii=False, indent=2).encode(), scenario))
    answers = [_answer(scenario, parts) for parts in _pieces(scenario)]
    if scenario.failure == "error":
        answers.append(_error(503, "UNAVAILABLE", "The model is overloaded."))
    elif scenario.failure is None:
        # The reason comes late, beside an empty text.
        answers.append(_answer(scenario, [{"text": ""}], _REASONS[scenario.finish]))
    frames = (b"data: %b\r\n\r\n" % encoded(answer) for answer in answers)
    return Reply(200, "text/event-stream", with_arguments(b"".join(frames), scenario))


def _pieces(scenario: Scenario) -> Iterator[list[dict[str, Any]]]:
    """The parts of each chunk: texts piece by piece, then all the calls together."""
    for part in scenario.parts:
        if isinstance(part, Text | Reasoning):
            mark = {"thought": True} if isinstance(part, Reasoning) else {}
            yield from ([{"text": piece, **mark}] for piece in part.pieces)
    if scenario.calls:
        yield [_call(number, call) for number, call in enumerate(scenario.calls)]


def _call(number: int, call: Call) -> dict[str, Any]:
    function = {"name": call.name, "args": held_place(number)}
    return {"functionCall": function, **({"thoughtSignature": _SIGNATURE} if number == 0 else {})}


def _answer(scenario: Scenario, parts: list[dict[str, Any]], finish: str | None = None) -> dict[str, Any]:
    """A whole answer, or a chunk of a stream."""
    candidate: dict[str, Any] = {"content": {"parts": parts, "role": "model"}}
    candidate |= {"finishReason": finish} if finish else {}
    usage = scenario.usage
    counts = {
        "promptTokenCount": usage.input,
        "candidatesTokenCount": usage.output - usage.reasoning,
        "totalTokenCount": usage.input + usage.output,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": usage.input}],
    }
    counts |= {"cachedContentTokenCount": usage.cached} if usage.cached else {}
    counts |= {"thoughtsTokenCount": usage.reasoning} if usage.reasoning else {}
    return {
        "candidates": [{**candidate, "index": 0}],
        "usageMetadata": counts,
        "modelVersion": "gemini-3-flash",
        "responseId": "mGgOaZ7rM4mZkdUPo_3x0Ag",
    }


def _error(code: int, status: str, message: str) -> dict[str, Any]:
    return {"error": {"code": code, "message": message, "status": status}}
