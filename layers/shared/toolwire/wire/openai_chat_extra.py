"""Reads the members of a Chat chunk or answer that the neutral model does not name, when its bytes cannot be shown."""

from __future__ import annotations

import json

import msgspec

from toolwire.model.events import Batch, StreamEvent, ToolCallStart
from toolwire.model.source import Members, replace
from toolwire.wire import openai_chat as wire
from toolwire.wire.json import elements, raw_members

_NULL = msgspec.Raw(b"null")


def without_source(batch: Batch, raw: bytes) -> Batch:
    """The batch without its source, whose bytes are `raw`. The members that only these had are its `extra`."""
    top = raw_members(raw)
    extra = [("", _rest(top, wire.KNOWN_CHUNK))]
    events = batch.events
    choices = bytes(top.get("choices", _NULL))
    if choices[:1] == b"[" and (first := elements(choices)[:1]):
        choice = raw_members(first[0])
        extra.append(("choice", _rest(choice, wire.KNOWN_CHOICE)))
        content = bytes(choice.get("delta") or choice.get("message") or _NULL)
        if content[:1] == b"{":
            delta = raw_members(content)
            extra.append(("delta", _rest(delta, wire.KNOWN_DELTA)))
            events = _with_call_extras(events, bytes(delta.get("tool_calls", _NULL)))
    return Batch(events, tuple(pair for pair in extra if pair[1]))


def _rest(found: dict[str, msgspec.Raw], known: frozenset[str]) -> Members:
    if found.keys() <= known:
        return ()
    return tuple((name, _escaped(bytes(value))) for name, value in found.items() if name not in known)


def _escaped(value: bytes) -> bytes:
    """Halves of surrogate pairs as JSON writes them: see `readable`."""
    return value if value.isascii() else value.decode("utf-8", "surrogatepass").encode("utf-8", "backslashreplace")


def _with_call_extras(events: tuple[StreamEvent, ...], raw: bytes) -> tuple[StreamEvent, ...]:
    """The events, each start of a call with the unnamed members of its entry: the first with the same id, or without
    one."""
    if raw[:1] != b"[" or not any(type(event) is ToolCallStart for event in events):
        return events
    calls = [raw_members(entry) for entry in elements(raw) if entry != bytes(_NULL)]
    entries = [(_id(call.get("id", _NULL)), _rest(call, wire.KNOWN_CALL)) for call in calls]
    known: list[StreamEvent] = []
    for event in events:
        if type(event) is ToolCallStart:
            entry = next((entry for entry in entries if entry[0] == event.id), None)
            if entry is not None:
                entries.remove(entry)
                event = replace(event, extra=entry[1])
        known.append(event)
    return tuple(known)


def _id(raw: msgspec.Raw) -> str | None:
    """A call's id as the decoder reads it: None if empty, the digits of a number."""
    try:
        value = msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError):
        value = json.loads(bytes(raw).decode("utf-8", "surrogatepass"), strict=False)
    if value in (None, ""):
        return None
    return value if isinstance(value, str) else bytes(raw).decode("utf-8", "surrogatepass")
