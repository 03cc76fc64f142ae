"""Pieces of a Messages answer, read: events, blocks, arguments, usage."""

from __future__ import annotations

import json

import msgspec

from toolwire.model.errors import UpstreamProtocolError
from toolwire.model.events import Usage
from toolwire.wire import anthropic_messages as wire
from toolwire.wire.json import is_object, raw_members, write_object

#: A raw member that says nothing.
NULL = (b"", b"null")


def usage(counts: wire.Usage) -> Usage:
    """Neutral usage: the input includes what was read from the prompt cache and written to it."""
    read, written = counts.cache_read_input_tokens or 0, counts.cache_creation_input_tokens or 0
    details = counts.output_tokens_details
    return Usage(
        input_tokens=(counts.input_tokens or 0) + read + written,
        output_tokens=counts.output_tokens or 0,
        cache_read_tokens=read,
        cache_write_tokens=written,
        reasoning_tokens=details.thinking_tokens or 0 if details is not None else 0,
    )


def read_event(data: bytes) -> wire.Event:
    try:
        if not data.isascii():
            data.decode()  # what is only skipped is not checked, and travels on
        return wire.event_decoder.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return _half_a_pair(data, error)


def _half_a_pair(data: bytes, error: Exception) -> wire.Event:
    """A delta with half of a surrogate pair, which JSON allows and msgspec does not: a host has cut it in two."""
    try:
        document = json.loads(data)
        delta = {name: text for name, text in document["delta"].items() if name in wire.Delta.__struct_fields__}
        if document["type"] == "content_block_delta":
            said = {"type": document["type"], "index": document.get("index"), "delta": delta}
            return msgspec.convert(said, wire.Event)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        pass
    raise UpstreamProtocolError("the upstream sent an event that is not as its API has it") from error


def arguments(block: wire.Block) -> str:
    """The arguments that a block brings itself, as text; none for an empty object, which every stream begins with."""
    raw = bytes(block.input)
    if raw[:1] == b'"':  # hosts that send the text of the object
        return msgspec.json.decode(raw, type=str)
    return "" if raw in NULL or not raw[1:-1].strip() else raw.decode()


def read_block(raw: bytes) -> wire.Block:
    try:
        return wire.block_decoder.decode(raw)
    except msgspec.ValidationError:
        pass  # a block of another kind, whose members have other types: it goes whole
    except msgspec.DecodeError as error:
        raise UpstreamProtocolError("the upstream sent a content block that is none") from error
    try:
        kind = msgspec.json.decode(raw_members(raw)["type"], type=str)
    except (KeyError, ValueError):
        kind = ""
    if kind in ("", "text", "thinking", "tool_use"):
        raise UpstreamProtocolError("the upstream sent a content block that is not as its API has it")
    return wire.Block(kind)


def joined(raw: bytes, text: str) -> bytes:
    """A block that goes whole, with the input that came in pieces behind its beginning."""
    if not is_object(text):
        return raw
    pairs = {name: bytes(value) for name, value in raw_members(raw).items()}
    return write_object([*(pairs | {"input": text.encode("utf-8", "backslashreplace")}).items()])
