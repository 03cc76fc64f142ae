"""Every door with every provider in every scenario: judged by the door's own SDK, and the same bytes as yesterday."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.corpus.driver import Answer
from tests.matrix.cells import ANSWERS, CELLS, REQUESTS, Cell
from tests.matrix.hosts import HOSTS, Host
from tests.matrix.judges import JUDGES
from tests.matrix.scenarios import Scenario
from tests.matrix.vendors import VENDORS
from tests.named_rows import each_row, named
from toolwire.doors import DOORS
from toolwire.providers import WIRES

GOLDEN = Path(__file__).parent / "golden"

#: By door, so that both tests of a cell are near each other: it is played once in a process.
EVERY_DOOR = pytest.mark.parametrize("door", DOORS, scope="module")
EVERY_ANSWER = each_row(
    ("host", "scenario", "stream"), ANSWERS, ids=[Cell("", *answer).id.lstrip("/") for answer in ANSWERS]
)


def test_the_matrix_has_every_door_and_wire() -> None:
    assert REQUESTS.keys() == JUDGES.keys() == DOORS.keys()
    assert {host.wire for host in HOSTS} == VENDORS.keys() == WIRES.keys()


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.integration)])
@EVERY_DOOR
def test_a_client_hears_what_was_said(door: str, every: bool) -> None:
    """`make test` asks the SDK about each third answer. The bytes of all of them are those that it was asked about when
    they were written into the golden files."""
    turn = list(DOORS).index(door) % 3
    for answer in ANSWERS if every else ANSWERS[turn::3]:
        cell = Cell(door, *answer)
        with named(cell.id):
            cell.judge()


@EVERY_DOOR
@EVERY_ANSWER
def test_the_bytes_are_those_of_the_golden_file(
    door: str, host: Host, scenario: Scenario, stream: bool, request: pytest.FixtureRequest
) -> None:
    cell = Cell(door, host, scenario, stream)
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
