"""Writes what `make bench` measured into docs/performance.md, in the place of the tables that are there."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence

from bench.process import ROOT

PAGE = ROOT / "docs" / "performance.md"

_TABLE = re.compile(r"^\|.*\n(?:\|.*\n)+", re.MULTILINE)
#: The sentence that says how the tables of a part were made.
_MADE = re.compile(r"^Medians of .*? (?=The client's request)", re.MULTILINE | re.DOTALL)


def write(tables: Mapping[str, Sequence[str]], runs: int, load: float) -> None:
    """Replaces the first tables of each part, by its heading. `load`: processes that waited for a CPU when it began."""
    PAGE.write_text(with_tables(PAGE.read_text(), tables, made(runs, load, os.cpu_count() or 1)))


def made(runs: int, load: float, processors: int) -> str:
    """How the tables were made."""
    machine = "an idle machine" if load < processors / 2 else f"a machine that others kept busy (load {load:.0f})"
    return f"Medians of {runs} runs on {machine}."


def with_tables(page: str, tables: Mapping[str, Sequence[str]], made: str) -> str:
    """The page with these tables. Raises ValueError where it has no such part, or not so many tables in it."""
    for heading, new in tables.items():
        begin = page.find(f"## {heading}\n")
        if begin < 0:
            raise ValueError(f"there is no part {heading!r}")
        for table in new:
            found = _TABLE.search(page, begin)
            if found is None or "\n## " in page[begin + 3 : found.start()]:
                raise ValueError(f"{heading!r} has fewer than {len(new)} tables")
            page = page[: found.start()] + table + "\n" + page[found.end() :]
            begin = found.start() + len(table)
    return _MADE.sub(f"{made} ", page, count=1)
