"""Responses answers, decoded into neutral events: the stream's events and the JSON answer.

A frame that a client of the same API can read as it is keeps its `source`, even if the neutral model has no word for it
(annotations, a hosted tool's progress, new events). A frame that needed repair has none (an item without its beginning,
an index or id that is missing or changes, text that came only in a `.done`).
"""

from __future__ import annotations

import re

import msgspec

from toolwire.framing import Frame
from toolwire.framing.sse import meant
from toolwire.model.errors import UpstreamError, UpstreamProtocolError, UpstreamTruncated
from toolwire.model.events import (
    Batch,
    Finish,
    FinishReason,
    ResponseEnd,
    ResponseStart,
    StreamEvent,
    Usage,
    UsageUpdate,
)
from toolwire.model.source import Source
from toolwire.providers.decoder_context import DecoderContext
from toolwire.providers.finish_words import FINISH, meaning
from toolwire.providers.openai_chat.errors import is_failure
from toolwire.providers.openai_responses.answer_shapes import (
    NULL,
    is_event,
    read_event,
    read_item,
    read_response,
    read_usage,
)
from toolwire.providers.openai_responses.errors import error_in_answer
from toolwire.providers.openai_responses.item_events import ABOUT_ITEMS, Output
from toolwire.wire import openai_responses as wire
from toolwire.wire.json import is_set
from toolwire.wire.openai_responses_extra import response_extra
from toolwire.wire.plain import plain

_NOTHING = Batch(())

#: Why a response is incomplete -> why the turn ended. An unknown word counts as the output limit, since the answer is
#: not whole.
INCOMPLETE: dict[str, FinishReason] = {
    "max_output_tokens": "length", "max_messages": "length", "content_filter": "content_filter", "steered": "stop",
}  # fmt: skip

_TERMINAL = ("response.completed", "response.incomplete", "response.done")
_FAILED = ("response.failed", "response.cancelled")
_ABOUT_RESPONSE = ("response.created", "response.in_progress", "response.queued", *_TERMINAL, *_FAILED)
_HAS_RESPONSE = re.compile(rb'"(?:output|status)"')


