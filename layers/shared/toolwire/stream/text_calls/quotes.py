"""Whether markup in a text is quoted, by Markdown's signs, so that it is shown and no call."""

from __future__ import annotations

import re

#: The beginning of a fence: three or more signs at the start of a line, or behind a quotation or list sign.
_FENCE = re.compile(r"[\s>]*(?:(?:[-*+]|\d+[.)])\s+)?(`{3,}|~{3,})(.*)", re.DOTALL)
_TICKS = re.compile(r"`+")
#: An opening quotation mark: no text before it that it could close.
_QUOTATION = re.compile(r"(?:^|[\s(\[{:=,>])[\"'\u201c\u2018\u00ab\u201e\u201a]$")
#: How many characters of a line are searched for a fence.
_LINE_START = 200
#: How many pieces of text are kept before they are joined.
_MOST_PIECES = 256


class Quotes:
    """Follows a text. `fenced` and `quoted` say whether a mark at the text's current end is quoted. The text is read
    only when they are called."""

    __slots__ = ("_before", "_fence", "_line_start", "_pieces", "_ticks")

    def __init__(self) -> None:
        self._pieces: list[str] = []  # text that was not read yet
        self._line_start = ""  # of the current line: its first characters,
        self._ticks = ""  # its open backticks,
        self._before = ""  # and its last two characters
        self._fence = ""

    def add(self, text: str) -> None:
        """More of the text."""
        self._pieces.append(text)
        if len(self._pieces) >= _MOST_PIECES:
            self._end_lines()

    def fenced(self) -> bool:
        """Whether the end is in a fenced code block."""
        self._look()
        return bool(self._fence) or _FENCE.match(self._line_start) is not None

    def quoted(self) -> bool:
        """Whether the end is in backticks, in a quoted line, or right behind an opening quotation mark."""
        self._look()
        quoted_line = self._line_start.lstrip().startswith(">")
        return bool(self._ticks) or quoted_line or _QUOTATION.search(self._before) is not None

    def _look(self) -> None:
        """Reads the text up to its end. A mark begins there, so a run of backticks or fence signs cannot go on."""
        self._end_lines()
        line = self._pieces.pop()
        self._line_start = (self._line_start + line)[:_LINE_START]
        self._before = (self._before + line)[-2:]
        for ticks in _TICKS.findall(line):
            if not self._ticks:
                self._ticks = ticks
            elif self._ticks == ticks:
                self._ticks = ""

    def _end_lines(self) -> None:
        *ended, line = "".join(self._pieces).split("\n")
        self._pieces = [line]
        for text in ended:
            self._end_line((self._line_start + text)[:_LINE_START])
            self._line_start = self._before = self._ticks = ""

    def _end_line(self, line: str) -> None:
        fence = _FENCE.match(line)
        if fence is None:
            return
        signs, rest = fence.groups()
        if not self._fence:
            if signs[0] == "~" or "`" not in rest:  # else it is inline code
                self._fence = signs
        elif signs.startswith(self._fence) and not rest.strip():
            self._fence = ""
