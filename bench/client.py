"""A client that costs little, so that it is the gateway that is measured: raw sockets, HTTP/1.1, kept-alive."""

from __future__ import annotations

import selectors
import socket
import time
from bisect import bisect_right
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Self
from urllib.parse import urlsplit

from bench.script import STAMP, Script

#: Seconds without a byte after which an answer counts as lost.
_PATIENCE = 30.0


class BenchError(Exception):
    """What was measured did not do its work, so its figures would mean nothing."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An API: `base_url` with its version, the model that leads to the scripted upstream, what else a request needs.
    `door` is the API: "chat_completions" (Chat Completions) or "messages" (Anthropic's)."""

    base_url: str
    model: str
    headers: tuple[str, ...] = ()
    door: str = "chat_completions"

    @property
    def address(self) -> tuple[str, int]:
        """Host and port. Only plain HTTP can be measured."""
        parts = urlsplit(self.base_url)
        if parts.scheme != "http" or not parts.hostname:
            raise BenchError(f"{self.base_url}: only http:// URLs can be measured")
        return parts.hostname, parts.port or 80

    def request(self, script: Script, *, stream: bool = True) -> bytes:
        """The whole HTTP request for a scripted answer."""
        body = (script.request if self.door == "chat_completions" else script.messages_request)(
            self.model, stream=stream
        )
        path = "chat/completions" if self.door == "chat_completions" else "messages"
        host, port = self.address
        lines = [
            f"POST {urlsplit(self.base_url).path.rstrip('/')}/{path} HTTP/1.1",
            f"Host: {host}:{port}",
            "Authorization: Bearer bench",
            "Content-Type: application/json",
            *self.headers,
            f"Content-Length: {len(body)}",
        ]
        return "\r\n".join([*lines, "\r\n"]).encode() + body


@dataclass(slots=True)
class Answer:
    """An answer as it arrives: `pieces` are what each receive gave, `times` the moments (monotonic, ns) after it."""

    pieces: list[bytes] = field(default_factory=list)
    times: list[int] = field(default_factory=list)
    _head: bytes = b""
    _missing: int | None = None

    def take(self, piece: bytes) -> bool:
        """Notes a piece; returns whether the answer is complete."""
        self.times.append(time.monotonic_ns())
        if not piece:
            raise BenchError("the connection ended before the answer did")
        self.pieces.append(piece)
        if not self._head:
            received = b"".join(self.pieces)
            head, found, rest = received.partition(b"\r\n\r\n")
            if not found:
                return False
            self._head = head.lower()
            if (length := self._head.partition(b"content-length:")[2]) != b"":
                self._missing = int(length.split(b"\r\n")[0]) - len(rest)
        elif self._missing is not None:
            self._missing -= len(piece)
        if self._missing is not None:
            return self._missing <= 0
        return piece.endswith(b"0\r\n\r\n") or (len(piece) < 5 and b"".join(self.pieces[-5:]).endswith(b"0\r\n\r\n"))

    @property
    def ends_connection(self) -> bool:
        """Whether the server closes the connection behind this answer."""
        return b"\r\nconnection: close" in self._head

    def stamps(self) -> list[tuple[int, int]]:
        """For each delta: when the upstream wrote it and when it was here, in ns."""
        ends = list(accumulate(map(len, self.pieces)))
        return [
            (int(found[1]), self.times[bisect_right(ends, found.end() - 1)])
            for found in STAMP.finditer(b"".join(self.pieces))
        ]

    def check(self, stamps: int) -> None:
        """Raises BenchError if this is not the answer with so many deltas (0: the JSON answer)."""
        whole = b"".join(self.pieces)
        found = len(STAMP.findall(whole))
        ended = b"[DONE]" in whole or b'"message_stop"' in whole
        right = b"list_files" in whole if stamps == 0 else found == stamps and ended
        if not whole.startswith(b"HTTP/1.1 200") or not right:
            raise BenchError(f"not the scripted answer ({found} of {stamps} deltas): {whole[:300]!r}")


class Connection:
    """One connection at a time, kept alive as long as the server keeps it. Use as a context manager."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._address = endpoint.address
        self.socket = self._opened()
        self.answer = Answer()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *args: object) -> None:
        self.socket.close()

    def ask(self, request: bytes) -> Answer:
        """Sends a request and reads its answer to the end."""
        self.send(request)
        while not self.receive():
            pass
        return self.answer

    def send(self, request: bytes) -> None:
        """Sends a request, over a new connection if the last answer ended the old one."""
        if self.answer.ends_connection:
            self.socket.close()
            self.socket = self._opened()
        self.answer = Answer()
        self.socket.sendall(request)

    def receive(self) -> bool:
        """Waits for a piece of the answer; returns whether it is complete."""
        return self.answer.take(self.socket.recv(1 << 16))

    def _opened(self) -> socket.socket:
        opened = socket.create_connection(self._address, timeout=_PATIENCE)
        opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return opened


def requests_per_second(endpoint: Endpoint, request: bytes, stamps: int, connections: int, seconds: float) -> float:
    """Answers a second when each of `connections` sends its next request as soon as it has its answer."""
    with ExitStack() as stack:
        selector = stack.enter_context(selectors.DefaultSelector())
        opened = [stack.enter_context(Connection(endpoint)) for _ in range(connections)]
        for connection in opened:
            connection.ask(request).check(stamps)  # warm, and each connection is proven
        started = time.monotonic()
        for connection in opened:
            connection.send(request)
            selector.register(connection.socket, selectors.EVENT_READ, connection)
        done, ends = 0, started + seconds
        while time.monotonic() < ends:
            for key, _ in selector.select(_PATIENCE):
                connection = key.data
                if connection.receive():
                    done += 1
                    selector.unregister(key.fileobj)
                    connection.send(request)
                    selector.register(connection.socket, selectors.EVENT_READ, connection)
        return done / (time.monotonic() - started)
