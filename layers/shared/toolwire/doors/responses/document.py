"""The Responses door's JSON answer. It has the same items as the stream."""

from __future__ import annotations

import msgspec

from toolwire.doors import AnswerContext
from toolwire.doors.responses.open_items import Content, Kind, OutputItem
from toolwire.doors.responses.output_items import item_id
from toolwire.doors.responses.required_members import whole_item
from toolwire.doors.responses.response_object import ResponseShape, status_of
from toolwire.doors.responses.tools import Names
from toolwire.model.events import Batch, OpaquePart, ResponseStart, Usage
from toolwire.model.request import ChatRequest
from toolwire.model.response import ChatResponse, OutputPart, ReasoningOutput, TextOutput, ToolCallOutput
from toolwire.model.source import raw_in
from toolwire.wire.json import members, write_object
from toolwire.wire.openai_client_tools import CALLS
from toolwire.wire.openai_responses import DIALECT, KNOWN_CALL


class _Kind(msgspec.Struct):
    type: str = ""


def _is_call(item: bytes) -> bool:
    kind = msgspec.json.decode(item, type=_Kind).type
    return kind in ("function_call", "custom_tool_call") or kind in CALLS


def _as_was(call: bytes, raw: bytes) -> bytes:
    """A call that was written anew, with the upstream item's id and its other members."""
    given = members(raw)
    kept = {name: value for name, value in given.items() if name == "id" or name not in KNOWN_CALL}
    return write_object((members(call) | kept).items())


def render_response(response: ChatResponse, batch: Batch, context: AnswerContext) -> bytes:
    """The upstream's own bytes if they can be shown, else written from the fold."""
    start = ResponseStart(response.id, response.model, response.created)
    status = status_of(response.finish)
    shape = ResponseShape(context.request, context.now)
    raw = raw_in(batch, DIALECT)
    if raw is not None:
        return shape.whole(raw, start, status)
    shape.note(dict(response.extra).get("response", ()))
    context.final = shape.write(
        start,
        status,
        _Document(response, context.request).output(),
        usage=response.usage or Usage(),
        finish=response.finish,
    )
    return context.final


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
        written = [
            item if isinstance(item, bytes) else item.write(item.final_status(finish, number == last))
            for number, item in enumerate(self._output)
        ]
        try:
            return self._with_raw(written)
        except ValueError:  # an item that is no object, or has half a character
            return written

    def _with_raw(self, written: list[bytes]) -> list[bytes]:
        """The upstream's own items, with only the calls written anew, if it speaks this API. Raises ValueError."""
        raws = [raw for _, raw in dict(self._response.extra).get("output", ())]
        calls = list(filter(_is_call, written))
        if not raws or sum(map(_is_call, raws)) != len(calls):  # a stage has left one out
            return written
        left = iter(calls)
        return [
            _as_was(next(left), raw) if _is_call(raw) else whole_item(raw, "completed", self._response.id, index)
            for index, raw in enumerate(raws)
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
                item = self._item(self._names.item_kind(part.name, part.kind))
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
        item = OutputItem(kind, item_id(kind, self._response.id, index), index)
        self._output.append(item)
        return item
