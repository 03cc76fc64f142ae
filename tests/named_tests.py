"""Whether the tests that docs/reference-coverage.md names have run: in a run of everything (`make test`,
`make integration`), one that did not fails the run.

A test's name in a page proves nothing if a mark, a skip or a mistake in a parameter list keeps the test from running.
Each named test must have passed at least once, or be left to the other of the two runs by its mark. One that is skipped
for want of reference data, which is not part of the repository, is told and let pass.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "reference-coverage.md"

#: A test as the page names it.
NAMED = re.compile(r"`(tests/[\w/.-]+\.py::test_\w+)`")

#: What `tests.reference.needs` says of a test that it skips.
_NO_DATA = "reference data absent"

#: The marks' words with which everything is run.
_EVERYTHING = ("", "integration or hypothesis", "not integration")


def named_tests() -> list[str]:
    return sorted(set(NAMED.findall(PAGE.read_text("utf-8"))))


def function_of(nodeid: str) -> str:
    """The test without its parameters."""
    return nodeid.partition("[")[0]


class NamedTests:
    """A plugin. In a worker of pytest-xdist it tells the controller what the marks left out; the controller, or the
    only process, sees every report and judges at the end."""

    def __init__(self, config: pytest.Config, named: Sequence[str]) -> None:
        self._config, self._named = config, named
        self._passed: set[str] = set()
        self._without_data: set[str] = set()
        self._left_out: set[str] = set()
        self.unshown: list[str] = []

    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        self._left_out |= {function_of(item.nodeid) for item in items}

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: object) -> None:
        """xdist's: a worker has ended."""
        self._left_out |= set(getattr(node, "workeroutput", {}).get("left_out", ()))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and report.passed:
            self._passed.add(function_of(report.nodeid))
        elif report.skipped and _NO_DATA in str(report.longrepr):
            self._without_data.add(function_of(report.nodeid))

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        output = getattr(self._config, "workeroutput", None)
        if output is not None:
            output["left_out"] = sorted(self._left_out)
        elif self._is_everything(session):
            shown = self._passed | self._left_out | self._without_data
            self.unshown = [name for name in self._named if name not in shown]
            if self.unshown and session.exitstatus == pytest.ExitCode.OK:
                session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        absent = sorted(self._without_data.intersection(self._named) - self._passed)
        for name in absent:
            terminalreporter.write_line(f"not shown, reference data absent: {name}")
        for name in self.unshown:
            terminalreporter.write_line(f"named by docs/{PAGE.name} and did not run: {name}", red=True)

    def _is_everything(self, session: pytest.Session) -> bool:
        option = self._config.option
        chosen = option.file_or_dir or option.keyword or option.deselect or option.collectonly
        chosen = chosen or getattr(option, "lf", False) or session.shouldstop or session.shouldfail
        return not chosen and option.markexpr in _EVERYTHING
