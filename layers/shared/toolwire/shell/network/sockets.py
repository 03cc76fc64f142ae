"""Sockets towards the providers, which flush before they block and keep deadlines.

A connection reads only when bytes are needed. So when a read would block, everything that has arrived has been
translated. At that moment the client's `Output` flushes, and waits in our place, since it also sends keep-alives and
notices the client's hang-up. Sockets never block by themselves; `Transfer.wait` does.
"""

from __future__ import annotations

import errno
import os
import select
import socket
import ssl
from contextlib import suppress
from typing import Any

from toolwire.shell.network.output import PEEK
from toolwire.shell.network.transfer import Transfer

#: A connection may be silent for minutes before the first token. Probes keep a NAT's entry alive (AWS's drops it after
#: 350 s). A host that acknowledges nothing for 30 s, neither a request nor four probes, is dead. So a pooled connection
#: that died while Lambda had frozen the environment is found long before the first byte is overdue.
_SOCKET_OPTIONS: tuple[tuple[int, str, int], ...] = (
    (socket.IPPROTO_TCP, "TCP_NODELAY", 1),
    (socket.SOL_SOCKET, "SO_KEEPALIVE", 1),
    (socket.IPPROTO_TCP, "TCP_KEEPIDLE", 10),
    (socket.IPPROTO_TCP, "TCP_KEEPINTVL", 5),
    (socket.IPPROTO_TCP, "TCP_USER_TIMEOUT", 30_000),
)


class ConnectError(Exception):
    """No connection could be made. The text says why, and holds no secret."""


class LostError(Exception):
    """The connection ended before the answer did."""


class StaleConnection(LostError):
    """A connection from the pool ended before any byte of an answer: the host had closed it while it was idle."""


#: The most bytes of one read.
_READ_BYTES = 64 << 10
#: The most bytes that count as few events.
_LITTLE_BYTES = 512
#: A body up to this size is sent in one write with its head. For a larger one the copy costs more.
_TOGETHER_BYTES = 128 << 10


class Stream:
    """One connection. Its methods raise TimeoutError at a deadline, and what `Output.before_block` raises
    (ClientGone)."""

    def __init__(self, sock: socket.socket) -> None:
        sock.setblocking(False)
        self._sock = sock
        self._is_tls = isinstance(sock, ssl.SSLSocket)
        self._received = False
        self._asked = False
        #: The last read most likely was a single event: the host is no faster than we are. So the buffer is sent before
        #: the next read.
        self._took_little = False

    def read(self, transfer: Transfer) -> bytes:
        """Reads at least a byte; returns nothing at the connection's end. Raises LostError."""
        transfer.check_total()
        if self._asked:  # no host has answered by now
            self._asked = False
            transfer.wait(self._sock, select.POLLIN, transfer.until("first_byte"))
        elif self._took_little:
            transfer.wait(self._sock, select.POLLIN, transfer.until("idle" if transfer.head_read else "first_byte"))
        while True:
            events = select.POLLIN
            try:
                data = self._sock.recv(_READ_BYTES)
            except (BlockingIOError, ssl.SSLWantReadError):
                pass
            except ssl.SSLWantWriteError:  # a TLS key update has to be answered first
                events = select.POLLOUT
            except OSError as error:
                raise self._lost(transfer) from error
            else:
                break
            transfer.wait(self._sock, events, transfer.until("idle" if transfer.head_read else "first_byte"))
        if data:
            transfer.answered = self._received = True
            data = data + self._more(_READ_BYTES - len(data)) if self._is_tls else data
            self._took_little = transfer.streams and len(data) < _LITTLE_BYTES
            return data
        if self._stale(transfer):
            raise self._lost(transfer)
        return b""

    def _more(self, room: int) -> bytes:
        """Reads the rest that has arrived. TLS returns one record at a time, and a host that writes each event by
        itself makes a record of each."""
        pieces = []
        with suppress(OSError):  # nothing there; the next read reports the end of a connection
            while room > 0 and (piece := self._sock.recv(room)):
                pieces.append(piece)
                room -= len(piece)
        return b"".join(pieces)

    def write(self, head: bytes, body: bytes, transfer: Transfer) -> None:
        """Sends a request, in one write if it is not large. It ignores a lost connection, which the next read reports:
        a server may answer with a refusal before it has read the whole request."""
        self._asked = True
        deadline = transfer.until("send")
        together = head + body[:_TOGETHER_BYTES]
        with suppress(LostError):
            self._send(together, transfer, deadline)
            if len(body) > _TOGETHER_BYTES:
                self._send(memoryview(body)[_TOGETHER_BYTES:], transfer, deadline)

    def _send(self, data: bytes | memoryview, transfer: Transfer, deadline: float) -> None:
        rest = data
        while rest:
            events = select.POLLOUT
            try:
                if (sent := self._sock.send(rest)) == len(rest):
                    return
                rest = memoryview(rest)[sent:]
                continue
            except ssl.SSLWantReadError:
                events = select.POLLIN
            except (BlockingIOError, ssl.SSLWantWriteError):
                pass
            except OSError as error:
                raise LostError from error
            transfer.wait(self._sock, events, deadline)

    def close(self) -> None:
        """Ends the connection."""
        self._sock.close()

    def start_tls(self, context: ssl.SSLContext, host: str, transfer: Transfer) -> Stream:
        """The same connection under TLS. Raises ConnectError, and closes it then."""
        deadline = transfer.until("connect")
        try:
            wrapped = context.wrap_socket(self._sock, server_hostname=host, do_handshake_on_connect=False)
        except (OSError, ValueError) as error:
            self.close()
            raise ConnectError(f"TLS failed: {_reason(error)}") from error
        try:
            _shake_hands(wrapped, transfer, deadline)
        except BaseException:
            wrapped.close()
            raise
        return Stream(wrapped)

    @property
    def is_usable(self) -> bool:
        """Whether an idle connection can take a request: nothing has arrived, not even its end."""
        try:
            # Without TLS, which would read the bytes as a record.
            receive = socket.socket.recv if self._is_tls else type(self._sock).recv
            receive(self._sock, 1, PEEK)
        except BlockingIOError:
            return True
        except OSError:
            pass
        return False

    def _stale(self, transfer: Transfer) -> bool:
        """Whether the connection has carried a request before, and has now ended before any byte of an answer."""
        return self._received and not transfer.answered

    def _lost(self, transfer: Transfer) -> LostError:
        return StaleConnection() if self._stale(transfer) else LostError()


