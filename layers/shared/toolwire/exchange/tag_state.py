"""The stage that puts its origin in front of each signature for a client of another dialect, so that the gateway knows
whose it is when the client sends it back."""

from __future__ import annotations

from toolwire.conversation import tagged
from toolwire.model.events import Batch, ReasoningEnd, TextEnd, ToolCallEnd
from toolwire.model.source import replace
from toolwire.model.stage import Stage

#: Events that may bring a part's state.
_SIGNED = (TextEnd, ReasoningEnd, ToolCallEnd)


class TagState(Stage):
    """Marks each signature with its origin (see `conversation.state_origin`)."""

    deltas = frozenset()

    def __init__(self, origin: str) -> None:
        self._origin = origin

    def take(self, batch: Batch) -> list[Batch]:
        """See `Stage`. A marked batch has no source: no door of another dialect has a use for it."""
        if not any(isinstance(event, _SIGNED) and event.signature for event in batch.events):
            return [batch]
        events = tuple(
            replace(event, signature=tagged(event.signature, self._origin))
            if isinstance(event, _SIGNED) and event.signature
            else event
            for event in batch.events
        )
        return [Batch(events, batch.extra)]
