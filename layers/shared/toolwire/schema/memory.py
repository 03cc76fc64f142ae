"""What was found about texts that come again: agents send the same tools with every turn.

A result depends on the text and on our own rules alone, so it is the same for every tenant. A text is known by its
SHA-256 and is not kept. What is kept is bounded in bytes, not by the size of one schema: there are tools of 60 KB.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

#: What an entry holds beside its result: the key, its place in the table.
ENTRY_BYTES = 400

Found = TypeVar("Found")


def digest(raw: bytes) -> bytes:
    """What a text is known by."""
    return hashlib.sha256(raw).digest()


class Memory(Generic[Found]):
    """Results by key. Beyond `most` bytes the oldest are forgotten."""

    def __init__(self, most: int) -> None:
        self._most, self.held = most, 0
        self._entries: dict[Hashable, tuple[Found, int]] = {}
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._entries)

    def found(self, key: Hashable, find: Callable[[], Found], size: Callable[[Found], int]) -> Found:
        """What is known by this key; what `find` returns, where nothing is. `size`: the bytes that a result holds."""
        entry = self._entries.get(key)
        if entry is None:
            result = find()
            entry = result, size(result) + ENTRY_BYTES
            self._keep(key, entry)
        return entry[0]

    def _keep(self, key: Hashable, entry: tuple[Found, int]) -> None:
        with self._lock:
            if entry[1] > self._most or key in self._entries:
                return
            self._entries[key] = entry
            self.held += entry[1]
            while self.held > self._most:
                _, size = self._entries.pop(next(iter(self._entries)))
                self.held -= size
