"""One part at a time: for doors whose grammar knows no overlapping parts (Anthropic Messages).

The events of the first open part pass. Those of a part that started later are held until every earlier part has ended,
and then leave together. A Chat Completions host ends its calls with the answer alone, so its decoder ends a call whose
object is complete as soon as another part begins.
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
    """`take` an event: it returns the events that may be written now, so that no two parts overlap."""

    def __init__(self) -> None:
        self._current = 0  # the part whose events pass
        self._started = 0  # how many parts have begun
        self._ended: set[int] = set()
        self._held: dict[int, list[StreamEvent]] = {}
        self._after: list[StreamEvent] = []  # events of no part (Finish), until the parts before them have ended

    def take(self, event: StreamEvent) -> list[StreamEvent]:
        index: int | None = getattr(event, "index", None)
        if index is None:
            # Usage may come anywhere. A failure ends the response: what is held is then dropped.
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
        """The events held for the parts that follow, up to the first that has not ended."""
        ready: list[StreamEvent] = []
        while self._current in self._ended:
            self._current += 1
            ready += self._held.pop(self._current, ())
        if self._current == self._started:
            ready += self._after
            self._after = []
        return ready
