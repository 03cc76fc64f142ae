"""Reads one block of tool-call markup while it arrives, in pieces cut anywhere.

A format is a generator over these steps. It yields where it needs more text and goes on in the same place when more has
come, so every character is looked at once and a format reads like the markup it describes.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable
from typing import NamedTuple, TypeVar

T = TypeVar("T")

#: A part of a format: yields when it needs more text, returns what it has read.
Steps = Generator[None, None, T]

_SPACE = re.compile(r"\s*")
_NAME = re.compile(r"[A-Za-z0-9_.:/-]*")
_NAME_CHARS = 128
_OUTSIDE_STRING = re.compile(r'["{}\[\]]')
_IN_STRING = re.compile(r'["\\]')


class Malformed(Exception):
    """The text is not markup of this format after all. Nobody's error: it is then simply text."""


class Written(NamedTuple):
    """One call as the model wrote it: its arguments as JSON text (None: it wrote none), or as named parameters: the
    name, the text, and whether the markup says that it is a string (None: it does not say)."""

    name: str
    arguments: str | None = None
    parameters: tuple[tuple[str, str, bool | None], ...] | None = None


class Marker:
    """One mark in all its spellings. None is the beginning of another, so what is found does not depend on where the
    text was cut. In one that is searched for (`cut`, `until`) the first character occurs only once."""

    __slots__ = ("_first", "_prefixes", "longest", "pattern", "spellings")

    def __init__(self, spellings: Iterable[str]) -> None:
        self.spellings = tuple(dict.fromkeys(spellings))
        self.longest = max(map(len, self.spellings))
        self.pattern = re.compile("|".join(map(re.escape, self.spellings)))
        self._first = frozenset(text[0] for text in self.spellings)
        self._prefixes = frozenset(text[:end] for text in self.spellings for end in range(len(text)))

    def may_begin(self, text: str, at: int) -> bool:
        """Whether what stands from `at` to the end could become the mark."""
        return len(text) - at < self.longest and text[at:] in self._prefixes

    def cut(self, text: str, at: int) -> int:
        """Where a mark that is not complete yet begins at the text's end; the end itself if none does."""
        begin = max(text.rfind(char, max(at, len(text) - self.longest + 1)) for char in self._first)
        return begin if begin >= 0 and self.may_begin(text, begin) else len(text)


class BlockReader:
    """A block from its opening mark on. `text[at:]` is not read yet; `raw` is all that is."""

    __slots__ = ("_read", "_start", "at", "begun", "calls", "text")

    def __init__(self, text: str, start: int, at: int) -> None:
        self.text, self._start, self.at = text, start, at
        self.begun = False  # whether a call has begun, not only its mark
        #: What the block is if the text ends here: nothing but a mark that may be missing is still to come.
        self.calls: list[Written] | None = None
        self._read: list[str] = []

    def feed(self, text: str) -> None:
        self._read.append(self.text[self._start : self.at])
        self.text = self.text[self.at :] + text
        self._start = self.at = 0

    def take_raw(self) -> str:
        """What was read since the last time, as it came."""
        raw = "".join(self._read) + self.text[self._start : self.at]
        self._read, self._start = [], self.at
        return raw

    def space(self) -> Steps[str]:
        """White space, maybe none."""
        pieces = []
        while True:
            match = _SPACE.match(self.text, self.at)
            assert match is not None
            self.at = match.end()
            pieces.append(match[0])
            if self.at < len(self.text):
                return "".join(pieces)
            yield

    def next_char(self) -> Steps[str]:
        """The next character, which stays unread."""
        while self.at == len(self.text):
            yield
        return self.text[self.at]

    def mark(self, marker: Marker) -> Steps[str | None]:
        """The mark, if it comes next."""
        while True:
            match = marker.pattern.match(self.text, self.at)
            if match is not None:
                self.at = match.end()
                return match[0]
            if not marker.may_begin(self.text, self.at):
                return None
            yield

    def expect(self, marker: Marker) -> Steps[str]:
        """The mark. Raises Malformed if something else comes."""
        found = yield from self.mark(marker)
        if found is None:
            raise Malformed
        return found

    def until(self, marker: Marker) -> Steps[str]:
        """The text before the mark; the mark is read, too."""
        pieces = []
        while True:
            match = marker.pattern.search(self.text, self.at)
            if match is not None:
                pieces.append(self.text[self.at : match.start()])
                self.at = match.end()
                return "".join(pieces)
            end = marker.cut(self.text, self.at)
            pieces.append(self.text[self.at : end])
            self.at = end
            yield

    def name(self) -> Steps[str]:
        """A tool's or parameter's name. Raises Malformed if none comes."""
        while True:
            match = _NAME.match(self.text, self.at)
            assert match is not None
            if len(match[0]) > _NAME_CHARS:
                raise Malformed
            if match.end() < len(self.text):
                self.at = match.end()
                if not match[0]:
                    raise Malformed
                return match[0]
            yield

    def json(self) -> Steps[str]:
        """The raw text of one JSON object or array, up to the bracket that closes it; brackets and marks in its
        strings mean nothing. Raises Malformed if none begins here."""
        opening = yield from self.next_char()
        if opening not in "{[":
            raise Malformed
        self.begun = True
        pieces, level, in_string = [], 0, False
        while True:
            start, end = self.at, len(self.text)
            while self.at < end:
                match = (_IN_STRING if in_string else _OUTSIDE_STRING).search(self.text, self.at)
                if match is None:
                    self.at = end
                    break
                self.at = match.end()
                char = match[0]
                if char == '"':
                    in_string = not in_string
                elif char == "\\":
                    if self.at == end:  # the escaped character comes with the next piece
                        self.at -= 1
                        break
                    self.at += 1
                else:
                    level += 1 if char in "{[" else -1
                    if level == 0:
                        pieces.append(self.text[start : self.at])
                        return "".join(pieces)
            pieces.append(self.text[start : self.at])
            yield
