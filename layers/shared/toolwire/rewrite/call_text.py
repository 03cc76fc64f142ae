"""A stage that rewrites the text of some calls of an answer, wherever their pieces are cut."""

from __future__ import annotations

from abc import abstractmethod
from typing import Generic, Protocol, TypeVar

from toolwire.model.events import Batch, StreamEvent, ToolCallDelta, ToolCallEnd, ToolCallStart
from toolwire.model.stage import Stage
from toolwire.wire.plain import plain


class TextRewriter(Protocol):
    """Rewrites the text of one call as it comes."""

    def feed(self, text: str, /) -> str:
        """Takes a piece. Returns the rewritten text that is certain by now."""

    def end(self) -> str:
        """The rest of the text, when the call has ended."""


Rewriter = TypeVar("Rewriter", bound=TextRewriter)


class CallTextStage(Stage, Generic[Rewriter]):
    """A class that extends this chooses the calls (`rewriter`). It may also change their starts (`started`) and use
    what was read (`ended`)."""

    deltas = frozenset({ToolCallDelta})

    def __init__(self) -> None:
        self._open: dict[int, Rewriter] = {}  # part index -> what rewrites the call's text

    @abstractmethod
    def rewriter(self, call: ToolCallStart) -> Rewriter | None:
        """The rewriter of this call's text; None: the text stays as it is."""

    def started(self, call: ToolCallStart) -> ToolCallStart:
        """The start of a call whose text is rewritten, as it is shown."""
        return call

    def ended(self, rewriter: Rewriter) -> None:
        """Called when a call has ended and all of its text was read."""

    def take(self, batch: Batch) -> list[Batch]:
        """The batch with the text of these calls rewritten; the same object, with its source, if it has none of it."""
        if not any(self._concerns(event) for event in batch.events):
            return [batch]
        bare = plain(batch)
        events: list[StreamEvent] = []
        for event in bare.events:
            events += self._events(event) if self._concerns(event) else (event,)
        return [Batch(tuple(events), bare.extra)]

    def _concerns(self, event: StreamEvent) -> bool:
        if type(event) is ToolCallStart:
            return self.rewriter(event) is not None
        return (type(event) is ToolCallDelta or type(event) is ToolCallEnd) and event.index in self._open

    def _events(self, event: StreamEvent) -> list[StreamEvent]:
        if type(event) is ToolCallStart:
            rewriter = self.rewriter(event)
            assert rewriter is not None
            self._open[event.index] = rewriter
            return [self.started(event)]
        if type(event) is ToolCallDelta:
            text = self._open[event.index].feed(event.fragment)
            return [ToolCallDelta(event.index, text)] if text else []
        assert type(event) is ToolCallEnd
        rewriter = self._open.pop(event.index)
        text = rewriter.end()
        self.ended(rewriter)
        return [*([ToolCallDelta(event.index, text)] if text else []), event]
