"""The fault table as a page: docs/faults.md.

python -m tests.faults.page
"""

from __future__ import annotations

import logging
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from tests.faults.faults import FAULTS
from tests.faults.rows import Row, rows

PAGE = Path(__file__).parents[2] / "docs" / "faults.md"

_HEAD = """# What a client gets when a provider fails

Written by `python -m tests.faults.page` from {count:,} rows: every fault below over every API that the gateway serves
and every wire of a provider, streamed and not, alone and with a [second target](resilience.md) that answers. A fault
comes once, to a true answer of text and a call; where it may come at several places (every event of a stream and within
each, twelve of a document), each place is a row. `make integration` runs them all.

In no row does a client take a broken answer for a whole one. What it is shown is judged as in
[the matrix](conformance.md): a whole answer to the byte; in front of an error event, which the official SDK raises, a
beginning of the answer. Behind a second target every client gets the right answer, unless some of the first one's
was shown already, or the request itself was refused.

Where a cell has several outcomes, it depends on how much of an answer a wire has told by then. "The answer" of a
connection that ended early is one that was complete; its tokens may not have been told.

| fault | streamed | one JSON document | streamed, with a second target | JSON, with a second target |
|---|---|---|---|---|
"""


def page() -> str:
    """The page's text."""
    cells: defaultdict[tuple[str, int], set[str]] = defaultdict(set)
    count = 0
    with ProcessPoolExecutor() as pool:
        for fault, played in zip(FAULTS, pool.map(_played, (fault.name for fault in FAULTS)), strict=True):
            count += len(played)
            for column, outcome in played:
                cells[fault.name, column].add(outcome)
    lines = []
    for fault in FAULTS:
        columns = ["; ".join(sorted(cells[fault.name, column])) or "-" for column in range(4)]
        lines.append(f"| {fault.name} | {' | '.join(columns)} |\n")
    return _HEAD.format(count=count) + "".join(lines)


def cell(line: str, row: Row) -> str:
    """The cell of a row, in its fault's line of the page."""
    return line.removesuffix(" |").split(" | ")[1 + _column(row)]


def _column(row: Row) -> int:
    return 2 * row.second + (not row.stream)


def _played(fault: str) -> list[tuple[int, str]]:
    """The outcomes of a fault's rows, each with its column."""
    logging.disable()
    played = []
    for row in rows():
        if row.fault.name == fault:
            try:
                played.append((_column(row), row.play()))
            except Exception as wrong:
                raise AssertionError(row.id) from wrong
    return played


if __name__ == "__main__":
    PAGE.write_text(page())
