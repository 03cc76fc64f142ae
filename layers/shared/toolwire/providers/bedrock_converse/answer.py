"""Converse answers, decoded into neutral events: the stream's events and the JSON answer.

In a stream only calls have an event for their beginning; text and reasoning begin with their first delta. The usage
comes behind the stop reason.
"""

from __future__ import annotations

from typing import TypeVar

import msgspec

from toolwire.framing import Frame
from toolwire.framing.aws_event_stream import EXCEPTION
from toolwire.model.errors import UpstreamError, UpstreamProtocolError, UpstreamTruncated
from toolwire.model.events import (
    Batch,
    Finish,
    OpaquePart,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    ResponseEnd,
    ResponseStart,
    StreamEvent,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    Usage,
    UsageUpdate,
)
from toolwire.model.source import Source
from toolwire.providers.bedrock_converse.errors import error_of_frame
from toolwire.wire import bedrock_converse as wire
from toolwire.wire.json import raw_members

_NOTHING = Batch(())

_Shape = TypeVar("_Shape")

#: In front of redacted reasoning where a part's signature holds it: there is no text beside it.
REDACTED = "redacted:"

#: A raw member that says nothing.
_NULL = (b"", b"null")


class _Open:
    """A block that has begun and not ended. `part` is its place in the neutral stream."""

    __slots__ = ("is_said", "kind", "part", "signature")

    def __init__(self, kind: str, part: int) -> None:
        self.kind = kind
        self.part = part
        self.is_said = False  # whether a call has had arguments
        self.signature = ""


