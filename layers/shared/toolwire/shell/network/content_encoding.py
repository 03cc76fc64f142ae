"""Unpacks compressed request bodies. Claude Code sends large ones with gzip, Codex all of them with zstd.

A body is unpacked only up to the limit of a plain one, whatever size it claims.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable

from toolwire.model.errors import RequestError
from toolwire.model.limits import BODY_BYTES

#: The most codings of one body; no real client uses more.
_MOST_CODINGS = 2

#: The most members (gzip) or frames (zstd) of one body. Each costs a copy of the bytes behind it.
_MOST_MEMBERS = 100

#: The largest window that a `Content-Encoding: zstd` may ask for: 8 MB (RFC 9659).
_ZSTD_WINDOW_LOG = 23


class _TooLargeError(Exception):
    pass


def unpacked(body: bytes, content_encoding: str) -> bytes:
    """The body without the codings that the header names. Raises RequestError: 415 for an unknown coding, 400 for a
    body that does not have the named coding, 413 for one over the limit."""
    codings = [coding.strip().lower() for coding in content_encoding.split(",")]
    codings = [coding for coding in codings if coding not in ("", "identity")]
    unknown = [coding for coding in codings if coding not in _READERS] + codings[_MOST_CODINGS:]
    if unknown:
        raise RequestError(
            f"Content-Encoding {unknown[0][:40]!r} is not read here: send the body with gzip, deflate or zstd, or "
            "without Content-Encoding.",
            status=415,
            code="unsupported_content_encoding",
            headers=(("accept-encoding", "gzip, deflate, zstd"),),
        )
    for coding in reversed(codings):
        try:
            body = _READERS[coding](body)
        except _TooLargeError:
            message = f"The body has more than {BODY_BYTES} bytes when it is unpacked: the limit."
            raise RequestError(message, status=413, code="request_too_large") from None
        except ValueError as error:
            message = f"The body is not what its Content-Encoding {coding!r} says: {error}."
            raise RequestError(message, code="invalid_content_encoding") from None
    return body


def _gzip(data: bytes) -> bytes:
    return _joined(data, lambda data, room: _inflated(data, 16 + zlib.MAX_WBITS, room))


def _joined(data: bytes, read: Callable[[bytes, int], tuple[bytes, bytes]]) -> bytes:
    """The members of a body, unpacked and joined; as a rule there is one."""
    pieces: list[bytes] = []
    room = BODY_BYTES
    while data:
        if len(pieces) == _MOST_MEMBERS:
            raise ValueError("it has too many members")
        piece, data = read(data, room)
        pieces.append(piece)
        room -= len(piece)
        data = data.lstrip(b"\0")  # a writer may fill up its last block
    return b"".join(pieces)


def _deflate(data: bytes) -> bytes:
    """The body of the coding `deflate`: in zlib's format, as the name says; some clients send the bare stream."""
    is_zlib = len(data) > 1 and data[0] & 0x0F == zlib.DEFLATED and int.from_bytes(data[:2], "big") % 31 == 0
    piece, rest = _inflated(data, zlib.MAX_WBITS if is_zlib else -zlib.MAX_WBITS, BODY_BYTES)
    if rest:
        raise ValueError("something follows its end")
    return piece


def _inflated(data: bytes, window: int, room: int) -> tuple[bytes, bytes]:
    """One stream unpacked, and what follows it."""
    stream = zlib.decompressobj(window)
    try:
        piece = stream.decompress(data, room + 1)
    except zlib.error:
        raise ValueError("it cannot be unpacked") from None
    return _checked(piece, room, stream.eof), stream.unused_data


def _zstd(data: bytes) -> bytes:
    if sys.version_info >= (3, 14):
        from compression import zstd  # imported only for such a body
    else:
        from backports import zstd
    options: dict[int, int] = {zstd.DecompressionParameter.window_log_max: _ZSTD_WINDOW_LOG}

    def frame(data: bytes, room: int) -> tuple[bytes, bytes]:
        reader = zstd.ZstdDecompressor(options=options)
        try:
            piece = reader.decompress(data, max_length=room + 1)
        except zstd.ZstdError:
            raise ValueError("it cannot be unpacked") from None
        return _checked(piece, room, reader.eof), reader.unused_data

    return _joined(data, frame)


def _checked(piece: bytes, room: int, is_whole: bool) -> bytes:
    if len(piece) > room:
        raise _TooLargeError
    if not is_whole:
        raise ValueError("it is cut short")
    return piece


_READERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": _deflate,
    "zstd": _zstd,
}
