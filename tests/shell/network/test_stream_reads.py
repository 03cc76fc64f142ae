"""When a connection looks for more, and when what waits for the client leaves first."""

from __future__ import annotations

import math
import socket
import time
from collections.abc import Iterator

import pytest

from toolwire.shell.network.sockets import Stream
from toolwire.shell.network.transfer import Timeouts, Transfer

pytestmark = pytest.mark.enable_socket


class Waits(Transfer):
    """Notes when the connection waits, which is when what is buffered for the client leaves."""

    __slots__ = ("count",)

    def __init__(self) -> None:
        super().__init__(Timeouts(), math.inf, time.monotonic, streams=True)
        self.count = 0
        self.answered = self.head_read = True

    def wait(self, sock: socket.socket, events: int, deadline: float) -> None:
        """See `Transfer`."""
        self.count += 1
        super().wait(sock, events, deadline)


@pytest.fixture
def ends() -> Iterator[tuple[Stream, socket.socket]]:
    """A connection of ours, and the host's side of it."""
    ours, host = socket.socketpair()
    with ours, host:
        yield Stream(ours), host


def test_an_event_by_itself_leaves_before_more_is_looked_for(ends: tuple[Stream, socket.socket]) -> None:
    """Though more is there: to look for what mostly is not would delay each token of a model."""
    stream, host = ends
    waits = Waits()
    host.sendall(b"data: one\n\n")
    assert stream.read(waits) == b"data: one\n\n"
    host.sendall(b"data: two\n\n")

    before = waits.count
    assert stream.read(waits) == b"data: two\n\n"
    assert waits.count == before + 1


def test_what_comes_faster_than_it_is_read_leaves_together(ends: tuple[Stream, socket.socket]) -> None:
    stream, host = ends
    waits = Waits()
    host.sendall(b"x" * 4096)
    assert len(stream.read(waits)) == 4096
    host.sendall(b"data: two\n\n")

    before = waits.count
    assert stream.read(waits) == b"data: two\n\n"
    assert waits.count == before


def test_the_end_of_a_connection_behind_an_event_is_read(ends: tuple[Stream, socket.socket]) -> None:
    stream, host = ends
    waits = Waits()
    host.sendall(b"data: one\n\n")
    host.shutdown(socket.SHUT_WR)

    assert stream.read(waits) == b"data: one\n\n"
    assert stream.read(waits) == b""
