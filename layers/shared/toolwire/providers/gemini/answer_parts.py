"""The parts of a Gemini answer while they arrive: texts, reasoning, calls, and parts that only this API knows."""

from __future__ import annotations

import json

import msgspec

from toolwire.model.errors import UpstreamProtocolError
from toolwire.model.events import (
    OpaquePart,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    StreamEvent,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
)
from toolwire.providers.gemini.streamed_arguments import StreamedArguments
from toolwire.wire import gemini as wire
from toolwire.wire.gemini_snake import camel_part
from toolwire.wire.json import ABSENT, raw_members


class AnswerParts:
    """The parts of one answer, numbered in the order in which they begin."""

    def __init__(self) -> None:
        self.count = 0
        self.has_calls = False
        self.cut = False  # whether the output limit was reached
        self._open_text: int | None = None
        self._open_reasoning: int | None = None
        self._streamed: tuple[int, StreamedArguments] | None = None  # the open call whose arguments come as values
        self._signature: str | None = None  # of that call

    def take(self, raw: msgspec.Raw, events: list[StreamEvent]) -> bool:
        """Adds the events of one part of a chunk. Returns whether a client of the same API may see it as it is. Raises
        UpstreamProtocolError for one that cannot be read."""
        part, exact = _read(raw)
        if part.function_call is not None:
            self._call(part.function_call, part.thought_signature, events)
        elif part.thought:
            self._reasoning(part.text or "", part.thought_signature, events)
        elif part.text:
            if self._open_text is None or part.thought_signature:
                self._close_texts(events)
                self._open_text = self._next_part()
                events.append(TextStart(self._open_text))
            events.append(TextDelta(self._open_text, part.text))
            if part.thought_signature:  # it belongs to this part only
                events.append(TextEnd(self._open_text, part.thought_signature))
                self._open_text = None
        else:
            kind = next((name for name in raw_members(raw) if name not in wire.PART_FLAGS), None)
            if kind is not None or part.thought_signature:
                self._close_texts(events)
            if kind is not None:
                events.append(OpaquePart(self._next_part(), kind, wire.DIALECT, bytes(raw)))
            elif part.thought_signature:  # a signature alone becomes a thought without text
                self._reasoning("", part.thought_signature, events)
        return exact and (part.function_call is None or bytes(part.function_call.args)[:1] != b'"')

    def _reasoning(self, text: str, signature: str | None, events: list[StreamEvent]) -> None:
        if not text and not signature:
            return
        if self._open_reasoning is None:
            self._close_texts(events)
            self._open_reasoning = self._next_part()
            events.append(ReasoningStart(self._open_reasoning))
        if text:
            events.append(ReasoningDelta(self._open_reasoning, text))
        if signature:  # it belongs to this part and to none behind it
            events.append(ReasoningEnd(self._open_reasoning, signature))
            self._open_reasoning = None

    def _call(self, call: wire.FunctionCall, signature: str | None, events: list[StreamEvent]) -> None:
        if call.name:
            self.close_call(events)
            self._close_texts(events)
            self.has_calls = True
            index = self._next_part()
            events.append(ToolCallStart(index, call.id or None, call.name))
            if call.partial_args is None and not call.will_continue:
                events.append(ToolCallDelta(index, _arguments(call.args)))
                events.append(ToolCallEnd(index, signature))
                return
            self._streamed = (index, StreamedArguments())
            self._signature = None
        elif self._streamed is None:
            if call.partial_args or call.args is not ABSENT:
                raise UpstreamProtocolError("the upstream sent a tool call without a name")
            return  # the end of a call that has ended
        assert self._streamed is not None
        self._signature = signature or self._signature
        for piece in call.partial_args or ():
            self._streamed[1].take(piece)
        if not call.will_continue:
            self.close_call(events)

    def close_call(self, events: list[StreamEvent]) -> None:
        """Ends the call whose arguments came as values. Its last, empty piece may be missing."""
        if self._streamed is not None:
            index, arguments = self._streamed
            self._streamed = None
            events.append(ToolCallDelta(index, arguments.text(cut=self.cut)))
            events.append(ToolCallEnd(index, self._signature))

    def _close_texts(self, events: list[StreamEvent]) -> None:
        if self._open_reasoning is not None:
            events.append(ReasoningEnd(self._open_reasoning))
        if self._open_text is not None:
            events.append(TextEnd(self._open_text))
        self._open_reasoning = self._open_text = None

    def _next_part(self) -> int:
        self.count += 1
        return self.count - 1

    def end(self, events: list[StreamEvent]) -> None:
        """Ends all open parts."""
        self.close_call(events)
        self._close_texts(events)


def _read(raw: msgspec.Raw) -> tuple[wire.Part, bool]:
    """The part, and whether its names are the API's own. Raises UpstreamProtocolError."""
    try:
        return wire.part_decoder.decode(raw), True
    except (msgspec.DecodeError, UnicodeDecodeError):
        pass
    try:
        return wire.part_decoder.decode(camel_part(bytes(raw))), False
    except (ValueError, RecursionError) as error:
        raise UpstreamProtocolError("the upstream sent a part that its protocol does not have") from error


def _arguments(raw: msgspec.Raw) -> str:
    """A call's arguments as text. Google leaves out empty arguments."""
    text = bytes(raw)
    if text[:1] == b'"':  # a proxy sends the text of the object
        text = str(json.loads(text, strict=False)).strip().encode("utf-8", "surrogatepass")
    if text in (b"", b"null"):
        return "{}"
    if text[:1] != b"{":
        raise UpstreamProtocolError("the upstream sent arguments that are no JSON object")
    try:
        return msgspec.json.format(text, indent=-1).decode()
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UpstreamProtocolError("the upstream sent arguments that are no JSON object") from error
