"""An HTTP server on the loopback interface that answers each request as a test scripts it, however wrong.

    with MisbehavingUpstream() as server:
        server.script([Send(answer(b"whole"))])                    # the next request
        server.script([Send(answer(b"cut off")[:40]), Reset()])    # the one after it
        ... a client talks to server.url ...
        assert server.requests[1].connection == server.requests[0].connection

A script is a list of steps. A script that ends without closing leaves the connection open for the next request, as a
kept-alive server does. A request without a script gets an empty 200.
"""

from __future__ import annotations

import socket
import ssl
import struct
import threading
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Literal, Self

#: Seconds after which a server thread stops waiting for a test that has gone wrong.
_PATIENCE = 10.0


@dataclass(frozen=True)
class Send:
    """Send bytes; with `pieces`, in so many writes, `pause` seconds apart."""

    data: bytes
    pieces: int = 1
    pause: float = 0.0


@dataclass(frozen=True)
class Stall:
    """Send nothing until the test sets the event, or the client hangs up."""

    until: threading.Event = field(default_factory=threading.Event)


@dataclass(frozen=True)
class Close:
    """Close the connection in an orderly way."""


@dataclass(frozen=True)
class Reset:
    """Tear the connection down: the client's next read fails with ECONNRESET."""


@dataclass(frozen=True)
class Flood:
    """Send this again and again until the client hangs up."""

    data: bytes


@dataclass(frozen=True)
class StartTls:
    """Go on under TLS, as the far end of a proxy's tunnel."""

    context: ssl.SSLContext


Step = Send | Stall | Close | Reset | Flood | StartTls
Framing = Literal["length", "chunked", "eof"]


@dataclass(frozen=True)
class Received:
    """A request as it arrived: on the how-manieth connection, its head's lines, its body."""

    connection: int
    head: tuple[str, ...]
    body: bytes

    @property
    def headers(self) -> dict[str, str]:
        return {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in self.head[1:])}


def answer(
    *parts: bytes,
    status: str = "200 OK",
    framing: Framing = "chunked",
    headers: Iterable[tuple[str, str]] = (("content-type", "text/event-stream"),),
) -> bytes:
    """A well-formed answer: with `chunked` each part is a chunk; with `eof` a Close must follow it."""
    body = b"".join(parts)
    lines = [f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in headers)]
    if framing == "length":
        lines.append(f"content-length: {len(body)}")
    elif framing == "chunked":
        lines.append("transfer-encoding: chunked")
        body = b"".join(chunk(part) for part in parts) + b"0\r\n\r\n"
    else:
        lines.append("connection: close")
    return "\r\n".join([*lines, "", ""]).encode("ascii") + body


def chunk(part: bytes) -> bytes:
    """One chunk of a chunked body."""
    return b"%x\r\n%b\r\n" % (len(part), part)


def cut(raw: bytes, at: int, how: Close | Reset) -> list[Step]:
    """A script: the first `at` bytes of an answer, then the end of the connection."""
    return [Send(raw[:at]), how]


class MisbehavingUpstream:
    """The server. Threads of its own accept and answer; everything ends with the `with` block."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self._tls = tls
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._scripts: deque[Sequence[Step]] = deque()
        self._open: dict[int, socket.socket] = {}
        self._changed = threading.Condition()
        self.requests: list[Received] = []
        #: Connections accepted so far.
        self.connections = 0
        self.port: int = self._listener.getsockname()[1]
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self.port}"

    def script(self, *scripts: Sequence[Step]) -> None:
        """Answer the next requests so, one script each."""
        self._scripts.extend(scripts)

    def script_for(self, received: Received) -> Sequence[Step]:
        """What is done with a request."""
        return self._scripts.popleft() if self._scripts else [Send(answer())]

    def close_idle(self) -> None:
        """Hang up on every connection, as a server does that has waited long enough for the next request."""
        with self._changed:
            for connection in self._open.values():
                connection.shutdown(socket.SHUT_RDWR)
        assert self.wait_for_open(0)

    def wait_for_open(self, connections: int, seconds: float = 2.0) -> bool:
        """Whether the number of open connections becomes this within so many seconds."""
        with self._changed:
            return self._changed.wait_for(lambda: len(self._open) == connections, seconds)

    def wait_for_requests(self, requests: int, seconds: float = 10.0) -> bool:
        """Whether so many requests have arrived within so many seconds."""
        with self._changed:
            return self._changed.wait_for(lambda: len(self.requests) >= requests, seconds)

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        with self._changed:
            for connection in self._open.values():
                connection.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with self._changed:
                self.connections += 1
                number = self.connections
                self._open[number] = connection
                self._changed.notify_all()
            threading.Thread(target=self._serve, args=(number, connection), daemon=True).start()

    def _serve(self, number: int, connection: socket.socket) -> None:
        try:
            connection.settimeout(_PATIENCE)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self._tls is not None:
                connection = self._open[number] = self._tls.wrap_socket(connection, server_side=True)
            while (received := _receive(number, connection)) is not None:
                script = self.script_for(received)
                with self._changed:
                    self.requests.append(received)
                    self._changed.notify_all()
                for step in script:
                    if isinstance(step, StartTls):
                        connection = self._open[number] = step.context.wrap_socket(connection, server_side=True)
                    elif not _perform(step, connection):
                        return
        except OSError:
            pass  # the client has hung up, which is for the test to judge
        finally:
            connection.close()
            with self._changed:
                del self._open[number]
                self._changed.notify_all()


def _perform(step: Send | Stall | Close | Reset | Flood, connection: socket.socket) -> bool:
    """Do it; False when the connection is to be closed."""
    match step:
        case Send(data, pieces, pause):
            size = -(-len(data) // pieces)
            for start in range(0, len(data), max(size, 1)):
                if start and pause:
                    threading.Event().wait(pause)
                connection.sendall(data[start : start + size])
        case Stall(until):
            connection.setblocking(False)
            _wait_until(until, connection)
            connection.settimeout(_PATIENCE)
        case Flood(data):
            while True:
                connection.sendall(data)
        case Reset():
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return False
        case Close():
            return False
    return True


def _wait_until(event: threading.Event, connection: socket.socket) -> None:
    waited = 0.0
    while not event.wait(0.005) and waited < _PATIENCE:
        waited += 0.005
        try:
            if connection.recv(1) == b"":
                raise ConnectionResetError
        except (BlockingIOError, ssl.SSLWantReadError):
            continue


def _receive(number: int, connection: socket.socket) -> Received | None:
    """The next request on the connection; None when the client has closed it."""
    raw = b""
    while b"\r\n\r\n" not in raw:
        if not (data := connection.recv(65536)):
            return None
        raw += data
    head, _, body = raw.partition(b"\r\n\r\n")
    received = Received(number, tuple(head.decode("latin-1").split("\r\n")), b"")
    length = int(received.headers.get("content-length", "0"))
    rest = bytearray(body)
    while len(rest) < length:
        if not (data := connection.recv(1 << 20)):
            return None
        rest += data
    return Received(number, received.head, bytes(rest))
