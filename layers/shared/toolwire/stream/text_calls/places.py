"""The part indexes that are shown, where parts of the decoder's are left out and others are added."""

from __future__ import annotations

from typing import TypeVar

import msgspec

from toolwire.model.events import (
    OpaquePart,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
)
from toolwire.model.source import replace

PartEvent = (
    TextStart | TextDelta | TextEnd
    | ReasoningStart | ReasoningDelta | ReasoningEnd
    | ToolCallStart | ToolCallDelta | ToolCallEnd
    | OpaquePart
)  # fmt: skip
_Part = TypeVar("_Part", bound=PartEvent)


class Places:
    """`shown`: the decoder's part index -> the index that is shown. `count`: how many parts were shown."""

    __slots__ = ("count", "shown")

    def __init__(self) -> None:
        self.shown: dict[int, int] = {}
        self.count = 0

    def placed(self, event: _Part) -> _Part:
        """The event with the part index that is shown; the same object if the decoder's index is the same."""
        place = self.shown.get(event.index)
        if place is None:
            place = self.shown[event.index] = self.count
            self.count += 1
        if place == event.index:
            return event
        if isinstance(event, TextDelta | ReasoningDelta | ToolCallDelta):
            return msgspec.structs.replace(event, index=place)
        return replace(event, index=place)
