"""Sockets towards the providers, which flush before they block and keep deadlines.

A connection reads only when bytes are needed. So the moment before a read would block is the moment when everything
that has arrived is translated: the client's `Output` is told then, flushes, and waits for us, because it also knows
when the client wants a keep-alive and whether it is still there. Sockets never block by themselves: `Transfer.wait`
does.
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

#: Waiting for tokens can be silent for minutes. Probes keep a NAT's entry alive (AWS's drops it after 350 s). A host
#: that acknowledges nothing for 30 s, neither a request nor four probes in a row, is dead: so a pooled connection that
#: died unnoticed, while Lambda had the environment frozen, is found long before the first byte is overdue.
_SOCKET_OPTIONS: tuple[tuple[int, str, int], ...] = (
    (socket.IPPROTO_TCP, "TCP_NODELAY", 1),
    (socket.SOL_SOCKET, "SO_KEEPALIVE", 1),
    (socket.IPPROTO_TCP, "TCP_KEEPIDLE", 10),
    (socket.IPPROTO_TCP, "TCP_KEEPINTVL", 5),
    (socket.IPPROTO_TCP, "TCP_USER_TIMEOUT", 30_000),
)


class ConnectError(Exception):
    """There is no connection. The text says why, in words that hold no secret."""


class LostError(Exception):
    """The connection ended before the answer did."""


class StaleConnection(LostError):
    """A connection from the pool ended before any byte of an answer: its host had closed it while it was idle."""


#: Bytes that one read takes.
_READ_BYTES = 64 << 10
#: Bytes of few events, at most.
_LITTLE_BYTES = 512
#: Bytes of a body that are put behind its head, so that they leave in one write. More is not worth the copy.
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
        #: What was read last was an event by itself, most likely: the host is no faster than we are. So what waits for
        #: the client leaves before we look for more.
        self._took_little = False

    def read(self, transfer: Transfer) -> bytes:
        """What has come, at least a byte; nothing at the connection's end. Raises LostError."""
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
        """The rest of what is there. TLS hands out one record at a time, and a host that writes each event by itself
        makes a record of each."""
        pieces = []
        with suppress(OSError):  # nothing there; a connection that has ended tells the next read
            while room > 0 and (piece := self._sock.recv(room)):
                pieces.append(piece)
                room -= len(piece)
        return b"".join(pieces)

    def write(self, head: bytes, body: bytes, transfer: Transfer) -> None:
        """Sends a request, in one write where it is not large. A connection that is lost tells the next read: a server
        may refuse a request, in words, before it has read it all."""
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
        """Whether an idle connection can take a request: nothing has come, not even its end."""
        try:
            # Past TLS, which would take the bytes for a record.
            receive = socket.socket.recv if self._is_tls else type(self._sock).recv
            receive(self._sock, 1, PEEK)
        except BlockingIOError:
            return True
        except OSError:
            pass
        return False

    def _stale(self, transfer: Transfer) -> bool:
        """Whether the connection has served before, and ended this time before the host said a word."""
        return self._received and not transfer.answered

    def _lost(self, transfer: Transfer) -> LostError:
        return StaleConnection() if self._stale(transfer) else LostError()


#: What connections are made of.
_socket_class: type[socket.socket] = socket.socket


def use_sockets(socket_class: type[socket.socket]) -> None:
    """Makes the connections of this process with sockets of this class."""
    global _socket_class
    _socket_class = socket_class


def connect(host: str, port: int, transfer: Transfer) -> Stream:
    """Tries the host's addresses in order, each for its share of the time that is left. Raises ConnectError and
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
            failure = error.with_traceback(None)  # which would hold this frame, and with it the request
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
            if (option := getattr(socket, name, None)) is not None:  # some are Linux's only
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
    """The reason of a failure, in the operating system's or OpenSSL's words; they hold no secret."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return error.verify_message
    if isinstance(error, ssl.SSLError) and error.reason == "WRONG_VERSION_NUMBER":
        return "the other side speaks no TLS; a server of plain HTTP has an http:// address"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error)
