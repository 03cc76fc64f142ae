"""The items of a Responses answer while they arrive: each becomes its parts of the neutral stream.

A stream holds its content several times: in deltas, in `.done` events, in the finished item, in the response at the
end. It counts once. A later copy adds only what the earlier ones lack; if they differ, the first one stays.
"""

from __future__ import annotations

from collections.abc import Iterator

from toolwire.model.errors import UpstreamProtocolError, UpstreamTruncated
from toolwire.model.events import (
    OpaquePart,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    StreamEvent,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
)
from toolwire.model.warnings import Warnings
from toolwire.stream.accumulator import Kind
from toolwire.stream.block_call import BlockCall
from toolwire.wire import openai_responses as wire
from toolwire.wire.cross_api_names import REASONING_PARTS
from toolwire.wire.json import is_object, members, unnamed
from toolwire.wire.openai_client_tools import ACTIONS, CALLS, call_arguments, is_hosted

#: The separator between two parts of a summary, which are paragraphs.
_PARAGRAPH = "\n\n"

#: The key of a text of an item: the name of its list, and its place there.
Place = tuple[str, int]


class Parts:
    """The parts of one answer, numbered in the order in which they begin. `placeholders`: see `DecoderContext`."""

    def __init__(self, *, placeholders: bool) -> None:
        self.placeholders = placeholders
        self.count = 0
        self.calls = 0
        self.warnings = Warnings()  # about the arguments of calls

    def next(self) -> int:
        self.count += 1
        return self.count - 1

    def next_call(self) -> int:
        self.calls += 1
        return self.next()


class Said:
    """One text, which comes in pieces and often again as a whole."""

    __slots__ = ("ended", "part", "pieces", "position")

    def __init__(self, part: int, position: int = 0) -> None:
        self.part = part
        self.position = position  # among the texts of its item
        self.pieces: list[str] = []
        self.ended = False

    def rest(self, whole: str | None) -> str:
        """The part of the whole that the pieces have left out."""
        said = "".join(self.pieces)
        return whole[len(said) :] if whole and whole.startswith(said) else ""

    def begins(self, whole: str | None) -> bool:
        """Whether the whole begins with the pieces so far, and there are any."""
        return bool(whole) and bool(self.pieces) and (whole or "").startswith("".join(self.pieces))


def _told_before(texts: dict[Place, Said], place: Place, whole: str | None) -> Place:
    """The place under which a text of the finished item came in deltas: its own, or another one at hosts that count
    differently there."""
    if place in texts:
        return place
    return next((known for known, said in texts.items() if known[0] == place[0] and said.begins(whole)), place)


class Item:
    """One open item. `id` and `call_id` are those it began with."""

    def __init__(self, shape: wire.OutputItem, parts: Parts) -> None:
        self.id = shape.id
        self.call_id = shape.call_id
        self.kind = shape.type
        self.ended = False
        self.mended = False  # a client of the same API cannot see some of its events as they are
        self.is_renamed = False  # a client of the same API can see none of them as it is: see `rename`
        self._parts = parts

    def rename(self) -> None:
        """The client sees the item under another id or index than the host's."""
        self.mended = self.is_renamed = True

    @property
    def shown(self) -> bool:
        """Whether the item can be shown: a call needs its name."""
        return True

    def is_dense(self, place: Place) -> bool:  # noqa: ARG002
        """Whether the text at this place has the next index, as clients expect."""
        return True

    def begin(self, shape: wire.OutputItem, events: list[StreamEvent]) -> None:
        """Adds the events of the item's beginning."""

    def say(self, place: Place, text: str, events: list[StreamEvent]) -> None:
        """Adds more of a text."""

    def close(self, place: Place, whole: str | None, events: list[StreamEvent]) -> None:
        """Takes the whole of a text, which may end its part."""

    def finish(self, shape: wire.OutputItem | None, raw: bytes, cut: bool, events: list[StreamEvent]) -> None:
        """Ends the item. `shape` and `raw` are the finished item; None and empty if it never came. `cut`: the output
        limit has cut it."""


