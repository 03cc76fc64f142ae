"""Chat Completions as OpenAI and as lesser hosts write it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

from tests.matrix.reply import Reply, encoded, failed, whole
from tests.matrix.scenarios import Call, Reasoning, Scenario, Text

# ---------------------------------------------------------------- Chat Completions as OpenAI writes it


def openai(scenario: Scenario, stream: bool) -> Reply:
    if scenario.failure == "refused":
        error = {"message": "Slow down.", "type": "tokens", "param": None, "code": "rate_limit_exceeded"}
        return failed(429, {"error": error})
    head = {"id": "chatcmpl-9", "object": "chat.completion", "created": 1_700_000_000, "model": "gpt-5.1"}
    head |= {"service_tier": "default"}
    if not stream:
        message: dict[str, Any] = {"role": "assistant", "content": scenario.text or None}
        message |= {"refusal": scenario.refusal or None, "annotations": []}
        if scenario.calls:
            message["tool_calls"] = [
                _openai_call(n, call, call.arguments or "{}") for n, call in enumerate(scenario.calls)
            ]
        return _whole(scenario, head, message, scenario.finish, _usage(scenario, details=True))

    head["object"] = "chat.completion.chunk"

    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return {**head, "choices": [choice], "usage": None}

    chunks = [chunk({"role": "assistant", "content": "" if scenario.text else None, "refusal": None})]
    chunks += [chunk(delta) for delta in _openai_deltas(scenario)]
    if scenario.failure is None:
        chunks += [chunk({}, scenario.finish), {**head, "choices": [], "usage": _usage(scenario, details=True)}]
    return _stream(scenario, chunks, {"message": "The server had an error.", "type": "server_error"})


def _openai_deltas(scenario: Scenario) -> Iterator[dict[str, Any]]:
    """Texts in order; then the calls, whose deltas take turns."""
    for part in scenario.parts:
        if isinstance(part, Text):
            yield from ({"refusal" if part.refusal else "content": piece} for piece in part.pieces)
    for number, call in enumerate(scenario.calls):
        yield {"tool_calls": [{"index": number, **_openai_call(number, call, "")}]}
    for pieces in zip_longest(*(call.pieces or ("{}",) for call in scenario.calls)):
        for number, piece in enumerate(pieces):
            if piece is not None:
                yield {"tool_calls": [{"index": number, "function": {"arguments": piece}}]}


def _openai_call(number: int, call: Call, arguments: str) -> dict[str, Any]:
    function = {"name": call.name, "arguments": arguments}
    return {"id": f"call_kAb{number}dEfGhIjKlMnOpQrStUv", "type": "function", "function": function}


# ---------------------------------------------------------------- Chat Completions as lesser hosts write it


def compatible(scenario: Scenario, stream: bool) -> Reply:
    """Deviations that are each common: see HOSTS."""
    if scenario.failure == "refused":
        return failed(429, {"error": {"code": 429, "message": "Slow down."}})
    head = {"id": "cmpl-1", "object": "chat.completion", "created": 1_700_000_000, "model": "local/model"}
    finish = "stop" if scenario.finish == "tool_calls" else scenario.finish
    usage = _usage(scenario, details=scenario.usage.cached > 0)
    if not stream:
        message: dict[str, Any] = {
            "role": "assistant",
            "content": scenario.text,
            "reasoning_content": scenario.reasoning,
        }
        message["tool_calls"] = [_compatible_call(n, call) for n, call in enumerate(scenario.calls)]
        return _whole(scenario, head, message, finish, usage)

    head["object"] = "chat.completion.chunk"
    deltas: list[dict[str, Any]] = []
    for part in scenario.parts:
        if isinstance(part, Text | Reasoning):
            field = "content" if isinstance(part, Text) else "reasoning_content"
            deltas += [{"role": "assistant", field: piece} for piece in part.pieces]
    for number, call in enumerate(scenario.calls):
        deltas.append({"role": "assistant", "content": "", "tool_calls": [_compatible_call(number, call)]})
    nothing = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
    chunks = [
        {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}], "usage": nothing} for delta in deltas
    ]
    if scenario.failure is None:
        last = {"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": finish}
        chunks.append({**head, "choices": [last], "usage": usage})
    return _stream(scenario, chunks, {"code": 500, "message": "CUDA out of memory."}, done=False)


def _compatible_call(number: int, call: Call) -> dict[str, Any]:
    id = f"functions.{call.name}:{number}/{'0123456789' * 3}"
    return {"id": id, "function": {"name": call.name, "arguments": call.arguments}}


# ---------------------------------------------------------------- what both write


def _usage(scenario: Scenario, *, details: bool) -> dict[str, Any]:
    usage = scenario.usage
    total = usage.input + usage.output
    counts: dict[str, Any] = {"prompt_tokens": usage.input, "completion_tokens": usage.output, "total_tokens": total}
    if details:
        counts["prompt_tokens_details"] = {"cached_tokens": usage.cached}
        counts["completion_tokens_details"] = {"reasoning_tokens": usage.reasoning}
    return counts


def _whole(
    scenario: Scenario, head: dict[str, Any], message: dict[str, Any], finish: str, usage: dict[str, Any]
) -> Reply:
    if scenario.failure == "error":
        return failed(500, {"error": {"message": "The server had an error.", "type": "x"}})
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return whole(scenario, encoded({**head, "choices": [choice], "usage": usage}))


def _stream(scenario: Scenario, chunks: list[dict[str, Any]], error: dict[str, Any], *, done: bool = True) -> Reply:
    frames = [encoded(chunk) for chunk in chunks]
    if scenario.failure == "error":
        frames.append(encoded({"error": error}))
    elif scenario.failure is None and done:
        frames.append(b"[DONE]")
    return Reply(200, "text/event-stream", b"".join(b"data: %b\n\n" % frame for frame in frames))
