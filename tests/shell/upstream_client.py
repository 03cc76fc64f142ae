"""The upstream client as the tests of tests/shell use it: closed without a connection left."""

from __future__ import annotations

import select
import socket
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tests.shell.misbehaving_upstream import MisbehavingUpstream
from toolwire.model.errors import ClientGone
from toolwire.model.http import UpstreamRequest
from toolwire.shell.network.transfer import Timeouts
from toolwire.shell.network.upstream import Upstream

#: For tests of other things: a busy machine must not make one of these pass.
PATIENT = Timeouts(connect=20, send=20, first_byte=20, idle=20)
#: For tests of the timeouts.
IMPATIENT = Timeouts(connect=0.2, send=0.2, first_byte=0.2, idle=0.2)


@contextmanager
def client(
    timeouts: Timeouts = PATIENT, tls: ssl.SSLContext | None = None, now: Callable[[], float] = time.monotonic
) -> Iterator[Upstream]:
    """An Upstream. Without `tls` it trusts no certificate: reading the platform's takes longer than most tests."""
    upstream = Upstream(timeouts, tls=tls or ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), now=now)
    try:
        yield upstream
    finally:
        upstream.close()
    assert upstream.open_connections == 0


def post(url: str, *, body: bytes = b"{}", stream: bool = True) -> UpstreamRequest:
    """A request as a provider builds it."""
    headers = (("content-type", "application/json"), ("authorization", "Bearer sk-secret"))
    return UpstreamRequest("POST", f"{url}/v1/chat/completions?x=1", headers, body, stream)


def soon(seconds: float = 20.0) -> float:
    """A moment to expire at."""
    return time.monotonic() + seconds


def fetch(upstream: Upstream, request: UpstreamRequest, expires: float | None = None) -> bytes:
    """The whole body of the answer."""
    with upstream.send(request, expires=expires or soon()) as response:
        return b"".join(response.chunks())


def ask(upstream: Upstream, server: MisbehavingUpstream) -> bytes:
    """Send the usual request and read the whole answer."""
    return fetch(upstream, post(server.url))


class WatchedOutput:
    """An Output that only waits, and counts how often it was asked to."""

    def __init__(self) -> None:
        self.waits = 0
        self.gone = False

    def before_block(self, upstream: socket.socket, deadline: float, events: int = select.POLLIN) -> None:
        self.waits += 1
        if self.gone:
            raise ClientGone
        poll = select.poll()
        poll.register(upstream, events)
        if not poll.poll(max(0, int((deadline - time.monotonic()) * 1000) + 1)):
            raise TimeoutError
