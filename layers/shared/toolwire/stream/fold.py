"""The fold: the events of one response, gathered into one `ChatResponse` for a JSON answer."""

from __future__ import annotations

from toolwire.model.events import (
    Batch,
    Finish,
    OpaquePart,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    ResponseEnd,
    ResponseStart,
    StreamEvent,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    Usage,
    UsageUpdate,
)
from toolwire.model.response import ChatResponse, OutputPart, ReasoningOutput, TextOutput, ToolCallOutput
from toolwire.model.source import Members
from toolwire.wire.json import is_object


class Fold:
    """Gathers a response. Call `take` with every batch; `response` is then the whole. It does not check their order."""

    def __init__(self) -> None:
        self._start = ResponseStart(None, None)
        self._parts: list[TextStart | ReasoningStart | ToolCallStart | OpaquePart] = []
        self._text: dict[int, list[str]] = {}
        self._signatures: dict[int, str | None] = {}
        self._finish: Finish | None = None
        self._usage: Usage | None = None
        self._extra: dict[str, Members] = {}

    def take(self, batch: Batch) -> None:
        self._extra.update(batch.extra)
        for event in batch.events:
            self._take(event)

    def _take(self, event: StreamEvent) -> None:
        match event:
            case TextDelta(index, text) | ReasoningDelta(index, text) | ToolCallDelta(index, text):
                self._text[index].append(text)
            case TextStart() | ReasoningStart() | ToolCallStart() | OpaquePart():
                self._parts.append(event)
                self._text[event.index] = []
            case ReasoningEnd(index, signature) | TextEnd(index, signature) | ToolCallEnd(index, signature):
                self._signatures[index] = signature
            case ResponseStart():
                self._start = event
            case UsageUpdate(usage):
                self._usage = usage
            case Finish():
                self._finish = event
            case ResponseEnd(usage):
                self._usage = usage or self._usage
            case _:
                pass

    def response(self) -> ChatResponse:
        """The whole response. May be read only after `ResponseEnd`."""
        finish = self._finish or Finish("stop")
        parts = [self._part(part, finish) for part in self._parts]
        return ChatResponse(
            id=self._start.id or "",
            model=self._start.model or "",
            created=self._start.created or 0,
            parts=tuple(parts),
            finish=finish,
            usage=self._usage,
            extra=tuple(self._extra.items()),
        )

    def _part(self, part: TextStart | ReasoningStart | ToolCallStart | OpaquePart, finish: Finish) -> OutputPart:
        text, signature = "".join(self._text[part.index]), self._signatures.get(part.index)
        match part:
            case TextStart():
                return TextOutput(text, part.refusal, signature)
            case ReasoningStart():
                return ReasoningOutput(text, signature)
            case ToolCallStart():
                whole = not finish.is_cut or self._is_whole(part, text)
                return ToolCallOutput(part.id or "", part.name, text, whole, part.kind, part.extra, signature)
            case OpaquePart():
                return part

    def _is_whole(self, part: ToolCallStart, text: str) -> bool:
        """Whether a call of an answer that was cut is whole. The text of a custom call does not show it, but what is
        cut is the part that came last."""
        return part is not self._parts[-1] if part.kind == "custom" else is_object(text)
