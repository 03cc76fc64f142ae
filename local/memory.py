"""Returns a request's memory to the operating system when the request is over."""

from __future__ import annotations

import ctypes
from contextlib import suppress

#: M_MMAP_THRESHOLD and M_ARENA_MAX of mallopt(3).
_MMAP_THRESHOLD, _ARENA_MAX = -3, -8

#: From this size on a block has a mapping of its own, which is freed with it.
_LARGE = 1 << 20


def give_back_memory() -> None:
    """Configures the GNU C library. Otherwise, after it has freed a first large block, it keeps the next ones, in an
    arena for each thread: after a few answers of 20 MB a process would keep hundreds. Other C libraries need
    nothing."""
    with suppress(OSError, AttributeError):
        library = ctypes.CDLL(None)
        library.mallopt(_MMAP_THRESHOLD, _LARGE)
        library.mallopt(_ARENA_MAX, 1)
