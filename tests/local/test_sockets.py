"""The local server's sockets do what the standard library's do, and let nobody else run where they need not wait."""

from __future__ import annotations

import errno
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count

import pytest

from local.sockets import PromptSocket, prompt
from toolwire.shell.network.output import timeval

pytestmark = pytest.mark.enable_socket

KINDS = pytest.mark.parametrize("kind", [socket.socket, PromptSocket], ids=["standard", "prompt"])

Pair = tuple[socket.socket, socket.socket]


@contextmanager
def pair(kind: type[socket.socket]) -> Iterator[Pair]:
    """Two ends of a connection, of which the first is of this kind."""
    ours, theirs = socket.socketpair()
    with prompt(ours) if kind is PromptSocket else ours as one, theirs:
        assert type(one) is kind
        yield one, theirs


@contextmanager
def switching(seconds: float) -> Iterator[None]:
    """Threads that compute are made to let others run after so many seconds."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(seconds)
    try:
        yield
    finally:
        sys.setswitchinterval(usual)


def received(sock: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size and (piece := sock.recv(1 << 16)):
        data += piece
    return data


@KINDS
@pytest.mark.parametrize("size", [0, 1, 4096, 64 << 10, (64 << 10) + 1, 3 << 20])
def test_all_is_sent_whoever_has_to_wait(kind: type[socket.socket], size: int) -> None:
    data = bytes(range(256)) * (size // 256) + bytes(size % 256)
    with pair(kind) as (ours, theirs):

        def send() -> None:
            ours.sendall(data)
            ours.shutdown(socket.SHUT_WR)

        sender = threading.Thread(target=send)
        sender.start()
        assert received(theirs, size + 1) == data
        sender.join()


@KINDS
def test_what_does_not_fit_at_once_is_sent_from_where_it_stopped(kind: type[socket.socket]) -> None:
    piece = bytes(range(256)) * 160
    with pair(kind) as (ours, theirs):
        reader = threading.Thread(target=lambda: heard.append(received(theirs, len(piece) * 40)))
        heard: list[bytes] = []
        reader.start()
        for _ in range(40):  # more than the kernel holds
            ours.sendall(piece)
        reader.join()
        assert heard == [piece * 40]


@KINDS
def test_who_takes_nothing_is_given_up_when_the_time_is_over(kind: type[socket.socket]) -> None:
    with pair(kind) as (ours, _):
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, timeval(0.05))
        with pytest.raises(BlockingIOError):
            ours.sendall(b"x" * (64 << 10) * 64)
        with pytest.raises(BlockingIOError):
            ours.sendall(b"x" * 4096)


@KINDS
def test_a_send_that_would_wait_says_so(kind: type[socket.socket]) -> None:
    with pair(kind) as (ours, _):
        ours.setblocking(False)
        taken = 0
        with suppress(BlockingIOError):
            while taken < 64 << 20:
                taken += ours.send(b"x" * 4096)
        assert 0 < taken < 64 << 20
        with pytest.raises(BlockingIOError):
            ours.send(b"x")


@KINDS
def test_errors_are_the_standard_librarys(kind: type[socket.socket]) -> None:
    with pair(kind) as (ours, theirs):
        ours.setblocking(False)
        with pytest.raises(BlockingIOError) as waits:
            ours.recv(10)
        assert waits.value.errno == errno.EAGAIN
        with pytest.raises(BlockingIOError):
            ours.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        theirs.sendall(b"abc")
        assert ours.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b"a"
        assert ours.recv(2) == b"ab"
        theirs.close()
        assert (ours.recv(10), ours.recv(10)) == (b"c", b"")
        for send in (ours.send, ours.sendall):
            with pytest.raises(BrokenPipeError):
                send(b"x")
        ours.close()
        for call in (lambda: ours.recv(1), lambda: ours.send(b"x"), lambda: ours.sendall(b"x")):
            with pytest.raises(OSError, match="Bad file descriptor"):
                call()


@KINDS
def test_a_blocking_read_waits(kind: type[socket.socket]) -> None:
    with pair(kind) as (ours, theirs):
        sender = threading.Timer(0.05, theirs.sendall, [b"late"])
        sender.start()
        assert ours.recv(1 << 16) == b"late"
        sender.join()


@pytest.mark.parametrize("size", [7, 5000])
def test_threads_receive_what_was_sent_to_them(size: int) -> None:
    """They share the place where they receive."""
    mixed = []

    def serve(number: int) -> None:
        own = bytes([number]) * size
        with pair(PromptSocket) as (ours, theirs):
            ours.setblocking(False)
            for _ in range(200):
                theirs.sendall(own)
                if ours.recv(1 << 16) != own:
                    mixed.append(number)

    threads = [threading.Thread(target=serve, args=[number]) for number in range(8)]
    with switching(1e-6):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert mixed == []


def test_nobody_else_runs_meanwhile() -> None:
    """Another thread runs whenever it is let: never during a call of these sockets, often during the standard one's."""
    turns = count()
    is_over = threading.Event()

    def take_turns() -> None:
        while not is_over.is_set():
            next(turns)
            time.sleep(0)

    def others_turns(kind: type[socket.socket], most_calls: int) -> int:
        with pair(kind) as (ours, _):
            ours.setblocking(False)
            before = next(turns)
            for _ in range(most_calls):
                with suppress(BlockingIOError):
                    ours.send(b"x")
                with suppress(BlockingIOError):
                    ours.recv(100)
                if (taken := next(turns) - before - 1) > 0:
                    return taken
                before += 1
        return 0

    other = threading.Thread(target=take_turns)
    with switching(60.0):
        other.start()
        try:
            assert others_turns(PromptSocket, 100) == 0
            assert others_turns(socket.socket, 100_000) > 0
        finally:
            is_over.set()
            other.join()
