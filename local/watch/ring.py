"""Bytes in a ring: what comes takes the place of what came first. It is one piece of memory, of which the system gives
what is written to, so it never grows and never falls into pieces."""

from __future__ import annotations

import mmap

#: Memory of this process alone, for which the system sets nothing aside before it is written to.
_FLAGS = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0)


class Ring:
    """Not for use by several threads at once. A place is where bytes begin, counted from the first that ever came."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._end = 0
        self._memory: mmap.mmap | None = None  # made when it is first needed

    @property
    def oldest(self) -> int:
        """What has its place before this one is gone."""
        return max(0, self._end - self.size)

    @property
    def used(self) -> int:
        """Bytes of it that were written to."""
        return min(self._end, self.size)

    def put(self, data: bytes) -> int:
        """Takes bytes, no more than its own, and says their place."""
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
        """The bytes at a place that is not gone."""
        assert self._memory is not None
        assert place >= self.oldest
        at = place % self.size
        return self._memory[at : at + size]