class Message(Item):
    """Text and refusals."""

    def __init__(self, shape: wire.OutputItem, parts: Parts) -> None:
        super().__init__(shape, parts)
        self._texts: dict[Place, Said] = {}

    def begin(self, shape: wire.OutputItem, events: list[StreamEvent]) -> None:
        for place, text in _contents(shape):
            if text:  # a host that begins with some text
                self.say(place, text, events)

    def say(self, place: Place, text: str, events: list[StreamEvent]) -> None:
        said = self._said(place, events)
        if text and not said.ended:
            said.pieces.append(text)
            events.append(TextDelta(said.part, text))

    @property
    def has_text(self) -> bool:
        return any(said.pieces for said in self._texts.values())

    def _said(self, place: Place, events: list[StreamEvent]) -> Said:
        """The text at this place. If it is new, it begins, and those before it end."""
        said = self._texts.get(place)
        if said is None:
            for other in self._texts.values():
                _end_text(other, events)
            said = self._texts[place] = Said(self._parts.next(), len(self._texts))
            events.append(TextStart(said.part, refusal=place[0] == "refusal"))
        return said

    def close(self, place: Place, whole: str | None, events: list[StreamEvent]) -> None:
        if whole or place in self._texts:
            rest = self._said(place, events).rest(whole)
            self.say(place, rest, events)

    def is_dense(self, place: Place) -> bool:
        said = self._texts.get(place)
        return said is None or said.position == place[1]

    def open_part(self, part: wire.OutputPart, index: int, events: list[StreamEvent]) -> None:
        """content_part.added."""
        place = _place(part, index)
        self.say(place, (part.refusal if place[0] == "refusal" else part.text) or "", events)

    def end_part(self, part: wire.OutputPart, index: int, events: list[StreamEvent]) -> None:
        """content_part.done."""
        place = _place(part, index)
        self.close(place, part.refusal if place[0] == "refusal" else part.text, events)
        if place in self._texts:
            _end_text(self._texts[place], events)

    def finish(self, shape: wire.OutputItem | None, raw: bytes, cut: bool, events: list[StreamEvent]) -> None:  # noqa: ARG002
        told: set[Place] = set()
        for place, text in _contents(shape) if shape is not None else ():
            known = _told_before(self._texts, place, text)
            self.close(known, text, events)
            told |= {known} if text or known not in self._texts or not self._texts[known].pieces else set()
        self.mended = self.mended or not self._texts.keys() <= told  # the item leaves out what the deltas said
        for said in self._texts.values():
            _end_text(said, events)


def _contents(shape: wire.OutputItem) -> Iterator[tuple[Place, str | None]]:
    told = (part for part in shape.content or () if part.type not in REASONING_PARTS)
    for index, part in enumerate(told):
        place = _place(part, index)
        yield place, part.refusal if place[0] == "refusal" else part.text


def _place(part: wire.OutputPart, index: int) -> Place:
    return ("refusal" if part.type == "refusal" else "content", index)


def _end_text(said: Said, events: list[StreamEvent]) -> None:
    if not said.ended:
        said.ended = True
        events.append(TextEnd(said.part))


class Reasoning(Item):
    """A summary of the reasoning, or the reasoning itself. It becomes one part, with `encrypted_content` as its state.
    Of an item with both, the one that came first is used."""

    def __init__(self, shape: wire.OutputItem, parts: Parts) -> None:
        super().__init__(shape, parts)
        self.part = parts.next()
        self._texts: dict[Place, Said] = {}

    def begin(self, shape: wire.OutputItem, events: list[StreamEvent]) -> None:
        events.append(ReasoningStart(self.part))
        self._tell(shape, events)

    def say(self, place: Place, text: str, events: list[StreamEvent]) -> None:
        if not text or (self._texts and all(known[0] != place[0] for known in self._texts)):
            return
        said = self._texts.get(place)
        if said is None:
            if self._texts:
                events.append(ReasoningDelta(self.part, _PARAGRAPH))
            said = self._texts[place] = Said(self.part)
        said.pieces.append(text)
        events.append(ReasoningDelta(self.part, text))

    def close(self, place: Place, whole: str | None, events: list[StreamEvent]) -> None:
        said = self._texts.get(place)
        self.say(place, said.rest(whole) if said is not None else whole or "", events)

    @property
    def has_text(self) -> bool:
        return bool(self._texts)

    def _tell(self, shape: wire.OutputItem, events: list[StreamEvent]) -> None:
        for name, parts in (("summary", shape.summary), ("content", shape.content)):
            for index, part in enumerate(parts or ()):
                self.close(_told_before(self._texts, (name, index), part.text), part.text, events)

    def finish(self, shape: wire.OutputItem | None, raw: bytes, cut: bool, events: list[StreamEvent]) -> None:  # noqa: ARG002
        if shape is not None:
            self._tell(shape, events)
            said = (*(shape.summary or ()), *(shape.content or ()))
            self.mended = self.mended or (bool(self._texts) and not any(part.text for part in said))
        events.append(ReasoningEnd(self.part, (shape.encrypted_content or None) if shape is not None else None))


