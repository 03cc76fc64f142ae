"""Amazon Bedrock's Converse as Claude answers there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.framing.aws_frames import event, frame
from tests.matrix.reply import Reply, encoded, failed, held_place, whole, with_arguments
from tests.matrix.scenarios import Call, Reasoning, Scenario, Text

_REASONS = {"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens", "content_filter": "content_filtered"}
_SIGNATURE = "EqQBCgIYAhIkc2lnbmF0dXJlLW9mLXRoaW5raW5n"


def bedrock(scenario: Scenario, stream: bool) -> Reply:
    if scenario.failure == "refused":
        return failed(429, {"message": "Too many requests, please wait before trying again."})
    if not stream:
        return _json_answer(scenario)
    frames = [event("messageStart", b'{"p":"abcdefgh","role":"assistant"}')]
    frames += [event(kind, encoded(payload | {"p": "abcdefghijklmn"})) for kind, payload in _blocks(scenario)]
    if scenario.failure == "error":
        headers = {":exception-type": "serviceUnavailableException", ":message-type": "exception"}
        frames.append(frame(headers, b'{"message":"Overloaded"}'))
    elif scenario.failure is None:
        frames.append(event("messageStop", encoded({"stopReason": _REASONS[scenario.finish], "p": "a"})))
        frames.append(event("metadata", encoded({"usage": _usage(scenario), "metrics": {"latencyMs": 42}})))
    return Reply(200, "application/vnd.amazon.eventstream", b"".join(frames))


def _blocks(scenario: Scenario) -> Iterator[tuple[str, dict[str, Any]]]:
    """The content blocks, one after the other; only a call's beginning is told."""
    calls = 0
    for index, part in enumerate(scenario.parts):
        match part:
            case Text(pieces):
                deltas: list[dict[str, Any]] = [{"text": piece} for piece in pieces]
            case Reasoning(pieces):
                deltas = [{"reasoningContent": {"text": piece}} for piece in pieces]
                deltas.append({"reasoningContent": {"signature": _SIGNATURE}})
            case Call(_, pieces):
                yield "contentBlockStart", {"contentBlockIndex": index, "start": {"toolUse": _call(calls, part)}}
                deltas = [{"toolUse": {"input": piece}} for piece in pieces]
                calls += 1
        yield from (("contentBlockDelta", {"contentBlockIndex": index, "delta": delta}) for delta in deltas)
        yield "contentBlockStop", {"contentBlockIndex": index}


def _json_answer(scenario: Scenario) -> Reply:
    if scenario.failure == "error":
        return failed(503, {"message": "Overloaded"})
    content: list[dict[str, Any]] = []
    calls = 0
    for part in scenario.parts:
        match part:
            case Text(pieces):
                content.append({"text": "".join(pieces)})
            case Reasoning(pieces):
                told = {"text": "".join(pieces), "signature": _SIGNATURE}
                content.append({"reasoningContent": {"reasoningText": told}})
            case Call():
                content.append({"toolUse": _call(calls, part) | {"input": held_place(calls)}})
                calls += 1
    answer = {
        "metrics": {"latencyMs": 42},
        "output": {"message": {"content": content, "role": "assistant"}},
        "stopReason": _REASONS.get(scenario.finish),
        "usage": _usage(scenario),
    }
    return whole(scenario, with_arguments(encoded(answer), scenario))


def _call(number: int, call: Call) -> dict[str, Any]:
    return {"name": call.name, "toolUseId": f"tooluse_kZJMlvQmRJ6eAyJE5GIl7{number}"}


def _usage(scenario: Scenario) -> dict[str, Any]:
    usage = scenario.usage
    return {
        "inputTokens": usage.input - usage.cached,
        "outputTokens": usage.output,
        "totalTokens": usage.input + usage.output,
        "cacheReadInputTokens": usage.cached,
        "cacheWriteInputTokens": 0,
    }
