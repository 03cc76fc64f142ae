"""Neutral events as events of the Responses API.

Some items end only with the answer, since only the finish shows whether they are complete: a message that later text
may extend, a call whose arguments do not parse, a freeform call. Any other item ends with its part. Nothing else is
held: the deltas of parallel calls interleave.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from toolwire.doors import AnswerContext
from toolwire.doors.responses.item_events import (
    Output,
    close_content,
    content_place,
    delta_of,
    place,
    summary_place,
    text_delta_of,
)
from toolwire.doors.responses.numbered_events import Emitter
from toolwire.doors.responses.open_items import WHOLE, Content, OutputItem
from toolwire.doors.responses.output_items import text_content
from toolwire.doors.responses.response_object import ResponseShape, status_of
from toolwire.doors.responses.tools import Names
from toolwire.model.events import (
    Finish,
    OpaquePart,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    ResponseEnd,
    ResponseStart,
    StreamEvent,
    TextDelta,
    TextStart,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    Usage,
    UsageUpdate,
)
from toolwire.model.request import ChatRequest
from toolwire.wire.json import dump, is_object
from toolwire.wire.openai_responses import DIALECT


class EventWriter:
    """Writes one answer: neutral events in, bytes of the API's events out."""

    def __init__(self, request: ChatRequest, context: AnswerContext) -> None:
        self._context = context
        self.emitter = Emitter(extended=bool(request.options.extended_events))
        self.output = Output(self.emitter)
        self.start: ResponseStart | None = None
        self.usage: Usage | None = None
        self.same_dialect = False  # the upstream speaks this API, so a call's unnamed members can be written
        self._names = Names(request)
        self.shape = ResponseShape(request, context.now)
        self._refusals: dict[int, bool] = {}  # part index of an open text -> whether it is a refusal
        self._texts: dict[int, tuple[OutputItem, Content]] = {}  # part index -> where its text goes
        self._items: dict[int, OutputItem] = {}  # part index of reasoning or a call -> its item
        self._prefixes: dict[int, bytes] = {}  # part index -> the bytes in front of its deltas' text
        self._finish = Finish("stop")
        self._first_text: tuple[OutputItem, Content] | None = None  # an open part without text

    def write(self, events: Iterable[StreamEvent]) -> bytes:
        out = []
        for event in events:
            handler = _HANDLERS.get(type(event))
            if handler is not None:
                out.append(handler(self, event))
        return b"".join(out)

    # ------------------------------------------------------------ the response

    def lifecycle(self, kind: bytes) -> bytes:
        """An event with the response object, before the answer's end."""
        if self.emitter.frame is not None:
            return b""
        assert self.start is not None
        return self.emitter.event(
            kind, b'"response":', self.shape.write(self.start, "in_progress", self.output.finished())
        )

    def failed(self, error: bytes) -> bytes:
        """`response.failed`, with all output so far. Open items are incomplete in it."""
        assert self.start is not None
        self.output.cut_open()
        response = self.shape.write(self.start, "failed", self.output.finished(), usage=self.usage, error=error)
        return self.ending(b"response.failed", response)

    def ending(self, kind: bytes, response: bytes) -> bytes:
        """The last event, with `response.done` behind it if the client asked for that."""
        self._context.final = response if kind != b"response.failed" else b""
        return self.emitter.event(kind, b'"response":', response) + self.done(response)

    def done(self, response: bytes) -> bytes:
        """The reference document's last event, for a client that asked for it."""
        return self.emitter.extended(b"response.done", b'"response":', response)

    def close_all(self) -> bytes:
        """Ends all open items."""
        return self.output.close_all(self._finish)

    def _started(self, event: ResponseStart) -> bytes:
        self.start = event
        self.output.response_id = event.id or ""
        out = self.lifecycle(b"response.created") + self.lifecycle(b"response.in_progress")
        if self.emitter.is_extended and self.emitter.frame is None:
            # In the reference document's order the message comes first, said or not, and calls begin at index 1.
            self._first_text, begun = self._open_content(refusal=False)
            out += begun
        return out

    def _end(self, event: ResponseEnd) -> bytes:
        self.usage = event.usage or self.usage or Usage()
        if self.emitter.frame is not None:
            return b""
        assert self.start is not None
        out, finish = self.close_all(), self._finish
        status = status_of(finish)
        response = self.shape.write(self.start, status, self.output.finished(), usage=self.usage, finish=finish)
        return out + self.ending(b"response." + status.encode(), response)

    def _used(self, event: UsageUpdate) -> bytes:
        self.usage = event.usage
        return b""

    def _finished(self, event: Finish) -> bytes:
        self._finish = event
        return b""

    def _opaque(self, part: OpaquePart) -> bytes:
        """Writes an item that only this API knows. A part that only another API knows is not written."""
        if part.dialect != DIALECT or self.emitter.frame is not None:
            return b""
        return self.output.whole(part.raw)

    # ------------------------------------------------------------ text

    def _text_begins(self, event: TextStart) -> bytes:
        """Notes that a text begins. Its first delta opens the message, so an empty one is not shown."""
        self._refusals[event.index] = event.refusal
        return b""

    def _text(self, event: TextDelta) -> bytes:
        found, out = self._texts.get(event.index), b""
        if found is None or found[0].closed:
            found, out = self._content_for(self._refusals[event.index])
            self._texts[event.index] = found
            kind, where = text_delta_of(*found)
            self._prefixes[event.index] = b'event: %b\ndata: {"type":"%b",%b,"delta":' % (kind, kind, where)
        content = found[1]
        content.pieces.append(event.text)
        if self.emitter.frame is not None:
            return out
        number = self.emitter.next_number()
        logprobs = b"" if content.refusal else b',"logprobs":[]'
        said = self._prefixes[event.index] + dump(event.text)
        return b'%b%b%b,"sequence_number":%d}\n\n' % (out, said, logprobs, number)

    def _content_for(self, refusal: bool) -> tuple[tuple[OutputItem, Content], bytes]:
        """The content for a text: in the reference document's order the open part without text, else a new one."""
        waiting, self._first_text = self._first_text, None
        if waiting is not None and not refusal and not waiting[0].closed:
            return waiting, b""
        return self._open_content(refusal)

    def _open_content(self, refusal: bool) -> tuple[tuple[OutputItem, Content], bytes]:
        """Opens another part of the open message, or of a new one."""
        item, out = self.output.message()
        out += b"".join([close_content(self.emitter, item, content) for content in item.contents])
        content = Content(len(item.contents), refusal)
        frame = self.emitter.frame
        if frame is not None and frame.content_index is not None:
            content.index = frame.content_index
        item.contents.append(content)
        where, part = content_place(item, content), text_content("", refusal)
        return (item, content), out + self.emitter.event(b"response.content_part.added", where, b',"part":', part)

    # ------------------------------------------------------------ reasoning

    def _reasoning_begins(self, event: ReasoningStart) -> bytes:
        """Notes that reasoning begins. Its first text, or its state, opens the item."""
        if self.emitter.frame is not None:
            self._items[event.index] = self.output.begin("reasoning")
        return b""

    def _reasoning(self, event: ReasoningDelta) -> bytes:
        item, out = self._items.get(event.index), b""
        if item is None:
            self._items[event.index] = item = self.output.begin("reasoning")
            begun = b',"part":{"type":"summary_text","text":""}'
            out = self.output.added(item)
            out += self.emitter.event(b"response.reasoning_summary_part.added", summary_place(item), begun)
        item.pieces.append(event.text)
        return out + self.emitter.event(*delta_of(item), b',"delta":', dump(event.text))

    def _end_reasoning(self, event: ReasoningEnd) -> bytes:
        """Ends reasoning. Without readable text it is still an item, if it has state to be sent back."""
        item, out = self._items.get(event.index), b""
        if item is None:
            if event.signature is None:
                return b""
            self._items[event.index] = item = self.output.begin("reasoning")
            out = self.output.added(item)
        item.signature = event.signature
        if self.emitter.frame is not None or item.closed:
            return out
        return out + self.output.end(item)

    # ------------------------------------------------------------ calls

    def _open_call(self, event: ToolCallStart) -> bytes:
        self._items[event.index] = item = self.output.begin(self._names.item_kind(event.name, event.kind))
        item.call_id, item.name = event.id or "", self._names.split(event.name)
        item.extra = event.extra if self.same_dialect else ()
        begun = b',"call_id":%b,"name":%b' % (dump(item.call_id), dump(item.name[1]))
        return self.output.added(item) + self.emitter.extended(b"response.output_tool_call.begin", place(item), begun)

    def _fragment(self, event: ToolCallDelta) -> bytes:
        item, said = self._items[event.index], dump(event.fragment)
        item.pieces.append(event.fragment)
        item.mended = item.mended or (self.emitter.frame is None and item.index in self.output.raw_open)
        out = self.emitter.event(*delta_of(item), b',"delta":', said) if item.kind not in WHOLE else b""
        return out + self.emitter.extended(b"response.output_tool_call.delta", place(item), b',"delta":', said)

    def _end_call(self, event: ToolCallEnd) -> bytes:
        """Ends the call if it is certainly complete; else the finish does."""
        item = self._items[event.index]
        is_free = item.kind == "custom_tool_call"
        if self.emitter.frame is not None or item.closed or is_free or not is_object(item.text):
            return b""
        return self.output.end(item)


_HANDLERS: dict[type, Callable[[EventWriter, Any], bytes]] = {
    TextDelta: EventWriter._text,
    ToolCallDelta: EventWriter._fragment,
    ReasoningDelta: EventWriter._reasoning,
    ReasoningStart: EventWriter._reasoning_begins,
    TextStart: EventWriter._text_begins,
    ToolCallStart: EventWriter._open_call,
    ToolCallEnd: EventWriter._end_call,
    ReasoningEnd: EventWriter._end_reasoning,
    OpaquePart: EventWriter._opaque,
    ResponseStart: EventWriter._started,
    UsageUpdate: EventWriter._used,
    Finish: EventWriter._finished,
    ResponseEnd: EventWriter._end,
}
