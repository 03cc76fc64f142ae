"""Neutral events as events of the Responses API.

An item whose completeness only the finish can tell ends with the answer: a message that later text may extend, a call
whose arguments do not parse, a freeform call. Every other one ends as soon as its part does. Nothing is held back else:
the deltas of parallel calls interleave.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from toolwire.doors.responses import items
from toolwire.doors.responses.open_items import Content, Kind, OutputItem
from toolwire.doors.responses.tools import Names
from toolwire.framing.sse import encode_event
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
from toolwire.model.source import Members
from toolwire.wire.json import dump, is_object
from toolwire.wire.openai_responses import DIALECT


class Frame(msgspec.Struct):
    """What is read of an upstream's event that is shown as it is."""

    type: str
    sequence_number: int | None = None
    output_index: int | None = None
    content_index: int | None = None
    item_id: str | None = None
    item: msgspec.Raw = msgspec.Raw(b"null")
    response: msgspec.Raw = msgspec.Raw(b"null")


class _Id(msgspec.Struct):
    id: object = None


class EventWriter:
    """Writes one answer. While `frame` is set the upstream's own event is being shown: the state follows, and nothing
    is written."""

    def __init__(self, request: ChatRequest) -> None:
        self.frame: Frame | None = None
        self.sequence = 0  # the number of the next event
        self.start: ResponseStart | None = None
        self.open: list[OutputItem] = []
        self.output: dict[int, bytes] = {}  # output index -> finished item
        self.next_index = 0
        self.raw_open: dict[int, str] = {}  # output index -> id of an open item whose events are the upstream's
        self.usage: Usage | None = None
        self.same_dialect = False  # whether the upstream speaks this API, and a call's unnamed members mean something
        self._names = Names(request)
        self._shape = items.ResponseShape(request)
        self._extended = request.options.extended_events
        self._refusals: dict[int, bool] = {}  # part index of a text -> whether it is a refusal
        self._texts: dict[int, tuple[OutputItem, Content]] = {}  # part index -> where its text goes
        self._items: dict[int, OutputItem] = {}  # part index of reasoning or a call -> its item
        self._message: OutputItem | None = None  # the one that still takes text
        self._prefixes: dict[int, bytes] = {}  # part index -> how its deltas begin
        self._finish = Finish("stop")

    def write(self, events: Iterable[StreamEvent]) -> bytes:
        out = []
        for event in events:
            handler = _HANDLERS.get(type(event))
            if handler is not None:
                out.append(handler(self, event))
        return b"".join(out)

    # ------------------------------------------------------------ the response

    def note(self, extra: Members) -> None:
        """What an upstream of this API says of the response and no event tells: it stands in every later one."""
        self._shape.extra |= {name: items.one_line(value) for name, value in extra}

    def lifecycle(self, kind: bytes) -> bytes:
        """An event that shows the response as it stands before its end."""
        if self.frame is not None:
            return b""
        assert self.start is not None
        return self.event(kind, b'"response":', self._shape.write(self.start, "in_progress", self.in_order()))

    def failed(self, error: bytes) -> bytes:
        """`response.failed`, with all that was said. What is open was not finished."""
        assert self.start is not None
        self.output |= {item.index: item.write("incomplete") for item in self.open}
        response = self._shape.write(self.start, "failed", self.in_order(), usage=self.usage, error=error)
        return self.ending(b"response.failed", response)

    def ending(self, kind: bytes, response: bytes) -> bytes:
        """The last event, and the reference document's own behind it."""
        return self.event(kind, b'"response":', response) + self.done(response)

    def done(self, response: bytes) -> bytes:
        """The reference document's last event, for a client that has asked for it."""
        return self._extra(b"response.done", b'"response":', response)

    def close_all(self) -> bytes:
        """Ends what is open. What the output limit or a filter has cut was the last."""
        last = self.next_index - 1
        out = [
            self._close(item, item.final_status(self._finish, item.index == last))
            for item in sorted(self.open, key=lambda item: item.index)
        ]
        self.open, self._message = [], None
        return b"".join(out)

    def in_order(self) -> list[bytes]:
        """The finished items."""
        return [self.output[index] for index in sorted(self.output)]

    def _started(self, event: ResponseStart) -> bytes:
        self.start = event
        return self.lifecycle(b"response.created") + self.lifecycle(b"response.in_progress")

    def _end(self, event: ResponseEnd) -> bytes:
        self.usage = event.usage or self.usage or Usage()
        if self.frame is not None:
            return b""
        assert self.start is not None
        out, finish = self.close_all(), self._finish
        status = items.status_of(finish)
        response = self._shape.write(self.start, status, self.in_order(), usage=self.usage, finish=finish)
        return out + self.ending(b"response." + status.encode(), response)

    def _used(self, event: UsageUpdate) -> bytes:
        self.usage = event.usage
        return b""

    def _finished(self, event: Finish) -> bytes:
        self._finish = event
        return b""

    # ------------------------------------------------------------ items

    def _new_item(self, kind: Kind) -> OutputItem:
        """An item behind all others; the upstream's own where its event is being shown."""
        assert self.start is not None
        if self.frame is not None and self.frame.output_index is not None:
            index = self.frame.output_index
            item = OutputItem(kind, self.raw_open.get(index, self.frame.item_id or ""), index)
        else:
            index, self.next_index = self.next_index, self.next_index + 1
            item = OutputItem(kind, items.item_id(kind, self.start.id or "", index), index)
        self.open.append(item)
        return item

    def _added(self, item: OutputItem) -> bytes:
        """The event that opens an item. A message before it is over."""
        out = self._close_message() if item.kind != "message" else b""
        return out + self.event(
            b"response.output_item.added", b'"output_index":%d,"item":' % item.index, item.opening()
        )

    def _close(self, item: OutputItem, status: str) -> bytes:
        """The events that end an item, and its place in the output."""
        text = item.text
        match item.kind:
            case "message":
                out = b"".join([self._close_content(item, content) for content in item.contents])
            case "reasoning":
                out = self._close_summary(item, text) if item.pieces else b""
            case "custom_tool_call":
                out = self.event(b"response.custom_tool_call_input.done", place(item), b',"input":', dump(text))
            case "function_call":
                said = b',"arguments":%b,"name":%b' % (dump(text), dump(item.name[1]))
                out = self.event(b"response.function_call_arguments.done", place(item), said)
        out += self._call_ended(item)
        item.closed = True
        self.raw_open.pop(item.index, None)
        self.output[item.index] = raw = item.write(status)
        return out + self.event(b"response.output_item.done", b'"output_index":%d,"item":' % item.index, raw)

    def _opaque(self, part: OpaquePart) -> bytes:
        """An item that only this API knows. What another API alone understands is not for this client."""
        if part.dialect != DIALECT or self.frame is not None:
            return b""
        out = self._close_message()
        id = msgspec.json.decode(part.raw, type=_Id).id
        known = {item.index for item in self.open}
        begun = [index for index in self.raw_open if index not in known]
        if begun:  # it may go by another id now
            index = next((index for index in begun if self.raw_open[index] == id), begun[0])
            del self.raw_open[index]
        else:
            index, self.next_index = self.next_index, self.next_index + 1
            out += self.event(b"response.output_item.added", b'"output_index":%d,"item":' % index, part.raw)
        self.output[index] = part.raw
        return out + self.event(b"response.output_item.done", b'"output_index":%d,"item":' % index, part.raw)

    def open_raw(self, index: int, id: str, *, is_message: bool) -> None:
        """The upstream has begun an item of its own. A message is known by it alone; the others are by their events."""
        self.raw_open[index] = id
        self.next_index = max(self.next_index, index + 1)
        if is_message:
            self._message = OutputItem("message", id, index)
            self.open.append(self._message)

    def close_raw(self, index: int, raw: bytes) -> bytes:
        """The upstream has ended an item of its own. Returns the reference document's event for that."""
        self.output[index] = raw
        self.raw_open.pop(index, None)
        ended = [item for item in self.open if item.index == index]
        self.open = [item for item in self.open if item.index != index]
        if self._message in ended:
            self._message = None
        return b"".join([self._call_ended(item) for item in ended])

    def _call_ended(self, item: OutputItem) -> bytes:
        if not item.call_id:
            return b""
        said = b',"name":%b,"arguments":%b' % (dump(item.name[1]), dump(item.text))
        return self._extra(b"response.output_tool_call.end", place(item), said)

    # ------------------------------------------------------------ text

    def _text_begins(self, event: TextStart) -> bytes:
        """The message is opened by its first text: one that says nothing is none."""
        self._refusals[event.index] = event.refusal
        return b""

    def _text(self, event: TextDelta) -> bytes:
        found, out = self._texts.get(event.index), b""
        if found is None or found[0].closed:
            found, out = self._open_content(self._refusals[event.index])
            self._texts[event.index] = found
            kind, where = text_delta_of(*found)
            self._prefixes[event.index] = b'event: %b\ndata: {"type":"%b",%b,"delta":' % (kind, kind, where)
        content = found[1]
        content.pieces.append(event.text)
        if self.frame is not None:
            return out
        number, self.sequence = self.sequence, self.sequence + 1
        logprobs = b"" if content.refusal else b',"logprobs":[]'
        said = self._prefixes[event.index] + dump(event.text)
        return b'%b%b%b,"sequence_number":%d}\n\n' % (out, said, logprobs, number)

    def _open_content(self, refusal: bool) -> tuple[tuple[OutputItem, Content], bytes]:
        """Another part of the message that takes text, or of a new one."""
        item, out = self._message, b""
        if item is None:
            self._message = item = self._new_item("message")
            out = self._added(item)
        out += b"".join([self._close_content(item, content) for content in item.contents])
        content = Content(len(item.contents), refusal)
        if self.frame is not None and self.frame.content_index is not None:
            content.index = self.frame.content_index
        item.contents.append(content)
        where, part = _content_place(item, content), items.text_content("", refusal)
        return (item, content), out + self.event(b"response.content_part.added", where, b',"part":', part)

    def _close_content(self, item: OutputItem, content: Content) -> bytes:
        if content.closed:
            return b""
        content.closed = True
        where, text = _content_place(item, content), dump(content.text)
        if content.refusal:
            out = self.event(b"response.refusal.done", where, b',"refusal":', text)
        else:
            out = self.event(b"response.output_text.done", where, b',"text":', text, b',"logprobs":[]')
        part = items.text_content(content.text, content.refusal)
        return out + self.event(b"response.content_part.done", where, b',"part":', part)

    def _close_message(self) -> bytes:
        """Before an item of another kind. In the lane the upstream's own events show that it is over."""
        item = self._message
        if item is None or self.frame is not None:
            return b""
        self._message = None
        self.open.remove(item)
        return self._close(item, "completed")

    # ------------------------------------------------------------ reasoning

    def _reasoning_begins(self, event: ReasoningStart) -> bytes:
        """An item of ours is opened by its first text, or by its state."""
        if self.frame is not None:
            self._items[event.index] = self._new_item("reasoning")
        return b""

    def _reasoning(self, event: ReasoningDelta) -> bytes:
        item, out = self._items.get(event.index), b""
        if item is None:
            self._items[event.index] = item = self._new_item("reasoning")
            begun = b',"part":{"type":"summary_text","text":""}'
            out = self._added(item)
            out += self.event(b"response.reasoning_summary_part.added", _summary_place(item), begun)
        item.pieces.append(event.text)
        return out + self.event(*delta_of(item), b',"delta":', dump(event.text))

    def _end_reasoning(self, event: ReasoningEnd) -> bytes:
        """Reasoning that nobody can read is an item too, if it has state to be sent back."""
        item, out = self._items.get(event.index), b""
        if item is None:
            if event.signature is None:
                return b""
            self._items[event.index] = item = self._new_item("reasoning")
            out = self._added(item)
        item.signature = event.signature
        if self.frame is not None or item.closed:
            return out
        self.open.remove(item)
        return out + self._close(item, "completed")

    def _close_summary(self, item: OutputItem, text: str) -> bytes:
        where, said = _summary_place(item), dump(text)
        out = self.event(b"response.reasoning_summary_text.done", where, b',"text":', said)
        part = b',"part":{"type":"summary_text","text":%b}' % said
        return out + self.event(b"response.reasoning_summary_part.done", where, part)

    # ------------------------------------------------------------ calls

    def _open_call(self, event: ToolCallStart) -> bytes:
        self._items[event.index] = item = self._new_item(
            "custom_tool_call" if event.kind == "custom" else "function_call"
        )
        item.call_id, item.name = event.id or "", self._names.split(event.name)
        item.extra = event.extra if self.same_dialect else ()
        begun = b',"call_id":%b,"name":%b' % (dump(item.call_id), dump(item.name[1]))
        return self._added(item) + self._extra(b"response.output_tool_call.begin", place(item), begun)

    def _fragment(self, event: ToolCallDelta) -> bytes:
        item, said = self._items[event.index], dump(event.fragment)
        item.pieces.append(event.fragment)
        out = self.event(*delta_of(item), b',"delta":', said)
        return out + self._extra(b"response.output_tool_call.delta", place(item), b',"delta":', said)

    def _end_call(self, event: ToolCallEnd) -> bytes:
        """Ends the call if it is certain to be whole; else the finish tells."""
        item = self._items[event.index]
        if self.frame is not None or item.closed or item.kind != "function_call" or not is_object(item.text):
            return b""
        self.open.remove(item)
        return self._close(item, "completed")

    # ------------------------------------------------------------ bytes

    def event(self, kind: bytes, *said: bytes) -> bytes:
        """One event of ours; none while the upstream's own is shown."""
        if self.frame is not None:
            return b""
        number, self.sequence = self.sequence, self.sequence + 1
        return encode_event(kind, b'{"type":"%b",%b,"sequence_number":%d}' % (kind, b"".join(said), number))

    def _extra(self, kind: bytes, *said: bytes) -> bytes:
        """One event of the reference document's own, which no client gets unasked."""
        if not self._extended:
            return b""
        frame, self.frame = self.frame, None
        out = self.event(kind, *said)
        self.frame = frame
        return out


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


def place(item: OutputItem) -> bytes:
    """Where an event of this item belongs."""
    return b'"item_id":%b,"output_index":%d' % (dump(item.id), item.index)


def _content_place(item: OutputItem, content: Content) -> bytes:
    return b'%b,"content_index":%d' % (place(item), content.index)


def _summary_place(item: OutputItem) -> bytes:
    return place(item) + b',"summary_index":0'


def text_delta_of(item: OutputItem, content: Content) -> tuple[bytes, bytes]:
    """The kind of a message's deltas, and their place."""
    kind = b"response.refusal.delta" if content.refusal else b"response.output_text.delta"
    return kind, _content_place(item, content)


def delta_of(item: OutputItem) -> tuple[bytes, bytes]:
    """The kind of the deltas of reasoning or of a call, and their place."""
    if item.kind == "reasoning":
        return b"response.reasoning_summary_text.delta", _summary_place(item)
    kind = b"custom_tool_call_input" if item.kind == "custom_tool_call" else b"function_call_arguments"
    return b"response.%b.delta" % kind, place(item)
