"""The Responses door's JSON answer: item for item what the stream would have said."""

from __future__ import annotations

from toolwire.doors import AnswerContext
from toolwire.doors import responses_items as items
from toolwire.doors.responses_state import Content, Kind, OutputItem
from toolwire.doors.responses_tools import Names
from toolwire.model.events import Batch, OpaquePart, ResponseStart, Usage
from toolwire.model.request import ChatRequest
from toolwire.model.response import ChatResponse, OutputPart, ReasoningOutput, TextOutput, ToolCallOutput
from toolwire.model.source import raw_in
from toolwire.wire.openai_responses import DIALECT


def render_response(response: ChatResponse, batch: Batch, context: AnswerContext) -> bytes:
    """The upstream's own bytes where they are fit to be shown, else built from the fold."""
    raw = raw_in(batch, DIALECT)
    if raw is not None:
        return raw
    document = _Document(response, context.request)
    start = ResponseStart(response.id, response.model, response.created)
    return items.ResponseShape(context.request).write(
        start,
        items.status_of(response.finish),
        document.output(),
        usage=response.usage or Usage(),
        finish=response.finish,
    )


class _Document:
    """The output of a whole answer."""

    def __init__(self, response: ChatResponse, request: ChatRequest) -> None:
        self._response = response
        self._names = Names(request)
        self._output: list[OutputItem | bytes] = []

    def output(self) -> list[bytes]:
        for part in self._response.parts:
            self._add(part)
        finish, last = self._response.finish, len(self._output) - 1
        return [
            item if isinstance(item, bytes) else item.write(item.final_status(finish, number == last))
            for number, item in enumerate(self._output)
        ]

    def _add(self, part: OutputPart) -> None:
        match part:
            case TextOutput(text, refusal):
                if text:
                    contents = self._message().contents
                    contents.append(Content(len(contents), refusal, [text]))
            case ReasoningOutput(text, signature):
                if text or signature is not None:
                    item = self._item("reasoning")
                    item.pieces, item.signature = [text] if text else [], signature
            case ToolCallOutput():
                item = self._item("custom_tool_call" if part.kind == "custom" else "function_call")
                item.call_id, item.name, item.pieces = part.id, self._names.split(part.name), [part.arguments]
            case OpaquePart():
                if part.dialect == DIALECT:
                    self._output.append(part.raw)

    def _message(self) -> OutputItem:
        """The message that goes on, or a new one."""
        last = self._output[-1] if self._output else None
        return last if isinstance(last, OutputItem) and last.kind == "message" else self._item("message")

    def _item(self, kind: Kind) -> OutputItem:
        index = len(self._output)
        item = OutputItem(kind, items.item_id(kind, self._response.id, index), index)
        self._output.append(item)
        return item
