"""Messages answers, decoded into neutral events: the stream's events and the JSON answer.

A frame that a client of the same API can read as it is keeps its `source`, also where the neutral model has no word for
it (ping, citations, whatever is new); one that needed repair (a block without its beginning or end, content in
message_start) loses it.
"""

from __future__ import annotations

import msgspec

from toolwire.framing import Frame
from toolwire.model.errors import UpstreamProtocolError, UpstreamTruncated
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
from toolwire.providers.anthropic_messages.errors import error_from_body
from toolwire.providers.anthropic_messages.shapes import NULL, arguments, joined, read_block, read_event, usage
from toolwire.wire import anthropic_messages as wire
from toolwire.wire.json import is_object

_NOTHING = Batch(())


class _Open:
    """A block that has begun and not ended. `part` is its place in the neutral stream, None for one that goes there
    whole at its end."""

    __slots__ = ("input", "kind", "part", "pieces", "raw", "signature")

    def __init__(self, kind: str, part: int | None, raw: bytes = b"") -> None:
        self.kind = kind
        self.part = part
        self.raw = raw  # of a block that goes whole
        self.pieces: list[str] = []  # the input of such a block, or of a call
        self.input = ""  # a call's arguments that came with its beginning
        self.signature = ""


class MessagesDecoder:
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
        self._counts = wire.Usage()
        self._usage: Usage | None = None

    # ------------------------------------------------------------ stream

    def decode(self, frame: Frame) -> Batch:
        data = frame.data
        if self._ended:
            return _NOTHING
        if data[:1] != b"{" and (not data.strip() or data.strip() == b"[DONE]" or data.lstrip()[:1] == b":"):
            return _NOTHING
        event = read_event(data)
        kind = event.type or frame.event
        if kind == "error" or bytes(event.error) not in NULL:
            raise error_from_body(data, 200)
        events: list[StreamEvent] = []
        keep = self._event(kind, event, events) and event.type is not None and frame.event in (None, event.type)
        return Batch(tuple(events), source=Source(wire.DIALECT, data) if keep else None)

    def end(self) -> Batch:
        """The body is over, with or without message_stop. Once the reason was said, nothing more was to come."""
        if self._ended:
            return _NOTHING
        if not self._started:
            raise UpstreamTruncated("the upstream's answer ended before it began")
        if self._finish is None:
            raise UpstreamTruncated("the upstream's answer broke off: no stop reason and no message_stop")
        events: list[StreamEvent] = []
        self._close(events)
        return Batch(tuple(events))

    def _event(self, kind: str | None, event: wire.Event, events: list[StreamEvent]) -> bool:
        """The events of one frame; whether a client of the same API may see the frame as it is."""
        match kind:
            case "content_block_delta":
                return event.delta is not None and self._delta(event, event.delta, events)
            case "content_block_start":
                return self._block_start(event, events)
            case "content_block_stop":
                return self._block_stop(event, events)
            case "message_start":
                return self._message_start(event.message or wire.Message(), events)
            case "message_delta":
                return self._message_delta(event, events)
            case "message_stop":
                whole = self._started and self._finish is not None and not self._open
                self._begin(events)
                self._close(events)
                return whole
            case _:
                return True  # ping, and whatever is new

    def _message_start(self, message: wire.Message, events: list[StreamEvent]) -> bool:
        if self._started:
            if self._parts:
                raise UpstreamProtocolError("the upstream began a second message inside the first")
            return False
        self._started = True
        events.append(ResponseStart(message.id or None, message.model or None))
        self._count(message.usage, events)
        for block in message.content or ():
            self._whole_block(bytes(block), events)
        return bool(message.id and message.usage) and message.content == []

    def _begin(self, events: list[StreamEvent]) -> bool:
        """An answer that begins without message_start is begun; whether there was nothing to repair."""
        if self._started:
            return True
        self._started = True
        events.append(ResponseStart(None, None))
        return False

    def _message_delta(self, event: wire.Event, events: list[StreamEvent]) -> bool:
        keep = self._begin(events) and event.delta is not None and not self._open
        self._count(event.usage, events)
        if event.delta is not None and event.delta.stop_reason:
            self._finished(event.delta.stop_reason, event.delta.stop_details, events)
        return keep and event.usage is not None

    # ------------------------------------------------------------ blocks

    def _block_start(self, event: wire.Event, events: list[StreamEvent]) -> bool:
        keep = self._begin(events) and event.index is not None
        raw = bytes(event.content_block)
        index = event.index if event.index is not None else self._next_index()
        if index in self._open:
            self._end_block(self._open.pop(index), events)
            keep = False
        self._open[index] = self._start(raw, events)
        return keep

    def _next_index(self) -> int:
        return max(self._open, default=-1) + 1

    def _start(self, raw: bytes, events: list[StreamEvent]) -> _Open:
        """The beginning of a block, with what it already says."""
        block = read_block(raw)
        self._end_bare(events)
        match block.type:
            case "text":
                opened = self._open_text(events)
                self._say(opened, block.text, events)
            case "thinking":
                opened = self._open_thinking(events)
                self._say(opened, block.thinking, events)
                opened.signature = block.signature or ""
            case "tool_use":
                if not block.name:
                    raise UpstreamProtocolError("the upstream sent a tool call without a name")
                opened = _Open("tool_use", self._next_part())
                opened.input = arguments(block)
                self._calls += 1
                events.append(ToolCallStart(self._parts - 1, block.id or None, block.name))
            case _:
                opened = _Open(block.type, None, raw)
        return opened

    def _open_text(self, events: list[StreamEvent]) -> _Open:
        events.append(TextStart(self._next_part()))
        return _Open("text", self._parts - 1)

    def _open_thinking(self, events: list[StreamEvent]) -> _Open:
        events.append(ReasoningStart(self._next_part()))
        return _Open("thinking", self._parts - 1)

    def _delta(self, event: wire.Event, delta: wire.Delta, events: list[StreamEvent]) -> bool:
        keep = self._begin(events)
        index = event.index if event.index is not None else max(self._open, default=0)
        opened = self._open.get(index)
        if opened is None:
            opened = self._implied(delta, events)
            if opened is None:
                return True  # of a kind that is new, or of no block
            self._open[index] = opened
            keep = False
        match delta.type:
            case "text_delta" | "thinking_delta":
                self._say(opened, delta.text if delta.type == "text_delta" else delta.thinking, events)
            case "signature_delta":
                opened.signature += delta.signature or ""
            case "input_json_delta":
                self._say(opened, delta.partial_json, events)
            case _:
                pass  # citations, and whatever is new
        return keep and event.index is not None

    def _implied(self, delta: wire.Delta, events: list[StreamEvent]) -> _Open | None:
        """The block that a delta without one belongs to: text and thinking need no more than that."""
        if delta.type == "text_delta":
            self._end_bare(events)
            return self._open_text(events)
        if delta.type == "thinking_delta":
            self._end_bare(events)
            return self._open_thinking(events)
        if delta.type == "input_json_delta" and delta.partial_json:
            raise UpstreamProtocolError("the upstream sent arguments of no tool call")
        return None

    def _say(self, opened: _Open, text: str | None, events: list[StreamEvent]) -> None:
        """More of a block, under whatever kind of delta it came."""
        if not text:
            return
        if opened.part is None:
            opened.pieces.append(text)  # the input of a server's tool
        elif opened.kind == "text":
            events.append(TextDelta(opened.part, text))
        elif opened.kind == "thinking":
            events.append(ReasoningDelta(opened.part, text))
        else:
            opened.pieces.append(text)
            events.append(ToolCallDelta(opened.part, text))

    def _block_stop(self, event: wire.Event, events: list[StreamEvent]) -> bool:
        index = event.index if event.index is not None else max(self._open, default=-1)
        opened = self._open.pop(index, None)
        if opened is None:
            return False
        self._end_block(opened, events)
        return event.index is not None

    def _end_block(self, opened: _Open, events: list[StreamEvent]) -> None:
        if opened.part is None:
            events.append(
                OpaquePart(self._next_part(), opened.kind, wire.DIALECT, joined(opened.raw, "".join(opened.pieces)))
            )
        elif opened.kind == "text":
            events.append(TextEnd(opened.part))
        elif opened.kind == "thinking":
            events.append(ReasoningEnd(opened.part, opened.signature or None))
        else:
            if not opened.pieces:
                self._say(opened, opened.input, events)
            if opened.pieces:
                events.append(ToolCallEnd(opened.part))
            else:
                self._end_bare(events)
                self._bare = opened.part

    def _end_bare(self, events: list[StreamEvent], cut: bool = False) -> None:
        """A call without arguments says `{}`; but one that the output limit has cut looks the same until the stop
        reason is read, and must not: so its end waits for what comes next."""
        if self._bare is None:
            return
        if not cut:
            events.append(ToolCallDelta(self._bare, "{}"))
        events.append(ToolCallEnd(self._bare))
        self._bare = None

    # ------------------------------------------------------------ JSON

    def decode_json(self, body: bytes) -> Batch:
        """A whole answer as one batch of events."""
        try:
            body.decode()  # what is only skipped is not checked, and travels on
            message = wire.message_decoder.decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise UpstreamProtocolError("the upstream's answer is not as its API has it") from error
        if message.type == "error" or bytes(message.error) not in NULL:
            raise error_from_body(body, 200)
        if message.content is None:
            raise UpstreamProtocolError("the upstream's answer has no content")
        events: list[StreamEvent] = [ResponseStart(message.id or None, message.model or None)]
        self._started = True
        for block in message.content:
            self._whole_block(bytes(block), events)
        self._count(message.usage, events)
        if message.stop_reason:
            self._finished(message.stop_reason, message.stop_details, events)
        self._close(events)
        whole = bool(message.id and message.model and message.usage and message.stop_reason)
        return Batch(tuple(events), source=Source(wire.DIALECT, body) if whole and message.type == "message" else None)

    def _whole_block(self, raw: bytes, events: list[StreamEvent]) -> None:
        self._end_block(self._start(raw, events), events)

    # ------------------------------------------------------------ ends

    def _finished(self, word: str, details: wire.StopDetails | None, events: list[StreamEvent]) -> None:
        """Why the turn ended. Calls make it tool_calls, whatever the word; truncation and a refusal win over calls."""
        reason = wire.STOP_REASONS.get(word, "stop")  # the word itself is kept beside it
        self._end_bare(events, cut=reason == "length")
        if reason == "content_filter" and self._finish is None and details is not None and details.explanation:
            part = self._next_part()
            events += (TextStart(part, refusal=True), TextDelta(part, details.explanation), TextEnd(part))
        if reason in ("stop", "tool_calls"):
            reason = "tool_calls" if self._calls else "stop"
        if self._finish is None or (self._finish.reason in ("stop", "tool_calls") and self._finish.raw != word):
            self._finish = Finish(reason, word)
            events.append(self._finish)

    def _close(self, events: list[StreamEvent]) -> None:
        """Everything that ends with the answer's end."""
        self._ended = True
        if self._finish is None and not self._parts:
            raise UpstreamProtocolError("the upstream's answer is empty: no content and no stop reason")
        for index in sorted(self._open):
            opened = self._open[index]
            if self._finish is None and opened.kind == "tool_use" and not is_object("".join(opened.pieces)):
                raise UpstreamTruncated("the upstream's answer ended inside a tool call's arguments")
            self._end_block(opened, events)
        self._open.clear()
        self._end_bare(events, cut=self._finish is not None and self._finish.reason == "length")
        if self._finish is None:
            events.append(Finish("tool_calls" if self._calls else "stop"))
        elif self._finish.reason == "stop" and self._calls:  # a call after the reason
            events.append(Finish("tool_calls", self._finish.raw))
        events.append(ResponseEnd(self._usage))

    def _next_part(self) -> int:
        self._parts += 1
        return self._parts - 1

    # ------------------------------------------------------------ usage

    def _count(self, counts: wire.Usage | None, events: list[StreamEvent]) -> None:
        """Counts are cumulative: a later one replaces an earlier one."""
        if counts is None:
            return
        for name in wire.Usage.__struct_fields__:
            if (value := getattr(counts, name)) is not None:
                setattr(self._counts, name, value)
        self._usage = usage(self._counts)
        events.append(UsageUpdate(self._usage))
