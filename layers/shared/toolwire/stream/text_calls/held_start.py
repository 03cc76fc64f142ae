"""Holds the start of a text that came alone, as on the Messages wire, until some text is shown. If the text is only
markup of calls, the start is never shown.
"""

from __future__ import annotations

from toolwire.model.events import Batch, TextStart


class HeldStart:
    """`batches`: the start's own, and those behind it without neutral events. They are shown or dropped together."""

    __slots__ = ("batches", "index", "start")

    def __init__(self, start: TextStart, batch: Batch) -> None:
        self.start, self.index, self.batches = start, start.index, [batch]

    @classmethod
    def of(cls, batch: Batch) -> HeldStart | None:
        """The start in a batch that is nothing else; None for any other batch."""
        start = batch.events[0] if len(batch.events) == 1 else None
        return cls(start, batch) if type(start) is TextStart and not start.refusal else None
