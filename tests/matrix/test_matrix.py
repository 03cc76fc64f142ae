"""Every door with every provider in every scenario: judged by the door's own SDK, and the same bytes as yesterday."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.corpus.driver import Answer
from tests.matrix.cells import CELLS, REQUESTS, Cell
from tests.matrix.hosts import HOSTS
from tests.matrix.judges import JUDGES
from tests.matrix.vendors import VENDORS
from toolwire.doors import DOORS
from toolwire.providers import WIRES

GOLDEN = Path(__file__).parent / "golden"

EVERY_CELL = pytest.mark.parametrize("cell", CELLS, ids=[cell.id for cell in CELLS])


def test_the_matrix_has_every_door_and_wire() -> None:
    assert REQUESTS.keys() == JUDGES.keys() == DOORS.keys()
    assert {host.wire for host in HOSTS} == VENDORS.keys() == WIRES.keys()


@EVERY_CELL
def test_a_client_hears_what_was_said(cell: Cell) -> None:
    cell.judge()


@EVERY_CELL
def test_the_bytes_are_those_of_the_golden_file(cell: Cell, request: pytest.FixtureRequest) -> None:
    file = GOLDEN / f"{cell.id}.txt"
    shown = written(cell.play())
    if request.config.getoption("--update-golden", False):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(shown)
    assert file.is_file(), "no golden file: pytest tests/matrix --update-golden"
    assert shown == file.read_bytes()


def test_no_golden_file_is_left_over() -> None:
    assert {str(file.relative_to(GOLDEN)) for file in GOLDEN.rglob("*.txt")} == {f"{cell.id}.txt" for cell in CELLS}


def written(answer: Answer) -> bytes:
    """An answer as it stands in a golden file: its status and content type, and its body as it is."""
    return f"{answer.status} {answer.headers['content-type']}\n\n".encode() + answer.body
