"""HTTP/1.1 as the local server needs it: reading requests, framing answers.

Our own few lines and not `http.server`: its headers are parsed by the e-mail package, at twice the CPU of these and
40 ms of the server's start.
"""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass
from http import HTTPStatus
from io import BufferedReader

from toolwire.model.errors import GatewayError
from toolwire.model.http import Head, Headers
from toolwire.shell.serve.output import bound_sends, chunk, timeval

#: A request line or header line, and all of them together: what nginx and Node take at most is 8 to 16 KiB a line.
LINE_BYTES = 16 << 10
HEAD_BYTES = 64 << 10

_TOKEN = re.compile(rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
#: A header line without its end. A folded one (obsolete) has no name; a lone CR or a NUL may mean anything.
_FIELD = re.compile(rb"([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*([^\r\n\0]*)")
#: What may not stand in a header value: controls, but for the tab (RFC 9110 5.5).
_CONTROLS = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_REASONS = {status.value: status.phrase for status in HTTPStatus}
#: Ours to write, not a handler's: they belong to the connection.
_FRAMING = ("connection", "content-length", "transfer-encoding", "keep-alive", "date")
_NO_BODY = (204, 304)


class RefusedError(GatewayError):
    """A request that the server answers with an error itself, where API Gateway would."""

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
    #: The headers again for looking up: names in lower case, repeated values joined.
    fields: dict[str, str]

    @property
    def keeps_open(self) -> bool:
        """Whether the client wants to use the connection again."""
        connection = self.fields.get("connection", "").lower()
        return "keep-alive" in connection if self.http_1_0 else "close" not in connection

    @property
    def awaits_continue(self) -> bool:
        """Whether the client waits for our word before it sends the body."""
        return not self.http_1_0 and self.fields.get("expect", "").lower() == "100-continue"


def read_head(reader: BufferedReader) -> RequestHead | None:
    """The next request's head; None at the end of the connection, also when the client says nothing for too long.

    Raises RefusedError.
    """
    line = _read_line(reader)
    if line == b"":
        line = _read_line(reader)  # RFC 9112 2.2: one empty line before a request is forgiven
    if not line:
        return None
    parts = line.split(b" ")
    if len(parts) != 3 or not _TOKEN.fullmatch(parts[0]) or not parts[1].startswith(b"/"):
        raise RefusedError("This is no HTTP request line.")
    if parts[2] not in (b"HTTP/1.1", b"HTTP/1.0"):
        raise RefusedError("Only HTTP/1.1 and HTTP/1.0 are spoken here.", 505)
    headers = list(_read_fields(reader))
    fields: dict[str, str] = {}
    for name, value in headers:
        key = name.lower()
        fields[key] = f"{fields[key]}, {value}" if key in fields else value
    if parts[2] == b"HTTP/1.1" and "host" not in fields:
        raise RefusedError("The Host header is missing.")
    return RequestHead(parts[0].decode(), parts[1].decode("latin-1"), parts[2] == b"HTTP/1.0", headers, fields)


def _read_line(reader: BufferedReader) -> bytes | None:
    """A line without its end; None at the end of the input."""
    line = reader.readline(LINE_BYTES + 2)
    if not line.endswith(b"\n"):
        if len(line) > LINE_BYTES:
            raise RefusedError(f"A line of the request's head is longer than {LINE_BYTES} bytes.", 431)
        return None
    return line[:-2] if line.endswith(b"\r\n") else line[:-1]


def _read_fields(reader: BufferedReader) -> Iterator[tuple[str, str]]:
    """Header fields up to the empty line."""
    size = 0
    while line := _read_line(reader):
        size += len(line)
        if size > HEAD_BYTES:
            raise RefusedError(f"The request's headers are longer than {HEAD_BYTES} bytes.", 431)
        field = _FIELD.fullmatch(line)
        if field is None:
            raise RefusedError("A header line has no valid name or value.")
        yield field[1].decode(), field[2].rstrip(b" \t").decode("latin-1")
    if line is None:
        raise RefusedError("The request broke off in its head.")


def read_body(reader: BufferedReader, head: RequestHead, limit: int) -> bytes:
    """The request's body. Raises RefusedError: 400, and 413 beyond `limit` bytes, without reading the rest."""
    coding = head.fields.get("transfer-encoding")
    length = head.fields.get("content-length")
    if coding is not None:
        if length is not None:
            raise RefusedError("Content-Length and Transfer-Encoding exclude each other.")
        if coding.lower() != "chunked":
            raise RefusedError("The only transfer coding accepted is chunked.", 501)
        return _read_chunks(reader, limit)
    if length is None:
        return b""
    check_length(head, limit)
    return _read_exactly(reader, int(length))


def check_length(head: RequestHead, limit: int) -> None:
    """Refuses a body whose announced length is wrong or over `limit`, before any of it is read."""
    length = head.fields.get("content-length", "0")
    if not re.fullmatch("[0-9]{1,18}", length):
        raise RefusedError("Content-Length is not a number.")
    if int(length) > limit:
        raise _too_large(limit)


def _too_large(limit: int) -> RefusedError:
    message = f"The request's body is larger than {limit} bytes. Send fewer or shorter messages."
    return RefusedError(message, 413, "request_too_large")


def _read_chunks(reader: BufferedReader, limit: int) -> bytes:
    body = bytearray()
    while True:
        line = _read_line(reader) or b""
        size = line.split(b";")[0].strip()
        if not re.fullmatch(b"[0-9A-Fa-f]{1,15}", size):
            raise RefusedError("A chunk of the body has no valid size.")
        if size.strip(b"0") == b"":
            for _ in _read_fields(reader):
                pass  # trailers mean nothing to us
            return bytes(body)
        if len(body) + int(size, 16) > limit:
            raise _too_large(limit)
        body += _read_exactly(reader, int(size, 16))
        if _read_line(reader) != b"":
            raise RefusedError("A chunk of the body is longer than its size.")


def _read_exactly(reader: BufferedReader, size: int) -> bytes:
    data = reader.read(size) or b""
    if len(data) < size:
        raise RefusedError("The request's body broke off.")
    return data


class HttpAnswer:
    """An answer to a local client, as a `Carrier`: with its length if that is known in time, else chunked."""

    reaches_client = True

    def __init__(self, connection: socket.socket, request: RequestHead | None, *, last: bool = False) -> None:
        """`request` is None where it could not be read; `last` ends the connection with this answer."""
        self.connection: socket.socket | None = connection
        #: Whether another request may follow on the connection. Settled once the answer has been sent.
        self.keeps_open = request is not None and request.keeps_open and not last
        self._http_1_0 = request is not None and request.http_1_0
        self._bodiless = request is not None and request.method == "HEAD"
        self._chunked = False

    def connect(self) -> socket.socket:
        raise OSError("the client's connection cannot be opened from here")

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

#: Seconds, and bytes, for which a refused request's rest is still read, so that the client gets to see the answer:
#: closing a socket with unread input resets the connection.
LINGER_SECONDS = 3.0
LINGER_BYTES = 64 << 20


def linger(connection: socket.socket) -> None:
    """Ends our side of a connection whose request was not read to its end, and reads on for a while."""
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
