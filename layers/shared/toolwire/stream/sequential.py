"""One part at a time: for doors whose grammar knows no overlapping parts (Anthropic Messages).

The part that is open flows; what belongs to a part that started later is held until every earlier part has ended, then
it leaves in one piece. On the Chat wire only the upstream's end ends a call, so there the second call leaves at the
end: closing the first one early would lose its late deltas.
"""

from __future__ import annotations

from toolwire.model.events import (
    OpaquePart,
    ReasoningEnd,
    StreamEvent,
    StreamFailed,
    TextEnd,
    ToolCallEnd,
    UsageUpdate,
)

_ENDS = (TextEnd, ReasoningEnd, ToolCallEnd, OpaquePart)


class Sequential:
    """`take` an event, get the events that may be written now, in an order without overlap."""

    def __init__(self) -> None:
        self._current = 0  # the part that may flow
        self._started = 0  # parts begun
        self._ended: set[int] = set()
        self._held: dict[int, list[StreamEvent]] = {}
        self._after: list[StreamEvent] = []  # events of no part (Finish): they wait for the parts before them

    def take(self, event: StreamEvent) -> list[StreamEvent]:
        index: int | None = getattr(event, "index", None)
        if index is None:
            # Usage has no place in the order, and a failure ends everything: what is held is then never said.
            if self._current == self._started or isinstance(event, UsageUpdate | StreamFailed):
                return [event]
            self._after.append(event)
            return []
        self._started = max(self._started, index + 1)
        if isinstance(event, _ENDS):
            self._ended.add(index)
        if index != self._current:
            self._held.setdefault(index, []).append(event)
            return []
        return [event, *self._advance()]

    def _advance(self) -> list[StreamEvent]:
        """After the current part has ended: everything of the parts that thereby become current."""
        ready: list[StreamEvent] = []
        while self._current in self._ended:
            self._current += 1
            ready += self._held.pop(self._current, ())
        if self._current == self._started:
            ready += self._after
            self._after = []
        return ready
