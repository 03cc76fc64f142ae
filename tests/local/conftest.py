"""A local server for a test, its handlers, and a client of it."""

from __future__ import annotations

import http.client
from collections.abc import Iterator
from contextlib import closing

import pytest

from local.server import LocalServer
from tests.local.serving import Handlers, serving


@pytest.fixture
def handlers() -> Handlers:
    return Handlers()


@pytest.fixture
def server(handlers: Handlers) -> Iterator[LocalServer]:
    with serving(LocalServer(("127.0.0.1", 0), handlers.by_folder())) as server:
        yield server


@pytest.fixture
def client(server: LocalServer) -> Iterator[http.client.HTTPConnection]:
    with closing(http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=10)) as client:
        yield client
