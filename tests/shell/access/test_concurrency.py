"""Requests at once: as many as are allowed, in this process and in a table, also when a holder dies."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from toolwire.shell.access import concurrency as module
from toolwire.shell.access.concurrency import MemorySlots, Slots, TableSlots
from toolwire.shell.network import aws


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def table(rates_in_moto: str, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(module, "_PATIENCE_SECONDS", 30.0)
    return rates_in_moto


@pytest.fixture(params=["memory", pytest.param("moto", marks=pytest.mark.integration)])
def slots(request: pytest.FixtureRequest) -> Slots:
    if request.param == "memory":
        return MemorySlots()
    return TableSlots(request.getfixturevalue("table"), Clock())


def test_as_many_as_are_allowed_and_one_more_for_each_that_ends(slots: Slots) -> None:
    held = [slots.take("tenant#acme", 2, 60) for _ in range(3)]

    assert [slot is not None for slot in held] == [True, True, False]
    assert slots.take("tenant#other", 1, 60) is not None
    assert held[0] is not None
    held[0]()
    assert slots.take("tenant#acme", 2, 60) is not None
    assert slots.take("tenant#acme", 2, 60) is None


@pytest.mark.parametrize("slots", ["memory"], indirect=True)
def test_of_many_at_once_exactly_as_many_as_are_allowed(slots: Slots) -> None:
    with ThreadPoolExecutor(16) as pool:
        held = list(pool.map(lambda _: slots.take("k", 5, 60), range(200)))

    assert sum(slot is not None for slot in held) == 5


@pytest.mark.integration
def test_a_lease_whose_holder_died_ends(table: str) -> None:
    clock = Clock()
    slots = TableSlots(table, clock)
    assert slots.take("k", 1, 60) is not None
    assert slots.take("k", 1, 60) is None
    clock.now += 62

    late = slots.take("k", 1, 60)

    assert late is not None
    assert slots.take("k", 1, 60) is None
    late()
    late = slots.take("k", 1, 60)
    assert late is not None


#: What DynamoDB takes as an expression: bytes of its text, operators and functions in it.
_MOST_BYTES, _MOST_NAMES = 4096, 300


@pytest.mark.parametrize("died", [1, 99, 300, 1000])
def test_however_many_holders_died_the_next_one_gets_a_slot(died: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """More leases than one expression can name: a refused removal would keep every request away."""
    clock = Clock()
    leases = {f"l{number:016x}": {"N": str(int(clock.now) - 1)} for number in range(died)}

    def call(_: str, operation: str, *, deadline: float, **asked: Any) -> dict[str, Any]:
        if operation == "get_item":
            return {"Item": {"leases": {"M": dict(leases)}}}
        names = asked["ExpressionAttributeNames"]
        if len(asked["UpdateExpression"]) > _MOST_BYTES or len(names) > _MOST_NAMES:
            raise aws.AwsError("update_item", "ValidationException", "refused")
        if asked["UpdateExpression"].startswith("REMOVE"):
            for name in names.values():
                leases.pop(name, None)
        elif len(leases) >= int(asked["ExpressionAttributeValues"][":most"]["N"]):
            raise aws.AwsError("update_item", "ConditionalCheckFailedException", "refused")
        else:
            leases[names["#lease"]] = asked["ExpressionAttributeValues"][":until"]
        return {}

    monkeypatch.setattr(aws, "call", call)
    slots = TableSlots("rates", clock)

    assert None not in [slots.take("k", died, 60) for _ in range(died)]
    assert slots.take("k", died, 60) is None


@pytest.mark.integration
def test_an_item_that_has_no_leases_is_given_some(table: str) -> None:
    aws.call(
        "dynamodb",
        "update_item",
        deadline=time.monotonic() + 30,
        TableName=table,
        Key={"window": {"S": "#slots#k"}},
        UpdateExpression="SET odd = :odd",
        ExpressionAttributeValues={":odd": {"S": "it"}},
    )

    held = [TableSlots(table).take("k", 1, 60) for _ in range(2)]

    assert [give_back is not None for give_back in held] == [True, False]


@pytest.mark.integration
def test_a_table_that_is_not_there_refuses_nobody(table: str) -> None:
    slots = TableSlots("absent")
    held = [slots.take("k", 1, 60) for _ in range(3)]
    assert None not in held
    for give_back in held:
        assert give_back is not None
        give_back()


def test_memory_keeps_nothing_of_slots_that_were_given_back() -> None:
    slots = MemorySlots()
    for number in range(100):
        give_back = slots.take(f"k{number}", 1, 60)
        assert give_back is not None
        give_back()
    assert not slots._taken
