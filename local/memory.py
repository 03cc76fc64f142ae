"""What a request needed is given back to the machine when it is over."""

from __future__ import annotations

import ctypes
from contextlib import suppress

#: M_MMAP_THRESHOLD and M_ARENA_MAX of mallopt(3).
_MMAP_THRESHOLD, _ARENA_MAX = -3, -8

#: Bytes from which on a block is a mapping of its own, which ends with it.
_LARGE = 1 << 20


def give_back_memory() -> None:
    """Tells the C library to. The GNU one learns from the first large block that is freed to keep the next ones, and
    has an arena for each thread that computes, of which Python's do one at a time: after a few answers of 20 MB a
    process would keep hundreds. Others have nothing to be told."""
    with suppress(OSError, AttributeError):
        library = ctypes.CDLL(None)
        library.mallopt(_MMAP_THRESHOLD, _LARGE)
        library.mallopt(_ARENA_MAX, 1)
