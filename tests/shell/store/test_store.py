"""One contract for every store, and what the memory store does beyond it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

import pytest

from tests.shell.store_tables import EVERY_STORE, NOW, Clock, MakeStore, item, soon
from toolwire.model.settings import SettingsError
from toolwire.model.stored import Item, Key, Value
from toolwire.shell.store import current
from toolwire.shell.store.current import current_store, open_store
from toolwire.shell.store.store import MOST_ITEM_BYTES, MemoryStore, Store, StoreError, size_of


@pytest.fixture(scope="module", params=EVERY_STORE)
def table(request: pytest.FixtureRequest) -> Iterator[MakeStore]:
    opened: Callable[[], AbstractContextManager[MakeStore]] = request.param
    with opened() as make:
        yield make


_names = iter(range(1_000_000))


@pytest.fixture
def partition() -> str:
    """A conversation that no other test has."""
    return f"acme#{next(_names)}-"  # no name begins with another


@pytest.fixture
def store(table: MakeStore) -> Store:
    return table(Clock())


def sorts(items: list[Item]) -> list[str]:
    return [found.key.sort for found in items]


def test_nothing_is_there_at_first(store: Store, partition: str) -> None:
    assert store.mappings(partition, deadline=soon()) == []
    assert store.get([Key(partition, "call_a")], deadline=soon()) == []


def test_items_come_back_as_they_were_put(store: Store, partition: str) -> None:
    values: dict[str, Value] = {
        "text": "\u2028 ü \U0001f600",
        "empty": "",
        "number": 10**37,
        "minus": -1,
        "data": bytes(range(256)),
    }
    put = Item(Key(partition, "call_a"), values, int(NOW) + 60)
    store.put([put], deadline=soon())

    assert store.get([put.key], deadline=soon()) == [put]
    assert store.mappings(partition, deadline=soon()) == [put]


def test_mappings_are_the_calls_of_one_partition_in_order(store: Store, partition: str) -> None:
    put = [item(sort, partition) for sort in ("call_b", "state#call_a", "call_a", "call", "rate#1")]
    store.put([*put, item("call_c", partition + "0")], deadline=soon())

    assert sorts(store.mappings(partition, deadline=soon())) == ["call_a", "call_b"]


def test_get_keeps_the_order_of_its_keys(store: Store, partition: str) -> None:
    store.put([item(sort, partition) for sort in ("state#a", "state#b", "state#c")], deadline=soon())
    keys = [Key(partition, sort) for sort in ("state#c", "absent", "state#a", "state#c")]

    assert sorts(store.get(keys, deadline=soon())) == ["state#c", "state#a"]


def test_get_reads_several_partitions(store: Store, partition: str) -> None:
    put = [item("state#a", f"{partition}-{number}") for number in range(3)]
    store.put(put, deadline=soon())

    assert store.get([found.key for found in put], deadline=soon()) == put


def test_a_later_item_replaces_an_earlier_one(store: Store, partition: str) -> None:
    store.put([item("call_a", partition, only_in="first")], deadline=soon())
    store.put([item("call_a", partition, v=2), item("call_a", partition, v=3)], deadline=soon())

    assert [found.values for found in store.mappings(partition, deadline=soon())] == [{"v": 3}]


def test_many_items_at_once(store: Store, partition: str) -> None:
    put = [item(f"call_{number:04}", partition) for number in range(260)]
    store.put(put, deadline=soon())

    assert store.mappings(partition, deadline=soon()) == put
    assert store.get([found.key for found in put], deadline=soon()) == put


def test_more_than_one_page_of_a_query(store: Store, partition: str) -> None:
    """DynamoDB ends a page at 1 MB."""
    put = [item(f"call_{number}", partition, state=bytes(300_000)) for number in range(5)]
    store.put(put, deadline=soon())

    assert store.mappings(partition, deadline=soon()) == put


def test_nothing_asked_is_nothing_done(store: Store) -> None:
    store.put([], deadline=soon())
    assert store.get([], deadline=soon()) == []


def test_an_expired_item_lingers_unseen(table: MakeStore, partition: str) -> None:
    clock = Clock()
    store = table(clock)
    put = [item("call_a", partition, expires_in=10), item("call_b", partition, expires_in=20)]
    store.put(put, deadline=soon())
    keys = [found.key for found in put]

    for passed, visible in ((9.9, ["call_a", "call_b"]), (10, ["call_b"]), (19.5, ["call_b"]), (20, [])):
        clock.now = NOW + passed
        assert sorts(store.get(keys, deadline=soon())) == visible
        assert sorts(store.mappings(partition, deadline=soon())) == visible


@pytest.mark.parametrize("skew", [-300, 300])
def test_each_reader_goes_by_its_own_clock(table: MakeStore, partition: str, skew: float) -> None:
    """Clocks of two environments differ: an item is seen for that much longer or shorter, and nothing else happens."""
    table(Clock()).put([item("call_a", partition, expires_in=1000)], deadline=soon())
    clock = Clock()
    reader = table(clock)

    clock.now = NOW + 999 + min(skew, 0)
    assert sorts(reader.mappings(partition, deadline=soon())) == ["call_a"]
    clock.now = NOW + 1000 + max(skew, 0)
    assert reader.mappings(partition, deadline=soon()) == []


def test_an_item_that_is_too_large_does_not_keep_the_others_out(store: Store, partition: str) -> None:
    small, larger = (item("state#a", partition, state=bytes(size)) for size in (1, MOST_ITEM_BYTES))

    store.put([small], deadline=soon())
    with pytest.raises(StoreError) as caught:
        store.put([item("call_a", partition), larger, item("call_b", partition)], deadline=soon())

    assert caught.value.code == "too_large"
    assert sorts(store.mappings(partition, deadline=soon())) == ["call_a", "call_b"]
    assert store.get([larger.key], deadline=soon()) == [small]


def test_half_a_surrogate_pair_does_not_keep_the_others_out(store: Store, partition: str) -> None:
    """An upstream's JSON may have one in an id, and DynamoDB refuses the whole batch for it."""
    with pytest.raises(StoreError, match="too_large"):
        store.put([item("call_a", partition, id="\ud83d"), item("call_b", partition)], deadline=soon())

    assert sorts(store.mappings(partition, deadline=soon())) == ["call_b"]


