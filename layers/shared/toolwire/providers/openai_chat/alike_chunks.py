"""Chunks that are like an earlier one but for the piece of a text or of a call's arguments: see `AlikeFrames`."""

from __future__ import annotations

import re

from toolwire.model.events import TextDelta, ToolCallDelta
from toolwire.providers.alike_frames import AlikeFrames, Changed, Form
from toolwire.providers.openai_chat.answer_parts import AnswerParts
from toolwire.wire import openai_chat as wire


class AlikeChunks(AlikeFrames[int | None]):
    """Reads the alike chunks of one answer, until its finish. `parts`: the parts of the answer so far. The place of a
    piece is its call's index, or None for the text."""

    def __init__(self, parts: AnswerParts) -> None:
        super().__init__(_FORM)
        self._parts = parts

    def _event(self, place: int | None, text: str) -> TextDelta | ToolCallDelta | None:
        """See `AlikeFrames`."""
        parts = self._parts
        if place is None:
            return None if parts.open_text is None else TextDelta(parts.open_text, text)
        part = _part_at(parts, place)
        if part is None or parts.accumulator.goes_on(place, text) is None:
            return None
        return ToolCallDelta(part, text)


def _part_at(parts: AnswerParts, index: int) -> int | None:
    """The part of the call at this index, if host and client count it alike."""
    call = parts.announced[index] if 0 <= index < len(parts.announced) else None
    return call.part if call is not None and parts.accumulator.at(index) is call else None


def _changed(chunk: wire.Chunk) -> Changed[int | None] | None:
    choice = chunk.choices[0] if chunk.choices is not None and len(chunk.choices) == 1 else None
    if choice is None or choice.delta is None or choice.finish_reason:
        return None
    delta = choice.delta
    if delta.content and delta == wire.Delta(role=delta.role, content=delta.content):
        delta.content += "."
        return Changed(chunk, None, delta.content)
    call = delta.tool_calls[0] if delta.tool_calls else None
    said = call.function if call is not None else None
    if call is None or call.index is None or call.type is None or said is None or not said.arguments:
        return None
    alone = wire.ToolCallDelta(call.index, type=call.type, function=wire.FunctionDelta(arguments=said.arguments))
    if delta != wire.Delta(role=delta.role, tool_calls=[alone]):
        return None
    said.arguments += "."
    return Changed(chunk, call.index, said.arguments)


_FORM = Form(
    wire.DIALECT,
    wire.chunk_decoder.decode,
    _changed,
    rb"content|arguments",
    padding=re.compile(rb'"obfuscation"\s*:\s*"([^"\\]*)"'),
)
