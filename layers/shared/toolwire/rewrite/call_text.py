"""Rewrites the text of some calls of an answer, over its batches and whatever the cuts."""

from __future__ import annotations

from abc import abstractmethod
from typing import Generic, Protocol, TypeVar

from toolwire.model.events import Batch, StreamEvent, ToolCallDelta, ToolCallEnd, ToolCallStart
from toolwire.model.stage import Stage
from toolwire.wire.plain import plain


class TextRewriter(Protocol):
    """Rewrites the text of one call as it comes."""

    def feed(self, text: str, /) -> str:
        """What is certain with this text."""

    def end(self) -> str:
        """The rest, once the call is over."""


Rewriter = TypeVar("Rewriter", bound=TextRewriter)


class CallTextStage(Stage, Generic[Rewriter]):
    """A class that extends this says which calls (`rewriter`), and may change their starts (`started`) and look at what
    was read (`ended`)."""

    deltas = frozenset({ToolCallDelta})

    def __init__(self) -> None:
        self._open: dict[int, Rewriter] = {}  # part index -> what rewrites the call's text

    @abstractmethod
    def rewriter(self, call: ToolCallStart) -> Rewriter | None:
        """What rewrites the text of this call; None: it stays as it is."""

    def started(self, call: ToolCallStart) -> ToolCallStart:
        """The start that is shown of a call whose text is rewritten."""
        return call

    def ended(self, rewriter: Rewriter) -> None:
        """A call is over, and all of its text was read."""

    def take(self, batch: Batch) -> list[Batch]:
        """The batch with these calls rewritten; itself, with its source, if it has nothing of one."""
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
