"""Chunks that are like an earlier one but for one string: nearly all of a stream, since a host writes the same members
around each piece of a text and of a call's arguments.

What such a chunk says follows from the earlier one, in which another string stood at the same place. So only the string
is read, which takes a third of the time. That the bytes around it are those of the earlier chunk's string, and of
nothing else in it, is proven once, by decoding the earlier chunk with another string there.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import msgspec

from toolwire.model.events import Batch, TextDelta, ToolCallDelta
from toolwire.model.source import Members, Source
from toolwire.providers.openai_chat.answer_parts import AnswerParts
from toolwire.wire import openai_chat as wire
from toolwire.wire.json import dump

#: How often an answer's decoder tries to learn: some hosts change another member with every chunk.
_TRIES = 4

_TEXT, _ARGUMENTS = (
    re.compile(rb'"%b"\s*:\s*"((?:[^"\\]|\\.)+)"' % name, re.DOTALL) for name in (b"content", b"arguments")
)
_string = msgspec.json.Decoder(str).decode


class _Alike(msgspec.Struct, frozen=True, gc=False):
    """What stands around the string, its quotes included, and what the chunk is otherwise. `index`: the call's; None:
    it is a text."""

    before: bytes
    after: bytes
    index: int | None
    keeps_source: bool
    extra: tuple[tuple[str, Members], ...]


class AlikeChunks:
    """The chunks of one answer whose finish has not come. `parts`: what the answer has so far."""

    def __init__(self, parts: AnswerParts) -> None:
        self._parts = parts
        self._known: list[_Alike] = []
        self._tries = _TRIES

    def batch(self, data: bytes) -> Batch | None:
        """What a chunk says that is like an earlier one. None: it is not, or the answer is not where it was then, and
        nothing has changed."""
        for known in self._known:
            before, after = known.before, known.after
            if not data.startswith(before) or not data.endswith(after):
                continue
            try:
                text = _string(data[len(before) - 1 : len(data) - len(after) + 1])
            except (msgspec.DecodeError, UnicodeDecodeError):
                return None  # there is more than a string, or none that is exact
            event = self._event(known.index, text)
            if event is None:
                return None
            if known.keeps_source:
                return Batch((event,), (), Source(wire.DIALECT, data))
            return Batch((event,), known.extra)
        return None

    def _event(self, index: int | None, text: str) -> TextDelta | ToolCallDelta | None:
        parts = self._parts
        if not text:
            return None
        if index is None:
            return None if parts.open_text is None else TextDelta(parts.open_text, text)
        part = _part_at(parts, index)
        return None if part is None or parts.accumulator.goes_on(index, text) is None else ToolCallDelta(part, text)

    def learnt(self, data: bytes, batch: Batch, exact: bool) -> Batch:
        """The batch that the decoder made of a chunk, which is remembered if it is one delta and was read `exact`."""
        if exact and self._tries and len(batch.events) == 1 and type(batch.events[0]) in (TextDelta, ToolCallDelta):
            self._tries -= 1
            self._learn(data, batch)
        return batch

    def _learn(self, data: bytes, batch: Batch) -> None:
        chunk = wire.chunk_decoder.decode(data)
        changed = _changed(chunk)
        if changed is None or (changed.call is not None and _part_at(self._parts, changed.call) is None):
            return
        other = dump(changed.text)[1:-1]
        for found in (_TEXT if changed.call is None else _ARGUMENTS).finditer(data):
            before, after = data[: found.start(1)], data[found.end(1) :]
            if wire.chunk_decoder.decode(before + other + after) == chunk:
                source = batch.source is not None
                self._known.insert(0, _Alike(before, after, changed.call, source, () if source else batch.extra))
                return


def _part_at(parts: AnswerParts, index: int) -> int | None:
    """The part of the call that the client and the host both have at this index, if there is one."""
    call = parts.announced[index] if 0 <= index < len(parts.announced) else None
    return call.part if call is not None and parts.accumulator.at(index) is call else None


class _Changed(NamedTuple):
    call: int | None
    text: str


def _changed(chunk: wire.Chunk) -> _Changed | None:
    """Gives a chunk another string, if it has a piece of a text or of a call's arguments and nothing else that could
    change what the answer has. None: it has."""
    choice = chunk.choices[0] if chunk.choices is not None and len(chunk.choices) == 1 else None
    if choice is None or choice.delta is None or choice.finish_reason:
        return None
    delta = choice.delta
    if delta.content and delta == wire.Delta(role=delta.role, content=delta.content):
        delta.content += "."
        return _Changed(None, delta.content)
    call = delta.tool_calls[0] if delta.tool_calls else None
    said = call.function if call is not None else None
    if call is None or call.index is None or call.type is None or said is None or not said.arguments:
        return None
    alone = wire.ToolCallDelta(call.index, type=call.type, function=wire.FunctionDelta(arguments=said.arguments))
    if delta != wire.Delta(role=delta.role, tool_calls=[alone]):
        return None
    said.arguments += "."
    return _Changed(call.index, said.arguments)
