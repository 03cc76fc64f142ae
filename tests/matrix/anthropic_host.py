"""Anthropic Messages as Claude writes it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.matrix.reply import Reply, encoded, failed, held_place, whole, with_arguments
from tests.matrix.scenarios import Call, Reasoning, Scenario, Text

_REASONS = {"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens", "content_filter": "refusal"}
_SIGNATURE = "EqQBCgIYAhIkc2lnbmF0dXJlLW9mLXRoaW5raW5n"


def anthropic(scenario: Scenario, stream: bool) -> Reply:
    if scenario.failure == "refused":
        return failed(429, _error("rate_limit_error", "Slow down."))
    if not stream:
        return _json_answer(scenario)
    head = _message(scenario) | {"content": [], "stop_reason": None, "stop_details": None}
    head["usage"] = _usage(scenario) | {"output_tokens": 1, "output_tokens_details": None}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": head}]
    events += _blocks(scenario)
    if scenario.failure == "error":
        events.append(_error("overloaded_error", "Overloaded"))
    elif scenario.failure is None:
        last = {"stop_reason": _REASONS[scenario.finish], "stop_sequence": None, "stop_details": _details(scenario)}
        events += [{"type": "message_delta", "delta": last, "usage": _usage(scenario)}, {"type": "message_stop"}]
    frames = (b"event: %b\ndata: %b\n\n" % (event["type"].encode(), encoded(event)) for event in events)
    return Reply(200, "text/event-stream; charset=utf-8", b"".join(frames))


def _blocks(scenario: Scenario) -> Iterator[dict[str, Any]]:
    """The content blocks, one after the other, with a ping where the real host sends its first."""
    calls = 0
    for index, part in enumerate(scenario.parts):
        match part:
            case Text(pieces):
                block: dict[str, Any] = {"type": "text", "text": ""}
                deltas = [{"type": "text_delta", "text": piece} for piece in pieces]
            case Reasoning(pieces):
                block = {"type": "thinking", "thinking": "", "signature": ""}
                deltas = [{"type": "thinking_delta", "thinking": piece} for piece in pieces]
                deltas.append({"type": "signature_delta", "signature": _SIGNATURE})
            case Call(_, pieces):
                block = _call(calls, part) | {"input": {}}
                deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in ("", *pieces)]
                calls += 1
        yield {"type": "content_block_start", "index": index, "content_block": block}
        if index == 0:
            yield {"type": "ping"}
        yield from ({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas)
        yield {"type": "content_block_stop", "index": index}


def _json_answer(scenario: Scenario) -> Reply:
    if scenario.failure == "error":
        return failed(529, _error("overloaded_error", "Overloaded"))
    content: list[dict[str, Any]] = []
    calls = 0
    for part in scenario.parts:
        match part:
            case Text(pieces):
                content.append({"type": "text", "text": "".join(pieces)})
            case Reasoning(pieces):
                content.append({"type": "thinking", "thinking": "".join(pieces), "signature": _SIGNATURE})
            case Call():
                content.append(_call(calls, part) | {"input": held_place(calls)})
                calls += 1
    finish = {"stop_reason": _REASONS.get(scenario.finish), "stop_details": _details(scenario)}
    answer = _message(scenario) | {"content": content} | finish
    return whole(scenario, with_arguments(encoded(answer), scenario))


def _message(scenario: Scenario) -> dict[str, Any]:
    names = {"id": "msg_01XFDUDYJgAACzvnptvVoYEL", "type": "message", "role": "assistant", "model": "claude-sonnet-5"}
    return names | {"content": [], "stop_reason": None, "stop_sequence": None, "usage": _usage(scenario)}


def _call(number: int, call: Call) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"toolu_01T1x1fJ34qAmk2tNTrN{number}pUp", "name": call.name}


def _usage(scenario: Scenario) -> dict[str, Any]:
    usage = scenario.usage
    return {
        "input_tokens": usage.input - usage.cached,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": usage.cached,
        "output_tokens": usage.output,
        "output_tokens_details": {"thinking_tokens": usage.reasoning},
    }


def _details(scenario: Scenario) -> dict[str, Any] | None:
    """Why a refusal was one."""
    if scenario.finish != "content_filter":
        return None
    return {"type": "refusal", "category": "cyber", "explanation": None}


def _error(kind: str, message: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_011CSHoEeqs5C35K2UUqR7Fy"}
