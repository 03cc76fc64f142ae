"""The script's own logic, on a toy: what is killed, what survives, what is stale and what has no verdict."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mutations.mutant import Mutant, Stale, named_by, page_sections, sections
from tests.mutations.run import ROOT, all_mutants, fail_without_mutant, verdict_on

TOY = "def double(n):\n    return n + n\n\ndef half(n):\n    return n // 2\n"
TEST = "from toy import double\n\ndef test_double():\n    assert double(3) == 6\n"
SLEEPS = "import time, toy\n\ndef test_slow():\n    time.sleep(60 if toy.double(1) != 2 else 0)\n"
NAMED, GONE = "test_toy.py::test_double", "test_toy.py::test_gone"


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # the toy needs none, and starts faster
    (tmp_path / "pytest.ini").write_text("[pytest]\npythonpath = .\n")
    (tmp_path / "toy.py").write_text(TOY)
    (tmp_path / "test_toy.py").write_text(TEST)
    (tmp_path / "test_slow.py").write_text(SLEEPS)
    return tmp_path


@pytest.mark.parametrize(
    ("old", "new", "named", "verdict"),
    [
        ("n + n", "n * n", NAMED, "killed"),
        ("n // 2", "n // 3", NAMED, "SURVIVED"),
        ("n - n", "n", NAMED, "stale: toy.py has the old text 0 times"),
        ("return", "yield", NAMED, "stale: toy.py has the old text 2 times"),
        pytest.param(
            "def double", "def doubled", NAMED, "no verdict: pytest ended with 4", marks=pytest.mark.integration
        ),
        # Said as of what does not import, by a start of pytest's of its own.
        pytest.param("n // 2", "n // 3", GONE, "no verdict: pytest ended with 4", marks=pytest.mark.integration),
        ("n + n", "n * n", "test_slow.py::test_slow", "no verdict: the tests took more than 0.5 seconds"),
    ],
    ids=["killed", "survives", "gone", "twice", "does not import", "no such test", "hangs"],
)
def test_a_verdict(tree: Path, old: str, new: str, named: str, verdict: str) -> None:
    mutant = Mutant("a rule", "toy.py", old, new)

    said = verdict_on(mutant, [named], tree, seconds=0.5 if "slow" in named else 60)

    assert said.startswith(verdict)
    assert (tree / "toy.py").read_text() == TOY


def test_a_file_that_is_gone_is_stale(tree: Path) -> None:
    assert verdict_on(Mutant("a rule", "gone.py", "a", "b"), [NAMED], tree) == "stale: there is no gone.py"


@pytest.mark.integration  # two starts of pytest, whose statuses are those of the verdicts above
def test_tests_that_fail_anyway_are_noticed(tree: Path) -> None:
    assert not fail_without_mutant([NAMED], tree)
    (tree / "toy.py").write_text(TOY.replace("n + n", "n * n"))
    assert fail_without_mutant([NAMED], tree)


PAGE = """# Page

## One

| rule | shown by |
|---|---|
| A name is short | `tests/a.py::test_a`, `tests/b.py::test_b`, `tests/a.py::test_a` |
| A name is short and plain | decided otherwise: it is not |

## Two

| rule | shown by |
|---|---|
| A name is long | `tests/c.py::test_c` |
"""


@pytest.mark.parametrize(
    ("section", "rule", "found"),
    [
        ("One", "A name is short", ["tests/a.py::test_a", "tests/b.py::test_b"]),
        ("Two", "A name", ["tests/c.py::test_c"]),
        ("One", "A name is", None),
        ("One", "A name is short and", None),
        ("Two", "A name is short", None),
    ],
    ids=["exact", "prefix", "ambiguous", "names no test", "of another section"],
)
def test_a_rows_tests(section: str, rule: str, found: list[str] | None) -> None:
    mutant, text = Mutant(rule, "toy.py", "a", "b"), sections(PAGE)[section]
    if found is None:
        with pytest.raises(Stale):
            named_by(mutant, text)
    else:
        assert named_by(mutant, text) == found


def test_every_mutant_has_its_row_and_its_place() -> None:
    page = page_sections()
    mutants = all_mutants()
    assert len(mutants) >= 20
    for section, mutant in mutants:
        assert named_by(mutant, page[section])
        assert (ROOT / mutant.path).read_text("utf-8").count(mutant.old) == 1, mutant
        assert mutant.new != mutant.old
