"""The output of a streamed answer: its items, and the events that open and end them."""

from __future__ import annotations

import msgspec

from toolwire.doors.responses.numbered_events import Emitter
from toolwire.doors.responses.open_items import Content, Kind, OutputItem
from toolwire.doors.responses.output_items import item_id, text_content
from toolwire.model.events import Finish
from toolwire.wire.json import dump


class _Id(msgspec.Struct):
    id: object = None


class Output:
    """The items of one answer, finished and open. An open one is written by us, or is the upstream's own."""

    def __init__(self, emitter: Emitter) -> None:
        self.response_id = ""
        self.open: list[OutputItem] = []
        self.next_index = 0
        self.raw_open: dict[int, str] = {}  # output index -> id of an open item whose events are the upstream's
        self._emitter = emitter
        self._finished: dict[int, bytes] = {}  # output index -> finished item
        self._message: OutputItem | None = None  # the one that still takes text

    def begin(self, kind: Kind) -> OutputItem:
        """Begins an item behind all others. While an upstream's own event is shown, it is the upstream's item."""
        frame = self._emitter.frame
        if frame is not None and frame.output_index is not None:
            index = frame.output_index
            item = OutputItem(kind, self.raw_open.get(index, frame.item_id or ""), index)
        else:
            index = self._next()
            item = OutputItem(kind, item_id(kind, self.response_id, index), index)
        self.open.append(item)
        return item

    def _next(self) -> int:
        index, self.next_index = self.next_index, self.next_index + 1
        return index

    def message(self) -> tuple[OutputItem, bytes]:
        """The open message, and the events that open it if it is new."""
        if self._message is not None:
            return self._message, b""
        self._message = item = self.begin("message")
        return item, self.added(item)

    def added(self, item: OutputItem) -> bytes:
        """The events that open an item. A message before it ends, except in the reference document's order."""
        out = self._close_message() if item.kind != "message" and not self._emitter.is_extended else b""
        return out + self._emitter.item_event(b"response.output_item.added", item.index, item.id, item.opening())

    def end(self, item: OutputItem) -> bytes:
        """The events that end an item which is complete."""
        self.open.remove(item)
        return self._close(item, "completed")

    def _close(self, item: OutputItem, status: str) -> bytes:
        """The events that end an item, and its place in the output."""
        out = _close_item(self._emitter, item)
        item.closed = True
        self.raw_open.pop(item.index, None)
        return out + self._finish(item.index, item.id, item.write(status))

    def _finish(self, index: int, id: str, raw: bytes) -> bytes:
        self._finished[index] = raw
        return self._emitter.item_event(b"response.output_item.done", index, id, raw)

    def close_all(self, finish: Finish) -> bytes:
        """Ends all open items. If the output limit or a filter has cut the answer, the last one is incomplete."""
        last = self.next_index - 1
        out = [
            self._close(item, item.final_status(finish, item.index == last))
            for item in sorted(self.open, key=lambda item: item.index)
        ]
        self.open, self._message = [], None
        return b"".join(out)

    def cut_open(self) -> None:
        """Puts the open items into the output, as incomplete."""
        self._finished |= {item.index: item.write("incomplete") for item in self.open}

    def finished(self) -> list[bytes]:
        """The finished items, in their order."""
        return [self._finished[index] for index in sorted(self._finished)]

    def whole(self, raw: bytes) -> bytes:
        """Takes an item that only this API knows, which comes in one piece."""
        out = self._close_message()
        id = msgspec.json.decode(raw, type=_Id).id
        known = {item.index for item in self.open}
        begun = [index for index in self.raw_open if index not in known]
        if begun:  # its id may have changed
            index = next((index for index in begun if self.raw_open[index] == id), begun[0])
            del self.raw_open[index]
        else:
            index = self._next()
            out += self._emitter.item_event(b"response.output_item.added", index, str(id), raw)
        return out + self._finish(index, str(id), raw)

    def open_raw(self, index: int, id: str, *, is_message: bool) -> None:
        """Notes that the upstream has begun an item of its own. A message is known only by this; other items by their
        events."""
        self.raw_open[index] = id
        self.next_index = max(self.next_index, index + 1)
        if is_message:
            self._message = OutputItem("message", id, index)
            self.open.append(self._message)

    def told_end(self, index: int) -> None:
        """Notes that the upstream's own event has ended the arguments of this item."""
        for item in self.open:
            if item.index == index:
                item.mended = False

    def end_mended(self, index: int) -> bytes:
        """The event that ends the arguments of the upstream's own item, if the last of them were written anew in place
        of the upstream's event."""
        mended = [item for item in self.open if item.index == index and item.mended]
        return b"".join([_text_ended(self._emitter, item) for item in mended])

    def close_raw(self, index: int, raw: bytes) -> bytes:
        """Notes that the upstream has ended an item of its own. Returns the reference document's event for that."""
        self._finished[index] = raw
        self.raw_open.pop(index, None)
        ended = [item for item in self.open if item.index == index]
        self.open = [item for item in self.open if item.index != index]
        if self._message in ended:
            self._message = None
        return b"".join([_call_ended(self._emitter, item) for item in ended])

    def _close_message(self) -> bytes:
        """Ends the open message before an item of another kind. In the lane the upstream's own events do that."""
        item = self._message
        if item is None or self._emitter.frame is not None:
            return b""
        self._message = None
        return self.end(item)


