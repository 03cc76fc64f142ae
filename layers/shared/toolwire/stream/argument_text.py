"""The text of one call's arguments, gathered from fragments that append, repeat, extend or replace.

The rule is the table in `accumulator.py`. A text that may be a repetition is held until that is known; all other text
is returned at once. The work is linear in the text.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import NamedTuple

_OUTSIDE = re.compile(rb'["{}\[\]]')
_IN_STRING = re.compile(rb'["\\]')
#: An empty object, or the beginning of an object that may be empty; group 1 ends with the brace.
_NOTHING_IN_IT = re.compile(rb"(\s*\{)\s*\}?")
_EMPTY_AGAIN = re.compile(r"\{[ \t\r\n]*(\})?")
_SPACE = " \t\r\n"
_CLOSING = ord("}")
#: What may follow the quote that ends a string.
_BEHIND_STRING = (b"", b",", b"}", b"]", b":", b" ", b"\t", b"\r", b"\n")


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


class _Again:
    """A second object while it arrives. It may be a repetition of the first, or another object."""

    __slots__ = ("_cumulative", "_first", "_matched", "_text", "own")

    def __init__(self, first: bytes, *, own: bool, cumulative: bool) -> None:
        """`first`: the first object, `b""` if it has no members. `own`: whether the second object came with the call's
        own id. `cumulative`: whether each fragment repeats all text before it."""
        self.own, self._cumulative = own, cumulative
        self._first = first
        self._matched = 0  # how many bytes of `first` have come again
        self._text = ""  # the second object so far, if `first` is empty

    def take(self, text: str) -> tuple[bool, str | None]:
        """Reads more of the second object. Returns (True, the text behind it) if it is the same as the first, (False,
        its text so far) if it is another, and (False, None) while it may be either."""
        if not self._first:
            self._text = text if text.startswith(self._text) else self._text + text  # no two braces begin an object
            match = _EMPTY_AGAIN.match(self._text)
            if match is not None and match[1]:
                return True, self._text[match.end() :]
            return False, self._text if match is None or match.end() < len(self._text) else None
        data, at = _bytes(text), self._matched
        if self._cumulative and data.startswith(self._first[:at]):
            data = data[at:]
        missing = len(self._first) - at
        if data[:missing] != self._first[at : at + len(data)]:
            return False, _text(self._first[:at] + data)
        self._matched += min(len(data), missing)
        return (True, _text(data[missing:])) if len(data) >= missing else (False, None)

    def end(self) -> str:
        """The text of the second object so far."""
        return self._text or _text(self._first[: self._matched])


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
        data, snapshot = _bytes(fragment), self._snapshot
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
        return _Reading(_text(self._snapshot[self._size :]), is_cumulative=True)

    def _as_pieces(self) -> _Reading:
        return _Reading(_text(self._pieces[self._size :]), is_cumulative=False)


class _State(Enum):
    """What the text is, as far as it has come."""

    EMPTY = 0  # nothing but white space
    OPEN = 1  # the beginning of an object
    WHOLE = 2  # one object
    RAW = 3  # not an object, or an object with other text behind it: all that follows is appended


class ArgumentText:
    """The arguments of one call. Call `take` with each fragment, then `end`. `shown` is the text that they returned."""

    __slots__ = (
        "_again", "_begin", "_cumulative", "_doubt", "_empty", "_end", "_held", "_placeholders", "_scan", "_state",
        "restated", "shown",
    )  # fmt: skip

    def __init__(self, *, is_json: bool, placeholders: bool = True) -> None:
        """`is_json`: not the text of a custom tool. `placeholders`: `{}` may stand for arguments that follow."""
        self._placeholders = placeholders
        self.shown = bytearray()
        #: Whether a repetition was left out.
        self.restated = False
        self._state = _State.EMPTY if is_json else _State.RAW
        self._scan = ObjectScan()
        #: Text behind `shown` that may be replaced: an empty object, or the rest of what may become one.
        self._held = ""
        self._empty = False  # whether the object has no member so far
        self._begin = self._end = 0  # where the whole object is in `shown`
        self._again: _Again | None = None
        self._cumulative = False  # whether a fragment repeated all text before it
        self._doubt: _Doubt | None = None

    @property
    def begun(self) -> bool:
        """Whether anything but white space has come."""
        return self._state is not _State.EMPTY and bool(self.shown or self._held)

    @property
    def is_open(self) -> bool:
        """Whether this is the beginning of an object."""
        return self._state is _State.OPEN

    @property
    def is_final(self) -> bool:
        """Whether this is a whole object that no other may replace."""
        return self._state is _State.WHOLE and not self._empty

    @property
    def is_placeholder(self) -> bool:
        """Whether this is an empty object that another may still replace."""
        return self._state is _State.WHOLE and self._empty

    def take(self, fragment: str, *, own: bool) -> tuple[str, str | None]:
        """Adds a fragment. Returns the text that may be sent on now, and the beginning of another call's object if one
        follows. `own`: whether the fragment came with the call's id, so that it begins no other call."""
        if self._state is _State.RAW:
            return self._show(fragment), None
        if self._doubt is not None:
            reading = self._doubt.weigh(fragment)
            return ("", None) if reading is None else self._settle(reading)
        if self._state is _State.OPEN:
            if not self._empty and "{" not in fragment and "}" not in fragment:
                return self._show(fragment), None  # as nearly all fragments
            own = False
            if (new := self._new_in(fragment)) is None:
                return "", None
            fragment = new
        return self._append(fragment, own=own)

    def end(self) -> tuple[str, str | None]:
        """Ends the text. Returns what was held, as `take` does."""
        said, after = ("", None) if self._doubt is None else self._settle(self._doubt.end())
        if after is not None:
            return said, after
        again, self._again = self._again, None
        if again is not None and self._empty:
            said += self._append(self._replaced(again.end()), own=False)[0]
        elif again is not None and again.end():
            if not again.own:
                return said, again.end()
            self.restated = True
        held, self._held = self._held, ""
        return said + self._show(held), None

    def become_raw(self) -> None:
        """Takes the text for a custom tool's, which is no JSON. None of it may have been returned before."""
        self.end()
        self._state = _State.RAW

    # ------------------------------------------------------------ a fragment that begins with all text before it

    def _new_in(self, fragment: str) -> str | None:
        """The part of a fragment that is new; None if that is not known yet."""
        before = self.shown + _bytes(self._held) if self._held else self.shown
        if len(fragment) < len(before) >> 2 or not (data := _bytes(fragment)).startswith(before):
            return fragment
        self._scan.end(self.shown)
        if self._cumulative or not _may_go_on(before, self._scan, data):
            return self._settled(_Reading(_text(data[len(before) :]), is_cumulative=True))
        doubt = _Doubt(bytes(before), self._scan.copy())
        if (reading := doubt.weigh(fragment)) is not None:
            return self._settled(reading)
        self._doubt = doubt
        return None

    def _settle(self, reading: _Reading) -> tuple[str, str | None]:
        self._doubt = None
        return self._append(self._settled(reading), own=False)

    def _settled(self, reading: _Reading) -> str:
        if reading.is_cumulative:
            self.restated = self._cumulative = True
        return reading.text

    # ------------------------------------------------------------ text that is new

    def _append(self, text: str, *, own: bool) -> tuple[str, str | None]:
        said, after = "", None
        while text:
            if self._state is _State.RAW:
                more, text = self._show(text), ""
            elif self._state is not _State.WHOLE:
                more, text = self._grow(text)
            elif self._again is None:
                more, text = self._behind(text, own=own)
            else:
                more, text, after = self._compared(self._again, text)
            said, own = said + more, False
            if after is not None:
                return said, after
        return said, None

    def _grow(self, text: str) -> tuple[str, str]:
        """Adds text up to the end of the object. Returns the text that may be sent on, and the text behind the end."""
        if self._state is _State.EMPTY:
            bare = text.lstrip(_SPACE)
            if not bare:
                return self._show(text), ""
            self._state = _State.OPEN if bare[0] == "{" else _State.RAW
            self._empty = self._state is _State.OPEN and self._placeholders
            return "", text
        data, before = self.shown, len(self.shown)
        data += _bytes(self._held + text)
        self._held = ""
        end = self._scan.end(data)
        if end is not None and (end < before or data[end - 1] != _CLOSING):  # brackets that do not match
            self._state = _State.RAW
            return _text(data[before:]), ""
        rest = "" if end is None else _text(data[end:])
        if end is not None:
            self._state = _State.WHOLE
            del data[end:]
        hold = before if end is not None else len(data)
        if self._empty and (brace := _NOTHING_IN_IT.fullmatch(data)) is not None:
            hold = before if end is not None else max(before, brace.end(1))
            self._held = _text(data[hold:])
            del data[hold:]
            self._scan.at = min(self._scan.at, hold)
        elif end is not None:
            self._empty = False
            self._begin, self._end = data.index(b"{"), end
        else:
            self._empty = False
        return _text(data[before:]), rest

    def _behind(self, text: str, *, own: bool) -> tuple[str, str]:
        """Adds text behind a whole object. Returns the text that may be sent on, and the second object's beginning."""
        bare = text.lstrip(_SPACE)
        if bare[:1] not in ("", "{"):
            self._state = _State.RAW
            text, self._held = self._held + text, ""
            return self._show(text), ""
        space = text[: len(text) - len(bare)]
        if bare:
            first = b"" if self._empty else bytes(self.shown[self._begin : self._end])
            self._again = _Again(first, own=own, cumulative=self._cumulative)
        if self._empty:
            self._held += space
            return "", bare
        return self._show(space), bare

    def _compared(self, again: _Again, text: str) -> tuple[str, str, str | None]:
        """Adds to the second object. Returns the text that may be sent on, the rest, and another call's beginning."""
        same, rest = again.take(text)
        if rest is None:
            return "", "", None
        self._again = None
        if same:
            self.restated = True
            return "", rest, None
        if self._empty:
            return "", self._replaced(rest), None
        if not again.own:
            return "", "", rest
        self._state = _State.RAW
        return "", rest, None

    def _replaced(self, text: str) -> str:
        """Puts an object in the place of an empty one. Returns its text but for what was sent on already."""
        self.restated, self._held = True, ""
        self._state = _State.OPEN if b"{" in self.shown else _State.EMPTY
        self._scan = ObjectScan()
        self._scan.end(self.shown)
        return text[1:] if self._state is _State.OPEN else text

    def _show(self, text: str) -> str:
        self.shown += _bytes(text)
        return text


def _may_go_on(before: bytes | bytearray, scan: ObjectScan, fragment: bytes) -> bool:
    """Whether `fragment`, which begins with all of `before`, can be the next piece. Outside a string, an object may
    begin only where a value may. Inside a string, the fragment's first quote ends the string. `scan` has read
    `before`."""
    if not scan.in_string:
        return before.rstrip()[-1:] in (b":", b"[", b",")
    quote = fragment.find(b'"')
    return fragment[quote + 1 : quote + 2] in _BEHIND_STRING


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _text(data: bytes | bytearray) -> str:
    return data.decode("utf-8", "surrogatepass")
