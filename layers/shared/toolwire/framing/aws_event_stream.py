"""AWS event streams: bytes in, frames out (`application/vnd.amazon.eventstream`, as Amazon Bedrock streams).

    u32 total length | u32 headers length | u32 CRC-32 of these 8 bytes | headers | payload | u32 CRC-32 of all before

Integers are big-endian. A header is u8 length and name, u8 type, and a value whose form the type says. Bytes may arrive
cut anywhere. Both checksums are checked, since a proxy may have cut and spliced the bytes.

Source: the Amazon Transcribe and Bedrock developer guides, "Event stream encoding".
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from zlib import crc32

from toolwire.framing import Frame
from toolwire.model.errors import UpstreamProtocolError, UpstreamTruncated
from toolwire.model.limits import FRAME_BYTES

#: The content type of such a body.
CONTENT_TYPE = "application/vnd.amazon.eventstream"

#: Begins the name of a frame that reports a failure; the failure's own name follows.
EXCEPTION = "exception:"

_PRELUDE = 12
_CHECKSUM = 4
#: The service's own bound on the headers of a frame.
_MOST_HEADERS = 128 * 1024

_LENGTHS = struct.Struct(">III")
_U32 = struct.Struct(">I")
_U16 = struct.Struct(">H")

#: Bytes of a header's value, by its type: true, false, byte, short, int, long, then (6, 7) bytes and text with their
#: length in front, timestamp, UUID.
_FIXED = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
_BYTES, _TEXT = 6, 7


class AwsEventStreamDecoder:
    """`feed` bytes, get the frames they complete. `Frame.event` is the event's type; for a frame that reports a failure
    it is `EXCEPTION` and the failure's name. `Frame.data` is the payload.

    Raises UpstreamProtocolError for a wrong checksum, a header it cannot read, and a frame over `FRAME_BYTES`.
    """

    __slots__ = ("_pending",)

    def __init__(self) -> None:
        self._pending = bytearray()

    def feed(self, chunk: bytes) -> Iterator[Frame]:
        """The frames in turn, so that those in front of a broken one are not lost with it."""
        data, at = bytes(self._pending) + chunk, 0
        self._pending.clear()
        while len(data) - at >= _PRELUDE:
            total = self._total(data, at)
            if len(data) - at < total:
                break
            yield _frame(data[at : at + total])
            at += total
        self._pending += data[at:]

    def end(self) -> list[Frame]:
        """The body is over. Raises UpstreamTruncated if it ends inside a frame."""
        if self._pending:
            raise UpstreamTruncated("the upstream's event stream ended inside a frame")
        return []

    def _total(self, data: bytes, at: int) -> int:
        """The length of the frame that begins there, checked before its bytes are waited for."""
        total, headers, checksum = _LENGTHS.unpack_from(data, at)
        if crc32(data[at : at + 8]) != checksum:
            raise UpstreamProtocolError("the upstream's event stream has a frame with a wrong checksum")
        if total > FRAME_BYTES or headers > _MOST_HEADERS:
            raise UpstreamProtocolError(f"the upstream sent a frame of more than {FRAME_BYTES} bytes")
        if total < _PRELUDE + headers + _CHECKSUM:
            raise UpstreamProtocolError("the upstream's event stream has a frame that is shorter than its headers")
        return int(total)


def _frame(data: bytes) -> Frame:
    """One whole frame."""
    if crc32(data[:-_CHECKSUM]) != _U32.unpack(data[-_CHECKSUM:])[0]:
        raise UpstreamProtocolError("the upstream's event stream has a frame with a wrong checksum")
    payload = _PRELUDE + _U32.unpack_from(data, 4)[0]
    headers = _headers(data[_PRELUDE:payload])
    kind = headers.get(":message-type", "event")
    if kind == "event":
        return Frame(headers.get(":event-type"), data[payload:-_CHECKSUM])
    if kind == "exception":
        return Frame(EXCEPTION + headers.get(":exception-type", ""), data[payload:-_CHECKSUM])
    # An error has no payload: its code and its message are headers.
    message = headers.get(":error-message", "").replace("\\", "\\\\").replace('"', '\\"')
    return Frame(EXCEPTION + headers.get(":error-code", kind), b'{"message":"%s"}' % message.encode())


def _headers(data: bytes) -> dict[str, str]:
    """The headers that are text, by name."""
    headers: dict[str, str] = {}
    at = 0
    try:
        while at < len(data):
            name = data[at + 1 : at + 1 + data[at]].decode()
            at += 1 + data[at]
            kind = data[at]
            at += 1
            if kind in (_BYTES, _TEXT):
                length = _U16.unpack_from(data, at)[0]
                at += 2
                if kind == _TEXT:
                    headers[name] = data[at : at + length].decode()
            else:
                length = _FIXED[kind]
            at += length
        if at > len(data):
            raise IndexError
    except (IndexError, KeyError, struct.error, UnicodeDecodeError):
        raise UpstreamProtocolError(
            "the upstream's event stream has a frame with headers that cannot be read"
        ) from None
    return headers
