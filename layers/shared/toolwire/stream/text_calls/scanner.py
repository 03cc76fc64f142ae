"""Finds the tool calls in one run of text, which comes in pieces cut anywhere.

Outside a block all text passes, except a possible beginning of an opening mark. A block is held until it is complete.
Then it becomes calls and is left out of the text, or it passes as text, byte for byte.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from toolwire.stream.text_calls.arguments import TextTool
from toolwire.stream.text_calls.formats import FORMAT_OF, OPENS, THOUGHT_CLOSES, THOUGHT_OPENS, Format
from toolwire.stream.text_calls.quotes import Quotes
from toolwire.stream.text_calls.reader import BlockReader, Malformed, Marker, Steps, Written

_SPACE = re.compile(r"\s*")
_INDEX = re.compile(r":\d+\Z")
_MARKS = Marker([*OPENS.spellings, *THOUGHT_OPENS.spellings])
_OPENING = re.compile(f"[{re.escape(''.join({text[0] for text in _MARKS.spellings}))}]")


class TextCall(NamedTuple):
    """A call found in text. `arguments` is JSON text, or a custom tool's input."""

    format: Format
    tool: TextTool
    arguments: str


class TextCallScanner:
    """Scans one run of text. `feed` takes the text as it comes, and returns the text to show; then call `end`. `calls`
    are the calls found so far."""

    def __init__(self, tools: Mapping[str, TextTool]) -> None:
        self._tools = tools
        self.calls: list[TextCall] = []
        self.began_with_thought = False  # whether the model thinks aloud at the beginning, between tags
        self._taken = 0  # characters of the blocks that became calls
        self._quotes = Quotes()
        self._busy = False  # whether any of the following is set
        self._tail = ""  # a possible beginning of a mark
        self._after = False  # right behind a block that was left out: white space there belongs to it
        self._husk = ""  # a block without a call, see `end`
        self._block: _Block | None = None
        self._skipped: Marker | None = None  # in a malformed block, which is text up to one of these marks
        self._begins = True  # nothing but white space has come so far
        self._seen = ""  # the last characters of that text
        self._is_text = False  # in a malformed block without a closing mark: all the rest is text

    @property
    def is_plain(self) -> bool:
        """Whether nothing of the text was held or left out."""
        return not self._busy and not self.calls

    @property
    def inside(self) -> bool:
        """Whether a block has begun that may still become a call."""
        return self._block is not None and not self._block.quoted

    @property
    def held(self) -> int:
        """How many characters are held for calls, found or still open."""
        return self._taken + (self._block.length if self._block is not None and not self._block.quoted else 0)

    def passes(self, text: str) -> bool:
        """Takes text in which no mark can begin, while no block is open. Returns False for any other text, which `feed`
        must get."""
        if self._busy or _OPENING.search(text) is not None:
            return False
        self._quotes.add(text)
        self._begins = self._begins and text.isspace()
        return True

    def feed(self, text: str) -> str:
        """Takes text and returns the text to show now; the same object if it passes as it is."""
        if self.passes(text):
            return text
        shown: list[str] = []
        at = 0
        if self._block is not None:
            self._block.reader.feed(text)
            text = self._block.reader.text
        while at < len(text):
            if self._is_text:
                shown.append(text[at:])
                break
            if self._block is not None:
                at = self._inside(self._block, shown)
            elif self._skipped is not None:
                at = self._skip(self._skipped, text, at, shown)
            else:
                text, at = self._outside(text, at, shown)
        self._busy = bool(self._block or self._skipped or self._tail or self._after or self._husk or self._is_text)
        return "".join(shown)

    def end(self, *, has_structure: bool) -> str:
        """Ends the run. Returns the held text that is no call. A server that reads a call itself may leave an empty
        block in the text; with `has_structure` (the answer has structured calls) such a block is dropped."""
        block, rest = self._block, self._tail
        self._tail, self._block = "", None
        if block is not None:
            shown: list[str] = []
            if block.reader.calls is not None and not block.quoted:
                self._decide(block, block.reader.calls, shown)
            else:
                shown.append(block.reader.take_raw())
            rest = "".join(shown) + block.reader.text[block.reader.at :]
        husk, self._husk = self._husk, ""
        return rest if has_structure else husk + rest

    # ------------------------------------------------------------ outside a block

    def _outside(self, text: str, at: int, shown: list[str]) -> tuple[str, int]:
        if self._after or self._husk:
            space = _SPACE.match(text, at)
            assert space is not None
            start, at = at, space.end()
            if self._husk:
                self._husk += text[start:at]
            if at == len(text):
                return text, at
            self._after = False
            self._show(self._husk, shown)
            self._husk = ""
        if self._tail:
            text, at, self._tail = self._tail + text[at:], 0, ""
        match = _MARKS.pattern.search(text, at)
        if match is None:
            end = _MARKS.cut(text, at)
            self._show(text[at:end], shown)
            self._tail = text[end:]
            return text, len(text)
        self._show(text[at : match.start()], shown)
        if match[0] in THOUGHT_OPENS.spellings:  # the model thinks aloud: what it says of calls there is none
            self._skipped, self._seen = (THOUGHT_CLOSES, "") if self._begins else (None, "")
            self.began_with_thought = self.began_with_thought or self._begins
            self._show(match[0], shown)
        elif self._quotes.fenced():
            self._show(match[0], shown)
        else:
            reader = BlockReader(text, match.start(), match.end())
            self._block = _Block(FORMAT_OF[match[0]], reader, self._quotes.quoted())
        return text, match.end()

    def _show(self, text: str, shown: list[str]) -> None:
        if text:
            self._quotes.add(text)
            self._begins = self._begins and text.isspace()
            shown.append(text)

    # ------------------------------------------------------------ inside

    def _inside(self, block: _Block, shown: list[str]) -> int:
        """Reads on in the block. Returns the place behind it, or the text's end."""
        reader = block.reader
        written = block.read()
        if block.quoted:
            raw = reader.take_raw()
            shown.append(raw)
            if not reader.begun:
                block.named += raw
        if written is None and not block.failed:
            return len(reader.text)
        self._block = None
        if not block.quoted:
            self._decide(block, written, shown)
        elif block.failed and not reader.begun:
            self._quotes.add(block.named)
        if block.failed and reader.begun:
            self._skipped, self._seen = block.format.closes, ""
            self._is_text = self._skipped is None
        return reader.at

    def _decide(self, block: _Block, written: list[Written] | None, shown: list[str]) -> None:
        """Takes a complete block as calls, or as text: all of it."""
        raw = block.reader.take_raw()
        if written == []:
            self._husk = raw
            return
        calls = [self._call(block, one) for one in written or ()]
        found = [call for call in calls if call is not None]
        if found and len(found) == len(calls):
            self.calls += found
            self._taken += len(raw)
            self._after = True
        elif block.failed and not block.reader.begun:
            self._show(raw, shown)
        else:
            shown.append(raw)  # quotes and fences in it do not count for the text behind it

    def _call(self, block: _Block, written: Written) -> TextCall | None:
        tool = self._tools.get(written.name) or self._tools.get(_plain(written.name))
        arguments = tool.arguments(written) if tool is not None else None
        return TextCall(block.format, tool, arguments) if tool is not None and arguments is not None else None

    def _skip(self, closes: Marker, text: str, at: int, shown: list[str]) -> int:
        """Shows the rest of a malformed block, up to its closing mark. The mark may come in pieces; nothing is held for
        it."""
        reach = closes.longest - 1
        match = closes.pattern.search(self._seen + text[at : at + reach])
        end = at + match.end() - len(self._seen) if match is not None else None
        if end is None and (match := closes.pattern.search(text, at)) is not None:
            end = match.end()
        if end is not None:
            self._skipped = None
        else:
            end = len(text)
            self._seen = (self._seen + text[max(at, end - reach) :])[-reach:]
        shown.append(text[at:end])
        return end


def _plain(name: str) -> str:
    """A tool's name without the namespace and the count that some templates write around it: `functions.f:0`."""
    return _INDEX.sub("", name.removeprefix("functions."))


class _Block:
    """A block that is being read. A quoted block is shown and read to its end, so that marks in it do not count."""

    __slots__ = ("_steps", "failed", "format", "length", "named", "quoted", "reader")

    def __init__(self, row: Format, reader: BlockReader, quoted: bool) -> None:
        self.format, self.reader, self.quoted = row, reader, quoted
        self.failed = False
        self.named = ""  # its text, which counts for quotes if no call begins behind the mark
        self.length = reader.at  # at least as many characters as were read of it
        self._steps: Steps[list[Written]] = row.read(reader)

    def read(self) -> list[Written] | None:
        """Reads on. Returns the block's calls once it is complete; None before, and if it has `failed`."""
        self.length += len(self.reader.text) - self.reader.at
        try:
            next(self._steps)
        except StopIteration as done:
            calls: list[Written] = done.value
            return calls
        except Malformed:
            self.failed = True
        return None
