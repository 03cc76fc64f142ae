"""Writes DEBUG lines for the tool calls of an exchange: those of the history, and each new call; never text.

    input function_call, input function_call_output   a call and a result of the history
    started                                            the call's name is known
    buffering, replaying                               arguments that came before the name were held, and are shown now
    complete                                           the call has ended, with so many bytes of arguments

Source: the reference document on the Responses proxy, "Debugging".
"""

from __future__ import annotations

from toolwire.exchange.observer import Observer
from toolwire.model.events import Batch, ToolCallDelta, ToolCallEnd, ToolCallStart
from toolwire.model.request import ChatRequest, ToolCallPart, ToolResultPart
from toolwire.shell.telemetry.log import logger
from toolwire.shell.telemetry.request_record import short


class CallLines(Observer):
    """Writes the lines of one exchange."""

    def __init__(self, request_id: str, request: ChatRequest) -> None:
        self._request_id = request_id
        self._calls: dict[int, tuple[str, int]] = {}  # part index -> name, bytes of arguments
        for part in (part for message in request.messages for part in message.parts):
            if type(part) is ToolCallPart:
                self._line("input function_call", part.name, call_id=short(part.id))
            elif type(part) is ToolResultPart:
                self._line("input function_call_output", part.name, call_id=short(part.tool_call_id))

    def batch(self, batch: Batch) -> None:
        """See `Observer`."""
        for event in batch.events:
            if isinstance(event, ToolCallStart):
                self._calls[event.index] = event.name, 0
                if event.early_bytes:
                    self._line("buffering", None, index=event.index, argument_bytes=event.early_bytes)
                self._line("started", event.name, index=event.index, argument_bytes=0)
                if event.early_bytes:
                    self._line("replaying", event.name, index=event.index, argument_bytes=event.early_bytes)
            elif isinstance(event, ToolCallDelta):
                name, size = self._calls[event.index]
                self._calls[event.index] = name, size + len(event.fragment.encode("utf-8", "surrogatepass"))
            elif isinstance(event, ToolCallEnd):
                name, size = self._calls[event.index]
                self._line("complete", name, index=event.index, argument_bytes=size)

    def _line(self, stage: str, name: str | None, **more: object) -> None:
        fields = {"request_id": self._request_id, "stage": stage, "gen_ai.tool.name": short(name)} | more
        logger().debug("tool call", **{key: value for key, value in fields.items() if value is not None})
