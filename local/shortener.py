"""Shortens frames for people: leaves out the beginning that a frame shares with the one before, which is most of it."""

from __future__ import annotations

from itertools import takewhile

from msgspec import Struct, structs

#: A shared beginning is cut off if it has more characters than this.
_SHORTEST_CUT = 40


class Shortener:
    """The lines of one column. A line of a stream is compared with the last of the same field (`event:`, `data:`)."""

    def __init__(self) -> None:
        self._before: dict[str, str] = {}

    def lines(self, data: bytes) -> list[str]:
        """The lines of some bytes, shortened."""
        return [self.short(line) for line in data.decode("utf-8", "replace").split("\n") if line.strip()]

    def short(self, line: str) -> str:
        """A line whose shared beginning is replaced by "...", up to the beginning of a member, so that the rest can be
        read."""
        field = line.partition(":")[0]
        before = self._before.get(field, "")
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, line, strict=False)))
        cut = max(line.rfind(opening, 0, same) for opening in ('{"', ',"')) + 1
        self._before[field] = line
        return f"... {line[cut:]}" if cut > _SHORTEST_CUT else line


def said(value: object) -> str:
    """An event in one line: its class, and the fields that are not empty."""
    if not isinstance(value, Struct):
        return repr(value)
    fields = [(field, getattr(value, field.name)) for field in structs.fields(value) if field.name != "source"]
    shown = ", ".join(f"{field.name}={said(content)}" for field, content in fields if content != field.default)
    return f"{type(value).__name__}({shown})"
