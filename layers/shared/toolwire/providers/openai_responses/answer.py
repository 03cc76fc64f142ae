"""Responses answers, decoded into neutral events: the stream's events and the JSON answer.

A frame that a client of the same API can read as it is keeps its `source`, also where the neutral model has no word for
it (annotations, a hosted tool's progress, whatever is new); one that needed repair (an item without its beginning, an
index or an id that is missing or changes, text that only a `.done` tells) loses it.
"""

from __future__ import annotations

from toolwire.framing import Frame
from toolwire.model.errors import UpstreamError, UpstreamProtocolError, UpstreamTruncated
from toolwire.model.events import (
    Batch,
    Finish,
    FinishReason,
    ResponseEnd,
    ResponseStart,
    StreamEvent,
    TextDelta,
    ToolCallDelta,
    Usage,
    UsageUpdate,
)
from toolwire.model.source import Source
from toolwire.providers.openai_responses.errors import error_in_answer
from toolwire.providers.openai_responses.items import Call, Item, Message, Parts, Place, new_item
from toolwire.providers.openai_responses.shapes import (
    NULL,
    is_event,
    read_event,
    read_item,
    read_response,
    read_usage,
    response_extra,
    without_source,
)
from toolwire.wire import openai_responses as wire

_NOTHING = Batch(())

#: Why a response is incomplete -> why the turn ended. An unknown word is the output limit's: the answer is not whole.
INCOMPLETE: dict[str, FinishReason] = {
    "max_output_tokens": "length", "max_messages": "length", "content_filter": "content_filter", "steered": "stop",
}  # fmt: skip

#: Event -> (the kind of item a delta belongs to, the name of the text's list in it).
_DELTAS = {
    "response.output_text.delta": ("message", "content"),
    "response.refusal.delta": ("message", "refusal"),
    "response.reasoning_summary_text.delta": ("reasoning", "summary"),
    "response.reasoning_text.delta": ("reasoning", "content"),
    "response.function_call_arguments.delta": ("function_call", "arguments"),
    "response.custom_tool_call_input.delta": ("custom_tool_call", "input"),
}
#: The events that tell a whole text again.
_WHOLES = {name.removesuffix("delta") + "done": place for name, place in _DELTAS.items()}

_TERMINAL = ("response.completed", "response.incomplete", "response.done")
_FAILED = ("response.failed", "response.cancelled")


