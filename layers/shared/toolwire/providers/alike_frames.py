"""Frames that are like an earlier one but for one string: nearly all of a stream, since a host writes the same members
around each piece of a text and of a call's arguments.

What such a frame says follows from the earlier one, in which another string stood at the same place. So only the string
is read. That the bytes around it are those of the earlier frame's string, and of nothing else in it, is proven once, by
decoding the earlier frame with another string there.

OpenAI adds padding behind the string, which nothing reads: it hides how long the text is, so it is another in each
frame. The proof gives it another value, too.

A frame that is not like an earlier one changes nothing here, and is decoded.
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

#: How often an answer's decoder tries to learn before what it learnt helps: some hosts change another member with every
#: frame.
_TRIES = 4
#: Frames that are remembered: those of an answer's calls, if they come in turn.
_MOST_KNOWN = 8

_DELTAS = (TextDelta, ReasoningDelta, ToolCallDelta)

#: What padding is made of. A string of these is its own JSON.
_PADDING = bytes(byte for byte in range(0x20, 0x7F) if byte not in b'"\\')
_string = msgspec.json.Decoder(str).decode

K = TypeVar("K")


class Changed(NamedTuple, Generic[K]):
    """What a frame says, with another string in it. `place`: which of the answer's texts the string is a piece of."""

    event: Any
    place: K
    text: str


class Form(NamedTuple, Generic[K]):
    """What is particular to the frames of one wire."""

    dialect: str
    decode: Callable[[bytes], Any]
    #: Gives what was decoded another string, if it is a piece of a text or of arguments and has nothing else that could
    #: change what the answer has. None: it is not.
    changed: Callable[[Any], Changed[K] | None]
    #: The names of the members that may hold the string, as a regular expression.
    texts: bytes
    #: Padding and the member around it, where the wire has some.
    padding: re.Pattern[bytes] | None = None


class _Alike(msgspec.Struct, Generic[K], frozen=True, gc=False):
    """A frame that was learnt: the bytes in front of the string, and those behind it, its quotes included. `value`:
    those between the string and padding; then `after` is what stands behind that. `place`: see `Changed`."""

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
    """The frames of one answer. A wire says in `_event` what a piece of a text means."""

    def __init__(self, form: Form[K]) -> None:
        self._form, self._dialect = form, form.dialect
        self._known: list[_Alike[K]] = []
        self._tries = _TRIES

    @abstractmethod
    def _event(self, place: K, text: str) -> StreamEvent | None:
        """The event of a piece of a text, which is not empty. None: the answer is not where it was then, and nothing
        has changed."""

    def batch(self, data: bytes) -> Batch | None:
        """What a frame says that is like an earlier one. None: it is not, or the answer is not where it was then, and
        nothing has changed."""
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
        """The batch that the decoder made of a frame, which is remembered if it is one delta and the frame is `exact`:
        as the API has it."""
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
    """The string in its quotes, whose frame has padding behind it that ends at `ends`. `value`: what is between the
    two. Nothing: there is something else. Whether it is one string is not known yet."""
    found = data.rfind(value, begins + 1, ends)
    if found < 0 or data[found + len(value) : ends].translate(None, _PADDING):
        return b""
    return data[begins : found + 1]
