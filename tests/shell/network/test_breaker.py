"""Circuits in memory and in the table of rates: shared, changed in one step, and never in the way."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Lock

import pytest

from tests.shell.fake_dynamodb import FakeDynamoDb, refusal
from toolwire.exchange.breaker import CLOSED, Circuit
from toolwire.model.settings import BreakerRules, ProviderConfig, Settings, Target
from toolwire.shell.network import aws
from toolwire.shell.network import breaker as module
from toolwire.shell.network.breaker import (
    Breaker,
    Circuits,
    Kept,
    MemoryCircuits,
    TableCircuits,
    breaker_for,
    key_of,
)

RULES = BreakerRules(failures=3, seconds=30, open_seconds=10)
TARGET = Target(ProviderConfig("acme", "openai_chat", "http://a.example", "env:KEY"), "m")


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


class TableInMoto(TableCircuits):
    """moto checks a condition and writes in two steps, between which another thread may write. DynamoDB has one."""

    def __init__(self, table: str) -> None:
        super().__init__(table)
        self._lock = Lock()

    def swap(self, key: str, version: int, circuit: Circuit) -> Kept | None:
        with self._lock:
            return super().swap(key, version, circuit)


@pytest.fixture(params=["memory", pytest.param("moto", marks=pytest.mark.integration)])
def circuits(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Circuits:
    if request.param == "memory":
        return MemoryCircuits()
    monkeypatch.setattr(module, "_PATIENCE_SECONDS", 30.0)
    return TableInMoto(request.getfixturevalue("rates_in_moto"))


def test_a_circuit_is_replaced_by_who_knows_it(circuits: Circuits) -> None:
    assert circuits.read("k") == Kept(CLOSED, 0)
    first = circuits.swap("k", 0, Circuit((1.5,), 2.25))
    assert first == Kept(Circuit((1.5,), 2.25), 1)
    assert circuits.read("k") == first
    assert circuits.swap("k", 0, CLOSED) is None
    assert circuits.swap("k", 1, CLOSED) == circuits.read("k") == Kept(CLOSED, 2)
    assert circuits.read("other") == Kept(CLOSED, 0)


def test_two_processes_share_what_they_know(circuits: Circuits) -> None:
    clock = Clock()
    one, other = Breaker(RULES, circuits, clock), Breaker(RULES, circuits, clock)

    for each in (one, other, one):
        assert each.claim(TARGET) == 0
        each.ended(TARGET, failed=True, began=clock.now)

    clock.now += 2  # what was read before is no longer fresh
    assert one.claim(TARGET) == other.claim(TARGET) == 8
    clock.now += 8
    assert [one.claim(TARGET), other.claim(TARGET), one.claim(TARGET)] == [0, 10, 10]
    one.ended(TARGET, failed=False, began=clock.now)
    clock.now += 2
    assert other.claim(TARGET) == one.claim(TARGET) == 0


def test_one_of_many_threads_tries(circuits: Circuits) -> None:
    clock = Clock()
    each = [Breaker(RULES, circuits, clock) for _ in range(8)]
    for _ in range(3):
        each[0].ended(TARGET, failed=True, began=clock.now)
    clock.now += 10

    with ThreadPoolExecutor(8) as pool:
        waits = list(pool.map(lambda breaker: breaker.claim(TARGET), each))

    assert sorted(waits) == [0] + [10] * 7


class Counting(MemoryCircuits):
    """Counts what is asked of a table."""

    fresh_seconds = 2.0

    def __init__(self) -> None:
        super().__init__()
        self.reads = self.writes = 0

    def read(self, key: str) -> Kept:
        self.reads += 1
        return super().read(key)

    def swap(self, key: str, version: int, circuit: Circuit) -> Kept | None:
        self.writes += 1
        return super().swap(key, version, circuit)


def test_a_success_writes_nothing_and_a_read_holds_for_two_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    circuits, clock = Counting(), Clock()
    breaker = Breaker(RULES, circuits, clock)
    monkeypatch.setattr(MemoryCircuits, "read", lambda self, key: self._kept.get(key, Kept()))

    for _ in range(100):
        assert breaker.claim(TARGET) == 0
        breaker.ended(TARGET, failed=False, began=clock.now)
        clock.now += 0.1

    assert circuits.writes == 0
    assert circuits.reads == 5
    clock.now -= 3600
    breaker.claim(TARGET)
    assert circuits.reads == 6  # a clock that was set back makes nothing fresh


def dead(monkeypatch: pytest.MonkeyPatch, fake: FakeDynamoDb) -> Breaker:
    for name, value in {
        "AWS_ENDPOINT_URL_DYNAMODB": fake.url,
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_DEFAULT_REGION": "eu-central-1",
    }.items():
        monkeypatch.setenv(name, value)
    aws.forget_clients()
    return Breaker(RULES, TableCircuits("rates"), Clock())


@pytest.mark.enable_socket
@pytest.mark.parametrize("reply", ["hang up", "silence", refusal("ResourceNotFoundException"), (200, {"Item": {}})])
def test_a_table_that_does_not_answer_keeps_nobody_from_asking(reply: object, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakeDynamoDb(reply)  # type: ignore[arg-type]
    monkeypatch.setattr(module, "_PATIENCE_SECONDS", 2.0 if reply != "silence" else 0.5)
    try:
        breaker = dead(monkeypatch, fake)
        aws.warm("dynamodb", wait=5.0)
        for _ in range(5):
            assert breaker.claim(TARGET) == 0
            breaker.ended(TARGET, failed=False, began=Clock.now)
        assert len(fake.asked) == 1  # and it is not asked for every request
    finally:
        fake.close()
        aws.forget_clients()


def test_targets_have_circuits_of_their_own() -> None:
    provider = TARGET.provider
    others = [
        Target(provider, "other"),
        Target(ProviderConfig("acme", "openai_chat", "http://b.example", "env:KEY"), "m"),
        Target(ProviderConfig("acme", "openai_chat", "http://a.example", "env:OTHER"), "m"),
    ]
    assert len({key_of(target) for target in (TARGET, *others)}) == 4
    assert key_of(TARGET).startswith("#breaker#acme#")


@pytest.mark.parametrize(
    ("rules", "several", "kept"),
    [
        (None, False, MemoryCircuits),
        (None, True, TableCircuits),
        (RULES, False, TableCircuits),
        (RULES, True, TableCircuits),
    ],
)
def test_a_request_that_can_go_nowhere_else_shares_its_breaker_if_one_is_configured(
    rules: BreakerRules | None, several: bool, kept: type
) -> None:
    settings = Settings({}, breaker=rules, rates_table="rates")
    made: Callable[[], Breaker | None] = lambda: breaker_for(settings, several=several)  # noqa: E731
    first = made()
    assert first is not None
    assert type(first._circuits) is kept
    assert made() is first


@pytest.mark.parametrize("several", [True, False])
def test_it_can_be_switched_off(several: bool) -> None:
    assert breaker_for(Settings({}, breaker=BreakerRules(enabled=False)), several=several) is None
