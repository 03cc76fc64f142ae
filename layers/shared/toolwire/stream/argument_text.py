"""The text of one call's arguments, gathered from fragments that append, repeat, extend or replace.

The rule is the table in `accumulator.py`. A text that may be a repetition is held until that is known; all other text
is returned at once. The work is linear in the text.
"""

from __future__ import annotations

import re
from enum import Enum

from toolwire.stream.cumulative import Cumulative, ObjectScan, decoded, encoded
from toolwire.stream.double_encoded import BEGINS, meant

#: An empty object, or the beginning of an object that may be empty; group 1 ends with the brace.
_NOTHING_IN_IT = re.compile(rb"(\s*\{)\s*\}?")
_EMPTY_AGAIN = re.compile(r"\{[ \t\r\n]*(\})?")
_SPACE = " \t\r\n"
_CLOSING = ord("}")


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
        data, at = encoded(text), self._matched
        if self._cumulative and data.startswith(self._first[:at]):
            data = data[at:]
        missing = len(self._first) - at
        if data[:missing] != self._first[at : at + len(data)]:
            return False, decoded(self._first[:at] + data)
        self._matched += min(len(data), missing)
        return (True, decoded(data[missing:])) if len(data) >= missing else (False, None)

    def end(self) -> str:
        """The text of the second object so far."""
        return self._text or decoded(self._first[: self._matched])


class _State(Enum):
    """What the text is, as far as it has come."""

    EMPTY = 0  # nothing but white space
    OPEN = 1  # the beginning of an object
    WHOLE = 2  # one object
    RAW = 3  # not an object, or an object with other text behind it: all that follows is appended
    ODD = 4  # not an object, but maybe another way to write one: held to its end


class ArgumentText:
    """The arguments of one call. Call `take` with each fragment, then `end`. `shown` is the text that they returned."""

    __slots__ = (
        "_again", "_begin", "_cumulative", "_empty", "_end", "_held", "_odd", "_placeholders", "_scan",
        "_state", "restated", "shown", "unwrapped",
    )  # fmt: skip

    def __init__(self, *, is_json: bool, placeholders: bool) -> None:
        """`is_json`: not the text of a custom tool. `placeholders`: `{}` may stand for arguments that follow, and
        arguments may be written oddly (`double_encoded.py`)."""
        self._placeholders = placeholders
        self.shown = bytearray()
        #: Whether a repetition was left out.
        self.restated = False
        #: Whether the arguments came as the text of a JSON string, and were taken out of it.
        self.unwrapped = False
        self._odd: list[str] = []
        self._state = _State.EMPTY if is_json else _State.RAW
        self._scan = ObjectScan()
        #: Text behind `shown` that may be replaced: an empty object, or the rest of what may become one.
        self._held = ""
        self._empty = False  # whether the object has no member so far
        self._begin = self._end = 0  # where the whole object is in `shown`
        self._again: _Again | None = None
        self._cumulative = Cumulative()

    @property
    def begun(self) -> bool:
        """Whether anything but white space has come."""
        return self._state is not _State.EMPTY and bool(self.shown or self._held or self._odd)

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
        if self._state is _State.ODD:
            self._odd.append(fragment)
            return "", None
        if self.goes_on(fragment):
            return fragment, None
        if self._state is _State.OPEN:
            before = self.shown + encoded(self._held) if self._held else self.shown
            own, fragment = False, self._cumulative.new_in(fragment, before, self._scan) or ""
            self.restated = self.restated or self._cumulative.found
        return self._append(fragment, own=own)

    def goes_on(self, fragment: str) -> bool:
        """Adds a fragment that neither ends nor may repeat the object, as nearly all are: it may be sent on as it is.
        False: it is another one, and nothing was added."""
        if self._state is not _State.OPEN or self._empty or self._cumulative.doubts:
            return False
        if "{" in fragment or "}" in fragment:
            return False
        self.shown += encoded(fragment)
        return True

    def end(self) -> tuple[str, str | None]:
        """Ends the text. Returns what was held, as `take` does."""
        if self._state is _State.ODD:
            arguments, self.unwrapped = meant("".join(self._odd))
            self._state, self._odd = _State.RAW, []
            return self._show(arguments), None
        said, after = self._append(self._cumulative.end(), own=False)
        self.restated = self.restated or self._cumulative.found
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
        if self._odd:
            self._show("".join(self._odd))
        else:
            self.end()
        self._state, self._odd = _State.RAW, []

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
            if self._placeholders and bare[0] == BEGINS:
                self._state, self._odd = _State.ODD, [text]
                return "", ""
            self._state = _State.OPEN if bare[0] == "{" else _State.RAW
            self._empty = self._state is _State.OPEN and self._placeholders
            return "", text
        data, before = self.shown, len(self.shown)
        data += encoded(self._held + text)
        self._held = ""
        end = self._scan.end(data)
        if end is not None and (end < before or data[end - 1] != _CLOSING):  # brackets that do not match
            self._state = _State.RAW
            return decoded(data[before:]), ""
        rest = "" if end is None else decoded(data[end:])
        if end is not None:
            self._state = _State.WHOLE
            del data[end:]
        hold = before if end is not None else len(data)
        if self._empty and (brace := _NOTHING_IN_IT.fullmatch(data)) is not None:
            hold = before if end is not None else max(before, brace.end(1))
            self._held = decoded(data[hold:])
            del data[hold:]
            self._scan.at = min(self._scan.at, hold)
        elif end is not None:
            self._empty = False
            self._begin, self._end = data.index(b"{"), end
        else:
            self._empty = False
        return decoded(data[before:]), rest

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
            self._again = _Again(first, own=own, cumulative=self._cumulative.found)
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
        self.shown += encoded(text)
        return text
