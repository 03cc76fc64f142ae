"""What the log line says of one answer: names, counts and sizes, never content."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from toolwire.model.errors import GatewayError
from toolwire.model.events import (
    Batch,
    Finish,
    ReasoningEnd,
    ResponseEnd,
    ResponseStart,
    StreamEvent,
    StreamFailed,
    TextEnd,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    Usage,
    UsageUpdate,
)

#: A batch of nothing but these comes from the end of the upstream's body, or from us, and from no frame.
_ENDINGS = (TextEnd, ReasoningEnd, ToolCallEnd, ResponseEnd, StreamFailed)


@dataclass(slots=True)
class Summary:
    """One exchange, filled in as it goes on."""

    stream: bool
    tool_names: list[str] = field(default_factory=list)
    calls: int = 0
    #: Of the calls, those that the model had written as text, by the format.
    recovered: Mapping[str, int] = field(default_factory=dict)
    argument_bytes: int = 0
    ids_minted: int = 0
    #: Items for later turns that the store was asked to keep.
    stored_items: int = 0
    repaired_frames: int = 0
    warnings: list[str] = field(default_factory=list)
    upstream_status: int | None = None
    model: str | None = None
    finish: str | None = None
    usage: Usage | None = None
    error: GatewayError | None = None

    def warn(self, *codes: str) -> None:
        """Adds the codes that are new."""
        self.warnings += [code for code in codes if code not in self.warnings]

    def take_upstream(self, batch: Batch) -> None:
        """Notes what the decoder gave, whatever the rules make of it: usage is paid for. A batch without a source
        needed repair, unless it comes from the end of the body."""
        for event in batch.events:
            if type(event) is UsageUpdate:
                self.usage = event.usage
        if batch.source is None and not all(type(event) in _ENDINGS for event in batch.events):
            self.repaired_frames += 1

    def take(self, event: StreamEvent) -> None:
        """Notes what the client is shown."""
        kind = type(event)
        if kind is ToolCallDelta:
            self.argument_bytes += len(event.fragment)  # type: ignore[union-attr]
        elif kind is ToolCallStart:
            self.calls += 1
            self.tool_names.append(event.name)  # type: ignore[union-attr]
        elif kind is ResponseStart:
            self.model = event.model  # type: ignore[union-attr]
        elif kind is Finish:
            self.finish = event.reason  # type: ignore[union-attr]
