"""Applies each event of a Responses answer to the output item that it is about."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from toolwire.model.events import StreamEvent, TextDelta, ToolCallDelta
from toolwire.model.warnings import Warnings
from toolwire.providers.openai_responses.answer_items import (
    Call,
    Item,
    Message,
    OwnCall,
    Parts,
    Place,
    Reasoning,
    new_item,
)
from toolwire.providers.openai_responses.answer_shapes import MODELLED, read_item
from toolwire.wire import openai_responses as wire
from toolwire.wire.cross_api_names import CALL_PARTS, REASONING_PARTS
from toolwire.wire.json import is_set
from toolwire.wire.openai_responses_lenient import calls_in_message

#: The event of a delta -> the kind of its item, and the name of the list with its text there.
_DELTAS = {
    "response.output_text.delta": ("message", "content"),
    "response.refusal.delta": ("message", "refusal"),
    "response.reasoning_summary_text.delta": ("reasoning", "summary"),
    "response.reasoning_text.delta": ("reasoning", "content"),
    "response.reasoning.delta": ("reasoning", "content"),  # the same, as Open Responses names it
    "response.reasoning_summary.delta": ("reasoning", "summary"),  # as OpenAI first named it
    "response.function_call_arguments.delta": ("function_call", "arguments"),
    "response.custom_tool_call_input.delta": ("custom_tool_call", "input"),
}
#: The events that repeat a whole text.
_WHOLES = {name.removesuffix("delta") + "done": place for name, place in _DELTAS.items()}

#: The events that are about an item.
ABOUT_ITEMS = frozenset({
    *_DELTAS, *_WHOLES, "response.output_item.added", "response.output_item.done", "response.content_part.added",
    "response.content_part.done",
})  # fmt: skip


class Within:
    """The calls and the reasoning that a host writes within messages, or beside the items. They count only at the
    answer's end, since the host may still send them as items too."""

    def __init__(self) -> None:
        self._found: dict[Item, list[wire.OutputItem]] = {}
        self._beside: list[wire.OutputItem] = []

    def note_beside(self, raw: bytes) -> None:
        """Notes the calls in the members of an event or a response."""
        for call in calls_in_message(raw):
            self._beside = [one for one in self._beside if one.call_id != call.call_id or not one.call_id] + [call]

    def note(self, item: Item, shape: wire.OutputItem, raw: bytes) -> bool:
        """Notes the calls and reasoning in an item, which may have been noted before. Returns whether it holds some."""
        if shape.type != "message":
            return False
        thoughts = [part for part in shape.content or () if part.type in REASONING_PARTS]
        if shape.reasoning_content and not thoughts:
            thoughts = [wire.OutputPart("reasoning_text", shape.reasoning_content)]
        if not (thoughts or is_set(shape.tool_calls) or any(part.type in CALL_PARTS for part in shape.content or ())):
            return False
        found = [wire.OutputItem("reasoning", content=thoughts)] if thoughts else []
        found += calls_in_message(raw)
        if found:
            self._found[item] = found
            item.mended = True
        return bool(found)

    def rest(self, items: Iterable[Item]) -> list[wire.OutputItem]:
        """The noted calls and reasoning that are in no item of the answer."""
        told = {item.call_id for item in items}
        thought = any(isinstance(item, Reasoning) and item.has_text for item in items)
        rest: list[wire.OutputItem] = []
        for one in (*(one for ones in self._found.values() for one in ones), *self._beside):
            if not (thought if one.type == "reasoning" else one.call_id and one.call_id in told):
                rest.append(one)
                told.add(one.call_id)
        return rest


