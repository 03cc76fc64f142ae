"""The parts of a Chat Completions answer that are no calls, while they arrive: text, reasoning, refusals, and content
beside them."""

from __future__ import annotations

from toolwire.model.events import (
    OpaquePart,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    StreamEvent,
    TextDelta,
    TextEnd,
    TextStart,
)
from toolwire.providers.decoder_context import DecoderContext
from toolwire.providers.openai_chat.state import ReasoningState
from toolwire.providers.openai_chat.tagged_reasoning import TaggedReasoning
from toolwire.wire import openai_chat as wire


class TextParts:
    """The parts of one answer that are no calls, numbered in the order in which they begin."""

    def __init__(self, context: DecoderContext) -> None:
        self._context = context
        self.count = 0
        self.open_text: int | None = None  # part index
        self._open_refusal: int | None = None
        self._open_reasoning: int | None = None
        self._state = ReasoningState()
        #: While the text may be reasoning between tags.
        self._tags = TaggedReasoning() if context.tagged_reasoning else None
        self._opaque_kinds: set[str] = set()

    def _text(self, text: str, events: list[StreamEvent]) -> bool:
        """Adds the events of a piece of the text, which may be reasoning between tags. Returns whether all of it is
        text."""
        thought, shown = ("", text) if self._tags is None else self._tags.take(text)
        if self._tags is not None and self._tags.over:
            self._tags = None
        self._reasoning(thought, events)
        if shown:
            if self.open_text is None:
                self._close(events)
                self.open_text = self._next_part()
                events.append(TextStart(self.open_text))
            events.append(TextDelta(self.open_text, shown))
        return shown is text

    def _reasoning(self, text: str, events: list[StreamEvent]) -> None:
        if text:
            if self._open_reasoning is None:
                self._close(events)
                self._open_reasoning = self._next_part()
                events.append(ReasoningStart(self._open_reasoning))
            events.append(ReasoningDelta(self._open_reasoning, text))

    def _refusal(self, text: str, events: list[StreamEvent]) -> None:
        self._end_tags(events)
        if self._open_refusal is None:
            self._close(events)
            self._open_refusal = self._next_part()
            events.append(TextStart(self._open_refusal, refusal=True))
        events.append(TextDelta(self._open_refusal, text))

    def _end_tags(self, events: list[StreamEvent]) -> None:
        """Ends the reading of tags: all that follows is text."""
        tags, self._tags = self._tags, None
        if tags is not None:
            thought, text = tags.end()
            self._reasoning(thought, events)
            if text:
                self._text(text, events)

    def _opaque(self, delta: wire.Delta, events: list[StreamEvent]) -> None:
        """Adds pictures, sounds and citations as opaque parts, one of each kind: only clients of this API are shown
        them."""
        for kind in wire.OPAQUE_PARTS:
            raw = bytes(getattr(delta, kind))
            if raw[:1] in (b"[", b"{") and raw[1:-1].strip() and kind not in self._opaque_kinds:
                self._opaque_kinds.add(kind)
                self._end_tags(events)
                member = b'{"%s":%s}' % (kind.encode(), raw)
                events.append(OpaquePart(self._next_part(), kind, wire.DIALECT, member, goes_back=False))

    def _close(self, events: list[StreamEvent]) -> None:
        """Ends the open texts, since another part begins."""
        self._close_texts(events)

    def _close_texts(self, events: list[StreamEvent]) -> None:
        if self._open_reasoning is not None:
            events.append(ReasoningEnd(self._open_reasoning, self._state.signature()))
        if self.open_text is not None:
            events.append(TextEnd(self.open_text))
        if self._open_refusal is not None:
            events.append(TextEnd(self._open_refusal))
        self._open_reasoning = self.open_text = self._open_refusal = None

    def _say_state(self, events: list[StreamEvent]) -> None:
        """Adds state that came without readable reasoning as a part."""
        if (signature := self._state.signature()) is not None:
            part = self._next_part()
            events += (ReasoningStart(part), ReasoningEnd(part, signature))

    def _next_part(self) -> int:
        self.count += 1
        return self.count - 1
