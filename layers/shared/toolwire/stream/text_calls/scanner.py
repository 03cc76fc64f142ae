"""Finds the tool calls in one run of text, which comes in pieces cut anywhere.

Outside a block all text flows, but for what may be the beginning of an opening mark. A block is held until it is
complete: then it is calls, and the text goes on without it, or it is text, all of it, byte for byte.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from toolwire.stream.text_calls.arguments import TextTool
from toolwire.stream.text_calls.formats import FORMAT_OF, OPENS, Format
from toolwire.stream.text_calls.quotes import Quotes
from toolwire.stream.text_calls.reader import BlockReader, Malformed, Marker, Steps, Written

_SPACE = re.compile(r"\s*")
_INDEX = re.compile(r":\d+\Z")
_OPENING = re.compile(f"[{re.escape(''.join({text[0] for text in OPENS.spellings}))}]")


class TextCall(NamedTuple):
    """A call found in text. `arguments` is JSON text, or a custom tool's input."""

    format: Format
    tool: TextTool
    arguments: str


class TextCallScanner:
    """`feed` the text of one run as it comes, and get what may be shown of it; then `end`. `calls` are those found so
    far."""

    def __init__(self, tools: Mapping[str, TextTool]) -> None:
        self._tools = tools
        self.calls: list[TextCall] = []
        self._taken = 0  # characters of blocks that became calls
        self._quotes = Quotes()
        self._busy = False  # whether one of the following is set
        self._tail = ""  # what may be the beginning of a mark
        self._after = False  # right behind a block that was taken out: the white space there was its layout
        self._husk = ""  # a block without a call, see `end`
        self._block: _Block | None = None
        self._skipped: Marker | None = None  # within a malformed block: text, up to one of these
        self._seen = ""  # the last characters of that text
        self._is_text = False  # within a malformed block that nothing closes

    @property
    def inside(self) -> bool:
        """Whether a block has begun that may still become a call."""
        return self._block is not None and not self._block.quoted

    @property
    def held(self) -> int:
        """Characters that are kept for the calls, found or still coming."""
        return self._taken + (self._block.length if self._block is not None and not self._block.quoted else 0)

    def passes(self, text: str) -> bool:
        """Take text that is shown as it is: nothing is open, and nothing can begin in it. False: it must be fed."""
        if self._busy or _OPENING.search(text) is not None:
            return False
        self._quotes.pass_(text)
        return True

    def feed(self, text: str) -> str:
        """What may be shown now: the text itself, the same object, where there is nothing to find."""
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
        """The run of text is over: what was held and is no call. A block without a call is what a server leaves in the
        text when it has read the call itself, so with `has_structure` (the answer has real calls) it is dropped."""
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
        match = OPENS.pattern.search(text, at)
        if match is None:
            end = OPENS.cut(text, at)
            self._show(text[at:end], shown)
            self._tail = text[end:]
            return text, len(text)
        self._show(text[at : match.start()], shown)
        if self._quotes.fenced():
            self._show(match[0], shown)
        else:
            reader = BlockReader(text, match.start(), match.end())
            self._block = _Block(FORMAT_OF[match[0]], reader, self._quotes.quoted())
        return text, match.end()

    def _show(self, text: str, shown: list[str]) -> None:
        if text:
            self._quotes.pass_(text)
            shown.append(text)

    # ------------------------------------------------------------ inside

    def _inside(self, block: _Block, shown: list[str]) -> int:
        """On through the block: the place behind it, or the text's end."""
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
            self._quotes.pass_(block.named)
        if block.failed and reader.begun:
            self._skipped, self._seen = block.format.closes, ""
            self._is_text = self._skipped is None
        return reader.at

    def _decide(self, block: _Block, written: list[Written] | None, shown: list[str]) -> None:
        """Calls, or text: never half of it each."""
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
            shown.append(raw)  # its quotes and fences are its own

    def _call(self, block: _Block, written: Written) -> TextCall | None:
        tool = self._tools.get(written.name) or self._tools.get(_plain(written.name))
        arguments = tool.arguments(written) if tool is not None else None
        return TextCall(block.format, tool, arguments) if tool is not None and arguments is not None else None

    def _skip(self, closes: Marker, text: str, at: int, shown: list[str]) -> int:
        """The rest of a malformed block. Its mark may be cut; nothing is held for it."""
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
    """A block that is being read. A quoted one is followed to its end, so that nothing within it counts, but shown."""

    __slots__ = ("_steps", "failed", "format", "length", "named", "quoted", "reader")

    def __init__(self, row: Format, reader: BlockReader, quoted: bool) -> None:
        self.format, self.reader, self.quoted = row, reader, quoted
        self.failed = False
        self.named = ""  # what is text like any other if no call begins behind the mark
        self.length = reader.at  # characters of it that were read, no fewer
        self._steps: Steps[list[Written]] = row.read(reader)

    def read(self) -> list[Written] | None:
        """The block's calls once it is complete; None while it is not, and when it has `failed`."""
        self.length += len(self.reader.text) - self.reader.at
        try:
            next(self._steps)
        except StopIteration as done:
            calls: list[Written] = done.value
            return calls
        except Malformed:
            self.failed = True
        return None
