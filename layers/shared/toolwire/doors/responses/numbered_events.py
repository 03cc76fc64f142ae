"""Writes events of the Responses API as bytes, and numbers them."""

from __future__ import annotations

import msgspec

from toolwire.framing.sse import encode_event
from toolwire.wire.json import dump


class Frame(msgspec.Struct):
    """The members that are read of an upstream's event that is shown as it is."""

    type: str
    sequence_number: int | None = None
    output_index: int | None = None
    content_index: int | None = None
    item_id: str | None = None
    part: msgspec.Raw = msgspec.Raw(b"null")
    item: msgspec.Raw = msgspec.Raw(b"null")
    response: msgspec.Raw = msgspec.Raw(b"null")


class Emitter:
    """Writes the events of one answer. While `frame` is set, the upstream's own event is shown: the state of the answer
    is updated, and nothing is written. `extended`: the client also gets the reference document's events, in their
    order."""

    def __init__(self, *, extended: bool) -> None:
        self.frame: Frame | None = None
        self.sequence = 0  # the number of the next event
        self.is_extended = extended

    def next_number(self) -> int:
        """The `sequence_number` of the event that is written next."""
        number, self.sequence = self.sequence, self.sequence + 1
        return number

    def event(self, kind: bytes, *said: bytes) -> bytes:
        """One event; none while the upstream's own is shown."""
        if self.frame is not None:
            return b""
        return encode_event(kind, b'{"type":"%b",%b,"sequence_number":%d}' % (kind, b"".join(said), self.next_number()))

    def item_event(self, kind: bytes, index: int, item_id: str, raw: bytes) -> bytes:
        """An event with a whole item. In the reference document's form it also has the item's id at the top."""
        id = b'"item_id":%b,' % dump(item_id) if self.is_extended else b""
        return self.event(kind, b'%b"output_index":%d,"item":' % (id, index), raw)

    def extended(self, kind: bytes, *said: bytes) -> bytes:
        """One event of the reference document, which only a client that asked for it gets."""
        if not self.is_extended:
            return b""
        frame, self.frame = self.frame, None
        out = self.event(kind, *said)
        self.frame = frame
        return out
