"""What the log line says of one answer: names, counts and sizes, never content."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from toolwire.model.errors import GatewayError
from toolwire.model.events import (
    Batch,
    Finish,
    OpaquePart,
    ReasoningEnd,
    ReasoningStart,
    ResponseEnd,
    ResponseStart,
    StreamFailed,
    TextEnd,
    TextStart,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    Usage,
    UsageUpdate,
)
from toolwire.model.request import STATE_KINDS
from toolwire.model.stage import Stage
from toolwire.model.warnings import Warnings, named_warning
from toolwire.wire.json import is_object

#: The code of arguments that are no JSON object: see `model.call_faults.CallFault`.
MALFORMED = "malformed_tool_arguments"

#: A batch with only these events was made at the end of the upstream's body, not from a frame.
_ENDINGS = (TextEnd, ReasoningEnd, ToolCallEnd, ResponseEnd, StreamFailed)

#: An answer with none of these is empty.
_PARTS = (TextStart, ReasoningStart, ToolCallStart, OpaquePart)


@dataclass(slots=True)
class Figures:
    """The figures of one exchange, filled in as it goes on."""

    stream: bool
    #: The dialect of the client's request.
    dialect: str = ""
    tool_names: list[str] = field(default_factory=list)
    #: The id of each of these calls, as the client sees it.
    call_ids: list[str] = field(default_factory=list)
    calls: int = 0
    #: The calls that the model wrote as text, counted by format.
    recovered: Mapping[str, int] = field(default_factory=dict)
    argument_bytes: int = 0
    #: The tools of calls whose arguments were no JSON object when they ended.
    malformed_calls: list[str] = field(default_factory=list)
    #: Faults that the policy found, counted by code: of calls, and of a finish reason that does not agree with them.
    call_faults: Counter[str] = field(default_factory=Counter)
    ids_minted: int = 0
    #: Items for later turns that the store was asked to keep.
    stored_items: int = 0
    repaired_frames: int = 0
    warnings: Warnings = field(default_factory=Warnings)
    upstream_status: int | None = None
    model: str | None = None
    finish: str | None = None
    usage: Usage | None = None
    error: GatewayError | None = None
    #: The warnings about the client's request, which hold for every attempt.
    _of_request: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        self._of_request = tuple(self.warnings)

    def begin(self, warnings: Iterable[str]) -> None:
        """Begins an attempt that has these warnings. Drops the figures of the attempt before it, of which the client
        was shown nothing."""
        self.tool_names.clear()
        self.call_ids.clear()
        self.malformed_calls.clear()
        self.call_faults.clear()
        self.calls = self.argument_bytes = self.ids_minted = self.repaired_frames = 0
        self.recovered = {}
        self.upstream_status = self.model = self.finish = self.usage = None
        self.warnings.reset(self._of_request)
        self.warnings.add(*warnings)

    def note_read(self, batch: Batch) -> None:
        """Notes what the decoder read, even if the client is not shown it: usage is paid for. A batch without a source
        is a repaired frame, unless it was made at the end of the body."""
        for event in batch.events:
            if type(event) is UsageUpdate:
                self.usage = event.usage
        if batch.source is None and not all(type(event) in _ENDINGS for event in batch.events):
            self.repaired_frames += 1


class NoteFigures(Stage):
    """The stage that notes what the client is shown."""

    deltas = frozenset({ToolCallDelta})

    def __init__(self, figures: Figures, *, shows_opaque: bool) -> None:
        """`shows_opaque` is the door's."""
        self._figures, self._shows_opaque = figures, shows_opaque
        self._open: dict[int, tuple[str, list[str]]] = {}  # part index -> a function's name and arguments
        self._says_something = False

    def take(self, batch: Batch) -> list[Batch]:
        """See `Stage`."""
        figures = self._figures
        self._says_something = self._says_something or any(type(event) in _PARTS for event in batch.events)
        for event in batch.events:
            if type(event) is ToolCallDelta:
                figures.argument_bytes += len(event.fragment)
                if event.index in self._open:
                    self._open[event.index][1].append(event.fragment)
            elif type(event) is ToolCallStart:
                figures.calls += 1
                figures.ids_minted += event.provider_id is not None
                figures.tool_names.append(event.name)
                figures.call_ids.append(event.id or "")
                if event.kind == "function":
                    self._open[event.index] = event.name, []
            elif type(event) is ToolCallEnd:
                name, arguments = self._open.pop(event.index, ("", ["{}"]))
                if not is_object("".join(arguments)):
                    figures.malformed_calls.append(name)
                    # Where the policy validates, it has counted the call too.
                    counted = max(figures.call_faults[MALFORMED], len(figures.malformed_calls))
                    figures.call_faults[MALFORMED] = counted
            elif type(event) is ResponseStart:
                figures.model = event.model
            elif type(event) is Finish:
                figures.finish = event.reason
            elif type(event) is ResponseEnd and figures.finish == "stop" and not self._says_something:
                figures.warnings.add("empty_answer")
            elif type(event) is OpaquePart and self._is_lost(event):
                figures.warnings.add(named_warning("answer_part_left_out", event.kind))
        return [batch]

    def _is_lost(self, part: OpaquePart) -> bool:
        """Whether the client is not shown a part that has more than state for the next turn."""
        return not self._shows_opaque and part.dialect != self._figures.dialect and part.kind not in STATE_KINDS
