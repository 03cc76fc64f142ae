"""The stage that gives an answer its names: the response's id, each call's id, and the tools' names as the client wrote
them. A call's id and name are decided at its start, so that a stream and a document have the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from toolwire.conversation.tool_call_ids import RANDOM_CHARS, base62, keeps, mint
from toolwire.model.events import Batch, ResponseStart, StreamEvent, ToolCallStart
from toolwire.model.source import replace
from toolwire.model.stage import Deltas, Stage
from toolwire.model.warnings import Warnings
from toolwire.wire.plain import plain

#: What models write around a tool's name: a header or a namespace before it (`default_api` is Gemini's), a count or
#: special tokens behind it, white space.
_AROUND_NAME = re.compile(
    r"\s*(?:.*\bto=)?(?:(?:functions?|tools?|default_api)[.:/]+)?([^<:]+?)\s*(?::\d+|<\|.*)?\s*", re.DOTALL
)


@dataclass(slots=True)
class AnswerIds(Stage):
    """One instance an answer. `take` returns the same batch, with its source, where no id or name changes.

    `model` and `now` stand in for what the upstream leaves out.
    """

    deltas: ClassVar[Deltas] = frozenset()

    response_prefix: str
    #: The provider's ids that the client may see, as a regular expression; None: the client sees only minted ones.
    kept: str | None
    #: Whether the response's own id is kept.
    keeps_response_id: bool
    token: str
    names: dict[str, str]
    used: set[str]
    model: str
    new_id: Callable[[int], str]
    now: Callable[[], float]
    #: The declared tools, by the names that the provider was sent.
    tool_names: frozenset[str]
    warnings: Warnings
    #: The number of messages in the history. The id of a call that the model wrote as text is made of the conversation
    #: and of its place there, so that the same answer to the same history gives the same id.
    turn: int
    #: Whether a call without an id from the upstream stays without one ("").
    missing_stays: bool = False
    _recovered: int = 0

    def take(self, batch: Batch) -> list[Batch]:
        """See `Stage`."""
        events: list[StreamEvent] | None = None
        for number, event in enumerate(batch.events):
            new: StreamEvent = event
            if type(event) is ToolCallStart:
                new = self._call(event)
            elif type(event) is ResponseStart:
                new = self._start(event)
            if new is not event:
                events = events or list(batch.events)
                events[number] = new
        if events is None:
            return [batch]
        # The bytes stay true if a client of the same dialect sees the same, as with a default for a missing time.
        if any(self._shown(new) != self._shown(old) for new, old in zip(events, batch.events, strict=True)):
            return [self._rewritten(batch, events)]
        return [Batch(tuple(events), batch.extra, batch.source)]

    def _rewritten(self, batch: Batch, events: list[StreamEvent]) -> Batch:
        bare = plain(batch)
        merged = [
            replace(new, extra=old.extra) if type(new) is ToolCallStart and type(old) is ToolCallStart else new
            for new, old in zip(events, bare.events, strict=True)
        ]
        return Batch(tuple(merged), bare.extra)

    def _start(self, event: ResponseStart) -> ResponseStart:
        id = event.id if self.keeps_response_id and event.id else self.response_prefix + self.new_id(24)
        created = event.created if event.created is not None else int(self.now())
        return replace(event, id=id, created=created, model=event.model or self.model)

    def _call(self, event: ToolCallStart) -> ToolCallStart:
        name = self._name(event.name)
        if event.id and self._keeps(event.id, event.has_state):
            self.used.add(event.id)
            return event if name == event.name else replace(event, name=name)
        if self.missing_stays and not event.id:
            return replace(event, id="", name=name)
        id = self._recovered_id() if event.recovered else mint(self.token, self.new_id(RANDOM_CHARS))
        self.used.add(id)
        return replace(event, id=id, name=name, provider_id=event.id or "")

    def _recovered_id(self) -> str:
        while True:
            place = f"{self.token} {self.turn} {self._recovered}"
            self._recovered += 1
            id = mint(self.token, base62(place.encode(), RANDOM_CHARS))
            if id not in self.used:
                return id

    def _name(self, name: str) -> str:
        """The tool's name as the client gave it. Where the model wrote more around the name of a declared tool, it is
        that tool's."""
        if name not in self.tool_names and (match := _AROUND_NAME.fullmatch(name)) and match[1] in self.tool_names:
            self.warnings.add("tool_name_mended")
            name = match[1]
        return self.names.get(name, name)

    def _keeps(self, id: str, has_state: bool) -> bool:
        """Whether the client may see the provider's own id of a call."""
        return self.kept is not None and not has_state and keeps(id, self.kept, self.used)

    def _shown(self, event: StreamEvent) -> tuple[object, ...]:
        """What of an event stands in the bytes of its source."""
        if type(event) is ResponseStart:
            return () if self.missing_stays else (event.id, event.model)
        if type(event) is ToolCallStart and self.missing_stays:
            return (replace(event, id=event.id or None),)
        return (event,)
