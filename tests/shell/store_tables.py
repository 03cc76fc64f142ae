"""The stores that the contract is checked over, and the items that it is checked with."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from local.moto_store import MotoTable
from tests.dynalite.server import MISSING, dynalite
from toolwire.model.stored import Item, Key, Value
from toolwire.shell.network import aws
from toolwire.shell.network.aws_boto3 import boto3_client
from toolwire.shell.store.dynamodb import DynamoDbStore, create_table
from toolwire.shell.store.store import MemoryStore, Store

TABLE = "toolwire-test"

#: Seconds since 1970 in these tests: a moment that no clock of the test's own is near.
NOW = 2_000_000_000.0


class Clock:
    """The wall clock of a store."""

    now = NOW

    def __call__(self) -> float:
        return self.now


MakeStore = Callable[[Clock], Store]


@contextmanager
def in_memory() -> Iterator[MakeStore]:
    """Stores that are one in truth: a second one reads what the first one wrote, as with a table."""
    first = MemoryStore(clock=lambda: clocks[-1]())
    clocks: list[Clock] = []

    def make(clock: Clock) -> Store:
        clocks.append(clock)
        return first

    yield make


@contextmanager
def in_moto() -> Iterator[MakeStore]:
    table = MotoTable(TABLE)
    yield lambda clock: DynamoDbStore(TABLE, call=table.call, warm=table.warm, clock=clock)
    table.stop()


@contextmanager
def in_dynalite() -> Iterator[MakeStore]:
    """A table in a DynamoDB that is neither Amazon's nor moto's; the process's client is made for it."""
    with TemporaryDirectory() as folder, dynalite(Path(folder)) as url, pytest.MonkeyPatch.context() as env:
        env.setenv("AWS_ENDPOINT_URL_DYNAMODB", url)
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            env.setenv(name, "testing")
        env.setenv("AWS_DEFAULT_REGION", "eu-central-1")
        aws.forget_clients()
        client = boto3_client("dynamodb").boto3
        create_table(client, TABLE)
        client.get_waiter("table_exists").wait(TableName=TABLE, WaiterConfig={"Delay": 1})
        yield lambda clock: DynamoDbStore(TABLE, clock=clock)
        aws.forget_clients()


#: What makes each kind of store; a parameter of a test over all of them.
EVERY_STORE: list[Any] = [
    in_memory,
    in_moto,
    pytest.param(
        in_dynalite,
        marks=[
            pytest.mark.integration,
            pytest.mark.enable_socket,
            pytest.mark.skipif(bool(MISSING), reason=MISSING),
        ],
    ),
]


def soon(seconds: float = 30.0) -> float:
    """A deadline that no test comes near."""
    return time.monotonic() + seconds


def item(sort: str, partition: str = "acme#TOKEN", expires_in: float = 60, **values: Value) -> Item:
    return Item(Key(partition, sort), values or {"provider": "openai", "v": 1}, int(NOW + expires_in))
