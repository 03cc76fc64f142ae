"""Tables that cross the ways of asking with what is asked about: the fast run goes through them in turn."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any

import pytest


def in_turn(names: str, ways: Sequence[Any], *others: Iterable[Any]) -> pytest.MarkDecorator:
    """`parametrize` with each way and each combination of the others; the last of the names is the way's.

    The fast run meets each combination in one way, so that each way meets each value of the others where those are as
    many as the ways. The run of `make integration` meets all. `others` are values, or pairs of an id and a value.
    """
    tables = [[(it if isinstance(it, tuple) else (str(it), it)) for it in other] for other in others]
    rows = []
    for places in itertools.product(*(range(len(table)) for table in tables)):
        cells = [table[place] for table, place in zip(tables, places, strict=True)]
        for number, way in enumerate(ways):
            now = sum(places) % len(ways) == number
            label = "-".join([*(id for id, _ in cells), getattr(way, "__name__", str(way))])
            marks = () if now else pytest.mark.integration
            rows.append(pytest.param(*(value for _, value in cells), way, id=label, marks=marks))
    return pytest.mark.parametrize(names, rows)
