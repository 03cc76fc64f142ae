"""The Responses door's streamed answer.

What strict clients require of it (tested against both of OpenAI's SDKs): `response.created` first and one ending last,
the same ids from an item's beginning to `response.completed`, empty stubs where an item begins, its name and call id at
once, and the complete output at the end.
"""

from __future__ import annotations

import msgspec

from toolwire.doors import AnswerContext
from toolwire.doors.openai_errors import error_object
from toolwire.doors.responses.event_writer import EventWriter
from toolwire.doors.responses.item_events import delta_of, text_delta_of
from toolwire.doors.responses.numbered_events import Frame
from toolwire.doors.responses.open_items import WHOLE
from toolwire.doors.responses.required_members import whole_item, whole_part
from toolwire.framing.sse import encode_comment, encode_event
from toolwire.model.errors import TOO_LONG, GatewayError
from toolwire.model.events import (
    Batch,
    OpaquePart,
    ReasoningStart,
    ResponseEnd,
    ResponseStart,
    StreamEvent,
    TextStart,
    ToolCallStart,
)
from toolwire.model.request import ChatRequest
from toolwire.model.source import raw_in
from toolwire.wire.json import dump, members, unnamed, write_array, write_object
from toolwire.wire.openai_responses import DIALECT, KNOWN_RESPONSE

#: Events that begin an item or a part. If one of them is written anew, so are those that follow it.
_STARTS = (ResponseStart, TextStart, ReasoningStart, ToolCallStart, OpaquePart)

_ENDINGS = ("response.completed", "response.incomplete", "response.failed")

#: Event with a response, an item or a part -> the status of one without a status.
_STATUSES = {
    "response.created": "in_progress", "response.in_progress": "in_progress", "response.queued": "queued",
    "response.completed": "completed", "response.incomplete": "incomplete", "response.failed": "failed",
    "response.output_item.added": "in_progress", "response.output_item.done": "completed",
    "response.content_part.added": "", "response.content_part.done": "",
}  # fmt: skip

#: Events of a text may have log probabilities; some hosts send null for none.
_CALL_TEXT_DONE = ("response.function_call_arguments.done", "response.custom_tool_call_input.done")
_WITH_LOGPROBS = ("response.output_text.delta", "response.output_text.done")

#: Error codes that clients of this API act on; any other failure is the server's.
_KNOWN_CODES = (TOO_LONG, "insufficient_quota", "invalid_prompt", "rate_limit_exceeded")


class _Item(msgspec.Struct):
    id: object = None  # an opaque item was not checked
    type: object = None


_frame_decoder = msgspec.json.Decoder(Frame)


