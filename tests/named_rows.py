"""Rows of a table that one test goes through: where some fail, its failure names each of them.

For tables with many rows that take a millisecond each, where a test for each row costs more than the row.
"""

from __future__ import annotations

import inspect
import itertools
import reprlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any

import pytest

from tests.reference import without_recordings

#: How many failures of one test are shown whole. The others are named.
SHOWN = 10

#: `pytest.fail` raises no `Exception`.
_FAILURES = (Exception, pytest.fail.Exception)

Test = Callable[..., None]
Ids = Iterable[object] | Callable[[Any], object]


@contextmanager
def named(row: object) -> Iterator[None]:
    try:
        yield
    except BaseException as failure:
        failure.add_note(f"row: {row}")
        raise


def each_row(names: str | Sequence[str], rows: Iterable[Any], ids: Ids | None = None) -> Callable[[Test], Test]:
    """As `pytest.mark.parametrize`, and crossed with others of its kind as that is; but all rows are one test, in which
    every row is tried, whatever became of those before. Fixtures are made once, so a row must leave them as they were.
    A table without rows fails, unless the recordings that rows are made of are not here.
    """
    table = _Table([name.strip() for name in names.split(",")] if isinstance(names, str) else names, list(rows), ids)

    def decorate(test: Test) -> Test:
        inner, tables = getattr(test, "through_rows", (test, ()))
        return _through((table, *tables), inner, test)

    return decorate


class _Table:
    def __init__(self, columns: Sequence[str], rows: Sequence[Any], ids: Ids | None) -> None:
        self.columns = columns
        self._ids = ids if callable(ids) else None
        names = [None] * len(rows) if ids is None or callable(ids) else list(ids)
        self.rows = [self._row(row, name) for row, name in zip(rows, names, strict=True)]

    def _row(self, row: Any, name: object) -> tuple[object, Mapping[str, Any]]:
        if isinstance(row, type(pytest.param())):
            assert not row.marks, "a row is no test of its own: it bears no marks"
            name, values = name if row.id is None else row.id, row.values
        else:
            values = (row,) if len(self.columns) == 1 else row
        return name, dict(zip(self.columns, values, strict=True))

    def name(self, name: object, values: Mapping[str, Any]) -> str:
        """Only made of a row that fails."""
        if name is not None:
            return str(name)
        return "-".join(str(self._ids(value)) if self._ids else _short(value) for value in values.values())


def _short(value: object) -> str:
    return value if isinstance(value, str) and len(value) < 60 else reprlib.repr(value)


def _through(tables: Sequence[_Table], test: Test, marked: Test) -> Test:
    """`marked` is the test with the marks and tables that it has so far."""

    @wraps(marked)
    def each(*args: Any, **fixtures: Any) -> None:
        failures: list[BaseException] = []
        names = []
        crossed = list(itertools.product(*(table.rows for table in tables)))
        for cell in crossed:
            given = {column: value for _, values in cell for column, value in values.items()}
            try:
                try:
                    test(*args, **fixtures, **given)
                except pytest.skip.Exception as skipped:
                    raise AssertionError(f"a row cannot be skipped: {skipped}") from None
            except _FAILURES as failure:
                names.append(" | ".join(table.name(*row) for table, row in zip(tables, cell, strict=True)))
                failure.add_note(f"row: {names[-1]}")
                failures.append(failure)
        if len(failures) == 1:
            raise failures[0]
        if failures:
            told = "\n".join([f"{len(failures)} of {len(crossed)} rows:", *names])
            raise BaseExceptionGroup(told, failures[:SHOWN])
        if not crossed:
            absent = without_recordings()
            assert absent, "a table has no rows"
            pytest.skip(absent)

    taken = {column for table in tables for column in table.columns}
    signature = inspect.signature(test)
    left = [parameter for name, parameter in signature.parameters.items() if name not in taken]
    assert taken <= signature.parameters.keys(), f"the test has no {taken - signature.parameters.keys()}"
    vars(each).update(__signature__=signature.replace(parameters=left), through_rows=(test, tables))
    return each