class ResponsesDecoder:
    """One answer. `decode` takes the stream's frames and `end` its end; `decode_json` takes a whole JSON answer.

    All raise UpstreamError (or a subclass) for an error the upstream reports and for answers that make no sense; `end`
    raises UpstreamTruncated when the answer broke off.
    """

    def __init__(self) -> None:
        self._started = False
        self._ended = False
        self._parts = Parts()
        self._items: dict[int, Item] = {}  # by output_index, in the order in which they began
        self._by_id: dict[str, int] = {}
        self._usage: Usage | None = None

    # ------------------------------------------------------------ stream

    def decode(self, frame: Frame) -> Batch:
        data = frame.data
        if self._ended:
            return _NOTHING
        if data[:1] != b"{":
            data = data.strip()
            if data == b"[DONE]":
                return self._done()
            if not data or data[:1] == b":":  # a proxy's keep-alive, wrapped in a data field
                return _NOTHING
        event, exact = read_event(data)
        kind = event.type or frame.event or ""
        if kind == "error" or bytes(event.error) not in NULL:
            raise error_in_answer(data)
        events: list[StreamEvent] = []
        known, keep = self._event(kind, event, events)
        keep = keep and (exact or (not known and is_event(data)))
        keep = keep and event.type is not None and frame.event in (None, event.type)
        if keep:
            return Batch(tuple(events), source=Source(wire.DIALECT, data))
        return Batch(tuple(events), response_extra(bytes(event.response)) if event.response is not wire.ABSENT else ())

    def end(self) -> Batch:
        """The body is over. Only a terminal event says that the answer is whole."""
        if self._ended:
            return _NOTHING
        if not self._started:
            raise UpstreamTruncated("the upstream's answer ended before it began")
        raise UpstreamTruncated("the upstream's answer broke off: no response.completed")

    def _done(self) -> Batch:
        """[DONE], which is not in this API: hosts that write it in place of response.completed have said all."""
        if not self._parts.count or any(not item.ended for item in self._items.values()):
            raise UpstreamTruncated("the upstream's answer broke off: no response.completed")
        events: list[StreamEvent] = []
        self._close(Finish("stop"), events)
        return Batch(tuple(events))

    def _event(self, kind: str, event: wire.Event, events: list[StreamEvent]) -> tuple[bool, bool]:
        """The events of one frame; whether they are all the frame says, and whether a client of the same API may see
        it as it is."""
        if kind in _DELTAS:
            return True, self._delta(event, *_DELTAS[kind], events)
        if kind in _WHOLES:
            return True, self._whole_text(event, *_WHOLES[kind], events)
        match kind:
            case "response.output_item.added":
                return True, self._item_added(event, events)
            case "response.output_item.done":
                return True, self._item_done(event, events)
            case "response.content_part.added" | "response.content_part.done":
                return True, self._content_part(kind, event, events)
            case "response.created" | "response.in_progress" | "response.queued":
                return True, self._response_start(event, events)
            case _ if kind in _TERMINAL or kind in _FAILED:
                return True, self._terminal(kind, event, events)
            case _:
                return False, True  # annotations, the progress of hosted tools, and whatever is new

    def _response_start(self, event: wire.Event, events: list[StreamEvent]) -> bool:
        response, exact = read_response(bytes(event.response)) if event.response is not wire.ABSENT else _NO_RESPONSE
        if self._started:
            return exact
        self._start(response, events)
        return exact and event.type == "response.created" and bool(response.id) and response.output == []

    def _start(self, response: wire.Response, events: list[StreamEvent]) -> None:
        self._started = True
        created = int(response.created_at) if response.created_at is not None else None
        events.append(ResponseStart(response.id or None, response.model or None, created))

    def _begin(self, events: list[StreamEvent]) -> bool:
        """An answer that begins without response.created is begun; whether there was nothing to repair."""
        if self._started:
            return True
        self._start(wire.Response(), events)
        return False

    # ------------------------------------------------------------ items

    def _item_added(self, event: wire.Event, events: list[StreamEvent]) -> bool:
        keep = self._begin(events)
        shape, exact = read_item(bytes(event.item))
        index = event.output_index
        if index is None or index in self._items:
            keep, index = False, self._next_index()
        self._open(index, shape, events)
        return keep and exact and bool(shape.id) and index == len(self._items) - 1

    def _next_index(self) -> int:
        return max(self._items, default=-1) + 1

    def _open(self, index: int, shape: wire.OutputItem, events: list[StreamEvent]) -> Item:
        item = self._items[index] = new_item(shape, self._parts)
        if shape.id:
            self._by_id.setdefault(shape.id, index)
        item.begin(shape, events)
        return item

    def _find(self, index: int | None, id: str | None, kind: str | None) -> Item | None:
        """The item that is meant: by its id, else by its index, else the last of its kind that is open. Hosts write
        index 0 on everything, or an id of its own in every event (GitHub Copilot)."""
        known = self._by_id.get(id) if id else None
        if known is not None:
            return self._items[known]
        item = self._items.get(index) if index is not None else None
        if item is not None and (kind is None or item.kind == kind):
            return item
        alike = [item for item in self._items.values() if not item.ended and item.kind == kind]
        return alike[-1] if alike else None

    def _named_exactly(self, item: Item, event: wire.Event) -> bool:
        return (
            event.output_index is not None
            and self._items.get(event.output_index) is item
            and (not item.id or item.id == event.item_id)
        )

    def _delta(self, event: wire.Event, kind: str, name: str, events: list[StreamEvent]) -> bool:
        keep = self._begin(events)
        item = self._find(event.output_index, event.item_id, kind)
        if item is None or item.ended:
            if not event.delta:
                return False
            item = self._implied(event, kind, events)
            keep = False
        item.say(_place(event, name), event.delta or "", events)
        return keep and event.delta is not None and self._named_exactly(item, event)

    def _implied(self, event: wire.Event, kind: str, events: list[StreamEvent]) -> Item:
        """The item that a delta without one belongs to: text and reasoning need no more than that; a call's name may
        still come with its end."""
        index = event.output_index
        free = index is not None and index not in self._items
        return self._open(index if free and index is not None else self._next_index(),
                          wire.OutputItem(kind, event.item_id), events)  # fmt: skip

    def _whole_text(self, event: wire.Event, kind: str, name: str, events: list[StreamEvent]) -> bool:
        keep = self._begin(events)
        whole = next((text for text in (event.text, event.refusal, event.arguments, event.input) if text), None)
        item = self._find(event.output_index, event.item_id, kind)
        if item is None:
            if not whole:
                return False
            item = self._implied(event, kind, events)
        if item.ended:
            return False
        said = len(events)
        item.close(_place(event, name), whole, events)
        return keep and len(events) == said and self._named_exactly(item, event)

    def _content_part(self, kind: str, event: wire.Event, events: list[StreamEvent]) -> bool:
        keep = self._begin(events)
        part = event.part or wire.OutputPart()
        item = self._find(
            event.output_index, event.item_id, "reasoning" if part.type == "reasoning_text" else "message"
        )
        if item is None and part.type in ("output_text", "refusal"):
            item, keep = self._implied(event, "message", events), False
        if item is None or item.ended:
            return False
        said = len(events)
        if not isinstance(item, Message):
            return keep and self._named_exactly(item, event)
        if kind == "response.content_part.added":
            item.open_part(part, event.content_index or 0, events)
        else:
            item.end_part(part, event.content_index or 0, events)
        keep = keep and not any(type(told) is TextDelta for told in events[said:])
        return keep and event.content_index is not None and self._named_exactly(item, event)

    def _item_done(self, event: wire.Event, events: list[StreamEvent]) -> bool:
        keep = self._begin(events)
        raw = bytes(event.item)
        shape, exact = read_item(raw)
        item = self._find(event.output_index, shape.id, shape.type)
        if item is None or item.ended:
            if item is not None and (item.id == shape.id or item.call_id == shape.call_id is not None):
                return False  # told twice
            free = event.output_index is not None and event.output_index not in self._items
            index = event.output_index if free and event.output_index is not None else self._next_index()
            item, keep = self._open(index, shape, events), False
        keep = keep and self._items.get(event.output_index if event.output_index is not None else -1) is item
        keep = keep and (item.id, item.kind) == (shape.id, shape.type)
        keep = keep and (not isinstance(item, Call) or item.call_id == shape.call_id)
        said = len(events)
        self._finish_item(item, shape, raw, events)
        told = [told for told in events[said:] if type(told) is TextDelta or type(told) is ToolCallDelta]
        return keep and exact and all(type(one) is ToolCallDelta and shape.arguments == "{}" for one in told)

    def _finish_item(
        self, item: Item, shape: wire.OutputItem, raw: bytes, events: list[StreamEvent], cut: bool = False
    ) -> None:
        """`cut`: the output limit has cut the answer, maybe in this item."""
        item.ended = True
        item.finish(shape, raw, shape.status == "incomplete" or (cut and shape.status != "completed"), events)

    # ------------------------------------------------------------ ends

    def _terminal(self, kind: str, event: wire.Event, events: list[StreamEvent]) -> bool:
        raw = bytes(event.response)
        response, exact = read_response(raw) if raw not in NULL else _NO_RESPONSE
        _raise_failure(response, kind in _FAILED)
        keep = exact and self._started and all(item.ended for item in self._items.values())
        if not self._started:
            self._start(response, events)
        finish = _finish(response, kind == "response.incomplete")
        said = len(events)
        self._take_output(response, finish.reason == "length", events)
        keep = keep and len(events) == said and kind != "response.done" and bool(response.id)
        keep = keep and (bool(response.output) or not self._items)
        usage = read_usage(response.usage)
        if usage is not None:
            self._usage = usage
            events.append(UsageUpdate(usage))
        if not self._parts.count and finish.raw is None and not raw:
            raise UpstreamProtocolError("the upstream's answer is empty: no output and no response at its end")
        self._close(finish, events)
        return keep and usage is not None

    def _take_output(self, response: wire.Response, cut: bool, events: list[StreamEvent]) -> None:
        """The response at the end tells what the stream has left out: items that have not ended, or never began."""
        for place, raw in enumerate(map(bytes, response.output or ())):
            shape, _ = read_item(raw)
            index = self._by_id.get(shape.id) if shape.id else None
            item = self._items.get(place if index is None else index)
            if item is not None and item.kind != shape.type:
                item = next((one for one in self._items.values() if _is(one, shape)), None)
            if item is None:
                item = self._open(self._next_index(), shape, events)
            if not item.ended:
                self._finish_item(item, shape, raw, events, cut)
        for item in self._items.values():
            if not item.ended:
                item.ended = True
                item.finish(None, b"", cut, events)

    def _close(self, finish: Finish, events: list[StreamEvent]) -> None:
        """The answer's end. Calls make it tool_calls; truncation and a filter win over them."""
        self._ended = True
        if finish.reason == "stop" and self._parts.calls:
            finish = Finish("tool_calls", finish.raw)
        events += (finish, ResponseEnd(self._usage))

    # ------------------------------------------------------------ JSON

    def decode_json(self, body: bytes) -> Batch:
        """A whole answer as one batch of events."""
        response, exact = read_response(body)
        _raise_failure(response, failed=False)
        _raise_unfinished(response)
        if response.output is None:
            raise UpstreamProtocolError("the upstream's answer has no output")
        events: list[StreamEvent] = []
        self._start(response, events)
        finish = _finish(response, incomplete=False)
        for place, raw in enumerate(map(bytes, response.output)):
            shape, typed = read_item(raw)
            exact = exact and typed
            item = self._open(place, shape, events)
            self._finish_item(item, shape, raw, events, cut=finish.reason == "length")
        if (usage := read_usage(response.usage)) is not None:
            self._usage = usage
            events.append(UsageUpdate(usage))
        self._close(finish, events)
        whole = exact and response.object == "response" and bool(response.id and response.model)
        whole = whole and response.status in ("completed", "incomplete") and usage is not None
        batch = Batch(tuple(events), source=Source(wire.DIALECT, body))
        return batch if whole else without_source(batch) if exact else Batch(batch.events, response_extra(body))


