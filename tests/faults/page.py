"""The fault table as a page: docs/faults.md.

python -m tests.faults.page
"""

from __future__ import annotations

import logging
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from tests.faults.rows import FAULTS, rows

PAGE = Path(__file__).parents[2] / "docs" / "faults.md"

_HEAD = """# What a client gets when a provider fails

Written by `python -m tests.faults.page` from {count:,} rows: every fault below over every API whose request is
all in its body and every wire of a provider, streamed and not, alone
and with a [second target](resilience.md) that answers. A fault comes once,
to a true answer of text and a call. `make integration` runs all rows. In no row does a client take a broken answer for
a whole one, and behind a second target every client gets the right answer, judged to the byte as in
[the matrix](conformance.md), unless some of the first one's was shown already, or the request itself was refused.

Where a cell has several outcomes, it depends on how much of an answer a wire has told by then.

| fault | streamed | one JSON document | streamed, with a second target | JSON, with a second target |
|---|---|---|---|---|
"""


def page() -> str:
    """The page's text."""
    cells: defaultdict[tuple[str, bool, bool], set[str]] = defaultdict(set)
    count = 0
    with ProcessPoolExecutor() as pool:
        for fault, played in zip(FAULTS, pool.map(_played, FAULTS), strict=True):
            count += len(played)
            for second, stream, outcome in played:
                cells[fault, second, stream].add(outcome)
    lines = []
    for fault in FAULTS:
        columns = [cells[fault, second, stream] for second in (False, True) for stream in (True, False)]
        lines.append(f"| {fault} | {' | '.join('; '.join(sorted(column)) for column in columns)} |\n")
    return _HEAD.format(count=count) + "".join(lines)


def _played(fault: str) -> list[tuple[bool, bool, str]]:
    """The outcomes of a fault's rows: with a second target, streamed, and what came."""
    logging.disable()
    played = []
    for row in rows():
        if row.fault == fault:
            try:
                played.append((row.second, row.stream, row.play()))
            except Exception as wrong:
                raise AssertionError(row.id) from wrong
    return played


if __name__ == "__main__":
    PAGE.write_text(page())
