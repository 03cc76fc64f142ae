"""`make test` leaves out what the marks leave out before it is made, and its workers say no more than is read."""

from __future__ import annotations

import pytest

from tests.left_out import left_out
from tests.worker_reports import tell_less

pytest_plugins = ["pytester"]

SUITE = """
import pytest

@pytest.fixture
def never_made(): raise ValueError

@pytest.fixture
def never_put_away():
    yield
    raise ValueError

def test_passes(): ...
def test_fails(): assert False
def test_has_no_start(never_made): ...
def test_has_no_end(never_put_away): ...
@pytest.mark.skip
def test_is_skipped(): ...

@pytest.mark.integration
@pytest.mark.parametrize("n", range(8))
def test_is_for_the_other_run(n): ...

@pytest.mark.integration
class TestOfTheOtherRun:
    @pytest.mark.parametrize("n", range(8))
    def test_method(self, n): ...

@pytest.mark.parametrize("n", [1, pytest.param(2, marks=pytest.mark.integration)])
def test_has_a_row_of_the_other_run(n): ...
"""


class Plugin:
    """As tests/conftest.py does it, in a worker."""

    def pytest_configure(self, config: pytest.Config) -> None:
        config.addinivalue_line("markers", "integration: slow")
        config.workerinput = {}  # type: ignore[attr-defined]
        tell_less(config)

    def pytest_pycollect_makeitem(
        self, collector: pytest.Module | pytest.Class, name: str, obj: object
    ) -> pytest.Item | None:
        return left_out(collector, name, obj)


class WorkerInteractor:
    """xdist's is known by this name."""

    def __init__(self) -> None:
        self.said: list[tuple[str, ...]] = []

    def pytest_deselected(self, items: list[pytest.Item]) -> None:
        self.said += [("left out", item.name) for item in items]

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.said.append(("start", nodeid))

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self.said.append(("finish", nodeid))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.said.append((report.nodeid.partition("::test_")[2], report.when, report.outcome))


def said(pytester: pytest.Pytester, *arguments: str) -> list[tuple[str, ...]]:
    pytester.makepyfile(test_it=SUITE)
    worker = WorkerInteractor()
    pytester.inline_run("-p", "no:cacheprovider", *arguments, plugins=[worker, Plugin()])
    return worker.said


def test_how_each_test_ended_is_said_and_no_more(pytester: pytest.Pytester) -> None:
    assert said(pytester, "-m", "not integration") == [
        ("left out", "test_is_for_the_other_run"),
        ("left out", "test_method"),
        ("left out", "test_has_a_row_of_the_other_run[2]"),
        ("passes", "call", "passed"),
        ("fails", "call", "failed"),
        ("has_no_start", "setup", "failed"),
        ("has_no_end", "call", "passed"),
        ("has_no_end", "teardown", "failed"),
        ("is_skipped", "setup", "skipped"),
        ("has_a_row_of_the_other_run[1]", "call", "passed"),
    ]


@pytest.mark.parametrize("wish", ["--durations=1", "-v", "--junitxml=report.xml"])
def test_who_wants_to_know_more_is_told(pytester: pytest.Pytester, wish: str) -> None:
    heard = said(pytester, wish, "-k", "passes")
    assert [words[-2:] for words in heard if words[0] == "passes"] == [
        (when, "passed") for when in ("setup", "call", "teardown")
    ]
    assert [words[0] for words in heard if "start" in words or "finish" in words] == ["start", "finish"]


def test_with_other_words_every_row_is_made(pytester: pytest.Pytester) -> None:
    heard = said(pytester, "-m", "integration", "-k", "6 or 7")
    assert [name for name, *_ in heard if "left out" not in name] == [f"is_for_the_other_run[{n}]" for n in (6, 7)] + [
        f"method[{n}]" for n in (6, 7)
    ]