_NO_RESPONSE = (wire.Response(), False)


def _place(event: wire.Event, name: str) -> Place:
    index = event.summary_index if name == "summary" else event.content_index
    return (name, index or 0)


def _is(item: Item, shape: wire.OutputItem) -> bool:
    """Whether the item is the one that the response at the end tells again, though its id or place is another."""
    return item.kind == shape.type and (item.call_id == shape.call_id if shape.call_id else not item.ended)


def _finish(response: wire.Response, incomplete: bool) -> Finish:
    status = response.status
    if status == "incomplete" or (incomplete and status != "completed"):
        word = response.incomplete_details.reason if response.incomplete_details is not None else None
        return Finish(INCOMPLETE.get(word or "", "length"), word or status)
    return Finish("stop", status)


def _raise_failure(response: wire.Response, failed: bool) -> None:
    if bytes(response.error) not in NULL:
        raise error_in_answer(bytes(response.error))
    if failed or response.status in ("failed", "cancelled"):
        raise UpstreamError(f"the upstream ended its answer with the status {response.status or 'failed'!r}")


def _raise_unfinished(response: wire.Response) -> None:
    """A document of an answer that is still to come (`background`)."""
    if response.status in ("queued", "in_progress"):
        raise UpstreamProtocolError(
            f"the upstream has not answered yet (status {response.status!r}): background answers are not supported"
        )
