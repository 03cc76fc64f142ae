"""The call of one block or item while its arguments arrive, on the wires that give each call a place of its own.

A call is identified by its block or item. The table in `accumulator.py` says what its fragments mean. A second object
behind the call's own is another call of the same name, with a part of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from toolwire.model.events import StreamEvent, ToolCallDelta, ToolCallEnd, ToolCallStart
from toolwire.model.warnings import Warnings
from toolwire.stream.accumulator import Call, Kind, ToolCallAccumulator


class BlockCall:
    """One call. Call `announce` once its name is known, `say` with each fragment, then `end` and `close`. No event is
    written before `announce`."""

    __slots__ = ("_accumulator", "_call", "_next_part", "warnings")

    def __init__(self, next_part: Callable[[], int], kind: Kind = "function", *, placeholders: bool) -> None:
        """`next_part` gives a new call its part of the neutral stream. `placeholders`: see `DecoderContext`."""
        self._next_part = next_part
        self._accumulator = ToolCallAccumulator(placeholders=placeholders)
        ((self._call, _),) = self._accumulator.take(None, 0, None, "", kind)
        #: The warnings about the arguments, once they have ended.
        self.warnings = Warnings()

    @property
    def part(self) -> int | None:
        """The call's index in the neutral stream; None before `announce`."""
        return self._call.part

    @property
    def is_empty(self) -> bool:
        """Whether no arguments have come: only white space, or a `{}` that real arguments may replace."""
        return not self._call.text_so_far.begun or self._call.text_so_far.is_placeholder

    @property
    def is_bare(self) -> bool:
        """Whether no arguments were sent on but white space."""
        return not self._call.arguments.strip()

    @property
    def texts(self) -> list[str]:
        """The arguments that were sent on: the call's, then those of each call behind it."""
        return [call.text() for call in self._accumulator.calls]

    def announce(self, id: str | None, name: str, events: list[StreamEvent]) -> int:
        """Writes the start of the call, and the arguments so far. Returns the call's index in the neutral stream."""
        call = self._call
        call.id, call.name = id or None, name
        part = call.part = self._next_part()
        events.append(ToolCallStart(part, call.id, name, call.kind, early_bytes=len(call.arguments)))
        if call.arguments:
            events.append(ToolCallDelta(part, call.text()))
        for other in self._accumulator.calls[1:]:
            other.name = name
            self._show(((other, other.text()),), events)
        return part

    def go_on(self, fragment: str) -> ToolCallDelta | None:
        """Adds a fragment that is not empty, where it only goes on with the call's arguments. None: it is for `say`,
        and nothing has changed."""
        part = self._call.part
        if part is None or self._accumulator.goes_on(0, fragment) is not self._call:
            return None
        return ToolCallDelta(part, fragment)

    def say(self, fragment: str, events: list[StreamEvent]) -> bool:
        """Adds a fragment. Returns whether it was sent on as it came."""
        if fragment and (delta := self.go_on(fragment)) is not None:
            events.append(delta)
            return True
        said = self._show(self._accumulator.take(None, 0, None, fragment), events)
        return said == ([(self._call, fragment)] if fragment else [])

    def end(self, events: list[StreamEvent]) -> bool:
        """Sends on what was held: no fragment follows. Returns whether there was nothing. `close` writes the calls'
        ends."""
        said = self._show(self._accumulator.end(), events)
        for call in self._accumulator.calls:
            self.warnings.add(*call.warnings)
        return not said

    def close(self, events: list[StreamEvent]) -> None:
        """Writes the end of each call."""
        events.extend(ToolCallEnd(call.part) for call in self._accumulator.calls if call.part is not None)

    def _show(self, pieces: Iterable[tuple[Call, str]], events: list[StreamEvent]) -> list[tuple[Call, str]]:
        """Writes these pieces of arguments, and before them the start of each call that is new. Returns those that are
        not empty."""
        said = [(call, piece) for call, piece in pieces if piece]
        for call, piece in said:
            if self._call.part is None:
                continue
            if call.part is None:
                call.part = self._next_part()
                events.append(ToolCallStart(call.part, None, call.name or "", call.kind))
            events.append(ToolCallDelta(call.part, piece))
        return said


class CallEnds:
    """Writes the ends of an answer's calls, on wires where a block ends before the answer gives its stop reason.

    A call without arguments has the arguments `{}`. A call that was cut before its arguments must not have them, and
    looks the same until the stop reason comes. So the end of a call without arguments waits for what comes next.
    """

    __slots__ = ("_waiting", "warnings")

    def __init__(self) -> None:
        self._waiting: int | None = None  # the part of the call whose end waits
        #: The warnings about the arguments of the answer's calls.
        self.warnings = Warnings()

    def end(self, call: BlockCall, events: list[StreamEvent]) -> None:
        """Ends the call: its block is over."""
        call.end(events)
        self.warnings.add(*call.warnings)
        if call.is_bare:
            self.end_waiting(events)
            self._waiting = call.part
        else:
            call.close(events)

    def end_waiting(self, events: list[StreamEvent], *, cut: bool = False) -> None:
        """Writes the end that waits. Called when another block begins, and at the answer's end: `cut` says whether a
        limit or a filter ended it."""
        if self._waiting is None:
            return
        if not cut:
            events.append(ToolCallDelta(self._waiting, "{}"))
        events.append(ToolCallEnd(self._waiting))
        self._waiting = None
