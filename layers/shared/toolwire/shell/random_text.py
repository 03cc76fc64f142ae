"""Random text for ids, from the operating system's random bytes. All characters are equally likely."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

from toolwire.conversation.tool_call_ids import ALPHABET

#: Random byte -> character. Bytes beyond the last whole round of the alphabet are dropped: their characters would be
#: likelier than others.
_ROUND = 256 // len(ALPHABET) * len(ALPHABET)
_CHARACTERS = bytes(ord(ALPHABET[byte % len(ALPHABET)]) for byte in range(256))
_NONE = bytes(range(_ROUND, 256))

#: The number of bytes that are read ahead.
_AHEAD_BYTES = 4096


def new_id(length: int) -> str:
    """This many random characters of the alphabet of ids."""
    text = b""
    while len(text) < length:
        text += _source(length + 4).translate(_CHARACTERS, _NONE)
    return text[:length].decode("ascii")


def new_uuid() -> str:
    """A random UUID (version 4) as text."""
    number = int.from_bytes(_source(16), "big")
    number = number & ~(0xF << 76) & ~(0x3 << 62) | 0x4 << 76 | 0x2 << 62
    text = f"{number:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


_source: Callable[[int], bytes] = os.urandom


def use_source(source: Callable[[int], bytes]) -> None:
    """Makes this process take its random bytes from `source`: `ReadAhead.take`, or a test's function."""
    global _source
    _source = source


class ReadAhead:
    """Reads many random bytes of the operating system's at once: each small read lets another thread run, which costs
    more than the read. Not for a process whose memory is copied (SnapStart): both copies would use the same bytes."""

    def __init__(self) -> None:
        self._bytes, self._at = b"", 0
        self._lock = threading.Lock()

    def take(self, count: int) -> bytes:
        """This many bytes, which no other call gets."""
        with self._lock:
            if self._at + count > len(self._bytes):
                self._bytes, self._at = os.urandom(max(count, _AHEAD_BYTES)), 0
            taken = self._bytes[self._at : self._at + count]
            self._at += count
            return taken
