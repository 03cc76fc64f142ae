"""What a Chat chunk or answer says beyond the neutral model, read from its bytes when they can no longer be shown."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from toolwire.model.events import Batch, StreamEvent, ToolCallStart
from toolwire.model.source import Members
from toolwire.wire import openai_chat as wire
from toolwire.wire.json import elements, members


def without_source(batch: Batch) -> Batch:
    """The batch with what its source said and the model does not name written out, and no source."""
    if batch.source is None:
        return batch
    top = members(batch.source.raw)
    extra = [("", _rest(top, wire.KNOWN_CHUNK))]
    events = batch.events
    choices = elements(top["choices"]) if top.get("choices", b"")[:1] == b"[" else []
    if choices:
        choice = members(choices[0])
        extra.append(("choice", _rest(choice, wire.KNOWN_CHOICE)))
        raw = choice.get("delta") or choice.get("message") or b"null"
        if raw[:1] == b"{":
            delta = members(raw)
            extra.append(("delta", _rest(delta, wire.KNOWN_DELTA)))
            events = _with_call_extras(events, delta.get("tool_calls", b"null"))
    return Batch(events, tuple(pair for pair in extra if pair[1]))


def _rest(found: dict[str, bytes], known: frozenset[str]) -> Members:
    return tuple((name, value) for name, value in found.items() if name not in known)


def _with_call_extras(events: tuple[StreamEvent, ...], raw: bytes) -> tuple[StreamEvent, ...]:
    if raw[:1] != b"[" or not any(type(event) is ToolCallStart for event in events):
        return events
    by_id = {}
    for element in elements(raw):
        call = members(element)
        by_id[msgspec.json.decode(call.get("id", b"null"))] = _rest(call, wire.KNOWN_CALL)
    return tuple(
        replace(event, extra=by_id.get(event.id, ())) if type(event) is ToolCallStart else event for event in events
    )
