"""What every step between a provider's decoder and a door's encoder looks like."""

from __future__ import annotations

from typing import ClassVar, Protocol

from toolwire.model.events import Batch, ReasoningDelta, TextDelta, ToolCallDelta

Deltas = frozenset[type[TextDelta | ReasoningDelta | ToolCallDelta]]


class Stage(Protocol):
    """One step over the batches of one answer, one instance an answer. See `exchange/stages.py` for their order."""

    #: The deltas that the stage acts on. Another that is alone in its batch, as nearly all are, goes past it.
    deltas: ClassVar[Deltas] = frozenset({TextDelta, ReasoningDelta, ToolCallDelta})

    def take(self, batch: Batch) -> list[Batch]:
        """What goes on of this batch, now: the same object where nothing changes; nothing while it is held, and then
        what was held with it. Raises UpstreamProtocolError where the stage ends the answer."""
        ...

    def broken(self) -> list[Batch]:
        """What the stage holds and the client may still be shown of an answer that broke off."""
        return []
