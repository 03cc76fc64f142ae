"""The answers of the toy door: a line an event, or one document with all of it."""

from __future__ import annotations

from toolwire.framing.sse import encode_comment, encode_data
from toolwire.model.errors import GatewayError
from toolwire.model.events import Batch, Finish, ResponseEnd, TextDelta, ToolCallDelta, ToolCallStart
from toolwire.model.response import ChatResponse, TextOutput, ToolCallOutput
from toolwire.wire.json import dump


class ToyEncoder:
    """See `doors.StreamEncoder`."""

    def __init__(self) -> None:
        self._reason = "stop"

    def encode(self, batch: Batch) -> bytes:
        return b"".join(encode_data(dump(said)) for event in batch.events for said in self._said(event))

    def _said(self, event: object) -> list[list[object]]:
        match event:
            case TextDelta():
                return [["text", event.text]]
            case ToolCallStart():
                return [["call", event.index, event.id, event.name]]
            case ToolCallDelta():
                return [["piece", event.index, event.fragment]]
            case Finish():
                self._reason = event.reason  # parts may still go on
            case ResponseEnd():
                return [["end", self._reason]]
        return []

    def fail(self, error: GatewayError, request_id: str) -> bytes:
        return encode_data(dump(["oops", error.message, request_id]))

    def keep_alive(self) -> bytes:
        return encode_comment(b"still here")


def render_response(response: ChatResponse) -> bytes:
    """The whole answer."""
    calls = [[part.id, part.name, part.arguments] for part in response.parts if isinstance(part, ToolCallOutput)]
    text = "".join(part.text for part in response.parts if isinstance(part, TextOutput))
    return dump({"text": text, "calls": calls, "end": response.finish.reason})
