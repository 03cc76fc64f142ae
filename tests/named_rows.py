"""Rows of a table that one test goes through: where one fails, its failure names it.

For tables with hundreds of rows that take a millisecond each, where a test for each row costs more than the row.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def named(row: object) -> Iterator[None]:
    try:
        yield
    except BaseException as failure:
        failure.add_note(f"row: {row}")
        raise