def test_everything_of_a_partition_can_be_seen_and_deleted(store: Store, partition: str) -> None:
    kept = [item(sort, partition) for sort in ("call_a", "conversation", "state#call_a")]
    other = item("call_a", partition + "x")
    store.put([*kept, other], deadline=soon())
    found = store.everything(partition, deadline=soon())
    assert [one.key.sort for one in found] == ["call_a", "conversation", "state#call_a"]
    store.delete([one.key for one in found] + [Key(partition, "call_never")], deadline=soon())
    assert store.everything(partition, deadline=soon()) == store.mappings(partition, deadline=soon()) == []
    assert [one.key for one in store.everything(other.key.partition, deadline=soon())] == [other.key]


@pytest.mark.parametrize("operation", ["mappings", "everything", "get", "delete", "put"])
def test_a_deadline_that_has_passed(store: Store, partition: str, operation: str) -> None:
    past = time.monotonic() - 1
    calls: dict[str, Callable[[], object]] = {
        "mappings": lambda: store.mappings(partition, deadline=past),
        "everything": lambda: store.everything(partition, deadline=past),
        "get": lambda: store.get([Key(partition, "call_a")], deadline=past),
        "delete": lambda: store.delete([Key(partition, "call_a")], deadline=past),
        "put": lambda: store.put([item("call_a", partition)], deadline=past),
    }

    with pytest.raises(StoreError) as caught:
        calls[operation]()

    assert caught.value.code == "timeout"
    assert store.mappings(partition, deadline=soon()) == []


def test_conversations_of_two_tenants_never_meet(store: Store, partition: str) -> None:
    store.put([item("call_a", f"one{partition}", v=1), item("call_a", f"two{partition}", v=2)], deadline=soon())

    assert [found.values["v"] for found in store.mappings(f"one{partition}", deadline=soon())] == [1]
    assert [found.values["v"] for found in store.mappings(f"two{partition}", deadline=soon())] == [2]


def test_warming_changes_nothing(store: Store, partition: str) -> None:
    store.warm()
    store.warm(wait=0.2)
    assert store.mappings(partition, deadline=soon()) == []


