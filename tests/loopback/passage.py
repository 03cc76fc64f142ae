"""Events through an API's encoder and back through the decoder of the same API."""

from __future__ import annotations

from typing import Protocol

from toolwire.framing import Frame
from toolwire.framing.sse import SseDecoder
from toolwire.model.events import Batch
from toolwire.model.response import ChatResponse
from toolwire.stream.fold import Fold
from toolwire.stream.order import OrderCheck


class Decoder(Protocol):
    """A provider's."""

    def decode(self, frame: Frame) -> Batch: ...

    def end(self) -> Batch: ...


def decoded(body: bytes, decoder: Decoder) -> list[Batch]:
    """The stream's events, in a legal order."""
    frames, order = SseDecoder(), OrderCheck()
    found = [decoder.decode(frame) for frame in [*frames.feed(body), *frames.end()]] + [decoder.end()]
    for batch in found:
        order.check(batch)
    return found


def folded(batches: list[Batch]) -> ChatResponse:
    """The answer that the events come to, without their bytes."""
    gathered = Fold()
    for batch in batches:
        gathered.take(Batch(batch.events))
    return gathered.response()