class ResponsesEncoder:
    """One streamed answer.

    Frames of the same dialect are passed on as they are, except for a `sequence_number` that no longer fits, and the
    writer follows their state. A changed item is written anew, and so is every item after the first such one.
    """

    def __init__(self, request: ChatRequest, context: AnswerContext) -> None:
        self._writer = EventWriter(request, context)
        self._took_over = self._over = False
        self._mended = False  # something was written anew: then the ending is too, with what the client has seen

    def encode(self, batch: Batch) -> bytes:
        raw = raw_in(batch, DIALECT)
        if raw is not None:
            return self._pass(raw, batch.events)
        writer = self._writer
        writer.shape.note(dict(batch.extra).get("response", ()))
        self._mended = self._mended or bool(batch.events)
        if writer.same_dialect and any(isinstance(event, _STARTS) for event in batch.events):
            self._took_over = True
        out = writer.write(batch.events)
        self._over = self._over or any(type(event) is ResponseEnd for event in batch.events)
        return out

    def fail(self, error: GatewayError, request_id: str) -> bytes:  # noqa: ARG002
        """`response.failed` with the output so far; an `error` event if there was no response yet. Open items are never
        shown as completed."""
        self._over = True
        if self._writer.start is None:  # flat as the API has it, and nested, which is what makes both SDKs raise
            flat = {"code": error.code, "message": error.message, "param": error.param, "error": error_object(error)}
            return self._writer.emitter.event(b"error", dump(flat)[1:-1])
        code = "rate_limit_exceeded" if error.status == 429 else "server_error"
        code = error.code if error.code in _KNOWN_CODES else code
        shown = {"code": code, "message": error.message, "type": error.code, "param": error.param}
        return self._writer.failed(dump(shown))

    def keep_alive(self) -> bytes:
        """An empty delta within an item, `response.in_progress` between items. Codex counts only events, no comments;
        and openai-node does not take `response.in_progress` within an item."""
        writer = self._writer
        comment = encode_comment(b"keep-alive")
        if writer.start is None or self._over:
            return comment
        if not writer.output.open:
            return comment if writer.output.raw_open else writer.lifecycle(b"response.in_progress")
        item = writer.output.open[-1]
        if item.kind in WHOLE:
            return comment
        if item.kind != "message":
            return writer.emitter.event(*delta_of(item), b',"delta":""')
        content = next((content for content in item.contents if not content.closed), None)
        if content is None:
            return comment
        logprobs = b"" if content.refusal else b',"logprobs":[]'
        return writer.emitter.event(*text_delta_of(item, content), b',"delta":""', logprobs)

    # ------------------------------------------------------------ the lane

    def _pass(self, raw: bytes, events: tuple[StreamEvent, ...]) -> bytes:
        """Takes an upstream's own event, and shows it as it is unless its item was written anew."""
        writer = self._writer
        writer.same_dialect = True
        frame = _frame_decoder.decode(raw)
        index, status = frame.output_index, _STATUSES.get(frame.type)
        if status is not None and frame.type == "response.created":
            writer.shape.note(unnamed(frame.response, KNOWN_RESPONSE))
        if status is not None and (self._mended or writer.output.open) and frame.type in _ENDINGS:
            return self._end_anew(frame, events)
        if index not in writer.output.raw_open and (self._took_over or self._is_ours(frame, events)):
            self._mended = True
            return writer.write(events)
        changed: dict[str, bytes] = {}
        before = b""
        if status is not None:
            before = self._mended_end(frame)
            changed = self._made_whole(frame, status, events)
            self._note_item(frame)
        if frame.type in _CALL_TEXT_DONE and index is not None:
            self._writer.output.told_end(index)
        shown = before + self._shown(frame, raw, changed)
        writer.emitter.frame = frame
        more = writer.write(events)  # only events of the reference document
        writer.emitter.frame = None
        return shown + more + (self._ended(frame) if status is not None else b"")

    def _mended_end(self, frame: Frame) -> bytes:
        """The events that must come before the end of the upstream's own item."""
        if frame.type != "response.output_item.done" or frame.output_index is None:
            return b""
        return self._writer.output.end_mended(frame.output_index)

    def _note_item(self, frame: Frame) -> None:
        """Notes an item of its own that the upstream begins with this event."""
        if frame.type == "response.output_item.added" and frame.output_index is not None:
            item = msgspec.json.decode(frame.item, type=_Item)
            id = item.id if isinstance(item.id, str) else ""
            self._writer.output.open_raw(frame.output_index, id, is_message=item.type == "message")

    def _ended(self, frame: Frame) -> bytes:
        """The reference document's events for an item that ends here."""
        if frame.type == "response.output_item.done" and frame.output_index is not None:
            return self._writer.output.close_raw(frame.output_index, bytes(frame.item))
        if frame.type in _ENDINGS:
            self._over = True
            return self._writer.done(bytes(frame.response))
        return b""

    def _is_ours(self, frame: Frame, events: tuple[StreamEvent, ...]) -> bool:
        """Whether the event belongs to an item whose beginning was written anew, or that has none."""
        if frame.output_index is None or frame.type == "response.output_item.added":
            return False
        return bool(events) or any(item.index == frame.output_index for item in self._writer.output.open)

    def _shown(self, frame: Frame, raw: bytes, changed: dict[str, bytes]) -> bytes:
        """The upstream's own event with the changed members; most events have none."""
        number = self._writer.emitter.next_number()
        if frame.sequence_number != number:
            changed["sequence_number"] = dump(number)
        if b"null" in raw and frame.type in _WITH_LOGPROBS and members(raw).get("logprobs") == b"null":
            changed["logprobs"] = b"[]"
        return encode_event(frame.type.encode(), write_object((members(raw) | changed).items()) if changed else raw)

    def _made_whole(self, frame: Frame, status: str, events: tuple[StreamEvent, ...]) -> dict[str, bytes]:
        """Adds required members to the objects in the event. Returns the changed members, and changes them in the frame
        too."""
        start = self._writer.start or next(event for event in events if type(event) is ResponseStart)
        changed: dict[str, bytes] = {}
        for name, given, whole in (
            ("response", frame.response, lambda raw: self._writer.shape.whole(raw, start, status)),
            ("item", frame.item, lambda raw: whole_item(raw, status, start.id or "", frame.output_index or 0)),
            ("part", frame.part, whole_part),
        ):
            raw = bytes(given)
            if raw != b"null" and (written := whole(raw)) != raw:
                changed[name] = written
                setattr(frame, name, msgspec.Raw(written))
        return changed

    def _end_anew(self, frame: Frame, events: tuple[StreamEvent, ...]) -> bytes:
        """The upstream's last event, with the output that the client has seen."""
        writer = self._writer
        assert writer.start is not None
        out = writer.write(event for event in events if type(event) is not ResponseEnd) + writer.close_all()
        whole = writer.shape.whole(bytes(frame.response), writer.start, frame.type.removeprefix("response."))
        response = members(whole) | {"id": dump(writer.start.id), "model": dump(writer.start.model)}
        response["output"] = write_array(writer.output.finished())
        self._over = True
        return out + writer.ending(frame.type.encode(), write_object(response.items()))
