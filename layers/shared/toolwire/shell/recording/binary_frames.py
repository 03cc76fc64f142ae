"""Reads the texts in the frames of an AWS event stream (Bedrock's), and replaces them by others of the same length.

`toolwire.framing.aws_event_stream` describes a frame. Its payload is JSON; InvokeModel's holds the event of the model's
own API, as base64. Any other payload is dropped.
"""

from __future__ import annotations

import base64
import re
import struct
from collections.abc import Callable
from zlib import crc32

_PRELUDE, _CHECKSUM = 12, 4
_LENGTHS = struct.Struct(">III")
_U32 = struct.Struct(">I")
_INNER = re.compile(rb'("bytes"\s*:\s*")([A-Za-z0-9+/]+={0,2})(")')
#: The header of a failure whose text may quote: its name, the type of a text, and its length.
_QUOTING = re.compile(rb"\x0e:error-message\x07(..)", re.DOTALL)


def with_texts(body: bytes, changed: Callable[[list[str]], list[str]]) -> bytes:
    """The stream with `changed` applied to the texts of all its frames together. A last incomplete frame loses its
    payload. Raises ValueError for bytes that are no such stream."""
    frames, at = [], 0
    while len(body) - at >= _PRELUDE:
        total, _, checksum = _LENGTHS.unpack_from(body, at)
        if crc32(body[at : at + 8]) != checksum or total < _PRELUDE + _CHECKSUM:
            raise ValueError("this is no event stream")
        if len(body) - at < total:
            break
        frames.append(body[at : at + total])
        at += total
    texts = changed([_text(frame) for frame in frames])
    rest = body[at:]
    whole = [_with_text(frame, text) for frame, text in zip(frames, texts, strict=True)]
    return b"".join([*whole, rest[:_PRELUDE], b"x" * len(rest[_PRELUDE:])])


def _payload(frame: bytes) -> tuple[int, int]:
    """The beginning and the end of a frame's payload."""
    return _PRELUDE + int(_U32.unpack_from(frame, 4)[0]), len(frame) - _CHECKSUM


def _text(frame: bytes) -> str:
    """The JSON of a frame. Raises ValueError if there is none."""
    begin, end = _payload(frame)
    payload = frame[begin:end]
    inner = _INNER.search(payload)
    return (base64.b64decode(inner[2], validate=True) if inner else payload).decode()


def _with_text(frame: bytes, text: str) -> bytes:
    """The frame with this JSON. A wrong checksum stays wrong."""
    begin, end = _payload(frame)
    payload, new = frame[begin:end], text.encode()
    if inner := _INNER.search(payload):
        new = payload[: inner.start(2)] + base64.b64encode(new) + payload[inner.end(2) :]
    if len(new) != len(payload):
        raise ValueError("the text has another length")
    data = _without_message(frame[:begin]) + new
    checksum = crc32(data)
    if crc32(frame[:end]) != _U32.unpack(frame[end:])[0]:
        checksum ^= 0xFFFFFFFF
    return data + _U32.pack(checksum)


def _without_message(headers: bytes) -> bytes:
    """The beginning of a frame, with a failure's message replaced by x."""
    found = _QUOTING.search(headers)
    if found is None:
        return headers
    end = found.end() + int.from_bytes(found[1])
    return headers[: found.end()] + b"x" * len(headers[found.end() : end]) + headers[end:]
