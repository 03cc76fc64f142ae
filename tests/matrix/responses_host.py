"""OpenAI Responses as OpenAI writes it, the deltas of parallel calls interleaved."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, zip_longest
from typing import Any

from tests.matrix.reply import Reply, encoded, failed, whole
from tests.matrix.scenarios import Call, Reasoning, Scenario, Text

_REASONS = {"length": "max_output_tokens", "content_filter": "content_filter"}
_ID = "0f3b1c2d4e5f60718293a4b5c6d7e8f9"


def responses(scenario: Scenario, stream: bool) -> Reply:
    if scenario.failure == "refused":
        error = {"message": "Slow down.", "type": "tokens", "param": None, "code": "rate_limit_exceeded"}
        return failed(429, {"error": error})
    items = [_item(number, part, scenario) for number, part in enumerate(scenario.parts)]
    if not stream:
        if scenario.failure == "error":
            error = {"message": "The server had an error.", "type": "server_error", "param": None, "code": None}
            return failed(500, {"error": error})
        return whole(scenario, encoded(_response(scenario, items)))
    events: list[dict[str, Any]] = [
        {"type": f"response.{word}", "response": _begun()} for word in ("created", "in_progress")
    ]
    events += _events(scenario, items)
    if scenario.failure == "error":
        error = {"code": "server_error", "message": "The server had an error."}
        events.append({"type": "response.failed", "response": _begun() | {"status": "failed", "error": error}})
    elif scenario.failure is None:
        response = _response(scenario, items)
        events.append({"type": f"response.{response['status']}", "response": response})
    frames = (
        b"event: %b\ndata: %b\n\n" % (event["type"].encode(), encoded(event | {"sequence_number": number}))
        for number, event in enumerate(events)
    )
    return Reply(200, "text/event-stream; charset=utf-8", b"".join(frames))


def _events(scenario: Scenario, items: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Everything between the lifecycle events. Calls open together and stream in turn."""
    calls = [number for number, part in enumerate(scenario.parts) if isinstance(part, Call)]
    for number, part in enumerate(scenario.parts):
        if not isinstance(part, Call):
            yield _added(number, items[number])
            yield from _placed(number, items[number], _told(part))
            yield _done(number, items[number])
    yield from (_added(number, items[number]) for number in calls)
    told = [list(_placed(number, items[number], _told(scenario.parts[number]))) for number in calls]
    yield from (event for event in chain.from_iterable(zip_longest(*told)) if event is not None)
    yield from (_done(number, items[number]) for number in calls)


def _added(number: int, item: dict[str, Any]) -> dict[str, Any]:
    empty: dict[str, Any] = {name: item[name][:0] for name in ("content", "summary", "arguments") if name in item}
    begun = item | empty | ({"status": "in_progress"} if "status" in item else {})
    return {"type": "response.output_item.added", "output_index": number, "item": begun}


def _done(number: int, item: dict[str, Any]) -> dict[str, Any]:
    return {"type": "response.output_item.done", "output_index": number, "item": item}


def _placed(number: int, item: dict[str, Any], events: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    return (event | {"item_id": item["id"], "output_index": number} for event in events)


def _told(part: Text | Reasoning | Call) -> Iterator[dict[str, Any]]:
    text = "".join(part.pieces)
    match part:
        case Text(pieces, refusal):
            kind, name = ("response.refusal", "refusal") if refusal else ("response.output_text", "text")
            place = {"content_index": 0}
            yield {"type": "response.content_part.added", **place, "part": _part(part) | {name: ""}}
            yield from ({"type": f"{kind}.delta", **place, "delta": piece} for piece in pieces)
            yield {"type": f"{kind}.done", **place, name: text}
            yield {"type": "response.content_part.done", **place, "part": _part(part)}
        case Reasoning(pieces):
            kind, place = "response.reasoning_summary", {"summary_index": 0}
            yield {"type": f"{kind}_part.added", **place, "part": {"type": "summary_text", "text": ""}}
            yield from ({"type": f"{kind}_text.delta", **place, "delta": piece} for piece in pieces)
            yield {"type": f"{kind}_text.done", **place, "text": text}
            yield {"type": f"{kind}_part.done", **place, "part": {"type": "summary_text", "text": text}}
        case Call(name, pieces):
            kind = "response.function_call_arguments"
            yield from ({"type": f"{kind}.delta", "delta": piece} for piece in pieces or ("{}",))
            yield {"type": f"{kind}.done", "arguments": text or "{}", "name": name}


def _part(part: Text) -> dict[str, Any]:
    text = "".join(part.pieces)
    if part.refusal:
        return {"type": "refusal", "refusal": text}
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _item(number: int, part: Text | Reasoning | Call, scenario: Scenario) -> dict[str, Any]:
    cut = scenario.finish in _REASONS and number == len(scenario.parts) - 1
    status = "incomplete" if cut else "completed"
    match part:
        case Text():
            head = {"id": f"msg_{number}{_ID}", "type": "message", "status": status, "role": "assistant"}
            return head | {"content": [_part(part)]}
        case Reasoning(pieces):
            summary = [{"type": "summary_text", "text": "".join(pieces)}]
            return {"id": f"rs_{number}{_ID}", "type": "reasoning", "summary": summary, "encrypted_content": "gAAAAAB="}
        case Call(name):
            head = {"id": f"fc_{number}{_ID}", "type": "function_call", "status": status, "name": name}
            return head | {"call_id": f"call_kAb{number}dEfGhIjKlMnOpQrStUv", "arguments": part.arguments or "{}"}


def _begun() -> dict[str, Any]:
    head = {"id": f"resp_{_ID}", "object": "response", "created_at": 1_700_000_000, "status": "in_progress"}
    head |= {"error": None, "incomplete_details": None, "instructions": None, "metadata": {}, "model": "gpt-5.6"}
    head |= {"output": [], "parallel_tool_calls": True, "temperature": 1.0, "tool_choice": "auto", "tools": []}
    head |= {"top_p": 1.0, "store": False, "usage": None, "background": False, "completed_at": None}
    head |= {"max_output_tokens": None, "max_tool_calls": None, "previous_response_id": None, "prompt_cache_key": None}
    head |= {"frequency_penalty": 0.0, "presence_penalty": 0.0, "reasoning": {"effort": None, "summary": None}}
    head |= {"safety_identifier": None, "service_tier": "default", "text": {"format": {"type": "text"}}}
    return head | {"top_logprobs": 0, "truncation": "disabled"}


def _response(scenario: Scenario, items: list[dict[str, Any]]) -> dict[str, Any]:
    usage, reason = scenario.usage, _REASONS.get(scenario.finish)
    counts = {
        "input_tokens": usage.input,
        "input_tokens_details": {"cached_tokens": usage.cached, "cache_write_tokens": 0},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.input + usage.output,
    }
    details = {"reason": reason} if reason else None
    status = "incomplete" if reason else "completed"
    return _begun() | {"status": status, "incomplete_details": details, "output": items, "usage": counts}
