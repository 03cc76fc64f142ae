"""Where an answer may break off: a table of two rows, of which every run has one and `make integration` both."""

from __future__ import annotations

from collections.abc import Iterable

import pytest


def some(stream: bytes) -> list[int]:
    """Around each end of a line and of an object or a list, where what is said becomes whole; else each 11th byte."""
    ends = [at for at, byte in enumerate(stream) if byte in b"\n}]"]
    near = {at + step for at in ends for step in (0, 1)}
    return sorted(near & set(range(len(stream))) | set(range(0, len(stream), 11)))


def every(stream: bytes) -> Iterable[int]:
    return range(len(stream))


CUTS = pytest.mark.parametrize("cuts", [some, pytest.param(every, marks=pytest.mark.integration)])
