"""Fragments of a JSON object that may repeat all text before them: what is new in each."""

from __future__ import annotations

import re
from typing import NamedTuple

_OUTSIDE = re.compile(rb'["{}\[\]]')
_IN_STRING = re.compile(rb'["\\]')
#: What may follow the quote that ends a string.
_BEHIND_STRING = (b"", b",", b"}", b"]", b":", b" ", b"\t", b"\r", b"\n")


def encoded(text: str) -> bytes:
    """The text as bytes; halves of surrogate pairs stay."""
    return text.encode("utf-8", "surrogatepass")


def decoded(data: bytes | bytearray) -> str:
    """The text of `encoded` bytes."""
    return data.decode("utf-8", "surrogatepass")


class ObjectScan:
    """Finds the end of a JSON object by its brackets."""

    __slots__ = ("_level", "at", "in_string")

    def __init__(self) -> None:
        self.at = 0  # how far it has read; one byte further than the data if a backslash is the last byte
        self.in_string = False
        self._level = 0

    def copy(self) -> ObjectScan:
        """A scan that has read the same, for a copy of the data."""
        other = ObjectScan()
        other.at, other.in_string, other._level = self.at, self.in_string, self._level
        return other

    def end(self, data: bytes | bytearray) -> int | None:
        """The place behind the object's end; None if the object goes on. The data may have grown since the last
        call."""
        size = len(data)
        while self.at < size:
            match = (_IN_STRING if self.in_string else _OUTSIDE).search(data, self.at)
            if match is None:
                self.at = size
                break
            self.at = match.end()
            char = match[0]
            if char == b'"':
                self.in_string = not self.in_string
            elif char == b"\\":
                self.at += 1  # the escaped byte, which may not have arrived yet
            else:
                self._level += 1 if char in b"{[" else -1
                if self._level <= 0:
                    return self.at
        return None


class _Reading(NamedTuple):
    """The decision of a `_Doubt`: the new text, and whether each fragment repeats all text before it."""

    text: str
    is_cumulative: bool


class _Doubt:
    """A fragment that begins with all text before it, at a place where a value may begin.

    It has two readings. It is the next piece, an inner object that begins as the outer one does; or it is a snapshot,
    which repeats all arguments so far. What follows decides: the pieces end one bracket later than the snapshot.
    """

    __slots__ = ("_pieces", "_pieces_scan", "_scan", "_size", "_snapshot", "_whole")

    def __init__(self, before: bytes, scan: ObjectScan) -> None:
        """`before`: all text before the fragment. `scan` has read it."""
        self._size = len(before)
        self._pieces, self._pieces_scan = bytearray(before), scan
        self._snapshot, self._scan = bytearray(), ObjectScan()
        self._whole = False  # whether the snapshot is a whole object

    def weigh(self, fragment: str) -> _Reading | None:
        """Reads the fragment, or the next one. Returns the decision; None while both readings are possible."""
        data, snapshot = encoded(fragment), self._snapshot
        bare = data.lstrip()
        if data.startswith(snapshot):
            if snapshot and not _may_go_on(self._pieces, self._pieces_scan, data):
                self._snapshot = bytearray(data)
                return self._as_snapshot()
            new = data[len(snapshot) :]
        elif self._whole and bare:
            self._pieces += data
            self._snapshot += data
            return self._as_snapshot() if bare[:1] == b"{" else self._as_pieces()
        else:
            new = data
        self._pieces += data
        self._pieces_scan.end(self._pieces)
        snapshot += new
        end = None if self._whole else self._scan.end(snapshot)
        if end is not None:
            self._whole = True
            behind = snapshot[end:].lstrip()
            if behind:
                return self._as_snapshot() if behind[:1] == b"{" else self._as_pieces()
        return None

    def end(self) -> _Reading:
        """The decision if no fragment follows."""
        return self._as_snapshot() if self._whole else self._as_pieces()

    def _as_snapshot(self) -> _Reading:
        return _Reading(decoded(self._snapshot[self._size :]), is_cumulative=True)

    def _as_pieces(self) -> _Reading:
        return _Reading(decoded(self._pieces[self._size :]), is_cumulative=False)


class Cumulative:
    """Finds fragments that repeat all text before them. `found` says whether there was one: then each is taken so."""

    __slots__ = ("_doubt", "found")

    def __init__(self) -> None:
        self.found = False
        self._doubt: _Doubt | None = None

    @property
    def doubts(self) -> bool:
        """Whether a fragment is held, since it may be a repetition or not: the next goes to `new_in`, or call `end`."""
        return self._doubt is not None

    def new_in(self, fragment: str, before: bytes | bytearray, scan: ObjectScan) -> str | None:
        """The part of the text that is new; None if that is not known yet. `before`: all text before. `scan` has read
        it."""
        if self._doubt is not None:
            return self._settled(self._doubt.weigh(fragment))
        if len(fragment) < len(before) >> 2 or not (data := encoded(fragment)).startswith(before):
            return fragment
        scan.end(before)
        if self.found or not _may_go_on(before, scan, data):
            return self._settled(_Reading(decoded(data[len(before) :]), is_cumulative=True))
        self._doubt = _Doubt(bytes(before), scan.copy())
        return self._settled(self._doubt.weigh(fragment))

    def end(self) -> str:
        """The part that is new in what was held, if no fragment follows."""
        return "" if self._doubt is None else self._settled(self._doubt.end()) or ""

    def _settled(self, reading: _Reading | None) -> str | None:
        if reading is None:
            return None
        self._doubt = None
        self.found = self.found or reading.is_cumulative
        return reading.text


def _may_go_on(before: bytes | bytearray, scan: ObjectScan, fragment: bytes) -> bool:
    """Whether `fragment`, which begins with all of `before`, can be the next piece. Outside a string, an object may
    begin only where a value may. Inside a string, the fragment's first quote ends the string. `scan` has read
    `before`."""
    if not scan.in_string:
        return before.rstrip()[-1:] in (b":", b"[", b",")
    quote = fragment.find(b'"')
    return fragment[quote + 1 : quote + 2] in _BEHIND_STRING
