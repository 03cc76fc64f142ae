"""Pieces of a Messages answer, read: events, blocks, arguments, usage."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TypeVar

import msgspec

from toolwire.model.errors import UpstreamProtocolError
from toolwire.model.events import Usage
from toolwire.wire import anthropic_messages as wire
from toolwire.wire import anthropic_messages_lenient as lenient
from toolwire.wire.json import dump, is_object, raw_members, write_object

#: A raw member without content.
NULL = (b"", b"null")

#: A block without a type is of the kind whose member it has.
_TELLING = {"tool_use": "name", "thinking": "thinking"}

_Shape = TypeVar("_Shape", wire.Event, wire.Message, wire.Block)


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


#: The errors for an event, and for a whole answer, that cannot be read.
_UNREADABLE = "the upstream sent something that is not as its API has it"
_UNREADABLE_ANSWER = "the upstream's answer is not as its API has it"


def read_event(data: bytes) -> tuple[wire.Event, bool]:
    """The event, and whether every value that is looked at has the type Anthropic gives it. Raises
    UpstreamProtocolError."""
    return _read(data, wire.event_decoder, lenient.read_event)


def read_message(data: bytes) -> tuple[wire.Message, bool]:
    """The answer, and whether it is as Anthropic writes it. Raises UpstreamProtocolError."""
    return _read(data, wire.message_decoder, lenient.read_message, _UNREADABLE_ANSWER)


def _read(
    data: bytes,
    decoder: msgspec.json.Decoder[_Shape],
    slow: Callable[[bytes], _Shape],
    fault: str = _UNREADABLE,
) -> tuple[_Shape, bool]:
    try:
        if not data.isascii():
            data.decode()  # msgspec does not check what it skips, and we pass that on
        return decoder.decode(data), True
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    try:
        data.decode("utf-8", "surrogatepass")  # halves of surrogate pairs are read, no other fault of UTF-8
        return slow(data), False
    except (ValueError, RecursionError):
        raise UpstreamProtocolError(fault) from None


def arguments(block: wire.Block) -> str:
    """The arguments that a block brings itself, as text; none for an empty object, which every stream begins with."""
    raw = bytes(block.arguments if bytes(block.input) in NULL else block.input)
    if raw[:1] == b'"':  # hosts that send the text of the object
        return str(json.loads(raw.decode("utf-8", "surrogatepass"), strict=False))
    is_empty = raw in NULL or (raw[:1] in (b"{", b"[") and not raw[1:-1].strip())
    return "" if is_empty else raw.decode("utf-8", "surrogatepass")


def fragment(delta: wire.Delta) -> str | None:
    """The text of a delta of an input. Some hosts use another member's name, or send the object itself."""
    raw = next((bytes(raw) for raw in (delta.input, delta.arguments) if bytes(raw) not in NULL), None)
    if delta.partial_json is not None or raw is None:
        return delta.partial_json
    text = raw.decode("utf-8", "surrogatepass")
    return str(json.loads(text, strict=False)) if raw[:1] == b'"' else text


def read_block(raw: bytes) -> tuple[wire.Block, bool]:
    """The block, and whether it is as Anthropic writes it. A block of an unknown kind counts as such, since its members
    may have any types. Raises UpstreamProtocolError."""
    block, exact = _read(raw, wire.block_decoder, lenient.read_block)
    if block.type in lenient.OTHER_CALLS or (block.type == "tool_use" and not block.name):
        return lenient.read_other_call(raw, block), False
    if block.type in lenient.OTHER_KINDS:
        block.type, exact = lenient.OTHER_KINDS[block.type], False
    if block.type == "thinking" and not block.thinking and (block.reasoning or block.text):
        block.thinking, exact = block.reasoning or block.text, False
    if block.type:
        return block, exact or block.type not in wire.MODELLED
    kind = next((kind for kind, member in _TELLING.items() if getattr(block, member) is not None), "text")
    block.type = kind
    return block, False


def joined(raw: bytes, text: str) -> bytes:
    """A block as a whole, with the input that came in deltas after its start."""
    if not is_object(text):
        return raw
    pairs = {name: bytes(value) for name, value in raw_members(raw).items()}
    return write_object([*(pairs | {"input": text.encode("utf-8", "backslashreplace")}).items()])


def blocks_of(message: wire.Message) -> list[bytes]:
    """The blocks of a whole answer. Reasoning and calls that a proxy writes beside the content, as the Chat API does,
    are added as blocks."""
    blocks = [bytes(block) for block in message.content or ()]
    if message.tool_calls:
        known = {call_id for block in blocks if (call_id := read_block(block)[0].id)}
        blocks += [bytes(entry) for entry in message.tool_calls if read_block(bytes(entry))[0].id not in known]
    if message.reasoning_content and not any(read_block(block)[0].type == "thinking" for block in blocks):
        blocks.insert(0, b'{"type":"thinking","thinking":' + dump(message.reasoning_content) + b"}")
    return blocks
