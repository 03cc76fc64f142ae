"""The answer of the toy wire: netstrings of JSON arrays, each a word and what belongs to it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import msgspec

from toolwire.framing import Frame
from toolwire.model.errors import UpstreamError, UpstreamProtocolError, UpstreamTruncated
from toolwire.model.events import (
    Batch,
    Finish,
    FinishReason,
    ResponseEnd,
    ResponseStart,
    StreamEvent,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    Usage,
    UsageUpdate,
)

DIALECT = "toy"

_REASONS: dict[str, FinishReason] = {"calls": "tool_calls", "full": "length", "hush": "content_filter"}
_BEGINNING = re.compile(rb"[0-9]{0,9}:?")


class NetstringDecoder:
    """See `framing.Framing`: `12:["said","x"],`."""

    def __init__(self) -> None:
        self._kept = b""

    def feed(self, chunk: bytes, /) -> list[Frame]:
        self._kept += chunk
        frames: list[Frame] = []
        while b":" in self._kept:
            size, _, rest = self._kept.partition(b":")
            if not size.isdigit():
                break
            if len(rest) <= int(size):
                return frames
            frames.append(Frame(None, rest[: int(size)]))
            self._kept = rest[int(size) + 1 :]
        if not _BEGINNING.fullmatch(self._kept):
            raise UpstreamProtocolError("this is no netstring")
        return frames

    def end(self) -> list[Frame]:
        if self._kept:
            raise UpstreamTruncated("the answer broke off inside a netstring")
        return []


class ToyDecoder:
    """See `providers.Decoder`."""

    def __init__(self) -> None:
        self._open: type | None = None
        self._parts = 0
        self._ended = False
        self._said_arguments = False

    def decode(self, frame: Frame) -> Batch:
        return Batch(tuple(self._events(*msgspec.json.decode(frame.data))))

    def decode_json(self, body: bytes) -> Batch:
        try:
            words = msgspec.json.decode(body)
        except msgspec.DecodeError:
            raise UpstreamProtocolError("this is no JSON") from None
        return Batch(tuple(event for word in words for event in self._events(*word)))

    def end(self) -> Batch:
        if not self._ended:
            raise UpstreamTruncated("the answer has no end")
        return Batch(())

    def _events(self, word: str, *rest: Any) -> Iterable[StreamEvent]:
        match word:
            case "begin":
                yield ResponseStart(rest[0], None)
            case "text":
                if self._open is not TextStart:
                    yield from self._close()
                    yield self._opened(TextStart(self._parts))
                yield TextDelta(self._parts - 1, rest[0])
            case "call":
                yield from self._close()
                yield self._opened(ToolCallStart(self._parts, rest[0], rest[1]))
            case "piece":
                self._said_arguments = True
                yield ToolCallDelta(self._parts - 1, rest[0])
            case "end":
                yield from self._close()
                self._ended = True
                yield UsageUpdate(Usage(*rest[1]))
                yield Finish(_REASONS.get(rest[0], "stop"), rest[0])
                yield ResponseEnd()
            case _:
                raise error_from(msgspec.json.encode([word, *rest]), 503)

    def _opened(self, event: TextStart | ToolCallStart) -> StreamEvent:
        self._said_arguments = False
        self._open = type(event)
        self._parts += 1
        return event

    def _close(self) -> Iterable[StreamEvent]:
        if self._open is ToolCallStart:
            if not self._said_arguments:
                yield ToolCallDelta(self._parts - 1, "{}")
            yield ToolCallEnd(self._parts - 1)
        elif self._open is TextStart:
            yield TextEnd(self._parts - 1)
        self._open = None


def error_from(body: bytes, status: int) -> UpstreamError:
    """`["trouble", message]`."""
    return UpstreamError(msgspec.json.decode(body)[1], code="toy_trouble", status=status)
