"""What a decoder says of a stream, and which frames it has read without decoding them: see `AlikeFrames`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from toolwire.framing import Frame
from toolwire.model.errors import GatewayError
from toolwire.model.events import Batch
from toolwire.model.warnings import Warnings
from toolwire.providers.alike_frames import AlikeFrames
from toolwire.providers.decoder_context import DecoderContext


def said(decoder_of: Callable[[DecoderContext], Any], frames: Iterable[Frame]) -> tuple[list[object], set[str]]:
    """What each frame says, with its source, and what ends the answer; the codes of warnings."""
    heard: list[object] = []
    warnings = Warnings()
    decoder = decoder_of(DecoderContext(frozenset({"f", "g"}), warnings))
    try:
        for frame in frames:
            batch = decoder.decode(frame)
            heard.append((batch, batch.source))
        last = decoder.end()
        heard.append((last, last.source))
    except GatewayError as error:
        heard.append((type(error), error.code, error.message))
    return heard, set(warnings)


def read_alike(monkeypatch: pytest.MonkeyPatch) -> list[Batch | None]:
    """What is read of each frame from now on without decoding it; None where it is decoded."""
    read: list[Batch | None] = []
    usual = AlikeFrames.batch

    def seen(self: AlikeFrames[Any], data: bytes) -> Batch | None:
        read.append(usual(self, data))
        return read[-1]

    monkeypatch.setattr(AlikeFrames, "batch", seen)
    return read
