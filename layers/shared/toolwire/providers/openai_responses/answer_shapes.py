"""Pieces of a Responses answer, read: events, items, responses, usage, and what they say beyond the neutral model."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import msgspec

from toolwire.model.errors import UpstreamProtocolError
from toolwire.model.events import Usage
from toolwire.model.source import Source, with_source
from toolwire.wire import openai_responses as wire
from toolwire.wire import openai_responses_lenient as lenient
from toolwire.wire.openai_usage import read_counts

#: A raw member without content.
NULL = (b"", b"null")

#: The types of items that the neutral model has. Items of other types become opaque parts.
MODELLED = frozenset({"message", "reasoning", "function_call", "custom_tool_call"})

#: Other names of the types for text and reasoning.
_TEXT_ITEMS = frozenset({"output_text", "text"})
_REASONING_ITEMS = frozenset({"reasoning", "thinking"})

_Shape = TypeVar("_Shape", wire.Event, wire.OutputItem, wire.Response)


def read_event(raw: bytes) -> tuple[wire.Event, bool]:
    """The event, and whether every value that is looked at has the type OpenAI gives it."""
    return _read(raw, wire.event_decoder, lenient.read_event)


def is_event(raw: bytes) -> bool:
    """Whether clients can read an event of a type that is not decoded here."""
    try:
        raw.decode()
        return wire.any_event_decoder.decode(raw).type is not None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False


def read_item(raw: bytes) -> tuple[wire.OutputItem, bool]:
    """The item, and whether it is as OpenAI writes it. An item of an unknown type counts as such, since its members may
    have any types."""
    item, exact = _read(raw, wire.item_decoder, lenient.read_item)
    if item.type in lenient.OTHER_CALLS or (item.type == "function_call" and not item.name):
        item, exact = lenient.read_other_call(raw, item), False
    return (item, False) if _is_renamed(item) else (item, exact or item.type not in MODELLED)


def _is_renamed(item: wire.OutputItem) -> bool:
    """Changes an item that is a message or reasoning under another type into that. Returns whether it did."""
    told = item.thinking or item.reasoning_content or item.text
    if item.type in _TEXT_ITEMS and item.text is not None:
        item.type, item.content = "message", [wire.OutputPart("output_text", item.text)]
    elif item.type in _REASONING_ITEMS and told and not (item.summary or item.content):
        item.type, item.content = "reasoning", [wire.OutputPart("reasoning_text", told)]
    else:
        return False
    return True


def read_response(raw: bytes) -> tuple[wire.Response, bool]:
    """The response, and whether it is as OpenAI writes it."""
    return _read(raw, wire.response_decoder, lenient.read_response)


def _read(raw: bytes, decoder: msgspec.json.Decoder[_Shape], slow: Callable[[bytes], _Shape]) -> tuple[_Shape, bool]:
    try:
        if not raw.isascii():
            raw.decode()  # msgspec does not check what it skips, and we pass that on
        return decoder.decode(raw), True
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    try:
        return slow(raw), False
    except (ValueError, RecursionError):
        raise UpstreamProtocolError("the upstream sent something that is no JSON object") from None


def read_usage(raw: msgspec.Raw) -> Usage | None:
    """Responses usage to neutral: the input includes what the cache held, the output the reasoning. None for null.
    The host's own bytes are kept where their total is the sum."""
    data = bytes(raw)
    if data in NULL:
        return None
    counts = read_counts(data, wire.USAGE_COUNTS)
    added = counts.given + counts.output
    neutral = Usage(
        input_tokens=counts.given,
        output_tokens=counts.output,
        cache_read_tokens=counts.cached,
        cache_write_tokens=counts.written,
        reasoning_tokens=counts.reasoning,
        reported_total=None if counts.reported == added else counts.reported,
    )
    if counts.exact and counts.reported == added:
        with_source(neutral, Source(wire.DIALECT, data))
    return neutral
