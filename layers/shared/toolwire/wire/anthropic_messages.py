"""Anthropic Messages as typed shapes, after anthropic-python 2.14's `types`.

Only answers: a request is written member by member (`providers/anthropic.py`). Everything is optional where a host of
this wire has been seen to leave it out; what must be there is checked by the reader.
"""

from __future__ import annotations

import msgspec
from msgspec import Raw, Struct

DIALECT = "anthropic_messages"

#: A Raw member that is absent, to be told by `is`; `Raw | None` would accept nothing but null.
ABSENT = Raw()


class OutputDetails(Struct):
    thinking_tokens: int | None = None


class Usage(Struct):
    """Counts so far: a later usage replaces those it has. `input_tokens` leaves out what was read from, or written to,
    the prompt cache; `output_tokens` includes thinking."""

    input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    output_tokens: int | None = None
    output_tokens_details: OutputDetails | None = None


class StopDetails(Struct):
    """Why a model refused."""

    explanation: str | None = None


class Message(Struct):
    """A whole answer, and the `message` of message_start."""

    type: str | None = None
    id: str | None = None
    model: str | None = None
    content: list[Raw] | None = None
    stop_reason: str | None = None
    stop_details: StopDetails | None = None
    usage: Usage | None = None
    error: Raw = ABSENT


class Block(Struct):
    """A content block: whole in a JSON answer, its beginning in a stream."""

    type: str = ""
    text: str | None = None
    thinking: str | None = None
    signature: str | None = None
    id: str | None = None
    name: str | None = None
    input: Raw = ABSENT


class Delta(Struct):
    """The `delta` of content_block_delta, and of message_delta."""

    type: str | None = None
    text: str | None = None
    partial_json: str | None = None
    thinking: str | None = None
    signature: str | None = None
    stop_reason: str | None = None
    stop_details: StopDetails | None = None


class Event(Struct):
    """The data of one stream event, whatever its type."""

    type: str | None = None
    index: int | None = None
    delta: Delta | None = None
    content_block: Raw = ABSENT
    message: Message | None = None
    usage: Usage | None = None
    error: Raw = ABSENT


event_decoder = msgspec.json.Decoder(Event)
message_decoder = msgspec.json.Decoder(Message)
block_decoder = msgspec.json.Decoder(Block)
