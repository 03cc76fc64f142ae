"""Is what comes next quoted? Markdown's own signs of text that shows markup and does not mean it."""

from __future__ import annotations

import re

#: How a fence begins: three or more signs, first in their line but for a quotation or list sign.
_FENCE = re.compile(r"[\s>]*(?:(?:[-*+]|\d+[.)])\s+)?(`{3,}|~{3,})(.*)", re.DOTALL)
_TICKS = re.compile(r"`+")
#: A quotation mark that opens: nothing that it could close stands before it.
_QUOTATION = re.compile(r"(?:^|[\s(\[{:=,>])[\"'\u201c\u2018\u00ab\u201e\u201a]$")
#: Characters of a line that are looked at for a fence: more before it than this, and it is none.
_LINE_START = 200
#: Pieces that are kept apart before they are joined.
_MOST_PIECES = 256


class Quotes:
    """Follows text as it passes; `fenced` and `quoted` say of the place that is reached whether a mark there is shown,
    not meant. Text is only looked at when they are asked."""

    __slots__ = ("_before", "_fence", "_line_start", "_pieces", "_ticks")

    def __init__(self) -> None:
        self._pieces: list[str] = []  # what was not looked at yet
        self._line_start = ""  # the first characters of the line that is reached,
        self._ticks = ""  # the backticks that are open in it,
        self._before = ""  # and its last two characters
        self._fence = ""

    def pass_(self, text: str) -> None:
        self._pieces.append(text)
        if len(self._pieces) >= _MOST_PIECES:
            self._end_lines()

    def fenced(self) -> bool:
        """Within a code block."""
        self._look()
        return bool(self._fence) or _FENCE.match(self._line_start) is not None

    def quoted(self) -> bool:
        """In backticks, in a quoted line, or right behind a quotation mark that opens."""
        self._look()
        quoted_line = self._line_start.lstrip().startswith(">")
        return bool(self._ticks) or quoted_line or _QUOTATION.search(self._before) is not None

    def _look(self) -> None:
        """Up to the place that is reached. Asked at the beginning of a mark, so no run of signs goes on there."""
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
            if signs[0] == "~" or "`" not in rest:  # else it is code within the line
                self._fence = signs
        elif signs.startswith(self._fence) and not rest.strip():
            self._fence = ""