class Output:
    """The items of one answer by `output_index`, in the order in which they began. `placeholders`: see
    `DecoderContext`."""

    def __init__(self, *, placeholders: bool) -> None:
        self.items: dict[int, Item] = {}
        self._parts = Parts(placeholders=placeholders)
        self._by_id: dict[str, int] = {}
        self.within = Within()

    @property
    def count(self) -> int:
        """The number of parts of the neutral stream so far."""
        return self._parts.count

    @property
    def calls(self) -> int:
        """The number of calls so far."""
        return self._parts.calls

    @property
    def warnings(self) -> Warnings:
        """The warnings about the arguments of calls."""
        return self._parts.warnings

    @property
    def all_ended(self) -> bool:
        return all(item.ended for item in self.items.values())

    def take(self, kind: str, event: wire.Event, events: list[StreamEvent]) -> bool:
        """Adds the events of one frame of a kind in ABOUT_ITEMS. Returns whether a client of the same API may see it as
        it is."""
        if kind in _DELTAS:
            return self._say(*_DELTAS[kind], event, events)
        if kind in _WHOLES:
            return self._close_text(*_WHOLES[kind], event, events)
        match kind:
            case "response.output_item.added":
                return self._added(event, events)
            case "response.output_item.done":
                return self._done(event, events)
            case _:
                return self._content_part(event, events, done=kind == "response.content_part.done")

    def _added(self, event: wire.Event, events: list[StreamEvent]) -> bool:
        """output_item.added."""
        shape, exact = read_item(bytes(event.item))
        there = self.items.get(event.output_index) if event.output_index is not None else None
        if there is not None and shape.id and (there.id, there.kind, there.ended) == (shape.id, shape.type, False):
            return False  # begun twice
        index, keep = self._free_index(event)
        item = self._open(index, shape, events)
        self.within.note(item, shape, bytes(event.item))
        return keep and exact and bool(shape.id) and item.shown and not item.mended

    def _free_index(self, event: wire.Event) -> tuple[int, bool]:
        """The index for a new item, and whether it is the event's own: a host may send none, or one that is taken."""
        if event.output_index is not None and event.output_index not in self.items:
            return event.output_index, True
        return self._next_index(), False

    def _next_index(self) -> int:
        return max(self.items, default=-1) + 1

    def _open(self, index: int, shape: wire.OutputItem, events: list[StreamEvent]) -> Item:
        item = self.items[index] = new_item(shape, self._parts)
        if (shape.id and self._by_id.setdefault(shape.id, index) != index) or index != len(self.items) - 1:
            item.rename()  # its id is another item's, or its index is not the client's
        item.begin(shape, events)
        return item

    def _find(self, index: int | None, id: str | None, kind: str | None) -> Item | None:
        """The item that an event means: by its id, else by its index, else the last open item of its kind. Some hosts
        write index 0 everywhere, or a new id in every event (GitHub Copilot)."""
        known = self._by_id.get(id) if id else None
        there = self.items.get(index) if index is not None else None
        if known is not None:
            return there if there is not None and there.id == id else self.items[known]
        alike = [item for item in self.items.values() if not item.ended and item.kind == kind]
        if there is not None and (kind is None or there.kind == kind) and not (there.ended and alike):
            return there
        return alike[-1] if alike else None

    def _named_exactly(self, item: Item, event: wire.Event) -> bool:
        return (
            event.output_index is not None
            and self.items.get(event.output_index) is item
            and (not item.id or item.id == event.item_id)
            and item.shown
        )

    def _say(self, kind: str, name: str, event: wire.Event, events: list[StreamEvent]) -> bool:
        """A delta of the text `name` of an item of this kind."""
        item, keep = self._find(event.output_index, event.item_id, kind), True
        if item is None or item.ended:
            if not event.delta:
                return False
            item, keep = self._implied(event, kind, events), False
        place = _place(event, name)
        item.say(place, event.delta or "", events)
        return keep and event.delta is not None and self._named_exactly(item, event) and _is_dense(item, place)

    def _implied(self, event: wire.Event, kind: str, events: list[StreamEvent]) -> Item:
        """Begins an item for a delta that has none. A call's name may still come with its end."""
        return self._open(self._free_index(event)[0], wire.OutputItem(kind, event.item_id), events)

    def _close_text(self, kind: str, name: str, event: wire.Event, events: list[StreamEvent]) -> bool:
        """The event that repeats such a text as a whole."""
        whole = next((text for text in (event.text, event.refusal, event.arguments, event.input) if text), None)
        item = self._find(event.output_index, event.item_id, kind)
        if item is None:
            if not whole:
                return False
            item = self._implied(event, kind, events)
        if item.ended:
            return False
        said, place = len(events), _place(event, name)
        if isinstance(item, Call) and event.name:
            item.name_it(event.name, events)
        item.close(place, whole, events)
        return len(events) == said and self._named_exactly(item, event) and _is_dense(item, place)

    def _content_part(self, event: wire.Event, events: list[StreamEvent], *, done: bool) -> bool:
        """content_part.added and content_part.done."""
        part, keep = event.part or wire.OutputPart(), True
        if part.type in CALL_PARTS:
            return False  # its item has it
        kind = "reasoning" if part.type == "reasoning_text" else "message"
        item = self._find(event.output_index, event.item_id, kind)
        if item is None and part.type in ("output_text", "refusal"):
            item, keep = self._implied(event, "message", events), False
        if item is None or item.ended:
            return False
        said = len(events)
        if not isinstance(item, Message):
            return keep and self._named_exactly(item, event)
        index = event.content_index or 0
        (item.end_part if done else item.open_part)(part, index, events)
        keep = _is_dense(item, ("refusal" if part.type == "refusal" else "content", index)) and keep
        keep = keep and not any(type(told) is TextDelta for told in events[said:])
        return keep and event.content_index is not None and self._named_exactly(item, event)

    def _done(self, event: wire.Event, events: list[StreamEvent]) -> bool:
        """output_item.done."""
        raw, keep = bytes(event.item), True
        shape, exact = read_item(raw)
        item = self._find(event.output_index, shape.id, shape.type)
        if item is None or item.ended:
            if item is not None and (item.id == shape.id or item.call_id == shape.call_id is not None):
                return False  # the second of two
            item, keep = self._open(self._free_index(event)[0], shape, events), False
        keep = keep and self.items.get(event.output_index if event.output_index is not None else -1) is item
        keep = keep and _is_as_begun(item, shape) and exact
        said = len(events)
        self.within.note(item, shape, raw)
        _finish(item, shape, raw, events)
        # only this event tells of a call that the client runs
        return keep and (isinstance(item, OwnCall) or _has_told_all(item, shape, events[said:]))

    def complete(self, output: Iterable[msgspec.Raw], cut: bool, events: list[StreamEvent]) -> bool:
        """Ends open items, and adds missing ones, by the response at the end. Returns whether all have their ids."""
        told: set[int] = set()
        same = True
        for place, raw in enumerate(map(bytes, output)):
            if raw == b"null":
                same = False
                continue
            shape, _ = read_item(raw)
            index = self._by_id.get(shape.id) if shape.id else None
            item = self.items.get(place if index is None else index)
            if item is not None and item.kind != shape.type:
                item = next((one for one in self.items.values() if _is(one, shape)), None)
            if item is None:
                item = self._open(self._next_index(), shape, events)
            self.within.note(item, shape, raw)
            if not item.ended:
                _finish(item, shape, raw, events, cut)
            told.add(id(item))
            same = same and not item.mended and _has_its_ids(item, shape)
        same = same and len(told) == len(self.items)
        for item in self.items.values():
            if not item.ended:
                item.ended = True
                item.finish(None, b"", cut, events)
        return same

    def end(self, text: str | None, cut: bool, events: list[StreamEvent]) -> None:
        """Ends the output. Content at other places counts now. `text`: the answer's `output_text`."""
        for shape in self.within.rest(list(self.items.values())):
            _finish(self._open(self._next_index(), shape, events), shape, b"", events, cut)
        if text and not any(isinstance(item, Message) and item.has_text for item in self.items.values()):
            shape = wire.OutputItem("message", content=[wire.OutputPart("output_text", text)])
            _finish(self._open(self._next_index(), shape, events), shape, b"", events, cut)

    def whole(self, index: int, shape: wire.OutputItem, raw: bytes, cut: bool, events: list[StreamEvent]) -> bool:
        """Takes an item in one piece. `cut`: the answer was cut. Returns whether clients may see it as it is."""
        item = self._open(index, shape, events)
        _finish(item, shape, raw, events, cut)
        return not self.within.note(item, shape, raw) and (not isinstance(item, Call) or item.is_told_by(shape))


