"""Every fault, over every API and wire: a clear error, or the second target's right answer."""

from __future__ import annotations

import pytest

from tests.faults.page import PAGE
from tests.faults.rows import FAULTS, Row, rows

pytestmark = pytest.mark.enable_socket

ROWS = list(rows())

#: A few of them for every run: each fault over one API and wire, and each API and wire with two faults.
FEW = [row for at, row in enumerate(ROWS) if at % 23 == 0]

#: Faults that are the request's: nobody else is asked.
FINAL = {f"status {code}" for code in (400, 404, 413, 422)}


def judge(row: Row) -> None:
    outcome = row.play()
    if not row.second:
        assert outcome != "the answer" or row.fault == "closed before the last bytes"
    elif row.fault not in FINAL:
        assert outcome == "the answer" or (row.stream and outcome.startswith("an error event"))
    cells = next(line for line in PAGE.read_text().splitlines() if line.startswith(f"| {row.fault} |")).split(" | ")
    assert outcome in cells[1 + 2 * row.second + (not row.stream)]


@pytest.mark.parametrize("row", FEW, ids=lambda row: row.id)
def test_a_fault_is_told_or_the_second_target_answers(row: Row) -> None:
    judge(row)


@pytest.mark.integration
@pytest.mark.parametrize("fault", FAULTS)
def test_every_row(fault: str) -> None:
    for row in ROWS:
        if row.fault == fault:
            judge(row)
