"""What a worker of pytest-xdist tells its controller of each test: how it ended, and no more.

A worker says six things of each test, most of which only say that nothing happened: that it began, that its fixtures
were made, that they were put away, that it is over. With tens of thousands of tests that are short, to send, read and
count these costs as much as the tests.
"""

from __future__ import annotations

import pytest

#: What the controller does nothing with unless it is asked for more than a line for each file.
_UNREAD = ("pytest_runtest_logstart", "pytest_runtest_logfinish")


def tell_less(config: pytest.Config) -> None:
    """In a worker, unless somebody wants to know: durations, a line for each test, a report for machines."""
    option = config.option
    wanted = option.verbose > 0 or option.durations is not None or getattr(option, "xmlpath", None) is not None
    if wanted or not hasattr(config, "workerinput"):
        return
    (worker,) = (plugin for plugin in config.pluginmanager.get_plugins() if type(plugin).__name__ == "WorkerInteractor")
    config.pluginmanager.unregister(worker)
    config.pluginmanager.register(_Terse(worker), "terse-worker")


class _Terse:
    """xdist's worker with all its hooks but those."""

    def __init__(self, worker: object) -> None:
        for name in dir(worker):
            if name.startswith("pytest_") and name not in _UNREAD and not hasattr(self, name):
                setattr(self, name, getattr(worker, name))
        self._worker = worker

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or not report.passed:
            self._worker.pytest_runtest_logreport(report)  # type: ignore[attr-defined]
