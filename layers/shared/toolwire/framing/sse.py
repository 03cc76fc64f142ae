"""Server-sent events: bytes in, frames out (https://html.spec.whatwg.org/multipage/server-sent-events.html).

Lines end at LF, CR or CRLF and nowhere else: U+2028 inside JSON is text, so `str.splitlines` and `iter_lines` of HTTP
clients must stay away from here. Bytes may arrive cut anywhere, also inside a UTF-8 sequence.
"""

from __future__ import annotations

from dataclasses import dataclass

from toolwire.model.errors import UpstreamProtocolError
from toolwire.model.limits import FRAME_BYTES


@dataclass(frozen=True, slots=True)
class Frame:
    """One event: its name (None without an `event:` line) and its data, several `data:` lines joined with LF."""

    event: str | None
    data: bytes


class SseDecoder:
    """`feed` bytes, get the frames they complete; `end` gives the last one if the stream stopped before its blank
    line. Raises UpstreamProtocolError for a frame over `FRAME_BYTES`."""

    __slots__ = ("_after_cr", "_bare", "_data", "_event", "_line", "_size", "_started")

    def __init__(self) -> None:
        self._line = bytearray()  # the unfinished line
        self._data: list[bytes] = []
        self._event: str | None = None
        self._size = 0  # bytes of the unfinished frame's data, to bound memory
        self._after_cr = False  # the last byte fed was a CR: an LF that follows belongs to it
        self._started = False  # the first line, which may begin with a byte order mark, is behind us
        self._bare = False  # inside a body that is no SSE at all

    def feed(self, chunk: bytes) -> list[Frame]:
        if self._after_cr and chunk:
            self._after_cr = False
            chunk = chunk.removeprefix(b"\n")
        if b"\r" in chunk:
            self._after_cr = chunk.endswith(b"\r")
            chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        if b"\n" not in chunk:
            self._line += chunk
            self._check_size()
            return []
        lines = chunk.split(b"\n")
        if self._line:
            lines[0] = bytes(self._line) + lines[0]
        self._line = bytearray(lines.pop())
        if not self._started:
            self._started = True
            lines[0] = lines[0].removeprefix(b"\xef\xbb\xbf")
        frames: list[Frame] = []
        for line in lines:
            if line:
                self._take(line)
            elif self._data:
                frames.append(self._dispatch())
            else:
                self._event = None
        self._check_size()
        return frames

    def end(self) -> list[Frame]:
        """The stream is over. What it left unfinished is kept: some hosts do not end their last frame."""
        if self._line:
            self._take(bytes(self._line))
            self._line.clear()
        return [self._dispatch()] if self._data else []

    def _take(self, line: bytes) -> None:
        if line.startswith(b"data:") and not self._bare:
            value = line[6:] if line.startswith(b"data: ") else line[5:]
            self._data.append(value)
            self._size += len(value)
        elif self._bare or line[:1] in b"{[":
            # Some hosts break off with their error body written plainly into the stream. By the standard these are
            # unknown fields and would vanish; the provider's decoder must see them.
            self._bare = True
            self._data.append(line)
            self._size += len(line)
        elif line.startswith(b"event:"):
            self._event = line[6:].strip().decode("utf-8", "replace")
        elif line == b"data":
            self._data.append(b"")
        # Comments (": keep-alive"), `id:`, `retry:` and unknown fields carry nothing for us.

    def _dispatch(self) -> Frame:
        frame = Frame(self._event, self._data[0] if len(self._data) == 1 else b"\n".join(self._data))
        self._data = []
        self._event = None
        self._size = 0
        self._bare = False
        return frame

    def _check_size(self) -> None:
        if len(self._line) + self._size > FRAME_BYTES:
            raise UpstreamProtocolError(f"the upstream sent a frame of more than {FRAME_BYTES} bytes")


def encode_data(payload: bytes) -> bytes:
    """One frame without a name. `payload` may hold line breaks (JSON white space): each becomes a `data:` line."""
    if b"\n" in payload or b"\r" in payload:
        payload = b"\ndata: ".join(payload.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n"))
    return b"data: " + payload + b"\n\n"


def encode_event(event: bytes, payload: bytes) -> bytes:
    """One named frame."""
    return b"event: " + event + b"\n" + encode_data(payload)


def encode_comment(text: bytes) -> bytes:
    """A comment: every SSE client skips it, so it keeps a connection alive and changes nothing."""
    return b": " + text + b"\n\n"
