"""The chunks of a chunked HTTP answer, joined: what arrived together is handed on as one.

Providers write each event as an HTTP chunk of its own, and h11 makes an event of each chunk, whose way to the client's
buffer costs more than the translation. So what one receive brings of a body is framed anew, as a single chunk, before
h11 sees it: a burst of deltas takes a third of the CPU. Nothing waits for anything, every other byte passes as it came,
and what is no chunked coding is still h11's to refuse.

Since every byte passes here, here is also seen when a host sends more than the one answer it was asked for. h11 would
take the surplus for the answer to the next request, which is somebody else's.
"""

from __future__ import annotations

import re

_CHUNKED = re.compile(rb"\r\ntransfer-encoding:[ \t]*chunked[ \t]*\r\n", re.IGNORECASE)
_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*([0-9]{1,15})[ \t]*\r\n", re.IGNORECASE)
_INTERIM = re.compile(rb"HTTP/1\.[01] 1")
#: A chunk's size, and extensions, which mean nothing to us (RFC 9112, 7.1).
_SIZE = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\r\n]*)?")
#: No chunk begins like this, so h11 raises its error for a malformed body.
_MALFORMED = b"!\r\n"
#: Bytes of a head, or of a line of the coding, beyond which it is left to h11, whose limits are narrower.
_MOST = 128 << 10


class ChunkJoiner:
    """The bytes of one connection's answers: `feed` what was received, hand on what comes back. That may be nothing,
    where only a part of the coding has arrived. Call `expect_head` when a request is sent."""

    __slots__ = ("_held", "_in_body", "_in_head", "_in_trailers", "_left", "_rest")

    def __init__(self) -> None:
        self.expect_head()

    def expect_head(self) -> None:
        """What comes next is the head of an answer."""
        self._in_head = True
        self._in_body = False  # of a chunked body, before its last chunk
        self._in_trailers = False  # behind it
        self._held = b""  # of the head: what has come; of the body: the beginning of a line of the coding
        self._left = 0  # bytes of the current chunk that are to come, with the line break behind them
        self._rest: int | None = None  # bytes of the answer that are to come, where that is known

    @property
    def overrun(self) -> bool:
        """Whether more came than the answer: the connection cannot be used again."""
        return self._rest is not None and self._rest < 0

    def feed(self, data: bytes) -> bytes:
        if self._in_body:
            return self._join(data)
        if self._in_head:
            return self._read_head(data)
        if self._in_trailers:
            self._read_trailers(data)
        elif self._rest is not None:
            self._rest -= len(data)
        return data

    def _read_head(self, data: bytes) -> bytes:
        """Passes the head on while it looks for its end."""
        held, at = self._held + data, 0
        while (end := held.find(b"\r\n\r\n", at)) >= 0 and _INTERIM.match(held, at):
            at = end + 4
        if end < 0:
            self._held = held[at:]
            self._in_head = len(self._held) < _MOST
            return data
        self._held = b""
        self._in_head = False
        body = held[end + 4 :]
        if not _CHUNKED.search(held, at, end + 2):
            length = _LENGTH.search(held, at, end + 2)
            self._rest = int(length[1]) - len(body) if length else None
            return data
        self._in_body = True
        return data[: len(data) - len(body)] + self._join(body)

    def _join(self, data: bytes) -> bytes:
        """One chunk of the data of all that are in `data`; with the last one, the rest as it is."""
        data, self._held = self._held + data, b""
        pieces: list[bytes] = []
        at = 0
        while at < len(data):
            if self._left > 2:
                piece = data[at : at + self._left - 2]
                pieces.append(piece)
                at += len(piece)
                self._left -= len(piece)
                continue
            end = data.find(b"\r\n", at)
            if end < 0 and len(data) - at < _MOST and not (self._left and data[at:] != b"\r"):
                self._held = data[at:]
                break
            size = None if end < 0 else _SIZE.fullmatch(data, at, end)
            if self._left and end == at:
                self._left = 0
                at += 2
            elif self._left or size is None:
                self._in_body = False
                return _chunk(pieces) + _MALFORMED
            elif (number := int(size[1], 16)) == 0:
                self._in_body = False
                self._read_trailers(data[at:])
                return _chunk(pieces) + data[at:]
            else:
                self._left = number + 2
                at = end + 2
        return _chunk(pieces)

    def _read_trailers(self, data: bytes) -> None:
        """Looks for the end of the answer: the first empty line from the last chunk on."""
        held = self._held + data
        end = held.find(b"\r\n\r\n")
        self._in_trailers = end < 0
        if end < 0:
            self._held = held[-3:]
        else:
            self._rest = end + 4 - len(held)


def _chunk(pieces: list[bytes]) -> bytes:
    data = b"".join(pieces)
    return b"%x\r\n%b\r\n" % (len(data), data) if data else b""
