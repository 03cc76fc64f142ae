"""What a request needed is given back to the machine when it is over."""

from __future__ import annotations

import ctypes
from contextlib import suppress

#: M_MMAP_THRESHOLD of mallopt(3).
_MMAP_THRESHOLD = -3

#: Bytes from which on a block is a mapping of its own, which ends with it.
_LARGE = 1 << 20


def give_back_large_blocks() -> None:
    """Tells the C library to. The GNU one learns from the first large block that is freed to keep the next ones, in an
    arena a thread: after a few answers of 20 MB a process would keep hundreds. Others have nothing to be told."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(_MMAP_THRESHOLD, _LARGE)
