"""Rates that several gateways count at once in one table (dynalite: moto's updates race)."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator

import pytest

from tests.dynalite.server import MISSING, dynalite
from tests.gateway import ROOT
from tests.shell.asking_at_once import NOW, THREADS
from toolwire.shell.network import aws
from toolwire.shell.network.aws_boto3 import boto3_client

pytestmark = [
    pytest.mark.integration,
    pytest.mark.enable_socket,
    pytest.mark.skipif(bool(MISSING), reason=MISSING),
]

PROCESSES, REQUESTS, LIMIT = 4, 200, 50


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The environment of a gateway whose DynamoDB is dynalite, which is this process's as well."""
    with dynalite(tmp_path_factory.mktemp("rates")) as url, pytest.MonkeyPatch.context() as patch:
        for name, value in {
            "AWS_ENDPOINT_URL_DYNAMODB": url,
            "AWS_ACCESS_KEY_ID": "testing",
            "AWS_SECRET_ACCESS_KEY": "testing",
            "AWS_DEFAULT_REGION": "eu-central-1",
        }.items():
            patch.setenv(name, value)
        aws.forget_clients()
        yield {**os.environ, "PYTHONPATH": str(ROOT / "layers" / "shared")}
        aws.forget_clients()


@pytest.fixture
def table(environment: dict[str, str], request: pytest.FixtureRequest) -> str:
    name = re.sub(r"\W", "-", request.node.name)
    client = boto3_client("dynamodb").boto3
    client.create_table(
        TableName=name,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": "window", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "window", "KeyType": "HASH"}],
    )
    client.get_waiter("table_exists").wait(TableName=name, WaiterConfig={"Delay": 1})
    return str(name)


def ask(environment: dict[str, str], table: str, limits: dict[str, int], calls: int) -> list[int]:
    """The statuses that REQUESTS requests got, from PROCESSES gateways of THREADS requests at once each."""
    asked = {"table": table, "requests": REQUESTS // PROCESSES, "limits": limits, "calls": calls}
    command = [sys.executable, "-m", "tests.shell.asking_at_once", json.dumps(asked)]
    processes = [
        subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(PROCESSES)
    ]
    statuses: list[int] = []
    for process in processes:
        out, _ = process.communicate(timeout=120)
        assert process.returncode == 0
        statuses += json.loads(out)
    return statuses


def counted(table: str) -> dict[str, int]:
    key = {"window": {"S": f"acme#{int(NOW // 60)}"}}
    item = aws.call("dynamodb", "get_item", TableName=table, Key=key, ConsistentRead=True)["Item"]
    return {name: int(item[name]["N"]) for name in ("requests", "tool_calls") if name in item}


def test_of_200_requests_at_once_exactly_50_pass(environment: dict[str, str], table: str) -> None:
    statuses = ask(environment, table, {"requests_per_minute": LIMIT}, calls=0)

    assert Counter(statuses) == {200: LIMIT, 429: REQUESTS - LIMIT}
    assert counted(table) == {"requests": LIMIT}


@pytest.mark.parametrize("calls", [1, 3])
def test_calls_are_counted_exactly_and_past_the_limit_nobody_passes(
    environment: dict[str, str], table: str, calls: int
) -> None:
    """The answers that were under way when the limit was crossed are served, one a thread at most; no call is lost."""
    statuses = ask(environment, table, {"tool_calls_per_minute": LIMIT}, calls)

    served = statuses.count(200)
    crossing = -(-LIMIT // calls)
    assert crossing <= served < crossing + PROCESSES * THREADS
    assert counted(table) == {"requests": served, "tool_calls": served * calls}
    assert set(ask(environment, table, {"tool_calls_per_minute": LIMIT}, calls)) == {429}


def test_both_limits_at_once(environment: dict[str, str], table: str) -> None:
    statuses = ask(environment, table, {"requests_per_minute": LIMIT, "tool_calls_per_minute": 10 * REQUESTS}, calls=2)

    assert Counter(statuses) == {200: LIMIT, 429: REQUESTS - LIMIT}
    assert counted(table) == {"requests": LIMIT, "tool_calls": 2 * LIMIT}
