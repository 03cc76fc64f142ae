"""The DynamoDB store against dynalite: turns that meet, and the limits that moto does not have."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from threading import Thread

import pytest

from tests.dynalite.server import MISSING
from tests.shell.store_tables import Clock, MakeStore, in_dynalite, item, soon
from toolwire.model.stored import Key
from toolwire.shell.store.dynamodb import DynamoDbStore
from toolwire.shell.store.store import MOST_ITEM_BYTES, READ_SECONDS, WRITE_SECONDS, StoreError, size_of

pytestmark = [
    pytest.mark.integration,
    pytest.mark.enable_socket,
    pytest.mark.skipif(bool(MISSING), reason=MISSING),
]


@pytest.fixture(scope="module")
def table() -> Iterator[MakeStore]:
    with in_dynalite() as make:
        yield make


def test_the_largest_item(table: MakeStore) -> None:
    """Ours counts a number by its most, so that what we send is never refused for its size."""
    store = table(Clock())
    room = MOST_ITEM_BYTES - size_of(item("state#a", state=b"", v=1))
    store.put([item("state#a", state=bytes(room), v=1)], deadline=soon())

    with pytest.raises(StoreError, match="too_large"):
        store.put([item("state#a", state=bytes(room + 1), v=1)], deadline=soon())


def test_a_batch_of_the_largest_state(table: MakeStore) -> None:
    """25 items of 256 KB are 6.4 MB of text on the wire; a read of them is more than one answer holds."""
    store = table(Clock())
    put = [item(f"state#{number}", "acme#large", state=bytes(256 * 1024)) for number in range(25)]
    store.put(put, deadline=soon())

    assert store.get([found.key for found in put], deadline=soon()) == put


@pytest.mark.parametrize("operation", ["mappings", "get", "put"])
def test_a_table_that_is_not_there(table: MakeStore, operation: str) -> None:
    table(Clock())
    store = DynamoDbStore("absent", clock=Clock())
    calls: dict[str, Callable[[], object]] = {
        "mappings": lambda: store.mappings("acme#TOKEN", deadline=soon()),
        "get": lambda: store.get([Key("acme#TOKEN", "state#a")], deadline=soon()),
        "put": lambda: store.put([item("call_a")], deadline=soon()),
    }

    with pytest.raises(StoreError, match="missing_table"):
        calls[operation]()


def test_turns_at_the_same_time_lose_nothing(table: MakeStore) -> None:
    """Twelve turns of one conversation write their calls at once and read what all have written."""
    store = table(Clock())
    faults: list[BaseException] = []

    def turn(number: int) -> None:
        try:
            for step in range(5):
                put = [item(f"call_{number:02}{step}{call:02}", "acme#busy", v=number) for call in range(30)]
                store.put(put, deadline=time.monotonic() + 10 * WRITE_SECONDS)
                seen = store.mappings("acme#busy", deadline=time.monotonic() + 10 * READ_SECONDS)
                assert {found.key for found in put} <= {found.key for found in seen}
        except BaseException as fault:  # noqa: BLE001 - the test's own verdict
            faults.append(fault)

    threads = [Thread(target=turn, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert faults == []
    assert len(store.mappings("acme#busy", deadline=soon())) == 12 * 5 * 30