#: The class of sockets for connections.
_socket_class: type[socket.socket] = socket.socket


def use_sockets(socket_class: type[socket.socket]) -> None:
    """Makes this process use sockets of this class."""
    global _socket_class
    _socket_class = socket_class


def connect(host: str, port: int, transfer: Transfer) -> Stream:
    """Connects: tries the host's addresses in order, each for its share of the remaining time. Raises ConnectError and
    TimeoutError."""
    deadline = transfer.until("connect")
    try:
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise ConnectError("its name could not be resolved") from error
    failure: OSError = OSError("no address")
    for tried, (family, kind, protocol, _, address) in enumerate(addresses):
        try:
            share = transfer.share(deadline, len(addresses) - tried)
            return Stream(_connected(_socket_class(family, kind, protocol), address, transfer, share))
        except OSError as error:
            failure = error.with_traceback(None)  # the traceback would hold this frame, and the request
    if isinstance(failure, TimeoutError):
        raise TimeoutError
    raise ConnectError(_reason(failure)) from failure


def _connected(sock: socket.socket, address: Any, transfer: Transfer, deadline: float) -> socket.socket:
    try:
        sock.setblocking(False)
        code = sock.connect_ex(address)
        if code == errno.EINPROGRESS:
            transfer.wait(sock, select.POLLOUT, deadline)
            code = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if code:
            raise OSError(code, os.strerror(code))
        for level, name, value in _SOCKET_OPTIONS:
            if (option := getattr(socket, name, None)) is not None:  # some exist on Linux only
                sock.setsockopt(level, option, value)
    except BaseException:
        sock.close()
        raise
    return sock


def _shake_hands(sock: ssl.SSLSocket, transfer: Transfer, deadline: float) -> None:
    while True:
        try:
            return sock.do_handshake()
        except ssl.SSLWantReadError:
            events = select.POLLIN
        except ssl.SSLWantWriteError:
            events = select.POLLOUT
        except OSError as error:
            raise ConnectError(f"TLS failed: {_reason(error)}") from error
        transfer.wait(sock, events, deadline)


def _reason(error: Exception) -> str:
    """The reason of a failure, in the words of the operating system or OpenSSL, which hold no secret."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return error.verify_message
    if isinstance(error, ssl.SSLError) and error.reason == "WRONG_VERSION_NUMBER":
        return "the other side speaks no TLS; a server of plain HTTP has an http:// address"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error)