class Call(Item):
    """A call of a function or of a custom tool. It is announced once its name is known."""

    def __init__(self, shape: wire.OutputItem, parts: Parts) -> None:
        super().__init__(shape, parts)
        self._custom = shape.type == "custom_tool_call"
        kind: Kind = "custom" if self._custom else "function"
        self._call = BlockCall(parts.next_call, kind, placeholders=parts.placeholders)
        self._told: list[str] = []  # the pieces of the arguments
        self._has_begun = False  # some came with its beginning, which clients would join with the deltas
        self._is_over = False  # they came as a whole

    @property
    def announced(self) -> bool:
        """Whether its name is known."""
        return self._call.part is not None

    @property
    def shown(self) -> bool:
        return self.announced

    def name_it(self, name: str, events: list[StreamEvent]) -> None:
        """Takes its name, which came only with the end of its arguments."""
        if not self.announced:
            self._call.announce(self.call_id, name, events)

    def begin(self, shape: wire.OutputItem, events: list[StreamEvent]) -> None:
        self._announce(shape, events)
        if text := self._whole(shape):
            self._has_begun = True
            self._append(text, events)
            self.mended = True

    def _announce(self, shape: wire.OutputItem, events: list[StreamEvent]) -> None:
        if shape.name and not self.announced:
            self._call.announce(shape.call_id, wire.flat_name(shape.namespace, shape.name), events)

    def _whole(self, shape: wire.OutputItem) -> str | None:
        return shape.input if self._custom else shape.arguments

    def is_told_by(self, shape: wire.OutputItem) -> bool:
        """Whether the item holds the arguments that the client was shown; an empty text counts as `{}`."""
        whole = self._whole(shape)
        return self._call.texts == [whole] and (self._custom or bool(whole))

    def _append(self, text: str, events: list[StreamEvent]) -> None:
        if text:
            self._told.append(text)
            self.mended = not self._call.say(text, events) or self.mended

    def say(self, place: Place, text: str, events: list[StreamEvent]) -> None:  # noqa: ARG002 - it has one text
        self._append(text, events)

    def close(self, place: Place, whole: str | None, events: list[StreamEvent]) -> None:  # noqa: ARG002
        if not whole:
            return
        told = "".join(self._told)
        if whole.startswith(told):
            self._append(whole[len(told) :], events)
        elif self._call.is_empty and not self._is_over:  # `{}` stood for what was not known
            self._append(whole, events)
        else:
            self._compare(whole, events)
        self._end(events)

    def _compare(self, whole: str, events: list[StreamEvent]) -> None:
        """Handles a whole that is not the joined pieces: either each piece repeated all so far, or something is
        lost."""
        self._end(events)
        said = self._call.texts[0]
        if not self._custom and not is_object(said):
            if not whole.startswith(said):
                raise UpstreamProtocolError("the upstream told the arguments of a call twice, and not the same")
            self._call.say(whole[len(said) :], events)
            self._call.end(events)
        if said not in ("", whole):
            self._parts.warnings.add("tool_arguments_restated")
        self.mended = True

    def _end(self, events: list[StreamEvent]) -> None:
        if not self._is_over:
            self._is_over = True
            self._call.end(events)
            self._parts.warnings.add(*self._call.warnings)
            if not (self._has_begun or self.is_renamed) and self._call.texts == ["".join(self._told)]:
                self.mended = False  # what was held has come

    def finish(self, shape: wire.OutputItem | None, raw: bytes, cut: bool, events: list[StreamEvent]) -> None:  # noqa: ARG002
        if shape is not None:
            self._announce(shape, events)
            self.close(("", 0), self._whole(shape), events)
        if self._call.part is None:
            raise UpstreamProtocolError("the upstream sent a tool call without a name")
        self._end(events)
        if not self._custom and not cut and self._call.is_bare:
            events.append(ToolCallDelta(self._call.part, "{}"))  # a call without arguments: JSON.parse("") throws
        elif not self._custom and not cut and shape is None and not all(map(is_object, self._call.texts)):
            raise UpstreamTruncated("the upstream's answer ended inside a tool call's arguments")
        self._call.close(events)
        if shape is not None and not self._whole(shape) and self._told:
            self.mended = True  # the item leaves out what the deltas said


class Opaque(Item):
    """An item that only this API knows (a hosted tool's call, its output). It becomes one part at its end."""

    def finish(self, shape: wire.OutputItem | None, raw: bytes, cut: bool, events: list[StreamEvent]) -> None:  # noqa: ARG002
        if raw:
            events.append(OpaquePart(self._parts.next(), self.kind, wire.DIALECT, raw))


class OwnCall(Opaque):
    """A call of a typed tool that the client runs. It becomes a function's call, with a name and arguments. A call that
    the host has run itself stays an opaque item."""

    def finish(self, shape: wire.OutputItem | None, raw: bytes, cut: bool, events: list[StreamEvent]) -> None:
        if shape is None or not shape.call_id or is_hosted(item := members(raw)):
            super().finish(shape, raw, cut, events)
            return
        index, form = self._parts.next_call(), CALLS[self.kind]
        extra = unnamed(raw, wire.KNOWN_CALL | {form.member, ACTIONS})
        events.append(ToolCallStart(index, shape.call_id, form.name, extra=extra))
        events.append(ToolCallDelta(index, call_arguments(self.kind, item)))
        events.append(ToolCallEnd(index))


_KINDS: dict[str, type[Item]] = {
    **dict.fromkeys(CALLS, OwnCall),
    "message": Message,
    "reasoning": Reasoning,
    "function_call": Call,
    "custom_tool_call": Call,
}


def new_item(shape: wire.OutputItem, parts: Parts) -> Item:
    """A new item for this shape; an opaque one for types that the neutral model does not have."""
    return _KINDS.get(shape.type, Opaque)(shape, parts)
