"""Reads the members of a Responses event or answer that the neutral model does not name, when its bytes cannot be
shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from toolwire.model.events import Batch, StreamEvent, ToolCallStart
from toolwire.model.source import Members, replace
from toolwire.wire import openai_responses as wire
from toolwire.wire.json import elements, raw_members, unnamed

_NULL = msgspec.Raw(b"null")
#: The items that are calls.
_CALLS = (b'"function_call"', b'"custom_tool_call"')


def without_source(batch: Batch, raw: bytes) -> Batch:
    """The batch without its source, whose bytes are `raw`. The members that only these had are its `extra`."""
    top = raw_members(raw)
    extra = response_extra(raw if "output" in top else bytes(top.get("response", b"")))
    if "output" in top:
        extra += (("output", tuple((str(place), item) for place, item in enumerate(elements(top["output"])))),)
    events = batch.events
    if any(type(event) is ToolCallStart for event in events):
        events = tuple(_with_extras(events, _call_items(top)))
    return Batch(events, extra)


def response_extra(raw: bytes) -> tuple[tuple[str, Members], ...]:
    """`Batch.extra` for a response: the members without an event. Empty for a value that is no object."""
    try:
        extra = unnamed(raw, wire.KNOWN_RESPONSE)
    except ValueError:
        return ()
    return (("response", extra),) if extra else ()


def _call_items(top: dict[str, msgspec.Raw]) -> list[Members]:
    """The unnamed members of each item that is a call, in order."""
    items = [bytes(top["item"])] if "item" in top else elements(top.get("output", msgspec.Raw(b"[]")))
    calls = (item for item in items if bytes(raw_members(item).get("type", _NULL)) in _CALLS)
    return [unnamed(item, wire.KNOWN_CALL) for item in calls]


def _with_extras(events: Iterable[StreamEvent], extras: list[Members]) -> Iterator[StreamEvent]:
    """The events, each start of a call with the unnamed members of its item."""
    found = iter(extras)
    for event in events:
        yield replace(event, extra=next(found, ())) if type(event) is ToolCallStart else event
