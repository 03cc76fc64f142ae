"""The interface of the steps between a provider's decoder and a door's encoder."""

from __future__ import annotations

from typing import ClassVar, Protocol

from toolwire.model.events import Batch, ReasoningDelta, TextDelta, ToolCallDelta

Deltas = frozenset[type[TextDelta | ReasoningDelta | ToolCallDelta]]


class Stage(Protocol):
    """One step over the batches of one answer, one instance an answer. See `exchange/stages.py` for their order."""

    #: The deltas that the stage acts on. A batch with a single delta of another type skips the stage; nearly all do.
    deltas: ClassVar[Deltas] = frozenset({TextDelta, ReasoningDelta, ToolCallDelta})

    def take(self, batch: Batch) -> list[Batch]:
        """The batches to pass on now. An unchanged batch is the same object. Empty while the stage holds batches; it
        returns them later, in order. Raises UpstreamProtocolError if the stage ends the answer."""
        ...

    def broken(self) -> list[Batch]:
        """To be called when the answer broke off. Returns the held batches that the client may still see."""
        return []
