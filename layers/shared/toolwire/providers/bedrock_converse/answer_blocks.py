"""The blocks of a Converse answer while they arrive: each becomes a part of the neutral stream."""

from __future__ import annotations

from typing import TypeVar

import msgspec

from toolwire.model.errors import UpstreamProtocolError
from toolwire.model.events import (
    OpaquePart,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    StreamEvent,
    TextDelta,
    TextEnd,
    TextStart,
)
from toolwire.stream.block_call import BlockCall, CallEnds
from toolwire.wire import bedrock_converse as wire
from toolwire.wire.json import raw_members

_Shape = TypeVar("_Shape")

#: The mark in front of redacted reasoning, which a part without text holds as its signature.
REDACTED = "redacted:"

#: A raw member without content.
_NULL = (b"", b"null")


class Block:
    """An open block. `part` is its index in the neutral stream."""

    __slots__ = ("call", "kind", "part", "signature")

    def __init__(self, kind: str, part: int, call: BlockCall | None = None) -> None:
        self.kind = kind
        self.part = part
        self.call = call
        self.signature = ""


class Blocks:
    """The blocks of one answer. Their parts are numbered in the order in which they begin. `placeholders`: see
    `DecoderContext`."""

    def __init__(self, *, placeholders: bool) -> None:
        self._placeholders = placeholders
        self.count = 0  # of parts
        self.calls = 0
        self._open: dict[int, Block] = {}  # by the block's index
        self.call_ends = CallEnds()

    def _index(self, given: int | None) -> int:
        return given if given is not None else max(self._open, default=0)

    def begin(self, given: int | None, start: wire.Block, raw: bytes, events: list[StreamEvent]) -> None:
        """contentBlockStart. `raw` is the whole event."""
        index = self._index(given)
        if index in self._open:
            self._end(self._open.pop(index), events)
        call = start.toolUse
        if call is None or call.type not in (None, "tool_use"):  # tools that run at the provider, and media
            events.append(OpaquePart(self._next_part(), _kind(raw, "start"), wire.DIALECT, raw))
            return
        self._open[index] = self._call(call, events)

    def _call(self, call: wire.ToolUse, events: list[StreamEvent]) -> Block:
        if not call.name:
            raise UpstreamProtocolError("the upstream sent a tool call without a name")
        self.call_ends.end_waiting(events)
        begun = BlockCall(self._next_call, placeholders=self._placeholders)
        return Block("call", begun.announce(call.toolUseId, call.name, events), begun)

    def add(self, given: int | None, delta: wire.Block, events: list[StreamEvent]) -> None:
        """contentBlockDelta."""
        index = self._index(given)
        opened = self._open.get(index)
        if delta.toolUse is not None:
            if opened is not None and opened.call is not None:
                opened.call.say(_arguments(delta.toolUse.input), events)
            elif opened is None and bytes(delta.toolUse.input) not in (*_NULL, b'""') and self.calls:
                raise UpstreamProtocolError("the upstream sent arguments of no tool call")
        elif delta.text is not None:
            self._say_text(index, delta.text, events)
        elif delta.reasoningContent is not None:
            self._say_reasoning(index, delta.reasoningContent, events)

    def _say_text(self, index: int, text: str, events: list[StreamEvent]) -> None:
        opened = self._begun(index, "text", events)
        if text:
            events.append(TextDelta(opened.part, text))

    def _say_reasoning(self, index: int, reasoning: wire.Reasoning, events: list[StreamEvent]) -> None:
        opened = self._begun(index, "reasoning", events)
        said = reasoning.reasoningText or reasoning
        if said.text:
            events.append(ReasoningDelta(opened.part, said.text))
        opened.signature += said.signature or ""
        if reasoning.redactedContent:
            opened.signature += reasoning.redactedContent if opened.signature else REDACTED + reasoning.redactedContent

    def _begun(self, index: int, kind: str, events: list[StreamEvent]) -> Block:
        """The open block of this kind at this index. Begins one if there is none."""
        opened = self._open.get(index)
        if opened is not None and opened.kind == kind:
            return opened
        if opened is not None:
            self._end(opened, events)
        self.call_ends.end_waiting(events)
        opened = self._open[index] = Block(kind, self._next_part())
        events.append(TextStart(opened.part) if kind == "text" else ReasoningStart(opened.part))
        return opened

    def _end(self, opened: Block, events: list[StreamEvent]) -> None:
        if opened.kind == "text":
            events.append(TextEnd(opened.part))
        elif opened.kind == "reasoning":
            events.append(ReasoningEnd(opened.part, opened.signature or None))
        elif opened.call is not None:
            self.call_ends.end(opened.call, events)

    def end(self, given: int | None, events: list[StreamEvent]) -> None:
        """contentBlockStop."""
        opened = self._open.pop(self._index(given), None)
        if opened is not None:
            self._end(opened, events)

    def end_all(self, events: list[StreamEvent], *, cut: bool) -> None:
        """Ends all open blocks."""
        for index in sorted(self._open):
            self._end(self._open.pop(index), events)
        self.call_ends.end_waiting(events, cut=cut)

    def whole(self, index: int, raw: bytes, events: list[StreamEvent]) -> None:
        """A block that comes in one piece."""
        block = read(raw, wire.block_decoder)
        if block.toolUse is not None and block.toolUse.type in (None, "tool_use"):
            opened = self._open[index] = self._call(block.toolUse, events)
            if opened.call is not None and bytes(block.toolUse.input)[1:-1].strip():
                opened.call.say(_arguments(block.toolUse.input), events)
        elif block.reasoningContent is not None:
            self._say_reasoning(index, block.reasoningContent, events)
        elif block.text is not None:
            self._say_text(index, block.text, events)
        elif block.citationsContent is not None:
            self._say_text(index, "".join(part.text or "" for part in block.citationsContent.content), events)
        else:
            events.append(OpaquePart(self._next_part(), _kind(raw), wire.DIALECT, raw))
            return
        self._end(self._open.pop(index), events)

    def _next_part(self) -> int:
        self.count += 1
        return self.count - 1

    def _next_call(self) -> int:
        self.calls += 1
        return self._next_part()


def _arguments(raw: msgspec.Raw) -> str:
    """Arguments as their raw text: a fragment of it in a stream, the object itself in a JSON answer."""
    given = bytes(raw)
    if given in _NULL:
        return ""
    return msgspec.json.decode(given, type=str) if given[:1] == b'"' else given.decode()


def _kind(raw: bytes, inside: str | None = None) -> str:
    """The name of the one member of a block, or of the object inside an event."""
    try:
        members = raw_members(raw)
        return next(iter(members if inside is None else raw_members(members[inside])), "unknown")
    except (ValueError, KeyError, RecursionError):
        return "unknown"


def read(data: bytes, decoder: msgspec.json.Decoder[_Shape]) -> _Shape:
    """The data as the decoder's shape. Raises UpstreamProtocolError."""
    try:
        if not data.isascii():
            data.decode()  # msgspec does not check what it skips
        return decoder.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UpstreamProtocolError("the upstream's answer is not as its API has it") from error
