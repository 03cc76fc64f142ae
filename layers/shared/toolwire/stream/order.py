"""The legal order of neutral events, as two printable tables.

An event without an entry for the state is an error. Decoders repair what providers get wrong, so a breach of these
tables is a bug of ours (InternalError), never the provider's fault.
"""

from __future__ import annotations

from toolwire.model.errors import InternalError
from toolwire.model.events import (
    Batch,
    Finish,
    OpaquePart,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    ResponseEnd,
    ResponseStart,
    StreamFailed,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    UsageUpdate,
)
from toolwire.model.stage import Stage

_PARTS: tuple[type, ...] = (
    TextStart, TextDelta, TextEnd,
    ReasoningStart, ReasoningDelta, ReasoningEnd,
    ToolCallStart, ToolCallDelta, ToolCallEnd,
    OpaquePart,
)  # fmt: skip

#: State of the response -> event -> next state. Parts may go on after Finish: on the Chat wire the finish reason comes
#: before the end of the parts. At ResponseEnd every part must have ended, by the table below.
RESPONSE: dict[str, dict[type, str]] = {
    "new": {ResponseStart: "open", StreamFailed: "failed"},
    "open": dict.fromkeys(_PARTS, "open") | {UsageUpdate: "open", Finish: "finished", StreamFailed: "failed"},
    "finished": dict.fromkeys(_PARTS, "finished")
    | {UsageUpdate: "finished", Finish: "finished", ResponseEnd: "ended", StreamFailed: "failed"},
    "ended": {},
    "failed": {},
}

#: State of one part (None: its index is new) -> event -> next state.
PART: dict[str | None, dict[type, str]] = {
    None: {TextStart: "text", ReasoningStart: "reasoning", ToolCallStart: "tool call", OpaquePart: "ended"},
    "text": {TextDelta: "text", TextEnd: "ended"},
    "reasoning": {ReasoningDelta: "reasoning", ReasoningEnd: "ended"},
    "tool call": {ToolCallDelta: "tool call", ToolCallEnd: "ended"},
    "ended": {},
}


#: Delta -> the state that its part must have. A delta changes no state.
_DELTAS = {kind: state for state, row in PART.items() for kind, after in row.items() if after == state}


class OrderCheck(Stage):
    """Checks the events of one response. `take` and `check` raise InternalError for a batch that breaks the tables."""

    __slots__ = ("_open", "_parts", "state")

    def __init__(self) -> None:
        self.state = "new"
        self._parts: list[str] = []
        self._open = 0

    @property
    def begun(self) -> bool:
        """Whether any event has come."""
        return self.state != "new"

    @property
    def finished(self) -> bool:
        """Whether `Finish` has come, so that the number of calls is known."""
        return self.state == "finished" or self.state == "ended"

    @property
    def ended(self) -> bool:
        """Whether the answer is complete."""
        return self.state == "ended"

    def take(self, batch: Batch) -> list[Batch]:
        """See `Stage`."""
        self.check(batch)
        return [batch]

    def check(self, batch: Batch) -> None:
        """Checks a batch."""
        parts = self._parts
        for event in batch.events:
            kind = type(event)
            index: int | None = getattr(event, "index", None)
            known = parts[index] if index is not None and index < len(parts) else None
            if known is not None and _DELTAS.get(kind) == known and self.state != "failed":
                continue
            state = RESPONSE[self.state].get(kind)
            if state is None or (kind is ResponseEnd and self._open):
                raise InternalError(f"event {kind.__name__} in state {self.state!r} with {self._open} open parts")
            self.state = state
            if index is None:
                continue
            part = PART[known].get(kind)
            if part is None or index > len(parts):
                raise InternalError(f"event {kind.__name__} for part {index} in state {known!r} of {len(parts)} parts")
            if known is None:
                parts.append(part)
                self._open += part != "ended"
            elif part != known:
                parts[index] = part
                self._open -= 1


def table() -> str:
    """The two tables as text, for the documentation."""
    lines = []
    for title, states in (("response", RESPONSE), ("part", PART)):
        lines.append(f"{title}:")
        for state, row in states.items():
            for kind, after in row.items():
                lines.append(f"  {state or 'unseen':10} --{kind.__name__}--> {after}")
    return "\n".join(lines)