def _is_dense(item: Item, place: Place) -> bool:
    """Whether the text has the index that clients expect. If not, the item's end must be written anew too."""
    item.mended = item.mended or not item.is_dense(place)
    return not item.mended


def _finish(item: Item, shape: wire.OutputItem, raw: bytes, events: list[StreamEvent], cut: bool = False) -> None:
    """`cut`: the output limit has cut the answer, maybe in this item."""
    item.ended = True
    item.finish(shape, raw, shape.status == "incomplete" or (cut and shape.status != "completed"), events)


def _is_as_begun(item: Item, shape: wire.OutputItem) -> bool:
    """Whether the finished item is the one that clients saw begin."""
    same = (item.id, item.kind) == (shape.id, shape.type)
    return same and (not isinstance(item, Call) or item.call_id == shape.call_id) and item.shown and not item.mended


def _has_told_all(item: Item, shape: wire.OutputItem, events: list[StreamEvent]) -> bool:
    """Whether the item's end added nothing. `events`: those of its end."""
    told = [event for event in events if type(event) is TextDelta or type(event) is ToolCallDelta]
    return not item.mended and all(type(one) is ToolCallDelta and shape.arguments == "{}" for one in told)


def _has_its_ids(item: Item, shape: wire.OutputItem) -> bool:
    """Whether the finished item has the ids that it began with. An opaque item always does, since it keeps its
    bytes."""
    return item.id == shape.id and (item.kind not in MODELLED or item.call_id == shape.call_id)


def _place(event: wire.Event, name: str) -> Place:
    index = event.summary_index if name == "summary" else event.content_index
    return (name, index or 0)


def _is(item: Item, shape: wire.OutputItem) -> bool:
    """Whether the response at the end repeats this item, even under another id or at another place."""
    return item.kind == shape.type and (item.call_id == shape.call_id if shape.call_id else not item.ended)
