"""Frames of AWS event streams, written for tests."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from zlib import crc32


def frame(headers: Mapping[str, str], payload: bytes, *, more: bytes = b"") -> bytes:
    """One frame with these text headers, and `more` raw ones behind them."""
    raw = b"".join(
        bytes([len(name)]) + name.encode() + b"\x07" + struct.pack(">H", len(value.encode())) + value.encode()
        for name, value in headers.items()
    )
    raw += more
    lengths = struct.pack(">II", 16 + len(raw) + len(payload), len(raw))
    data = lengths + struct.pack(">I", crc32(lengths)) + raw + payload
    return data + struct.pack(">I", crc32(data))


def event(kind: str, payload: bytes) -> bytes:
    """One event as Bedrock streams it."""
    return frame({":event-type": kind, ":content-type": "application/json", ":message-type": "event"}, payload)
