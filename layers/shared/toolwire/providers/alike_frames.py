"""Reads frames that differ from an earlier frame in one string only. Nearly all frames of a stream do: a host writes
the same members around each piece of a text or of a call's arguments.

Such a frame means what the earlier one meant, with another string. So only the string is read. Before that, it is
proven once that the string's place means this piece and nothing else: the earlier frame is decoded with another string
there.

OpenAI adds padding behind the string, which differs in each frame to hide the length of the text. Nothing reads it. The
proof gives it another value too.

Any other frame is decoded as usual.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec

from toolwire.model.events import Batch, ReasoningDelta, StreamEvent, TextDelta, ToolCallDelta
from toolwire.model.source import Members, Source
from toolwire.wire.json import dump

#: The most frames of one answer that are learnt without one that could then be read: some hosts change another member
#: with every frame.
_TRIES = 4
#: The number of learnt frames that are remembered: enough for parallel calls whose frames alternate.
_MOST_KNOWN = 8

_DELTAS = (TextDelta, ReasoningDelta, ToolCallDelta)

#: The characters of padding. None needs an escape in JSON.
_PADDING = bytes(byte for byte in range(0x20, 0x7F) if byte not in b'"\\')
_string = msgspec.json.Decoder(str).decode

K = TypeVar("K")


class Changed(NamedTuple, Generic[K]):
    """The decoded frame with another string. `place` says to which text of the answer the string belongs."""

    event: Any
    place: K
    text: str


class Form(NamedTuple, Generic[K]):
    """What `AlikeFrames` must know of one wire."""

    dialect: str
    decode: Callable[[bytes], Any]
    #: Returns the decoded frame with another string. None, if the frame is not just a piece of a text or of arguments.
    changed: Callable[[Any], Changed[K] | None]
    #: A regular expression for the names of the members that may hold the string.
    texts: bytes
    #: The padding with the member around it, if the wire has padding.
    padding: re.Pattern[bytes] | None = None


class _Alike(msgspec.Struct, Generic[K], frozen=True, gc=False):
    """A learnt frame: the bytes before and behind the string, with its quotes. If the frame has padding, `value` holds
    the bytes between string and padding, and `after` those behind the padding. `place`: see `Changed`."""

    before: bytes
    value: bytes | None
    after: bytes
    place: K
    keeps_source: bool
    extra: tuple[tuple[str, Members], ...]
    #: Where the string begins and ends in a frame without padding, from the front and from the end.
    begins: int
    ends: int


class AlikeFrames(ABC, Generic[K]):
    """Reads the alike frames of one answer. A wire implements `_event`."""

    def __init__(self, form: Form[K]) -> None:
        self._form, self._dialect = form, form.dialect
        self._known: list[_Alike[K]] = []
        self._tries = _TRIES

    @abstractmethod
    def _event(self, place: K, text: str) -> StreamEvent | None:
        """The event for a piece of a text that is not empty. Returns None, and changes nothing, if the text at `place`
        is no longer open."""

    def batch(self, data: bytes) -> Batch | None:
        """The batch of a frame that is like a learnt one. Returns None, and changes nothing, for any other frame, and
        where `_event` returns None."""
        for known in self._known:
            before, after = known.before, known.after
            if not data.startswith(before) or not data.endswith(after):
                continue
            if known.value is None:
                string = data[known.begins : known.ends]
            elif not (string := _string_before(data, known.begins, known.value, len(data) - len(after))):
                continue
            try:
                text = _string(string)
            except (msgspec.DecodeError, UnicodeDecodeError):
                return None  # there is more than a string, or none that is exact
            event = self._event(known.place, text) if text else None
            if event is None:
                return None
            self._tries = _TRIES
            if known.keeps_source:
                return Batch((event,), (), Source(self._dialect, data))
            return Batch((event,), known.extra)
        return None

    def learnt(self, data: bytes, batch: Batch, exact: bool) -> Batch:
        """Returns the batch that the decoder made of a frame. Remembers the frame if the batch is one delta and the
        frame is `exact`, which is to say as the API documents it."""
        if exact and self._tries and len(batch.events) == 1 and type(batch.events[0]) in _DELTAS:
            self._tries -= 1
            self._learn(data, batch)
        return batch

    def _learn(self, data: bytes, batch: Batch) -> None:
        form = self._form
        changed = form.changed(form.decode(data))
        if changed is None:
            return
        other, source = dump(changed.text)[1:-1], batch.source is not None
        for found in re.finditer(rb'"(?:%b)"\s*:\s*"((?:[^"\\]|\\.)+)"' % form.texts, data, re.DOTALL):
            before, after = data[: found.start(1)], data[found.end(1) :]
            if form.decode(before + other + after) != changed.event:
                continue
            extra, value = () if source else batch.extra, None
            if source and form.padding is not None and (padding := re.search(form.padding, after)) is not None:
                value, rest = after[: padding.start(1)], after[padding.end(1) :]
                if form.decode(before + other + value + b"~ " + rest) == changed.event:
                    after = rest
                else:
                    value = None
            self._known.insert(
                0, _Alike(before, value, after, changed.place, source, extra, len(before) - 1, 1 - len(after))
            )
            del self._known[_MOST_KNOWN:]
            return


def _string_before(data: bytes, begins: int, value: bytes, ends: int) -> bytes:
    """The string with its quotes, in a frame whose padding ends at `ends`. `value`: the bytes between string and
    padding. Returns b"" if other bytes stand there. The result is not yet known to be a single string."""
    found = data.rfind(value, begins + 1, ends)
    if found < 0 or data[found + len(value) : ends].translate(None, _PADDING):
        return b""
    return data[begins : found + 1]
