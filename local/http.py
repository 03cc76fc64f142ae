"""HTTP/1.1 for the local server: reads requests, with h11 as parser, and frames answers."""

from __future__ import annotations

import re
import socket
import time
from dataclasses import dataclass
from http import HTTPStatus

import h11

from toolwire.model.errors import GatewayError
from toolwire.model.http import Head, Headers
from toolwire.shell.network.output import bound_sends, chunk, is_there, timeval

#: The most bytes of a target or a header's value, and of the whole head. nginx and Node take 8 to 16 KiB a line.
LINE_BYTES = 16 << 10
HEAD_BYTES = 64 << 10
#: The first bytes of a TLS client.
_TLS = b"\x16\x03"
#: The bytes that are read at once of a body of unknown length.
_PIECE_BYTES = 64 << 10

_TOKEN = re.compile(rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
#: Characters that a header's value may not have: controls except the tab (RFC 9110 5.5).
_CONTROLS = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_REASONS = {status.value: status.phrase for status in HTTPStatus}
#: Headers of the connection, which the server writes, not a handler.
_FRAMING = ("connection", "content-length", "transfer-encoding", "keep-alive", "date")
_NO_BODY = (204, 304)


class RefusedError(GatewayError):
    """A request that the server itself refuses, as API Gateway would."""

    def __init__(self, message: str, status: int = 400, code: str = "invalid_request", headers: Headers = ()) -> None:
        super().__init__(message, status=status, code=code)
        self.headers = headers


@dataclass(frozen=True, slots=True)
class RequestHead:
    """A request line and its headers, in order, names as they were sent."""

    method: str
    target: str
    http_1_0: bool
    headers: list[tuple[str, str]]
    #: The headers for look-ups: names in lower case, repeated values joined.
    fields: dict[str, str]

    @property
    def keeps_open(self) -> bool:
        """Whether the client wants to use the connection again."""
        connection = self.fields.get("connection", "").lower()
        return "keep-alive" in connection if self.http_1_0 else "close" not in connection

    @property
    def awaits_continue(self) -> bool:
        """Whether the client waits for `100 Continue` before it sends the body."""
        return not self.http_1_0 and self.fields.get("expect", "").lower() == "100-continue"


class RequestReader:
    """Reads the requests of one connection, one after the other. Keeps bytes that the client has sent ahead."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._ahead = b""
        self._http = _new_request()

    def head(self) -> RequestHead | None:
        """The next request's head; None at the end of the connection, and if the client is silent for too long.

        Raises RefusedError.
        """
        # An h11 connection a request: h11 itself keeps none open for HTTP/1.0.
        self._http = _new_request()
        data = self._ahead or self._receive()
        if data.startswith((b"\r\n", b"\n")):  # RFC 9112 2.2: one empty line before a request is forgiven
            data = data.partition(b"\n")[2] or self._receive()
        if data.startswith(_TLS):
            raise RefusedError("The client speaks TLS, which is not spoken here: write http:// in its base URL.")
        has_line = False
        while data:
            has_line = has_line or b"\n" in data
            self._http.receive_data(data)
            event = self._next()
            if isinstance(event, h11.Request):
                return _head_of(event)
            data = self._receive()
        if has_line:
            raise RefusedError("The request broke off in its head.")
        return None

    def body(self, head: RequestHead, limit: int) -> bytearray:
        """The request's body. Raises RefusedError: 400, and 413 beyond `limit` bytes, without reading the rest."""
        if "transfer-encoding" in head.fields:
            return self._chunks(limit)
        check_length(head, limit)
        body = bytearray(_length(head))
        received = self._http.trailing_data[0]
        self._ahead = received[len(body) :]
        body[: len(received)] = received[: len(body)]
        at, rest = len(received), memoryview(body)
        while at < len(body):
            at += self._receive_into(rest[at:])
        return body

    def _chunks(self, limit: int) -> bytearray:
        body, piece = bytearray(), bytearray(_PIECE_BYTES)
        while True:
            event = self._next()
            if isinstance(event, h11.Data):
                body += event.data
                if len(body) > limit:
                    raise _too_large(limit)
            elif isinstance(event, h11.EndOfMessage):
                self._ahead = self._http.trailing_data[0]
                return body
            else:
                size = self._receive_into(memoryview(piece))
                self._http.receive_data(bytes(piece[:size]))

    def _receive_into(self, place: memoryview) -> int:
        """Receives more of a body. Returns the number of bytes. Raises RefusedError."""
        try:
            size = self._socket.recv_into(place)
        except BlockingIOError:  # the client has said nothing for too long
            size = 0
        if not size:
            raise RefusedError("The request's body broke off.")
        return size

    def _next(self) -> object:
        """h11's next event. Raises RefusedError for bytes that are not HTTP."""
        try:
            return self._http.next_event()
        except h11.RemoteProtocolError as error:
            # The text behind a colon quotes the request.
            reason = str(error).partition(":")[0]
            raise RefusedError(f"This is no valid HTTP request: {reason}.", error.error_status_hint) from None

    def _receive(self) -> bytes:
        """Receives more of a head, in small pieces, so that its limit holds."""
        try:
            return self._socket.recv(LINE_BYTES)
        except BlockingIOError:  # the client has said nothing for too long
            return b""


def _new_request() -> h11.Connection:
    return h11.Connection(h11.SERVER, max_incomplete_event_size=HEAD_BYTES)


def _head_of(request: h11.Request) -> RequestHead:
    """The parts of a request's head that the server needs. Raises RefusedError."""
    given = request.headers.raw_items()
    if max([len(request.target), *(len(value) for _, value in given)]) > LINE_BYTES:
        raise RefusedError(f"A line of the request's head is longer than {LINE_BYTES} bytes.", 431)
    if request.http_version not in (b"1.1", b"1.0"):
        raise RefusedError("Only HTTP/1.1 and HTTP/1.0 are spoken here.", 505)
    if not request.target.startswith(b"/"):
        raise RefusedError("The request's target is no path: this is no proxy, but an API with a base URL.")
    headers = [(name.decode(), value.decode("latin-1")) for name, value in given]
    fields: dict[str, str] = {}
    for name, value in headers:
        key = name.lower()
        fields[key] = f"{fields[key]}, {value}" if key in fields else value
    if "transfer-encoding" in fields and "content-length" in fields:  # each proxy between us may read another body
        raise RefusedError("Content-Length and Transfer-Encoding exclude each other.")
    is_1_0 = request.http_version == b"1.0"
    return RequestHead(request.method.decode(), request.target.decode("latin-1"), is_1_0, headers, fields)


def check_length(head: RequestHead, limit: int) -> None:
    """Refuses a body whose announced length is over `limit`, before any of it is read."""
    if _length(head) > limit:
        raise _too_large(limit)


def _length(head: RequestHead) -> int:
    """The announced length of a body, which h11 has checked: a number, or the same one again."""
    return int(head.fields.get("content-length", "0").partition(",")[0])


def _too_large(limit: int) -> RefusedError:
    message = f"The request's body is larger than {limit} bytes. Send fewer or shorter messages."
    return RefusedError(message, 413, "request_too_large")


class HttpAnswer:
    """An answer to a local client, as a `Carrier`: with its length if that is known in time, else chunked."""

    reaches_client = True

    def __init__(self, connection: socket.socket, request: RequestHead | None, *, last: bool = False) -> None:
        """`request` is None if it could not be read. `last`: the connection ends with this answer."""
        self.connection: socket.socket | None = connection
        #: Whether another request may follow on the connection. Final once the answer was sent.
        self.keeps_open = request is not None and request.keeps_open and not last
        self._http_1_0 = request is not None and request.http_1_0
        self._bodiless = request is not None and request.method == "HEAD"
        self._chunked = False

    def connect(self) -> socket.socket:
        raise OSError("the client's connection cannot be opened from here")

    def listen(self) -> bool:
        assert self.connection is not None
        return is_there(self.connection)

    def head(self, head: Head, length: int | None) -> bytes:
        lines = [f"HTTP/1.1 {head.status} {_REASONS.get(head.status, '')}", f"date: {_date()}"]
        for name, value in head.headers:
            if name not in _FRAMING and _TOKEN.fullmatch(name.encode("latin-1", "replace")):
                lines.append(f"{name}: {_CONTROLS.sub(' ', value)}")
        if head.status in _NO_BODY:
            self._bodiless = True
        elif length is not None:
            lines.append(f"content-length: {length}")
        elif self._http_1_0:
            self.keeps_open = False  # only the connection's end can end this body
        else:
            self._chunked = True
            lines.append("transfer-encoding: chunked")
        if not self.keeps_open:
            lines.append("connection: close")
        elif self._http_1_0:
            lines.append("connection: keep-alive")
        return "\r\n".join([*lines, "\r\n"]).encode("latin-1", "replace")

    def frame(self, data: bytes) -> bytes:
        if self._bodiless:
            return b""
        return chunk(data) if self._chunked else data

    def end(self, failure: BaseException | None) -> bytes:
        if failure is not None:
            self.keeps_open = False  # the connection ends where the body should go on
            return b""
        return b"0\r\n\r\n" if self._chunked and not self._bodiless else b""


def _date() -> str:
    """The Date header's value, in English whatever the locale is."""
    now = time.gmtime()
    day, month = _DAYS[now.tm_wday], _MONTHS[now.tm_mon - 1]
    return f"{day}, {now.tm_mday:02} {month} {now.tm_year} {now.tm_hour:02}:{now.tm_min:02}:{now.tm_sec:02} GMT"


_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")

#: The seconds, and the bytes, for which the rest of a refused request is read, so that the client can read the answer:
#: closing a socket with unread input resets the connection.
LINGER_SECONDS = 3.0
LINGER_BYTES = 64 << 20


def linger(connection: socket.socket) -> None:
    """Ends our side of a connection with an unread request, and continues to read for a while."""
    try:
        connection.shutdown(socket.SHUT_WR)
        connection.settimeout(LINGER_SECONDS)
        until, size = time.monotonic() + LINGER_SECONDS, 0
        while time.monotonic() < until and size < LINGER_BYTES:
            piece = connection.recv(1 << 16)
            if not piece:
                return
            size += len(piece)
    except OSError:
        return


def set_up(connection: socket.socket, idle_seconds: float) -> None:
    """Sets up an accepted connection: see `bound_sends`; reading gives up after `idle_seconds` of silence."""
    bound_sends(connection)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, timeval(idle_seconds))
