"""Reads one HTTP/1.1 answer as it arrives. llhttp (httptools) parses it.

Providers write each event as an HTTP chunk of its own. One `feed` makes one piece of bytes of the body, however many
chunks it has, so that a burst of deltas is one step for the rest of the gateway.
"""

from __future__ import annotations

from http import HTTPStatus

import httptools

#: The most bytes of a head, of a line of the chunked coding, or of trailers.
MOST_BYTES = 100 << 10


class NotHttpError(Exception):
    """The bytes are not HTTP. The text does not quote them."""


class AnswerReader:
    """Reads one answer: `feed` takes received bytes, then `take` returns the new bytes of the body."""

    __slots__ = (
        "_body", "_failed", "_fields", "_interim", "_length", "_parser", "_pending", "_reason", "complete", "headers",
        "keeps_open", "overrun", "status",
    )  # fmt: skip

    def __init__(self) -> None:
        #: None until the head is complete. Heads of 1xx are passed over.
        self.status: int | None = None
        #: Names in lower case; repeated fields are joined with ", ".
        self.headers: dict[str, str] = {}
        #: The whole answer is there.
        self.complete = False
        #: The head allows the connection to be used again.
        self.keeps_open = False
        #: More bytes came than the answer has. They must not become the answer to the next request.
        self.overrun = False
        self._reason = b""
        self._fields: list[tuple[bytes, bytes]] = []
        self._body: list[bytes] = []
        self._failed = False  # the bytes are not HTTP
        self._pending = 0  # bytes since something of the answer was complete
        self._interim = False
        self._length = False  # the body's end is known before the connection's
        parser = httptools.HttpResponseParser(self)
        self._parser: httptools.HttpResponseParser | None = parser
        # What senders do and no reader stumbles over: a length beside chunks, which then counts for nothing (RFC 9112,
        # 6.3), lines that end without CR, and a space behind a chunk's size.
        parser.set_dangerous_leniencies(
            lenient_chunked_length=True, lenient_optional_cr_before_lf=True, lenient_spaces_after_chunk_size=True
        )

    def feed(self, data: bytes) -> None:
        """Reads received bytes. Raises NotHttpError, but only after the bytes in front of the fault were taken."""
        assert self._parser is not None
        self._pending += len(data)
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            if self.complete:
                self.overrun = True  # bytes behind the answer
            else:
                self._failed = True
        if self._pending > MOST_BYTES and not self.complete:
            self._failed = True
        if self._failed and not self._body:
            raise NotHttpError

    def take(self) -> bytes:
        """The bytes of the body since the last call. Raises NotHttpError if they end with a fault."""
        if not self._body:
            if self._failed:
                raise NotHttpError
            return b""
        data = self._body[0] if len(self._body) == 1 else b"".join(self._body)
        self._body.clear()
        return data

    def end(self) -> bool:
        """The connection has ended. Returns whether the answer is complete."""
        if self.status is not None and not self._length and not self._failed:
            self.complete = True
        return self.complete

    def close(self) -> None:
        """Drops the parser, which refers to this object: else the cycle would keep both in memory. Nothing can be read
        afterwards."""
        self._parser = None

    @property
    def reason(self) -> str:
        """The status line's code and reason."""
        return f"{self.status} {self._reason.decode('latin-1')}".rstrip()

    # The callbacks of httptools.

    def on_message_begin(self) -> None:
        self.overrun = self.complete

    def on_status(self, reason: bytes) -> None:
        self._reason += reason

    def on_header(self, name: bytes, value: bytes) -> None:
        if self.status is None:
            self._fields.append((name, value))

    def on_headers_complete(self) -> None:
        if self.complete:
            return
        assert self._parser is not None
        self._pending = 0
        status = self._parser.get_status_code()
        self._interim = status < 200 and status != HTTPStatus.SWITCHING_PROTOCOLS
        if not self._interim:
            self.headers = _joined(self._fields)
            self._length = bool(self.headers.keys() & {"content-length", "transfer-encoding"})
            if self.headers.get("transfer-encoding", "chunked").strip().lower() != "chunked":
                self._failed = True  # a coding that we did not offer
            self.keeps_open = self._parser.should_keep_alive()
            self.status = status
        self._fields = []

    def on_body(self, data: bytes) -> None:
        if not self.complete:
            self._pending = 0
            self._body.append(data)

    def on_message_complete(self) -> None:
        if self._interim:
            self._interim = False
            self._reason = b""
        else:
            self.complete = True


def _joined(fields: list[tuple[bytes, bytes]]) -> dict[str, str]:
    joined: dict[str, str] = {}
    for raw_name, raw_value in fields:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        joined[name] = f"{joined[name]}, {value}" if name in joined else value
    return joined
