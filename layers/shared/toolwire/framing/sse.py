"""Server-sent events: bytes in, frames out (https://html.spec.whatwg.org/multipage/server-sent-events.html).

Lines end at LF, CR or CRLF and nowhere else: U+2028 inside JSON is text, so `str.splitlines` and `iter_lines` of HTTP
clients must stay away from here. Bytes may arrive cut anywhere, also inside a UTF-8 sequence.
"""

from __future__ import annotations

import re

import msgspec

from toolwire.framing import Frame
from toolwire.model.errors import UpstreamProtocolError
from toolwire.model.limits import FRAME_BYTES

_BOM = b"\xef\xbb\xbf"


#: The beginning of a body of events, whatever its content type says.
_EVENTS = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?::|data:|event:|id:|retry:)")


#: Media types of a document a line, which some hosts stream in place of events.
_LINES = ("ndjson", "jsonl", "json-lines", "stream+json")


def sse_framing(content_type: str, start: bytes, *, asked: bool) -> SseDecoder | None:
    """The decoder of a body of Server-Sent Events, or of one document a line; None for any other. `content_type` is in
    lower case, `start` is the beginning of the body. `asked`: the request asked for a stream; then the body is one
    unless its content type is JSON."""
    is_stream = "event-stream" in content_type or (asked and "json" not in content_type)
    return SseDecoder() if is_stream or says_lines(content_type) or _EVENTS.match(start) or _is_lines(start) else None


def says_lines(content_type: str) -> bool:
    """Whether this content type, in lower case, is that of a document a line."""
    return any(kind in content_type for kind in _LINES)


def _is_lines(start: bytes) -> bool:
    """Whether an object is followed by another one on a new line, which no JSON document has."""
    first, _, rest = start.lstrip().partition(b"\n")
    return bool(rest) and first[:1] == b"{" and first.rstrip()[-1:] == b"}" and rest.lstrip()[:1] == b"{"


#: Keep-alives that proxies write as data, in quotes or without.
_HEARTBEAT = re.compile(rb'("?)(?:|ping|pong|heartbeat|keep[-_ ]?alive|null)\1', re.IGNORECASE)


def meant(data: bytes) -> bytes:
    """The meaning of a frame's data that does not begin with an object: b"" for a keep-alive that a proxy wraps in a
    data field, b"[DONE]" for the end in any spelling, else the data without quotes or prefixes around it."""
    data = data.strip()
    while data.startswith(b"data:"):  # a proxy writes events of events
        data = data[5:].lstrip()
    if data[:1] == b":" or _HEARTBEAT.fullmatch(data) is not None:
        return b""
    return b"[DONE]" if data.strip(b'"[]').upper() == b"DONE" else data


class SseDecoder:
    """See `framing.Framing`. A frame's event is None without an `event:` line; several `data:` lines are joined with
    LF. `end` gives the last frame if the stream stopped before its blank line."""

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
            self._line.clear()
        self._line += lines.pop()
        if not self._started:
            self._started = True
            lines[0] = lines[0].removeprefix(_BOM)
        frames: list[Frame] = []
        for line in lines:
            if line:
                self._take(line, frames)
            elif self._data:
                frames.append(self._dispatch())
            else:
                self._event = None
        self._check_size()
        return frames

    def end(self) -> list[Frame]:
        """Called at the end of the stream. Returns its unfinished frame, since some hosts do not end their last one."""
        frames: list[Frame] = []
        line = bytes(self._line) if self._started else bytes(self._line).removeprefix(_BOM)
        self._line.clear()
        if line:
            self._take(line, frames)
        if self._data:
            frames.append(self._dispatch())
        return frames

    def _take(self, line: bytes, frames: list[Frame]) -> None:
        if line.startswith(b"data:"):
            value = line[6:] if line.startswith(b"data: ") else line[5:]
            # Within a JSON value nothing opens right behind an object: a host that leaves the blank lines out.
            if self._bare or (self._data and value[:1] in (b"{", b"[") and self._data[-1].endswith(b"}")):
                frames.append(self._dispatch())
            self._data.append(value)
            self._size += len(value) + 1
        elif line.startswith(b"event:") and not self._bare:
            self._event = line[6:].strip().decode("utf-8", "replace")
        elif self._bare or line.lstrip()[:1] in (b"{", b"["):
            # Some hosts break off with their error body written plainly into the stream. By the standard these are
            # unknown fields and would vanish; the provider's decoder must see them, apart from the data around them.
            opens = line.lstrip()[:1] == b"{" and self._data and self._data[-1].rstrip().endswith(b"}")
            if self._data and (opens or not self._bare):
                frames.append(self._dispatch())
            self._bare = True
            self._data.append(line)
            self._size += len(line) + 1
            if len(self._data) == 1 and _is_document(line):  # a document a line, or an error that is all of it
                frames.append(self._dispatch())
        elif line.startswith(b"error:") and line[6:].lstrip()[:1] == b"{":  # llama.cpp: an unknown field that is all
            if self._data:
                frames.append(self._dispatch())
            frames.append(Frame("error", line[6:].strip()))
        elif line == b"data":
            self._data.append(b"")
            self._size += 1
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


def _is_document(line: bytes) -> bool:
    """Whether a line without a field's name is a whole JSON document."""
    try:
        msgspec.json.decode(line, type=msgspec.Raw)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False
    return True


def encode_data(payload: bytes) -> bytes:
    """One frame without a name. `payload` may hold line breaks (JSON white space): each becomes a `data:` line."""
    if b"\n" in payload or b"\r" in payload:
        payload = b"\ndata: ".join(payload.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n"))
    return b"data: " + payload + b"\n\n"


def encode_event(event: bytes, payload: bytes) -> bytes:
    """One named frame."""
    return b"event: " + event + b"\n" + encode_data(payload)


def encode_comment(text: bytes) -> bytes:
    """A comment, which every SSE client skips. It keeps a connection alive."""
    return b": " + text + b"\n\n"
