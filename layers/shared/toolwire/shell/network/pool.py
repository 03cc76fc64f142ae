"""Kept-alive connections to the providers. One carries a request and its answer, then the next."""

from __future__ import annotations

import base64
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

from toolwire.shell.network.answer_reader import AnswerReader
from toolwire.shell.network.sockets import ConnectError, LostError, Stream, connect
from toolwire.shell.network.transfer import Transfer

#: The seconds that an idle connection is kept. Providers and their load balancers close after 60 s and more, which we
#: notice; a NAT gateway forgets after 350 s, which we do not.
_KEEP_IDLE = 240.0

#: The most idle connections.
_MOST_IDLE = 20


class Origin(NamedTuple):
    """Where a connection leads."""

    is_tls: bool
    host: str
    port: int


class Proxy(NamedTuple):
    """An HTTP proxy, asked for tunnels."""

    host: str
    port: int
    #: A whole line of the request's head, or empty.
    authorization: bytes = b""

    @classmethod
    def with_password(cls, host: str, port: int, user: str, password: str) -> Proxy:
        """A proxy with a user and a password."""
        token = base64.b64encode(f"{user}:{password}".encode())
        return cls(host, port, b"Proxy-Authorization: Basic " + token + b"\r\n")


class Connection:
    """One connection of a pool, for one request after the other."""

    __slots__ = ("_stream", "idle_since", "origin", "reader")

    def __init__(self, origin: Origin, stream: Stream) -> None:
        self.origin = origin
        self.idle_since = 0.0
        self.reader = AnswerReader()
        self._stream = stream

    def ask(self, head: bytes, body: bytes, transfer: Transfer) -> AnswerReader:
        """Sends a request and reads its answer's head. Raises LostError, NotHttpError, TimeoutError and ClientGone."""
        self.reader.close()
        self.reader = reader = AnswerReader()
        self._stream.write(head, body, transfer)
        while reader.status is None:
            if not (data := self._stream.read(transfer)):
                raise LostError
            reader.feed(data)
        return reader

    def body(self, transfer: Transfer) -> Iterator[bytes]:
        """Yields the body of the answer as it comes. Raises what `ask` raises."""
        reader = self.reader
        while True:
            if data := reader.take():
                yield data
            elif reader.complete:
                return
            elif data := self._stream.read(transfer):
                reader.feed(data)
            elif not reader.end():
                raise LostError

    def start_tls(self, context: ssl.SSLContext, transfer: Transfer) -> None:
        """Continues the connection under TLS. Raises ConnectError, TimeoutError and ClientGone."""
        self._stream = self._stream.start_tls(context, self.origin.host, transfer)

    @property
    def is_usable(self) -> bool:
        """Whether the connection can take another request: it is open, and its last answer allowed it."""
        return self.reader.keeps_open and not self.reader.overrun and self._stream.is_usable

    def close(self) -> None:
        """Closes the connection."""
        self.reader.close()
        self._stream.close()


class Pool:
    """Connections by origin, direct or through the tunnels of one proxy. Safe to use from several threads."""

    def __init__(self, tls: ssl.SSLContext, proxy: Proxy | None = None) -> None:
        self._tls = tls
        self._proxy = proxy
        self._lock = threading.Lock()
        #: In the order in which they became idle.
        self._idle: list[Connection] = []
        self._busy: set[Connection] = set()

    def take(self, origin: Origin, transfer: Transfer, *, fresh: bool) -> Connection:
        """A connection for one request: the one that was used last, or with `fresh` a new one. The caller must give it
        to `release` or `discard`. Raises ConnectError, LostError, NotHttpError, TimeoutError and ClientGone."""
        connection = None if fresh else self._kept(origin)
        if connection is None:
            connection = self._opened(origin, transfer)
            with self._lock:
                self._busy.add(connection)
        return connection

    def release(self, connection: Connection) -> None:
        """Keeps a connection for the next request. Its answer must have been read to the end."""
        connection.reader.close()
        if not connection.reader.keeps_open or connection.reader.overrun:
            self.discard(connection)
            return
        connection.idle_since = now = time.monotonic()
        with self._lock:
            self._busy.discard(connection)
            self._idle.append(connection)
            surplus = self._take_out(lambda kept, left: left > _MOST_IDLE or kept.idle_since < now - _KEEP_IDLE)
        _close(surplus)

    def discard(self, connection: Connection) -> None:
        """Closes a connection."""
        connection.close()
        with self._lock:
            self._busy.discard(connection)

    def close(self) -> None:
        """Closes every connection."""
        with self._lock:
            connections = [*self._idle, *self._busy]
            self._idle.clear()
            self._busy.clear()
        _close(connections)

    def __len__(self) -> int:
        with self._lock:
            return len(self._idle) + len(self._busy)

    def _kept(self, origin: Origin) -> Connection | None:
        """An idle connection that is still open. Closes those that are not."""
        while True:
            with self._lock:
                found = next((kept for kept in reversed(self._idle) if kept.origin == origin), None)
                if found is None:
                    return None
                self._idle.remove(found)
                self._busy.add(found)
            if found.idle_since >= time.monotonic() - _KEEP_IDLE and found.is_usable:
                return found
            self.discard(found)

    def _take_out(self, is_out: Callable[[Connection, int], bool]) -> list[Connection]:
        """Takes out the oldest idle connections while `is_out` is true of one and of the number that are left."""
        out: list[Connection] = []
        while self._idle and is_out(self._idle[0], len(self._idle)):
            out.append(self._idle.pop(0))
        return out

    def _opened(self, origin: Origin, transfer: Transfer) -> Connection:
        if self._proxy is None:
            connection = Connection(origin, connect(origin.host, origin.port, transfer))
        else:
            connection = self._through(self._proxy, origin, transfer)
        if origin.is_tls:
            connection.start_tls(self._tls, transfer)
        return connection

    def _through(self, proxy: Proxy, origin: Origin, transfer: Transfer) -> Connection:
        """A tunnel through the proxy. If it cannot be opened, the error names the proxy, not the origin."""
        try:
            connection = Connection(origin, connect(proxy.host, proxy.port, transfer))
            try:
                _open_tunnel(connection, proxy, transfer)
            except BaseException:
                connection.close()
                raise
        except ConnectError as error:
            raise ConnectError(f"the proxy {proxy.host}:{proxy.port} (HTTPS_PROXY): {error}") from error
        return connection


def _open_tunnel(connection: Connection, proxy: Proxy, transfer: Transfer) -> None:
    """Makes the proxy connect to the origin. Raises what `Connection.ask` raises, and ConnectError if the proxy
    refuses."""
    _, host, port = connection.origin
    place = f"{f'[{host}]' if ':' in host else host}:{port}".encode("ascii")
    head = b"CONNECT %b HTTP/1.1\r\nHost: %b\r\nAccept: */*\r\n%b\r\n" % (place, place, proxy.authorization)
    answer = connection.ask(head, b"", transfer)
    assert answer.status is not None
    if not 200 <= answer.status < 300:
        raise ConnectError(answer.reason)


def _close(connections: list[Connection]) -> None:
    for connection in connections:
        connection.close()
