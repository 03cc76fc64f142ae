"""The slow path for Messages answers: events and blocks whose members have other types than Anthropic's.

Seen at hosts: indices, ids and counts as strings, floats or null, fragments of an input as an object, content as a
string, half a surrogate pair, calls as other APIs have them. All that can be read is read. Arguments that are an object
keep their text.
"""

from __future__ import annotations

import msgspec

from toolwire.wire.anthropic_messages import MODELLED, Block, Delta, Event, Message, OutputDetails, StopDetails, Usage
from toolwire.wire.cross_api_names import misnamed_arguments
from toolwire.wire.json import dump, elements, members
from toolwire.wire.lenient_calls import read_call
from toolwire.wire.lenient_values import number_of, readable, reasoning_of, text_of

#: Types of blocks that are texts and thinking in other APIs' words -> this API's.
OTHER_KINDS = {"output_text": "text", "reasoning": "thinking", "reasoning_text": "thinking"}
#: Types of blocks that are calls in other APIs' words.
OTHER_CALLS = frozenset({"tool_call", "function_call", "function"})


def read_event(raw: bytes) -> Event:
    """The event in a document. Raises ValueError if it is no JSON object (msgspec's errors are ValueErrors)."""
    found = members(readable(raw))
    delta, message, usage = found.get("delta", b""), found.get("message", b""), found.get("usage", b"")
    return Event(
        type=text_of(found.get("type")),
        index=number_of(found.get("index")),
        delta=_delta(delta) if delta[:1] == b"{" else None,
        content_block=msgspec.Raw(found.get("content_block", b"")),
        message=_message(message) if message[:1] == b"{" else None,
        usage=_usage(usage) if usage[:1] == b"{" else None,
        error=msgspec.Raw(found.get("error", b"")),
    )


def read_message(raw: bytes) -> Message:
    """The answer in a document. Raises ValueError if it is no JSON object."""
    return _message(readable(raw))


def read_block(raw: bytes) -> Block:
    """The block in a document; nothing but the type of a block that is not modelled, whose members have types of their
    own. Raises ValueError if it is no JSON object."""
    found = members(readable(raw))
    block = Block(text_of(found.get("type")) or "")
    if block.type not in ("", *MODELLED, *OTHER_KINDS):
        return block
    for name in ("text", "thinking", "reasoning", "signature", "id", "name"):
        setattr(block, name, _plain(found.get(name)))
    block.input, block.arguments = (msgspec.Raw(found.get(name, b"")) for name in ("input", "arguments"))
    return block


def read_other_call(raw: bytes, block: Block) -> Block:
    """The block, which says its name and its arguments as an entry of Chat's `tool_calls` does; as it is, if it says no
    name there either."""
    call = read_call(readable(raw))
    told = call.function or call
    if told.name:
        given = told.arguments if told.arguments is not None else misnamed_arguments(told)
        block.type, block.id, block.name = "tool_use", block.id or call.id, told.name
        block.input = msgspec.Raw(dump(given))
    return block


def _plain(raw: bytes | None) -> str | None:
    """A string, or another value that is no list and no object. Raises ValueError for those."""
    if raw is not None and raw[:1] in (b"[", b"{"):
        raise ValueError("a text is a list or an object")
    return text_of(raw)


def _delta(raw: bytes) -> Delta:
    found = members(raw)
    delta = Delta(stop_details=_details(found.get("stop_details", b"")))
    for name in ("type", "text", "thinking", "reasoning", "signature", "stop_reason"):
        setattr(delta, name, _plain(found.get(name)))
    delta.input, delta.arguments = (msgspec.Raw(found.get(name, b"")) for name in ("input", "arguments"))
    delta.partial_json = text_of(found.get("partial_json"))
    return delta


def _message(raw: bytes) -> Message:
    found = members(raw)
    usage = found.get("usage", b"")
    return Message(
        type=text_of(found.get("type")),
        id=text_of(found.get("id")),
        model=text_of(found.get("model")),
        content=_content(found.get("content", b"null")),
        tool_calls=_content(found.get("tool_calls", b"null")),
        reasoning_content=reasoning_of(found.get("reasoning_content")),
        stop_reason=text_of(found.get("stop_reason")),
        stop_details=_details(found.get("stop_details", b"")),
        usage=_usage(usage) if usage[:1] == b"{" else None,
        error=msgspec.Raw(found.get("error", b"")),
    )


def _content(raw: bytes) -> list[msgspec.Raw] | None:
    """The blocks of a list, or a text that stands there without one."""
    if raw[:1] == b"[":
        return [msgspec.Raw(block) for block in elements(raw) if block != b"null"]
    text = text_of(raw) if raw[:1] == b'"' else None
    return [msgspec.Raw(b'{"type":"text","text":' + dump(text) + b"}")] if text else None if text is None else []


def _details(raw: bytes) -> StopDetails | None:
    return StopDetails(text_of(members(raw).get("explanation"))) if raw[:1] == b"{" else None


def _usage(raw: bytes) -> Usage:
    found = members(raw)
    usage, details = Usage(), found.get("output_tokens_details", b"")
    for name in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens"):
        setattr(usage, name, number_of(found.get(name)))
    if details[:1] == b"{":
        usage.output_tokens_details = OutputDetails(number_of(members(details).get("thinking_tokens")))
    return usage
