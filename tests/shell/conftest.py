"""A misbehaving upstream and a client for it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import pytest

from tests.shell.misbehaving_upstream import MisbehavingUpstream
from tests.shell.upstream_client import IMPATIENT, WatchedOutput, client
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
