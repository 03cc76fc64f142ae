"""The slow path for Responses answers: events and items whose members have other types than OpenAI's.

Seen: items of other kinds whose members share a name with ours (`arguments` as an object in a tool search, `delta` as
an object in a shell's output), numbers as strings, arguments as an object, half a surrogate pair. Whatever can be read
is read; raw argument objects stay the text they were.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec

from toolwire.wire.json import elements, raw_members
from toolwire.wire.openai_chat_lenient import readable
from toolwire.wire.openai_responses import Event, IncompleteDetails, OutputItem, OutputPart, Response


def read_event(raw: bytes) -> Event:
    """The event in a document. Raises ValueError if it is no JSON object (msgspec's errors are ValueErrors)."""
    found = _members(readable(raw))
    event = Event()
    for name in ("type", "item_id", "delta", "text", "refusal", "arguments", "input"):
        setattr(event, name, _text(found.get(name)))
    for name in ("output_index", "content_index", "summary_index"):
        setattr(event, name, _number(found.get(name)))
    for name in ("item", "response", "error"):
        setattr(event, name, msgspec.Raw(found.get(name, b"")))
    event.part = _part(found["part"]) if "part" in found else None
    return event


def read_item(raw: bytes) -> OutputItem:
    """The item in a document. Raises ValueError if it is no JSON object."""
    found = _members(readable(raw))
    item = OutputItem(_text(found.get("type")) or "")
    for name in OutputItem.__struct_fields__:
        if name in ("content", "summary"):
            setattr(item, name, _parts(found.get(name)))
        elif name != "type":
            setattr(item, name, _text(found.get(name)))
    return item


def read_response(raw: bytes) -> Response:
    """The response in a document. Raises ValueError if it is no JSON object."""
    found = _members(readable(raw))
    details = found.get("incomplete_details", b"null")
    output = found.get("output", b"null")
    return Response(
        object=_text(found.get("object")),
        id=_text(found.get("id")),
        created_at=_number(found.get("created_at")),
        model=_text(found.get("model")),
        status=_text(found.get("status")),
        error=msgspec.Raw(found.get("error", b"")),
        incomplete_details=IncompleteDetails(_text(_members(details).get("reason"))) if details[:1] == b"{" else None,
        output=[msgspec.Raw(item) for item in elements(output)] if output[:1] == b"[" else None,
        usage=msgspec.Raw(found.get("usage", b"")),
    )


def _members(raw: bytes) -> dict[str, bytes]:
    raw.decode("utf-8", "surrogatepass")
    return {name: bytes(value) for name, value in raw_members(raw).items()}


def _parts(raw: bytes | None) -> list[OutputPart] | None:
    """The parts of a list; a plain text is one part."""
    if raw is None or raw == b"null":
        return None
    if raw[:1] == b"[":
        return [_part(element) for element in elements(raw)]
    return [OutputPart("output_text", _text(raw))]


def _part(raw: bytes) -> OutputPart:
    if raw[:1] != b"{":
        return OutputPart("output_text", _text(raw))
    found = _members(raw)
    return OutputPart(_text(found.get("type")) or "", _text(found.get("text")), _text(found.get("refusal")))


def _text(raw: bytes | None) -> str | None:
    """A string; any other value but null as its own JSON text."""
    if raw is None or raw == b"null":
        return None
    text = raw.decode("utf-8", "surrogatepass")
    return str(json.loads(text, strict=False)) if raw[:1] == b'"' else text


def _number(raw: bytes | None) -> int | None:
    value: Any = json.loads(raw) if raw is not None else None
    if isinstance(value, str) and value.isdecimal():
        value = int(value)
    return int(value) if isinstance(value, int | float) else None
