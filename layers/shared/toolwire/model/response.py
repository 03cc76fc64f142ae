"""One whole answer: the fold of a response's events. Doors render it as JSON."""

from __future__ import annotations

from dataclasses import dataclass

from toolwire.model.events import Finish, OpaquePart, Usage
from toolwire.model.source import Members


@dataclass(frozen=True, slots=True)
class TextOutput:
    text: str
    refusal: bool = False
    signature: str | None = None


@dataclass(frozen=True, slots=True)
class ReasoningOutput:
    text: str
    signature: str | None = None


@dataclass(frozen=True, slots=True)
class ToolCallOutput:
    """A call of the answer. `arguments` is raw JSON text; `complete` is False when the output limit cut it."""

    id: str
    name: str
    arguments: str
    complete: bool = True
    kind: str = "function"
    extra: Members = ()
    signature: str | None = None


OutputPart = TextOutput | ReasoningOutput | ToolCallOutput | OpaquePart


@dataclass(frozen=True, slots=True)
class ChatResponse:
    """A complete answer: parts in the order in which they started."""

    id: str
    model: str
    created: int
    parts: tuple[OutputPart, ...]
    finish: Finish
    usage: Usage | None
    extra: tuple[tuple[str, Members], ...] = ()
