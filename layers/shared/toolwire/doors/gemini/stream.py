"""The gemini door's stream: each chunk holds new content, and the last one the finish reason.

There are two forms, SSE and one JSON array, and only the end of the body ends them. A call is one part, so it is shown
when it has ended. google-genai reads every line other than `data:` as JSON, so there are no comments, and blank lines
keep the connection alive. A stream that broke off ends with an object with `error`, which google-genai raises.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from operator import is_

from toolwire.doors import AnswerContext
from toolwire.doors.gemini.document import (
    DEFAULT_FINISH,
    call_part,
    finish_reason,
    is_shown,
    render_chunk,
    render_usage,
    text_part,
)
from toolwire.doors.gemini.errors import render_error
from toolwire.framing.sse import encode_data
from toolwire.model.errors import GatewayError
from toolwire.model.events import (
    Batch,
    Finish,
    OpaquePart,
    ReasoningDelta,
    ReasoningEnd,
    ResponseEnd,
    ResponseStart,
    StreamEvent,
    TextDelta,
    TextEnd,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    Usage,
    UsageUpdate,
)
from toolwire.model.source import Members, raw_in
from toolwire.model.warnings import HEADER
from toolwire.stream.sequential import Sequential
from toolwire.wire.gemini import DIALECT
from toolwire.wire.json import dump, is_object
from toolwire.wire.plain import plain

#: The events that only end what the upstream's own chunks have shown.
_ENDS = (TextEnd, ReasoningEnd, ToolCallEnd)


@dataclass(slots=True)
class _Call:
    id: str
    name: str
    #: Whether the upstream's own chunk has shown it.
    shown: bool = False
    fragments: list[str] = field(default_factory=list)
    signature: str | None = None


class GeminiEncoder:
    """One streamed answer.

    An upstream's own chunk is shown as it is. From the finish reason on, all waits for the upstream's end, so that late
    content and a corrected reason can be put in their places.
    """

    def __init__(self, context: AnswerContext, *, in_array: bool) -> None:
        self._context, self._in_array = context, in_array
        self._sequence = Sequential()
        self._begun = False  # whether there was a chunk
        self._told = frozenset(context.warnings)  # the warnings that the head tells
        self._id: str | None = None
        self._model: str | None = None
        self._calls: dict[int, _Call] = {}
        self._unshown: list[_Call] = []  # calls whose arguments are no object: the end shows whether they were cut
        self._finish: Finish | None = None
        self._usage: Usage | None = None
        #: The upstream's own chunks from the finish reason on, each with its events.
        self._tail: list[tuple[Batch, list[StreamEvent]]] = []
        self._tail_finish: Finish | None = None  # their reason
        self._extra: dict[str, Members] = {}

    def encode(self, batch: Batch) -> bytes:
        ready: list[StreamEvent] = []
        for event in batch.events:
            self._note(event)
            if getattr(event, "index", None) is not None:
                ready += self._sequence.take(event)
        indexed = [event for event in batch.events if getattr(event, "index", None) is not None]
        raw = raw_in(batch, DIALECT)
        if raw is not None and len(ready) == len(indexed) and all(map(is_, ready, indexed)):
            return self._own(raw, batch, ready)
        extra = dict(batch.extra if raw is None else plain(batch).extra)
        is_more = any(type(event) not in _ENDS for event in ready)  # the finish reason was not the end
        parts = self._tail_parts() if is_more else []
        parts += [part for event in ready for part in self._parts(event)]
        shown = self._frame(render_chunk(parts, self._id, self._model, extra=extra)) if parts else b""
        if not parts:
            self._extra |= extra
        return shown + (self._end() if _ends(batch) else b"")

    def fail(self, error: GatewayError, request_id: str) -> bytes:
        """An object with the error and nothing after it: the official SDKs raise from it."""
        parts = self._tail_parts()
        before = self._frame(render_chunk(parts, self._id, self._model)) if parts else b""
        shown = self._frame(render_error(error, request_id).replace(b"\n", b" "))
        return before + shown + (b"]" if self._in_array else b"")

    def keep_alive(self) -> bytes:
        return b"\n"

    def _note(self, event: StreamEvent) -> None:
        if type(event) is UsageUpdate:
            self._usage = event.usage
        elif type(event) is Finish:
            self._finish = event
        elif type(event) is ResponseStart:
            self._id, self._model = event.id, event.model

    # ------------------------------------------------------------ the upstream's own chunks

    def _own(self, raw: bytes, batch: Batch, events: list[StreamEvent]) -> bytes:
        for event in events:
            if type(event) is ToolCallStart:
                self._calls[event.index] = _Call(event.id or "", event.name, shown=True)
        if any(type(event) is Finish for event in batch.events):
            self._tail_finish = self._finish
        elif not self._tail:
            return self._frame(raw) + (self._end() if _ends(batch) else b"")
        self._tail.append((batch, events))
        return self._end() if _ends(batch) else b""

    def _tail_parts(self) -> list[bytes]:
        """The parts of the held chunks, for a finish reason that was not the end."""
        held, self._tail = self._tail, []
        for batch, _ in held:
            self._extra |= dict(plain(batch).extra)
        return [part for _, events in held for event in events for part in self._parts(event)]

    # ------------------------------------------------------------ our own

    def _parts(self, event: StreamEvent) -> list[bytes]:
        match event:
            case TextDelta(_, text):
                return [text_part(text)] if text else []
            case ReasoningDelta(_, text):
                return [text_part(text, thought=True)] if text else []
            case TextEnd(_, signature):
                return [text_part("", signature)] if signature else []
            case ReasoningEnd(_, signature):
                return [text_part("", signature, thought=True)] if signature else []
            case ToolCallStart():
                self._calls[event.index] = _Call(event.id or "", event.name)
            case ToolCallDelta(index, fragment):
                self._calls[index].fragments.append(fragment)
            case ToolCallEnd(index, signature):
                return self._end_call(self._calls.pop(index), signature)
            case OpaquePart(_, _, dialect, raw):
                return [raw] if dialect == DIALECT else []
            case _:
                pass
        return []

    def _end_call(self, call: _Call, signature: str | None) -> list[bytes]:
        if call.shown:
            return []
        call.signature = signature
        arguments = "".join(call.fragments)
        if self._unshown or not _is_whole(arguments, self._finish):
            self._unshown.append(call)
            return []
        return [call_part(call.id, call.name, arguments, signature)]

    def _end(self) -> bytes:
        """The last chunk: the calls that may have been cut, the finish reason and usage."""
        finish = self._finish or DEFAULT_FINISH
        is_own = bool(self._tail) and self._tail_finish is self._finish
        parts = [] if is_own else self._tail_parts()
        calls = [(call, "".join(call.fragments)) for call in self._unshown]
        parts += [
            call_part(call.id, call.name, arguments, call.signature)
            for call, arguments in calls
            if is_shown(call.name, arguments, finish, self._context)
        ]
        late = self._late_warnings()
        told = [("finishMessage", dump(f"{HEADER}: {late}"))] if late else []
        if is_own:  # the upstream's own end
            before = [render_chunk(parts, self._id, self._model, stop=told)] if parts or told else []
            own = [raw for batch, _ in self._tail if (raw := raw_in(batch, DIALECT)) is not None]
            shown = b"".join(map(self._frame, (*before, *own)))
        else:
            stop = [*told, ("finishReason", dump(finish_reason(finish)))]
            usage = render_usage(self._usage)
            shown = self._frame(render_chunk(parts, self._id, self._model, stop=stop, usage=usage, extra=self._extra))
        return shown + (b"]" if self._in_array else b"")

    def _late_warnings(self) -> str:
        """The warnings that came after the head. This API has one place for them: the message beside the finish
        reason."""
        return self._context.warnings.header(self._told)

    def _frame(self, chunk: bytes) -> bytes:
        if not self._in_array:
            # On one line: the SDK for Node reads a frame of no other form. In JSON, line breaks are white space.
            return encode_data(chunk.replace(b"\r", b" ").replace(b"\n", b" "))
        lead = b",\r\n" if self._begun else b"["
        self._begun = True
        return lead + chunk


def _is_whole(arguments: str, finish: Finish | None) -> bool:
    """Whether an ended call can be shown before the finish reason is known."""
    return is_object(arguments) or (not arguments.strip() and finish is not None and not finish.is_cut)


def _ends(batch: Batch) -> bool:
    return any(type(event) is ResponseEnd for event in batch.events)
