"""The call of one block or item while its arguments arrive, on the wires that give each call a place of its own.

The place is the call's identity; what its fragments mean says the table in `accumulator.py`. An object behind the
call's own whole one is another call of the same name, with a part of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from toolwire.model.events import StreamEvent, ToolCallDelta, ToolCallEnd, ToolCallStart
from toolwire.stream.accumulator import Call, Kind, ToolCallAccumulator


class BlockCall:
    """`announce` it once its name is known, `say` its fragments, then `end`. Until it is announced nothing is shown."""

    __slots__ = ("_accumulator", "_call", "_next_part", "is_restated")

    def __init__(self, next_part: Callable[[], int], kind: Kind = "function", *, placeholders: bool = True) -> None:
        """`next_part` gives a new call its part of the neutral stream. `placeholders`: see `Asked`."""
        self._next_part = next_part
        self._accumulator = ToolCallAccumulator(placeholders=placeholders)
        ((self._call, _),) = self._accumulator.take(None, 0, None, "", kind)
        #: Whether arguments came more than once, and were counted once.
        self.is_restated = False

    @property
    def part(self) -> int | None:
        """The part of the neutral stream; None while it is not announced."""
        return self._call.part

    @property
    def is_empty(self) -> bool:
        """Whether no arguments have come but white space, or what stands for those that are not known yet."""
        return not self._call.text_so_far.begun or self._call.text_so_far.is_placeholder

    @property
    def is_bare(self) -> bool:
        """Whether no arguments were said but white space."""
        return not self._call.arguments.strip()

    @property
    def texts(self) -> list[str]:
        """The arguments that were said: the call's, and those of the calls behind it."""
        return [call.text() for call in self._accumulator.calls]

    def announce(self, id: str | None, name: str, events: list[StreamEvent]) -> int:
        """Its name is known, and the id if it has one. Returns its part."""
        call = self._call
        call.id, call.name = id or None, name
        part = call.part = self._next_part()
        events.append(ToolCallStart(part, call.id, name, call.kind))
        if call.arguments:
            events.append(ToolCallDelta(part, call.text()))
        for other in self._accumulator.calls[1:]:
            other.name = name
            self._show(((other, other.text()),), events)
        return part

    def say(self, fragment: str, events: list[StreamEvent]) -> bool:
        """More of the arguments. Returns whether they were said as they came."""
        said = self._show(self._accumulator.take(None, 0, None, fragment), events)
        return said == ([(self._call, fragment)] if fragment else [])

    def end(self, events: list[StreamEvent]) -> bool:
        """No fragment comes any more: what was held. The calls end with `close`. Returns whether nothing was said."""
        said = self._show(self._accumulator.end(), events)
        self.is_restated = self.is_restated or any(call.restated for call in self._accumulator.calls)
        return not said

    def close(self, events: list[StreamEvent]) -> None:
        """The ends of the calls."""
        events.extend(ToolCallEnd(call.part) for call in self._accumulator.calls if call.part is not None)

    def _show(self, pieces: Iterable[tuple[Call, str]], events: list[StreamEvent]) -> list[tuple[Call, str]]:
        """What can be said of the calls now; those that are new are announced."""
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
    """The ends of an answer's calls where a block is over before the answer says why it ended.

    A call without arguments says `{}`. One that was cut looks the same until the stop reason is read, and must not say
    it: so the end of such a call waits for what comes next.
    """

    __slots__ = ("_waiting", "any_restated")

    def __init__(self) -> None:
        self._waiting: int | None = None  # the part of the call whose end waits
        #: Whether arguments of some call came more than once, and were counted once.
        self.any_restated = False

    def end(self, call: BlockCall, events: list[StreamEvent]) -> None:
        """The call's block is over."""
        call.end(events)
        self.any_restated = self.any_restated or call.is_restated
        if call.is_bare:
            self.end_waiting(events)
            self._waiting = call.part
        else:
            call.close(events)

    def end_waiting(self, events: list[StreamEvent], *, cut: bool = False) -> None:
        """Something comes behind the call, or the answer ends: `cut` where a limit or a filter has ended it."""
        if self._waiting is None:
            return
        if not cut:
            events.append(ToolCallDelta(self._waiting, "{}"))
        events.append(ToolCallEnd(self._waiting))
        self._waiting = None
