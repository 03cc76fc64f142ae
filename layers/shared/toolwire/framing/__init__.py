"""Bytes to frames and back, one module a framing: server-sent events, and AWS's event stream.

A framing knows no vendor and no protocol: what a frame says is read by the provider's decoder.

    sse                 Server-Sent Events
    aws_event_stream    AWS's event streams, as Amazon Bedrock sends them
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from msgspec import Struct


class Frame(Struct, frozen=True, gc=False):
    """One event of a stream: its name (None where it has none) and its data."""

    event: str | None
    data: bytes


class Framing(Protocol):
    """Cuts one body into frames, however its bytes arrive. One instance a body. Both methods raise
    UpstreamProtocolError for bytes that are no such body, and for a frame over `limits.FRAME_BYTES`."""

    def feed(self, chunk: bytes, /) -> Iterable[Frame]:
        """The frames that these bytes complete. All must be taken before the next bytes."""

    def end(self) -> list[Frame]:
        """The body is over: the frames that are left in what it did not finish."""