class ConverseDecoder:
    """One answer. `decode` takes the stream's frames and `end` its end; `decode_json` takes a whole JSON answer.

    All raise UpstreamError (or a subclass) for an error the upstream reports and for answers that make no sense; `end`
    raises UpstreamTruncated when the answer broke off.
    """

    def __init__(self) -> None:
        self._started = False
        self._ended = False
        self._parts = 0
        self._calls = 0
        self._open: dict[int, _Open] = {}  # by the block's index
        self._bare: int | None = None  # the part of a call that has ended without arguments: see `_end_bare`
        self._finish: Finish | None = None
        self._usage: Usage | None = None

    # ------------------------------------------------------------ stream

    def decode(self, frame: Frame) -> Batch:
        kind = frame.event or ""
        if kind.startswith(EXCEPTION):
            raise error_of_frame(frame)
        if self._ended:
            return _NOTHING
        event = _read(frame.data, wire.event_decoder)
        events: list[StreamEvent] = []
        self._begin(events)
        match kind:
            case "contentBlockDelta" if event.delta is not None:
                self._delta(event.contentBlockIndex, event.delta, events)
            case "contentBlockStart" if event.start is not None:
                self._start(event.contentBlockIndex, event.start, frame.data, events)
            case "contentBlockStop":
                if (opened := self._open.pop(self._index(event.contentBlockIndex), None)) is not None:
                    self._end_block(opened, events)
            case "messageStop":
                self._finished(event.stopReason or "", events)
            case "metadata":
                self._count(event.usage, events)
        return Batch(tuple(events), source=Source(wire.DIALECT, frame.data))

    def end(self) -> Batch:
        """The body is over. Once the stop reason was said, nothing more than the usage was to come."""
        if self._ended:
            return _NOTHING
        if self._finish is None:
            raise UpstreamTruncated("the upstream's answer broke off: no messageStop")
        events: list[StreamEvent] = []
        self._close(events)
        return Batch(tuple(events))

    def _begin(self, events: list[StreamEvent]) -> None:
        if not self._started:
            self._started = True
            events.append(ResponseStart(None, None))  # the API names neither id nor model

    def _index(self, given: int | None) -> int:
        return given if given is not None else max(self._open, default=0)

    def _start(self, given: int | None, start: wire.Block, raw: bytes, events: list[StreamEvent]) -> None:
        index = self._index(given)
        if index in self._open:
            self._end_block(self._open.pop(index), events)
        call = start.toolUse
        if call is None or call.type not in (None, "tool_use"):  # what runs at the provider, and media
            events.append(OpaquePart(self._next_part(), _kind(raw, "start"), wire.DIALECT, raw))
            return
        self._open[index] = self._call(call, events)

    def _call(self, call: wire.ToolUse, events: list[StreamEvent]) -> _Open:
        if not call.name:
            raise UpstreamProtocolError("the upstream sent a tool call without a name")
        self._end_bare(events)
        self._calls += 1
        opened = _Open("call", self._next_part())
        events.append(ToolCallStart(opened.part, call.toolUseId or None, call.name))
        return opened

    def _delta(self, given: int | None, delta: wire.Block, events: list[StreamEvent]) -> None:
        index = self._index(given)
        opened = self._open.get(index)
        if delta.toolUse is not None:
            if opened is not None and opened.kind == "call":
                self._say_arguments(opened, delta.toolUse.input, events)
            elif opened is None and bytes(delta.toolUse.input) not in (*_NULL, b'""') and self._calls:
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

    def _begun(self, index: int, kind: str, events: list[StreamEvent]) -> _Open:
        """The open block of this kind there, begun if there is none."""
        opened = self._open.get(index)
        if opened is not None and opened.kind == kind:
            return opened
        if opened is not None:
            self._end_block(opened, events)
        self._end_bare(events)
        opened = self._open[index] = _Open(kind, self._next_part())
        events.append(TextStart(opened.part) if kind == "text" else ReasoningStart(opened.part))
        return opened

    def _say_arguments(self, opened: _Open, raw: msgspec.Raw, events: list[StreamEvent]) -> None:
        text = _arguments(raw)
        if text:
            opened.is_said = True
            events.append(ToolCallDelta(opened.part, text))

    def _end_block(self, opened: _Open, events: list[StreamEvent]) -> None:
        if opened.kind == "text":
            events.append(TextEnd(opened.part))
        elif opened.kind == "reasoning":
            events.append(ReasoningEnd(opened.part, opened.signature or None))
        elif opened.is_said:
            events.append(ToolCallEnd(opened.part))
        else:
            self._end_bare(events)
            self._bare = opened.part

    def _end_bare(self, events: list[StreamEvent], cut: bool = False) -> None:
        """A call without arguments says `{}`; but one that was cut looks the same until the stop reason is read, and
        must not: so its end waits for what comes next."""
        if self._bare is None:
            return
        if not cut:
            events.append(ToolCallDelta(self._bare, "{}"))
        events.append(ToolCallEnd(self._bare))
        self._bare = None

    # ------------------------------------------------------------ JSON

    def decode_json(self, body: bytes) -> Batch:
        """A whole answer as one batch of events."""
        answer = _read(body, wire.answer_decoder)
        message = answer.output.message if answer.output is not None else None
        if message is None:
            raise UpstreamProtocolError("the upstream's answer has no message")
        events: list[StreamEvent] = []
        self._begin(events)
        for index, raw in enumerate(message.content):
            self._whole_block(index, bytes(raw), events)
        if answer.stopReason:
            self._finished(answer.stopReason, events)
        self._count(answer.usage, events)
        if not self._ended:
            self._close(events)
        return Batch(tuple(events), source=Source(wire.DIALECT, body))

    def _whole_block(self, index: int, raw: bytes, events: list[StreamEvent]) -> None:
        block = _read(raw, wire.block_decoder)
        if block.toolUse is not None and block.toolUse.type in (None, "tool_use"):
            opened = self._open[index] = self._call(block.toolUse, events)
            if bytes(block.toolUse.input)[1:-1].strip():
                self._say_arguments(opened, block.toolUse.input, events)
        elif block.reasoningContent is not None:
            self._say_reasoning(index, block.reasoningContent, events)
        elif block.text is not None:
            self._say_text(index, block.text, events)
        elif block.citationsContent is not None:
            self._say_text(index, "".join(part.text or "" for part in block.citationsContent.content), events)
        else:
            events.append(OpaquePart(self._next_part(), _kind(raw), wire.DIALECT, raw))
            return
        self._end_block(self._open.pop(index), events)

    # ------------------------------------------------------------ ends

    def _finished(self, word: str, events: list[StreamEvent]) -> None:
        """Why the turn ended. Calls make it tool_calls, whatever the word, unless it was cut or filtered."""
        if word in wire.MALFORMED:
            raise UpstreamError(f"the model's answer cannot be used: {word}", code=f"upstream_{word}")
        for index in sorted(self._open):
            self._end_block(self._open.pop(index), events)
        reason = wire.STOP_REASONS.get(word, "stop")
        self._end_bare(events, cut=reason in ("length", "content_filter"))
        if reason in ("stop", "tool_calls"):
            reason = "tool_calls" if self._calls else "stop"
        if self._finish is None:
            self._finish = Finish(reason, word or None)
            events.append(self._finish)

    def _close(self, events: list[StreamEvent]) -> None:
        self._ended = True
        if self._finish is None:  # a JSON answer without its reason
            if not self._parts:
                raise UpstreamProtocolError("the upstream's answer is empty: no content and no stop reason")
            self._finished("", events)
        events.append(ResponseEnd(self._usage))

    def _count(self, counts: wire.Usage | None, events: list[StreamEvent]) -> None:
        """The usage, which is the last that a stream says."""
        if counts is not None:
            read, written = counts.cacheReadInputTokens or 0, counts.cacheWriteInputTokens or 0
            self._usage = Usage(
                input_tokens=(counts.inputTokens or 0) + read + written,
                output_tokens=counts.outputTokens or 0,
                cache_read_tokens=read,
                cache_write_tokens=written,
            )
            events.append(UsageUpdate(self._usage))

    def _next_part(self) -> int:
        self._parts += 1
        return self._parts - 1


def _arguments(raw: msgspec.Raw) -> str:
    """Arguments as their raw text: a fragment of it in a stream, the object itself in a JSON answer."""
    given = bytes(raw)
    if given in _NULL:
        return ""
    return msgspec.json.decode(given, type=str) if given[:1] == b'"' else given.decode()


def _kind(raw: bytes, inside: str | None = None) -> str:
    """The name of the member that a block, or what stands inside of an event, has."""
    try:
        members = raw_members(raw)
        return next(iter(members if inside is None else raw_members(members[inside])), "unknown")
    except (ValueError, KeyError, RecursionError):
        return "unknown"


def _read(data: bytes, decoder: msgspec.json.Decoder[_Shape]) -> _Shape:
    try:
        if not data.isascii():
            data.decode()  # what is only skipped is not checked
        return decoder.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UpstreamProtocolError("the upstream's answer is not as its API has it") from error
