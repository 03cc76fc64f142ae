"""Unpacks answers that come compressed although identity was asked for, while they arrive and up to a bound.

Proxies in front of self-hosted models do that. A stream is flushed as it comes, so what has arrived is there at once.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator

from toolwire.model.errors import UpstreamProtocolError
from toolwire.model.limits import ANSWER_BYTES

#: Coding -> how zlib is told of it: gzip with its header, or either form of deflate as it is found.
_WINDOWS = {"gzip": 16 + zlib.MAX_WBITS, "x-gzip": 16 + zlib.MAX_WBITS, "deflate": zlib.MAX_WBITS}

#: Bytes unpacked at once.
_PIECE = 64 * 1024

#: The most bytes of one unpacked answer. A stream may be longer than a document, since it is not gathered.
MOST_BYTES = 8 * ANSWER_BYTES


def unpacked(chunks: Iterable[bytes], coding: str) -> Iterator[bytes]:
    """The body without its `Content-Encoding`. Raises UpstreamProtocolError for an unknown coding, for bytes that do
    not have it, and for more than `MOST_BYTES`."""
    window = _WINDOWS.get(coding)
    if window is None:
        raise UpstreamProtocolError(
            f"the upstream's answer is compressed with {coding[:40]!r}, though none was asked for"
        )
    inflater = zlib.decompressobj(window)
    size = 0
    for chunk in chunks:
        data = chunk
        while data:
            try:
                piece = inflater.decompress(data, _PIECE)
            except zlib.error:
                raise UpstreamProtocolError(f"the upstream's answer is not {coding} as its head says") from None
            size += len(piece)
            if size > MOST_BYTES:
                raise UpstreamProtocolError(f"the upstream's answer is larger than {MOST_BYTES} bytes")
            if piece:
                yield piece
            data = inflater.unconsumed_tail
