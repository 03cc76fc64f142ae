"""A ring of bytes: new bytes overwrite the oldest. It is one mapping, of which the system only provides the pages that
are written to, so it never grows or fragments."""

from __future__ import annotations

import mmap

#: Private memory, for which the system reserves nothing before it is written to.
_FLAGS = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0)


class Ring:
    """Not for use by several threads at once. A place is the offset at which bytes begin, counted from the first byte
    ever written."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._end = 0
        self._memory: mmap.mmap | None = None  # made when it is first needed

    @property
    def oldest(self) -> int:
        """Bytes before this place were overwritten."""
        return max(0, self._end - self.size)

    @property
    def used(self) -> int:
        """The number of bytes that were written to."""
        return min(self._end, self.size)

    def put(self, data: bytes) -> int:
        """Writes bytes, at most its own size. Returns their place."""
        if self._memory is None:
            self._memory = mmap.mmap(-1, self.size, flags=_FLAGS)
        size = len(data)
        at = self._end % self.size
        if at + size > self.size:  # they stay in one piece
            self._end += self.size - at
            at = 0
        place = self._end
        self._end += size
        self._memory[at : at + size] = data
        return place

    def get(self, place: int, size: int) -> bytes:
        """The bytes at a place that was not overwritten."""
        assert self._memory is not None
        assert place >= self.oldest
        at = place % self.size
        return self._memory[at : at + size]
