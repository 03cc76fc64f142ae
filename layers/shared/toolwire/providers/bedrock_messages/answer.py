"""The answer: the API's own document, or its events, each in a frame of an AWS event stream as base64."""

from __future__ import annotations

import msgspec

from toolwire.framing import Frame
from toolwire.framing.aws_event_stream import EXCEPTION
from toolwire.model.errors import UpstreamProtocolError
from toolwire.model.events import Batch
from toolwire.providers.anthropic_messages.answer import MessagesDecoder
from toolwire.providers.bedrock_converse.errors import error_of_frame


class _Chunk(msgspec.Struct, rename={"event": "bytes"}):
    """The payload of a frame, which also has padding."""

    event: bytes


_chunks = msgspec.json.Decoder(_Chunk)


class InvokedDecoder(MessagesDecoder):
    """See `MessagesDecoder`."""

    def decode(self, frame: Frame) -> Batch:
        kind = frame.event or ""
        if kind.startswith(EXCEPTION):
            raise error_of_frame(frame)
        if kind != "chunk":
            return Batch(())
        try:
            event = _chunks.decode(frame.data).event
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise UpstreamProtocolError("the upstream sent a frame that is not as its API has it") from error
        return super().decode(Frame(None, event))
