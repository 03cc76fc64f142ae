"""A misbehaving upstream and a client for it; AWS clients of a test's own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import cast

import pytest

from tests.shell.misbehaving_upstream import MisbehavingUpstream
from tests.shell.upstream_client import IMPATIENT, WatchedOutput, client
from toolwire.shell.network import aws
from toolwire.shell.network.upstream import Upstream
from toolwire.shell.serve.output import Output, current_output


@pytest.fixture
def server() -> Iterator[MisbehavingUpstream]:
    with MisbehavingUpstream() as started:
        yield started


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
def fresh_clients(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """boto3 clients of this test's own environment, in which nothing of the machine's is left."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, os.devnull)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    aws.forget_clients()
    yield
    aws.forget_clients()
