"""A misbehaving upstream and a client for it, tables in moto, and pytest's look into the log."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import cast

import pytest

from tests.closed_port import closed_port
from tests.shell.boto3_clients import use_boto3
from tests.shell.misbehaving_upstream import MisbehavingUpstream
from tests.shell.upstream_client import IMPATIENT, WatchedOutput, client
from toolwire.shell.network.output import Output, current_output
from toolwire.shell.network.upstream import Upstream
from toolwire.shell.telemetry.log import logger


@pytest.fixture
def caplog(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> pytest.LogCaptureFixture:
    """pytest's own, which sees the gateway's lines too: their logger is not of the tree of loggers."""
    lines = logger().lines
    monkeypatch.setattr(lines, "handlers", [*lines.handlers, caplog.handler])
    return caplog


@pytest.fixture
def server() -> Iterator[MisbehavingUpstream]:
    with MisbehavingUpstream() as started:
        yield started


@pytest.fixture
def nobodys_port() -> Iterator[int]:
    """A port at which nobody listens."""
    with closed_port() as port:
        yield port


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    with client() as started:
        yield started


@pytest.fixture
def impatient() -> Iterator[Upstream]:
    with client(IMPATIENT) as started:
        yield started


@pytest.fixture
def output() -> Iterator[WatchedOutput]:
    watched = WatchedOutput()
    token = current_output.set(cast(Output, watched))
    yield watched
    current_output.reset(token)


@pytest.fixture
def in_moto(fresh_clients: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str, str], str]]:
    """Makes a table of this name and key attribute in moto, in this process, and returns its name."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    import moto  # 0.5 s, which the other tests here do without

    def table(name: str, key: str) -> str:
        use_boto3("dynamodb").create_table(
            TableName=name,
            BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[{"AttributeName": key, "AttributeType": "S"}],
            KeySchema=[{"AttributeName": key, "KeyType": "HASH"}],
        )
        return name

    with moto.mock_aws():
        yield table


@pytest.fixture
def rates_in_moto(in_moto: Callable[[str, str], str]) -> str:
    """The name of a table of rates that is empty."""
    return in_moto("rates", "window")
