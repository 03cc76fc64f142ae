"""What a request held is free once it is over: nothing waits for Python's cyclic collector, which comes by when many
objects were made, not when they are large. A host that sends lines of 20 MB would fill the memory before."""

from __future__ import annotations

import gc
import itertools
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

from tests.faults.faults import CUTS
from tests.faults.rows import HOSTS_OF_WIRES, Row, rows
from toolwire.shell.network.answer_reader import AnswerReader, NotHttpError

pytestmark = pytest.mark.enable_socket

#: What ends within an event, whose reading fails.
_, _WITHIN_AN_EVENT = CUTS

#: Each fault with one API and wire, and each wire and API with some fault; whole answers too, the second target's.
_ROWS = [
    next(itertools.islice(of_fault, at * 7 % 90, None))
    for at, (_, of_fault) in enumerate(itertools.groupby(rows(), key=lambda row: row.fault.name))
]
#: Each wire's reader, of streams and of documents, with an answer that ends where no event does.
_ROWS += [
    Row(_WITHIN_AN_EVENT, place=2, door="native", host=host, stream=stream, second=False)
    for host in HOSTS_OF_WIRES
    for stream in (True, False)
]


@contextmanager
def _uncollected() -> Iterator[list[object]]:
    """The objects of this package that the block leaves to the cyclic collector."""
    gc.disable()
    gc.freeze()  # what is there already is not searched: it takes a second in a large run
    left: list[object] = []
    try:
        yield left
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        left += [found for found in gc.garbage if type(found).__module__.startswith("toolwire.") and not _empty(found)]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


def _empty(found: object) -> bool:
    """A parser of C and who it calls are a cycle by their nature; without a body it is a small one."""
    with suppress(NotHttpError):
        return isinstance(found, AnswerReader) and not found.take()
    return True


@pytest.mark.parametrize("row", _ROWS, ids=lambda row: row.id)
def test_a_request_leaves_nothing_to_the_cyclic_collector(row: Row) -> None:
    row.ask()  # what is loaded and cached once
    with _uncollected() as left:
        row.ask()
    assert sorted({type(found).__qualname__ for found in left}) == []