# The memory store ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("excess", "codes"), [(0, []), (1, ["too_large"])])
def test_the_largest_item(excess: int, codes: list[str]) -> None:
    room = MOST_ITEM_BYTES - size_of(item("call_a", state=b""))
    seen = []
    try:
        MemoryStore(clock=Clock()).put([item("call_a", state=bytes(room + excess))], deadline=soon())
    except StoreError as error:
        seen.append(error.code)

    assert seen == codes


def test_memory_is_bounded_by_items_oldest_first() -> None:
    store = MemoryStore(most_items=3, clock=Clock())
    for sort in ("call_a", "call_b", "call_c", "call_a", "call_d"):
        store.put([item(sort)], deadline=soon())

    assert sorts(store.mappings("acme#TOKEN", deadline=soon())) == ["call_a", "call_c", "call_d"]


def test_memory_is_bounded_by_bytes_oldest_first() -> None:
    large = item("call_a", state=bytes(100_000))
    store = MemoryStore(most_bytes=2 * size_of(large), clock=Clock())
    for sort in ("call_a", "call_b", "call_c"):
        store.put([item(sort, state=bytes(100_000))], deadline=soon())

    assert sorts(store.mappings("acme#TOKEN", deadline=soon())) == ["call_b", "call_c"]


def test_memory_forgets_what_has_expired() -> None:
    clock = Clock()
    large = item("call_a", expires_in=10, state=bytes(100_000))
    store = MemoryStore(most_bytes=2 * size_of(large), clock=clock)
    store.put([large], deadline=soon())
    store.put([item("call_b")], deadline=soon())
    clock.now += 10
    store.get([large.key], deadline=soon())  # had it stayed, the next two would push call_b out
    store.put([item("call_c", state=bytes(100_000))], deadline=soon())

    assert sorts(store.mappings("acme#TOKEN", deadline=soon())) == ["call_b", "call_c"]


def test_memory_serves_threads() -> None:
    store = MemoryStore(most_items=500, clock=Clock())
    faults: list[Exception] = []

    def work(thread: int) -> None:
        try:
            for number in range(200):
                store.put([item(f"call_{number}", f"acme#{thread}")], deadline=soon())
                store.mappings(f"acme#{thread}", deadline=soon())
        except Exception as fault:  # noqa: BLE001 - the test's own verdict
            faults.append(fault)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert faults == []
    assert sum(len(store.mappings(f"acme#{number}", deadline=soon())) for number in range(4)) == 500


# Which store the environment names ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("env", "name"),
    [
        ({}, "memory"),
        ({"STORE": " "}, "memory"),
        ({"STORE": "memory"}, "memory"),
        ({"STORE_TABLE": "calls"}, "dynamodb"),
        ({"STORE_TABLE": "ToolCallTable", "AWS_SAM_LOCAL": "true"}, "memory"),
        ({"STORE": "DynamoDB", "STORE_TABLE": "calls"}, "dynamodb"),
    ],
)
def test_the_environment_names_the_store(env: dict[str, str], name: str) -> None:
    assert open_store(env).name == name


@pytest.mark.parametrize(
    ("env", "message"),
    [
        ({"STORE": "redis"}, r"STORE: 'redis' is not known; write memory or dynamodb"),
        ({"STORE": "moto"}, "the local server has moto"),
        ({"STORE": "dynamodb"}, "STORE_TABLE: is not set"),
        ({"STORE": "memory", "STORE_TABLE": "calls"}, "STORE_TABLE: names a table that STORE=memory"),
        ({"STORE_TABLE": "arn:aws:dynamodb:eu-central-1:1:table/calls"}, "STORE_TABLE: write the name"),
    ],
)
def test_what_cannot_be_meant_is_refused(env: dict[str, str], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        open_store(env)


def test_a_process_has_one_store(monkeypatch: pytest.MonkeyPatch) -> None:
    current_store.cache_clear()
    monkeypatch.setenv("STORE", "nowhere")
    with pytest.raises(SettingsError):
        current_store()
    monkeypatch.setenv("STORE", "memory")
    try:
        assert current_store() is current_store()
    finally:
        current_store.cache_clear()


def test_a_program_in_front_may_bring_its_store(monkeypatch: pytest.MonkeyPatch) -> None:
    brought = MemoryStore()
    monkeypatch.setattr(current, "_given", [])
    monkeypatch.setenv("STORE", "nowhere")
    try:
        current.use_store(brought)
        assert current_store() is brought
    finally:
        current_store.cache_clear()
