"""Tables that cross the ways of asking with what is asked about: the fast run goes through them in turn."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any

import pytest


def in_turn(names: str, ways: Sequence[Any], *others: Iterable[Any]) -> pytest.MarkDecorator:
    """`parametrize` with each way and each combination of the others; the last of the names is the way's.

    The fast run meets each combination in one way, so that each way meets each value of the others where those are as
    many as the ways. The run of `make integration` meets all. Each is a value, or a pair of an id and a value.
    """
    tables = [[_labelled(it) for it in other] for other in others]
    rows = []
    for places in itertools.product(*(range(len(table)) for table in tables)):
        cells = [table[place] for table, place in zip(tables, places, strict=True)]
        for number, (id_of_way, way) in enumerate(map(_labelled, ways)):
            now = sum(places) % len(ways) == number
            label = "-".join([*(id for id, _ in cells), id_of_way])
            marks = () if now else pytest.mark.integration
            rows.append(pytest.param(*(value for _, value in cells), way, id=label, marks=marks))
    return pytest.mark.parametrize(names, rows)


def crossed(first: Sequence[Any], second: Sequence[Any]) -> list[tuple[str, Any]]:
    """Each pair of the two as one way. Those that follow each other differ in both, so that a table with fewer rows
    than there are ways still meets much of either."""
    pairs = [(one, second[(at + shift) % len(second)]) for shift in range(len(second)) for at, one in enumerate(first)]
    return [("-".join(_labelled(it)[0] for it in pair), pair) for pair in pairs]


def _labelled(it: Any) -> tuple[str, Any]:
    return it if isinstance(it, tuple) else (getattr(it, "name", None) or getattr(it, "__name__", str(it)), it)
