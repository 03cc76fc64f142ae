"""Reads one block of tool-call markup while it arrives, in pieces cut anywhere.

A format is a generator over these steps. It yields when it needs more text, and goes on at the same place when more has
come. So every character is read once, and a format's code looks like its markup.
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
    """The text is not markup of this format. This is no error of anybody: the block is then text."""


#: The content of an element: its text, or elements within it, each with its name.
Content = str | tuple[tuple[str, "Content"], ...]


class Written(NamedTuple):
    """One call as the model wrote it. Its arguments are JSON text (None: the model wrote none), or named parameters,
    each with its name, its content, and whether the markup says that it is a string (None: the markup does not say).
    Only such a parameter may have elements within it."""

    name: str
    arguments: str | None = None
    parameters: tuple[tuple[str, Content, bool | None], ...] | None = None


class Marker:
    """One mark in all its spellings. No spelling is the beginning of another, so the result does not depend on where
    the text is cut."""

    __slots__ = ("_first", "_prefixes", "longest", "pattern", "spellings")

    def __init__(self, spellings: Iterable[str]) -> None:
        self.spellings = tuple(dict.fromkeys(spellings))
        self.longest = max(map(len, self.spellings))
        self.pattern = re.compile("|".join(map(re.escape, self.spellings)))
        self._first = re.compile("[" + re.escape("".join({text[0] for text in self.spellings})) + "]")
        self._prefixes = frozenset(text[:end] for text in self.spellings for end in range(len(text)))

    def may_begin(self, text: str, at: int) -> bool:
        """Whether the text from `at` on may be the beginning of the mark."""
        return len(text) - at < self.longest and text[at:] in self._prefixes

    def cut(self, text: str, at: int) -> int:
        """The place of an incomplete mark at the text's end; the end itself without one."""
        begins = self._first.finditer(text, max(at, len(text) - self.longest + 1))
        return next((match.start() for match in begins if self.may_begin(text, match.start())), len(text))


class BlockReader:
    """A block from its opening mark on. `text[at:]` was not read yet."""

    __slots__ = ("_read", "_start", "at", "begun", "calls", "text")

    def __init__(self, text: str, start: int, at: int) -> None:
        self.text, self._start, self.at = text, start, at
        self.begun = False  # whether a call has begun behind the mark
        #: The block's calls if the text ends here: only a mark that may be missing would follow. None: it is not
        #: complete.
        self.calls: list[Written] | None = None
        self._read: list[str] = []

    def feed(self, text: str) -> None:
        self._read.append(self.text[self._start : self.at])
        self.text = self.text[self.at :] + text
        self._start = self.at = 0

    def take_raw(self) -> str:
        """The text that was read since the last call."""
        raw = "".join(self._read) + self.text[self._start : self.at]
        self._read, self._start = [], self.at
        return raw

    def space(self) -> Steps[str]:
        """Reads white space, which may be none."""
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
        """The next character. It is not read."""
        while self.at == len(self.text):
            yield
        return self.text[self.at]

    def mark(self, marker: Marker) -> Steps[str | None]:
        """Reads the mark; None if something else comes."""
        while True:
            match = marker.pattern.match(self.text, self.at)
            if match is not None:
                self.at = match.end()
                return match[0]
            if not marker.may_begin(self.text, self.at):
                return None
            yield

    def expect(self, marker: Marker) -> Steps[str]:
        """Reads the mark. Raises Malformed if something else comes."""
        found = yield from self.mark(marker)
        if found is None:
            raise Malformed
        return found

    def until(self, marker: Marker) -> Steps[str]:
        """Reads up to the mark and the mark. Returns the text before it."""
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
        """Reads the name of a tool or a parameter. Raises Malformed if none comes."""
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
        """Reads one JSON object or array, up to its closing bracket. Brackets and marks in its strings do not count.
        Returns its raw text. Raises Malformed if none begins here."""
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