class ResponsesDecoder:
    """One answer. `decode` takes the stream's frames and `end` its end; `decode_json` takes a whole JSON answer.

    All raise UpstreamError (or a subclass) for an error the upstream reports and for answers that make no sense; `end`
    raises UpstreamTruncated when the answer broke off.
    """

    def __init__(self, context: DecoderContext) -> None:
        self._context = context
        self._started = False
        self._id: str | None = None
        self._ended = False
        self._output = Output(placeholders=context.placeholders)
        self._usage: Usage | None = None

    # ------------------------------------------------------------ stream

    def decode(self, frame: Frame) -> Batch:
        data = frame.data
        if self._ended:
            return _NOTHING
        if data[:1] != b"{":
            data = meant(data)
            if data == b"[DONE]":
                return self._done()
            if not data:
                return _NOTHING
        event, exact = read_event(data)
        kind = event.type or frame.event or ""
        if kind == "error" or bytes(event.error) not in NULL or (not kind and is_failure(data)):
            raise error_in_answer(data)
        events: list[StreamEvent] = []
        if kind in _ABOUT_RESPONSE and not bytes(event.response) and _HAS_RESPONSE.search(data) is not None:
            event.response, exact = msgspec.Raw(data), False  # a host that leaves the object around it out
        if is_set(event.tool_calls):
            self._output.within.note_beside(data)
            exact = False
        known, keep = self._event(kind, event, events)
        keep = keep and (exact or (not known and is_event(data) and not is_set(event.tool_calls)))
        keep = keep and event.type is not None and frame.event in (None, event.type)
        if keep:
            return Batch(tuple(events), source=Source(wire.DIALECT, data))
        return Batch(tuple(events), response_extra(bytes(event.response)) if bytes(event.response) not in NULL else ())

    def end(self) -> Batch:
        """The body is over. Only a terminal event says that the answer is whole."""
        if self._ended:
            return _NOTHING
        if not self._started:
            raise UpstreamTruncated("the upstream's answer ended before it began")
        raise UpstreamTruncated("the upstream's answer broke off: no response.completed")

    def _done(self) -> Batch:
        """Takes [DONE], which is not in this API. Hosts that write it in place of response.completed have completed the
        answer."""
        if not self._output.count or not self._output.all_ended:
            raise UpstreamTruncated("the upstream's answer broke off: no response.completed")
        events: list[StreamEvent] = []
        self._output.end(None, False, events)
        self._close(Finish("stop"), events)
        return Batch(tuple(events))

    def _event(self, kind: str, event: wire.Event, events: list[StreamEvent]) -> tuple[bool, bool]:
        """Adds the events of one frame. Returns whether they hold all of the frame, and whether a client of the same
        API may see it as it is."""
        if kind in ABOUT_ITEMS:
            begun = self._begin(events)
            return True, self._output.take(kind, event, events) and begun
        match kind:
            case "response.created" | "response.in_progress" | "response.queued":
                return True, self._response_start(event, events)
            case _ if kind in _TERMINAL or kind in _FAILED:
                return True, self._terminal(kind, event, events)
            case _ if kind.startswith("response.reasoning_part."):  # vLLM's: no SDK knows it, one throws at it
                return True, False
            case _:
                return False, True  # annotations, the progress of hosted tools, and whatever is new

    def _response_start(self, event: wire.Event, events: list[StreamEvent]) -> bool:
        response, exact = read_response(bytes(event.response)) if bytes(event.response) not in NULL else _NO_RESPONSE
        if self._started:
            return exact
        self._start(response, events)
        return exact and event.type == "response.created" and bool(response.id) and response.output == []

    def _start(self, response: wire.Response, events: list[StreamEvent]) -> None:
        self._started = True
        self._id = response.id
        created = int(response.created_at) if response.created_at is not None else None
        events.append(ResponseStart(response.id or None, response.model or None, created))

    def _begin(self, events: list[StreamEvent]) -> bool:
        """Begins an answer that has no response.created. Returns whether nothing had to be repaired."""
        if self._started:
            return True
        self._start(wire.Response(), events)
        return False

    # ------------------------------------------------------------ ends

    def _terminal(self, kind: str, event: wire.Event, events: list[StreamEvent]) -> bool:
        raw = bytes(event.response)
        response, exact = read_response(raw) if raw not in NULL else _NO_RESPONSE
        _raise_failure(response, kind in _FAILED)
        keep = exact and self._started and self._output.all_ended
        if not self._started:
            self._start(response, events)
        finish = _finish(response, kind == "response.incomplete")
        if is_set(response.tool_calls):
            self._output.within.note_beside(raw)
        said = len(events)
        same = self._output.complete(response.output or (), finish.is_cut, events)
        self._output.end(response.output_text, finish.is_cut, events)
        keep = (
            keep
            and same
            and response.id == self._id
            and len(events) == said
            and kind != "response.done"
            and bool(response.id)
        )
        keep = keep and (bool(response.output) or not self._output.items)
        usage = read_usage(response.usage)
        if usage is not None:
            self._usage = usage
            events.append(UsageUpdate(usage))
        if not self._output.count and finish.raw is None and not raw:
            raise UpstreamProtocolError("the upstream's answer is empty: no output and no response at its end")
        self._close(finish, events)
        return keep and _tells(response, finish) and usage is not None and usage.source is not None

    def _close(self, finish: Finish, events: list[StreamEvent]) -> None:
        """Ends the answer: with tool_calls if there are calls, unless it was cut or filtered."""
        self._ended = True
        if finish.reason == "stop" and self._output.calls:
            finish = Finish("tool_calls", finish.raw)
        self._context.warnings.add(*sorted(self._output.warnings))
        events += (finish, ResponseEnd(self._usage))

    # ------------------------------------------------------------ JSON

    def decode_json(self, body: bytes) -> Batch:
        """A whole answer as one batch of events."""
        response, exact = read_response(body)
        _raise_failure(response, failed=False)
        _raise_unfinished(response)
        if is_set(response.tool_calls):
            self._output.within.note_beside(body)
        elif response.output is None and not response.output_text:
            if is_failure(body):
                raise error_in_answer(body)
            raise UpstreamProtocolError("the upstream's answer has no output")
        events: list[StreamEvent] = []
        self._start(response, events)
        finish = _finish(response, incomplete=False)
        as_shown = True
        items = [bytes(raw) for raw in response.output or ()]
        for place, raw in enumerate(raw for raw in items if raw != b"null"):
            shape, typed = read_item(raw)
            exact = exact and typed
            as_shown = self._output.whole(place, shape, raw, finish.is_cut, events) and as_shown
        said = len(events)
        self._output.end(response.output_text, finish.is_cut, events)
        as_shown = as_shown and len(events) == said
        exact = exact and len(events) == said and b"null" not in items
        if (usage := read_usage(response.usage)) is not None:
            self._usage = usage
            events.append(UsageUpdate(usage))
        self._close(finish, events)
        whole = exact and as_shown and response.object == "response" and bool(response.id and response.model)
        whole = whole and response.status in ("completed", "incomplete") and _tells(response, finish)
        whole = whole and usage is not None and usage.source is not None
        batch = Batch(tuple(events), source=Source(wire.DIALECT, body))
        return batch if whole else plain(batch) if exact else Batch(batch.events, response_extra(body))


_NO_RESPONSE = (wire.Response(), False)


def _finish(response: wire.Response, incomplete: bool) -> Finish:
    status = response.status
    if status == "incomplete" or (incomplete and status != "completed"):
        word = response.incomplete_details.reason if response.incomplete_details is not None else None
        if word is not None and word not in INCOMPLETE:
            cut_by = FINISH.get(meaning(word))  # another API's word
            word = {"length": "max_output_tokens", "content_filter": "content_filter"}.get(cut_by or "", word)
        return Finish(INCOMPLETE.get(word or "", "length"), word or status)
    return Finish("stop", status)


def _tells(response: wire.Response, finish: Finish) -> bool:
    """Whether the response gives the reason why it is incomplete in this API's own words."""
    details = response.incomplete_details
    return details is None or details.reason is None or details.reason == finish.raw


def _raise_failure(response: wire.Response, failed: bool) -> None:
    if bytes(response.error) not in NULL:
        raise error_in_answer(bytes(response.error))
    if failed or response.status in ("failed", "cancelled"):
        raise UpstreamError(f"the upstream ended its answer with the status {response.status or 'failed'!r}")


def _raise_unfinished(response: wire.Response) -> None:
    """Raises the error for a document whose answer is not finished (`background`)."""
    if response.status in ("queued", "in_progress"):
        raise UpstreamProtocolError(
            f"the upstream has not answered yet (status {response.status!r}): background answers are not supported"
        )
