"""Every fault, over every API and wire: a clear error, or the second target's right answer."""

from __future__ import annotations

from collections import defaultdict

import pytest

from tests.faults.faults import CUTS, FAULTS, Fault
from tests.faults.page import PAGE, cell
from tests.faults.rows import Row, rows

pytestmark = pytest.mark.enable_socket

ROWS: defaultdict[str, list[Row]] = defaultdict(list)
for _row in rows():
    ROWS[_row.fault.name].append(_row)

#: Some of them for every run: each fault with several APIs and wires.
FEW = [row for of_fault in ROWS.values() for row in of_fault[::107]]


def judge(row: Row) -> None:
    outcome = row.play()
    if not row.second:
        assert outcome != "the answer" or (row.stream and row.fault in CUTS)
    elif not row.fault.final:
        assert outcome == "the answer" or (row.stream and outcome.startswith("an error event"))
    (line,) = (line for line in PAGE.read_text().splitlines() if line.startswith(f"| {row.fault.name} |"))
    assert outcome in cell(line, row).split("; ")


def test_every_fault_is_in_the_page_and_nothing_else_is() -> None:
    named = [line.split(" | ")[0].removeprefix("| ") for line in PAGE.read_text().splitlines() if line[:2] == "| "]
    assert named == ["fault", *(fault.name for fault in FAULTS)]


@pytest.mark.parametrize("row", FEW, ids=lambda row: row.id)
def test_a_fault_is_told_or_the_second_target_answers(row: Row) -> None:
    judge(row)


@pytest.mark.integration
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_every_row(fault: Fault) -> None:
    for row in ROWS[fault.name]:
        judge(row)
