"""A client and a provider in one thread, in lock step: a piece of an answer is written when the one before has reached
the client. So a gateway reads and writes the same pieces each time, however busy the machine is, and what two of them
spend can be compared: left to themselves, more of an answer comes in one read where the provider is ahead.
"""

from __future__ import annotations

import re
import selectors
import socket
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import NamedTuple, Self

from bench.client import BenchError, Connection
from bench.script import STAMP, Script
from bench.upstream import JSON_HEAD, STREAM_HEAD, framed
from bench.wires import Wire

_PATIENCE = 30.0
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.I)


class Piece(NamedTuple):
    """What is written at once, and what the client has by then."""

    data: bytes
    awaited: bytes


def pieces(wire: Wire, script: Script, *, stream: bool, together: int) -> list[Piece]:
    """An answer, with so many deltas in a piece."""
    if not stream:
        return [Piece(JSON_HEAD % len(wire.whole()) + wire.whole(), b"")]
    found, data, deltas = [], STREAM_HEAD, 0
    for is_delta, event in wire.events(script):
        data += framed(event)
        deltas += is_delta
        if deltas == together:
            found.append(Piece(data, STAMP.findall(data)[-1]))
            data, deltas = b"", 0
    return [*found, Piece(data + b"0\r\n\r\n", b"")]


class Provider:
    """The provider's side. Use as a context manager."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._listener = self._stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        self._selector = self._stack.enter_context(selectors.DefaultSelector())
        self._selector.register(self._listener, selectors.EVENT_READ)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *args: object) -> None:
        for key in [*self._selector.get_map().values()]:
            assert isinstance(key.fileobj, socket.socket)
            key.fileobj.close()
        self._stack.close()

    @property
    def url(self) -> str:
        """Its base URL as a Chat Completions host."""
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}/v1"

    def steps(self, client: Connection, request: bytes, answer: Sequence[Piece]) -> Iterator[None]:
        """One request through a gateway, to the end of its answer: a piece for each step."""
        client.send(request)
        gateway = self._asked()
        for piece in answer[:-1]:
            gateway.sendall(piece.data)
            while not _has(client, piece.awaited):
                client.receive()
            yield
        gateway.sendall(answer[-1].data)
        while not client.receive():
            pass
        yield

    def _asked(self) -> socket.socket:
        """The connection on which the next whole request has come."""
        received: dict[socket.socket, bytes] = {}
        for connection in self._readable():
            data = connection.recv(1 << 20)
            if not data:  # the gateway keeps it no longer
                self._selector.unregister(connection)
                connection.close()
                continue
            received[connection] = whole = received.get(connection, b"") + data
            head, found, body = whole.partition(b"\r\n\r\n")
            length = _LENGTH.search(head)
            if found and length is not None and len(body) >= int(length[1]):
                return connection
        raise BenchError("the gateway did not ask")

    def _readable(self) -> Iterator[socket.socket]:
        while ready := self._selector.select(_PATIENCE):
            for key, _ in ready:
                assert isinstance(key.fileobj, socket.socket)
                if key.fileobj is self._listener:
                    accepted = self._listener.accept()[0]
                    accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    self._selector.register(accepted, selectors.EVENT_READ)
                else:
                    yield key.fileobj


def _has(client: Connection, awaited: bytes) -> bool:
    """Whether the client has it: in what came last, or at the edge of two receives."""
    return awaited in b"".join(client.answer.pieces[-2:])
