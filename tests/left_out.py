"""A test that the marks' words leave out, in place of the many that its table would make.

The tables of `make integration` are long: a third of all tests would be made by each worker of `make test`, only to be
deselected at once.
"""

from __future__ import annotations

from typing import NoReturn

import pytest

#: What stands behind `-m` in `make test`.
_WORDS = "not integration"


class LeftOut(pytest.Item):
    """It bears the mark, so pytest itself deselects it, and counts and tells it as ever."""

    def runtest(self) -> NoReturn:
        raise AssertionError(f"{self.nodeid} is for `make integration`")


def left_out(collector: pytest.Module | pytest.Class, name: str, obj: object) -> LeftOut | None:
    """One item for a test function that is marked, or whose class or module is; None for any other object."""
    if collector.config.option.markexpr != _WORDS or not collector.istestfunction(obj, name):
        return None
    marks = {mark.name for mark in [*collector.iter_markers(), *getattr(obj, "pytestmark", ())]}
    if "integration" not in marks:
        return None
    item: LeftOut = LeftOut.from_parent(collector, name=name)
    item.add_marker("integration")
    return item
