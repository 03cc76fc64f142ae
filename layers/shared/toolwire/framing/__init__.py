"""Cuts bytes into frames, and writes frames as bytes. One module a framing.

A framing knows no protocol: the provider's decoder reads the content of a frame.

    sse                 Server-Sent Events
    aws_event_stream    AWS's event streams, as Amazon Bedrock sends them
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from msgspec import Struct


class Frame(Struct, frozen=True, gc=False):
    """One event of a stream: its name (None if it has none) and its data."""

    event: str | None
    data: bytes


class Framing(Protocol):
    """Cuts one body into frames. Its bytes may arrive cut anywhere. One instance a body. Both methods raise
    UpstreamProtocolError for bytes of another form, and for a frame over `limits.FRAME_BYTES`."""

    def feed(self, chunk: bytes, /) -> Iterable[Frame]:
        """The frames that these bytes complete. All must be taken before the next bytes."""

    def end(self) -> list[Frame]:
        """Called at the end of the body. Returns the frames in the unfinished rest."""
