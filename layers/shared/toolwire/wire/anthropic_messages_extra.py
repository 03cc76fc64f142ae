"""Reads the members of a Messages event or answer that the neutral model does not name, when its bytes cannot be shown.

The paths of a batch's `extra`: "message" (the answer itself), "usage", "stop" (what goes with the stop reason),
"content_block" (the block an event begins), and "content[0]", ... (the blocks of a whole answer).
"""

from __future__ import annotations

import msgspec

from toolwire.model.events import Batch
from toolwire.model.source import Members
from toolwire.wire import anthropic_messages as wire
from toolwire.wire.json import elements, raw_members

_BLOCK = frozenset({"type", "text", "thinking", "signature", "id", "name", "input"})
_STOP = frozenset({"stop_sequence", "stop_details"})
_MESSAGE = frozenset({"type", "id", "role", "model", "content", "stop_reason", "usage"}) | _STOP
_USAGE = frozenset(wire.Usage.__struct_fields__)

_NULL = msgspec.Raw(b"null")


def without_source(batch: Batch, raw: bytes) -> Batch:
    """The batch without its source, whose bytes are `raw`. The members that only these had are its `extra`."""
    try:
        top = raw_members(raw)
    except msgspec.DecodeError:  # half of a surrogate pair, in an event of a kind that has no such members
        return Batch(batch.events, batch.extra)
    found: list[tuple[str, Members]] = []
    match bytes(top.get("type", _NULL)):
        case b'"message"':
            found = _whole(top)
        case b'"message_start"':
            message = _object(top, "message")
            found = [("message", _rest(message, _MESSAGE)), ("usage", _rest(_object(message, "usage"), _USAGE))]
        case b'"content_block_start"':
            found = [("content_block", _rest(_object(top, "content_block"), _BLOCK))]
        case b'"message_delta"':
            stop = _rest(_object(top, "delta"), frozenset({"stop_reason"}))
            found = [("stop", stop), ("usage", _rest(_object(top, "usage"), _USAGE))]
        case _:
            pass
    return Batch(batch.events, tuple((path, extra) for path, extra in found if extra))


def _whole(top: dict[str, msgspec.Raw]) -> list[tuple[str, Members]]:
    stop = tuple((name, bytes(value)) for name, value in top.items() if name in _STOP)
    found = [("message", _rest(top, _MESSAGE)), ("stop", stop), ("usage", _rest(_object(top, "usage"), _USAGE))]
    for number, block in enumerate(elements(top.get("content", msgspec.Raw(b"[]")))):
        found.append((f"content[{number}]", _rest(raw_members(block), _BLOCK)))
    return found


def _object(holder: dict[str, msgspec.Raw], name: str) -> dict[str, msgspec.Raw]:
    raw = bytes(holder.get(name, _NULL))
    return raw_members(raw) if raw[:1] == b"{" else {}


def _rest(found: dict[str, msgspec.Raw], known: frozenset[str]) -> Members:
    return tuple((name, bytes(value)) for name, value in found.items() if name not in known)