def _close_item(emitter: Emitter, item: OutputItem) -> bytes:
    """The events that end an item's content, before the item itself ends."""
    text = item.text
    match item.kind:
        case "message":
            out = b"".join([close_content(emitter, item, content) for content in item.contents])
        case "reasoning":
            out = _close_summary(emitter, item, text) if item.pieces else b""
        case _:
            out = _text_ended(emitter, item)
    return out + _call_ended(emitter, item)


def _text_ended(emitter: Emitter, item: OutputItem) -> bytes:
    """The event that ends the arguments or the input of a call; none for a call without such events."""
    if item.kind == "custom_tool_call":
        return emitter.event(b"response.custom_tool_call_input.done", place(item), b',"input":', dump(item.text))
    if item.kind == "function_call":
        said = b',"arguments":%b,"name":%b' % (dump(item.text), dump(item.name[1]))
        return emitter.event(b"response.function_call_arguments.done", place(item), said)
    return b""


def close_content(emitter: Emitter, item: OutputItem, content: Content) -> bytes:
    """The events that end a part of a message, none if it has ended."""
    if content.closed:
        return b""
    content.closed = True
    where, text = content_place(item, content), dump(content.text)
    if content.refusal:
        out = emitter.event(b"response.refusal.done", where, b',"refusal":', text)
    else:
        out = emitter.event(b"response.output_text.done", where, b',"text":', text, b',"logprobs":[]')
    part = text_content(content.text, content.refusal)
    return out + emitter.event(b"response.content_part.done", where, b',"part":', part)


def _close_summary(emitter: Emitter, item: OutputItem, text: str) -> bytes:
    where, said = summary_place(item), dump(text)
    out = emitter.event(b"response.reasoning_summary_text.done", where, b',"text":', said)
    part = b',"part":{"type":"summary_text","text":%b}' % said
    return out + emitter.event(b"response.reasoning_summary_part.done", where, part)


def _call_ended(emitter: Emitter, item: OutputItem) -> bytes:
    if not item.call_id:
        return b""
    said = b',"name":%b,"arguments":%b' % (dump(item.name[1]), dump(item.text))
    return emitter.extended(b"response.output_tool_call.end", place(item), said)


def place(item: OutputItem) -> bytes:
    """The members of an event that name this item."""
    return b'"item_id":%b,"output_index":%d' % (dump(item.id), item.index)


def content_place(item: OutputItem, content: Content) -> bytes:
    """The members of an event that name this part of a message."""
    return b'%b,"content_index":%d' % (place(item), content.index)


def summary_place(item: OutputItem) -> bytes:
    """The members of an event that name this reasoning's summary, which is one part."""
    return place(item) + b',"summary_index":0'


def text_delta_of(item: OutputItem, content: Content) -> tuple[bytes, bytes]:
    """The kind of a message's deltas, and the members that name their place."""
    kind = b"response.refusal.delta" if content.refusal else b"response.output_text.delta"
    return kind, content_place(item, content)


def delta_of(item: OutputItem) -> tuple[bytes, bytes]:
    """The kind of the deltas of reasoning or of a call, and the members that name their place."""
    if item.kind == "reasoning":
        return b"response.reasoning_summary_text.delta", summary_place(item)
    kind = b"custom_tool_call_input" if item.kind == "custom_tool_call" else b"function_call_arguments"
    return b"response.%b.delta" % kind, place(item)
