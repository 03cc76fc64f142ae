"""One client request and its answer: the sans-IO pipe between a door and a provider.

    exchange = Exchange(door, request, target, ...)      checks, builds `upstream_request`
    exchange.receive_head(status, headers)               then, for the upstream's answer,
    exchange.receive_data(chunk)  *                      bytes in, actions out,
    exchange.receive_end(error or None)                  until the body is over or broke off

Actions come in the order in which the shell must carry them out: `Head` once, then `Send`. No network, no clock and no
randomness: `now` and `new_id` are handed in, so the same bytes give the same answer. `new_id` is called once for the
response and once for each minted call, before the door sees the event.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from msgspec import Struct

from toolwire.doors import Door
from toolwire.framing.sse import Frame, SseDecoder
from toolwire.history import check_results
from toolwire.model.errors import GatewayError, RequestError, UpstreamProtocolError, UpstreamTruncated
from toolwire.model.events import (
    Batch,
    Finish,
    ReasoningEnd,
    ResponseEnd,
    ResponseStart,
    StreamEvent,
    StreamFailed,
    TextEnd,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    Usage,
    UsageUpdate,
)
from toolwire.model.http import Head, Headers, UpstreamRequest
from toolwire.model.limits import ANSWER_BYTES
from toolwire.model.request import ChatRequest
from toolwire.model.settings import Target, Tenant
from toolwire.model.source import with_source
from toolwire.policy import AnswerLimits
from toolwire.providers import load_provider, profile_of
from toolwire.stream.fold import Fold
from toolwire.stream.order import OrderCheck
from toolwire.tool_call_ids import RANDOM_CHARS, find_conversation, keeps, mint
from toolwire.tool_names import renamed


class Send(Struct, frozen=True, gc=False):
    """Bytes of the body for the client."""

    data: bytes


Action = Head | Send

#: How a body of events begins, whatever its content type says.
_EVENTS = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?::|data:|event:|id:|retry:)")

#: A batch of nothing but these comes from the end of the upstream's body, or from us, and from no frame.
_ENDINGS = (TextEnd, ReasoningEnd, ToolCallEnd, ResponseEnd, StreamFailed)


#: What is shorter is no secret but a word ("ollama", "EMPTY") that a host's message may well contain.
_SECRET_CHARS = 12

_TOO_DEEP = "the upstream's answer is nested too deeply"


@dataclass(slots=True)
class Summary:
    """What the log line says of an exchange. No content, ever."""

    stream: bool
    tool_names: list[str] = field(default_factory=list)
    calls: int = 0
    argument_bytes: int = 0
    ids_minted: int = 0
    repaired_frames: int = 0
    warnings: list[str] = field(default_factory=list)
    upstream_status: int | None = None
    model: str | None = None
    finish: str | None = None
    usage: Usage | None = None
    error: GatewayError | None = None


class Exchange:
    """See the module. The constructor raises RequestError for what the provider cannot take; `warnings` are those that
    are known before."""

    def __init__(
        self,
        door: Door,
        request: ChatRequest,
        target: Target,
        tenant: Tenant,
        *,
        headers: dict[str, str],
        credential: str | None,
        request_id: str,
        now: Callable[[], float],
        new_id: Callable[[int], str],
        warnings: Sequence[str] = (),
    ) -> None:
        check_results(request)
        self._door, self._request, self._request_id = door, request, request_id
        self._credential = credential
        self._now, self._new_id = now, new_id
        self._provider = load_provider(target.provider.wire)
        self._profile = profile_of(target)
        self._lane = door.dialect == self._provider.dialect
        self.upstream_request: UpstreamRequest
        try:
            self.upstream_request, found = self._provider.build_request(request, target, self._profile, credential)
        except RecursionError:
            raise RequestError("the body is not valid JSON: it is nested too deeply", code="invalid_json") from None
        self.conversation = find_conversation(request, headers, tenant.name, new_id)
        self.summary = Summary(request.stream, warnings=[*warnings, *found])
        self._given_names = {wire: name for name, wire in renamed(request, self._provider.tool_name).items()}
        self._used_ids = {call.id for message in request.messages for call in message.tool_calls}
        self._limits = AnswerLimits(tenant.limits)
        self._order = OrderCheck()
        self._decoder = self._provider.decoder()
        self._encoder = door.stream_encoder(request)
        self._fold = Fold()  # for an answer that is one document
        self._sse: SseDecoder | None = None
        self._body = bytearray()  # an answer, or an error, that is not streamed
        self._gathered = 0  # bytes of what is kept until the answer's end
        self._status = 0
        self._upstream_headers: dict[str, str] = {}
        self._head_sent = False
        self._over = False
        #: For DEBUG logs and replay: every frame and batch as it passes.
        self.observe: Callable[[Frame | Batch], None] | None = None

    # ------------------------------------------------------------ what the shell reports

    def receive_head(self, status: int, headers: dict[str, str]) -> list[Action]:
        """The upstream's status and headers (names in lower case)."""
        self._status, self._upstream_headers = status, headers
        self.summary.upstream_status = status
        kind = headers.get("content-type", "").lower()
        if 200 <= status < 300 and ("event-stream" in kind or (self._request.stream and "json" not in kind)):
            self._sse = SseDecoder()
        return []

    def receive_data(self, data: bytes) -> list[Action]:
        """Some bytes of the upstream's body."""
        if self._over:
            return []
        try:
            if self._sse is None or not self._request.stream:
                self._gathered += len(data)
                if self._gathered > ANSWER_BYTES:
                    raise UpstreamProtocolError(f"the upstream's answer is larger than {ANSWER_BYTES} bytes")
            if self._sse is not None:
                return self._frames(self._sse.feed(data))
            begins = len(self._body) < 16
            self._body += data
            if begins and 200 <= self._status < 300 and _EVENTS.match(self._body):
                self._sse = SseDecoder()
                return self._frames(self._sse.feed(bytes(self._body)))
        except GatewayError as error:
            return self.fail(error)
        return []

    def receive_end(self, error: GatewayError | None = None) -> list[Action]:
        """The upstream's body is over, or broke off with `error`."""
        if self._over:
            return []
        try:
            if not 200 <= self._status < 300:
                if error is not None and not self._status:
                    raise error
                raise self._provider.parse_error(self._status, self._upstream_headers, bytes(self._body))
            if self._sse is not None:
                return self._end_stream(self._sse, error)
            if error is not None:
                raise error
            return self._whole(self._decoder.decode_json(bytes(self._body)))
        except RecursionError:
            return self.fail(UpstreamProtocolError(_TOO_DEEP))
        except GatewayError as failure:
            return self.fail(failure)

    def fail(self, error: GatewayError) -> list[Action]:
        """End with an error: an HTTP answer while no head was sent, else the door's error event."""
        if self._over:
            return []
        self._over = True
        if self._credential and len(self._credential) >= _SECRET_CHARS:
            error = error.without(self._credential)
        self.summary.error = error
        if not self._head_sent:
            self._head_sent = True
            body = self._door.render_error(error, self._request_id)
            return [Head(error.status, self._headers("application/json", *error.retry_headers())), Send(body)]
        self._see(Batch((StreamFailed(error.code, error.message, error.status),)))
        return [Send(self._encoder.fail(error, self._request_id))]

    @property
    def over(self) -> bool:
        """Whether the answer is complete: the upstream has nothing more to say."""
        return self._over

    def early_head(self) -> Head:
        """The head to commit when the client must not wait longer for the upstream."""
        return self._stream_head()

    def keep_alive(self) -> bytes:
        """Bytes that show life and change nothing. Whoever asks has committed a head, this one or the early one:
        what fails from now on is an error event."""
        self._head_sent = True
        return self._encoder.keep_alive()

    # ------------------------------------------------------------ streams

    def _frames(self, frames: list[Frame]) -> list[Action]:
        out: list[bytes] = []
        for frame in frames:
            try:
                out.append(self._frame(frame))
            except GatewayError as error:
                # What was understood before the failure reaches the client before the failure does.
                return self._send(b"".join(out)) + self.fail(error)
        return self._send(b"".join(out))

    def _frame(self, frame: Frame) -> bytes:
        if self.observe is not None:
            self.observe(frame)
        try:
            return self._pass(self._decoder.decode(frame))
        except RecursionError:
            raise UpstreamProtocolError(_TOO_DEEP) from None

    def _end_stream(self, sse: SseDecoder, error: GatewayError | None) -> list[Action]:
        """The body is over. What it left without a blank line counts if it can be read; else it was cut."""
        sent: list[Action] = []
        try:
            for frame in sse.end():
                sent += self._send(self._frame(frame))
        except UpstreamProtocolError:
            return sent + self.fail(error or UpstreamTruncated("the upstream's answer broke off inside a frame"))
        except GatewayError as failure:
            return sent + self.fail(failure)
        try:
            return sent + self._send(self._pass(self._decoder.end()))
        except UpstreamTruncated as truncated:
            return sent + self.fail(error or truncated)
        except GatewayError as failure:
            return sent + self.fail(failure)

    def _pass(self, batch: Batch) -> bytes:
        """One batch through the exchange's own rules to the door's bytes."""
        if self._over:  # what follows the end, such as a second [DONE]
            return b""
        self._count_repair(batch)
        batch = self._owned(batch)
        self._see(batch)
        if self._request.stream:
            return self._encoder.encode(batch)
        # A host that streams unasked. Members that the model does not name came in pieces that nobody could join.
        self._fold.take(Batch(self._provider.without_source(batch).events))
        return self._door.render_response(self._fold.response(), Batch(())) if self._over else b""

    def _send(self, data: bytes) -> list[Action]:
        """The body's bytes, behind the head if it is still to come. The answer has begun with its first event."""
        waits = self._head_sent or not self._request.stream  # the head of a document comes with it
        if self._order.state == "new" or (waits and not data):
            return []
        actions: list[Action] = []
        if not self._head_sent:
            self._head_sent = True
            json_head = Head(200, self._headers("application/json"))
            actions.append(self._stream_head() if self._request.stream else json_head)
        if data:
            actions.append(Send(data))
        return actions

    # ------------------------------------------------------------ whole answers

    def _whole(self, batch: Batch) -> list[Action]:
        self._count_repair(batch)
        batch = self._owned(batch)
        self._see(batch)
        if self._request.stream:  # a host that ignores `stream`
            return self._send(self._encoder.encode(self._provider.without_source(batch)))
        self._fold.take(batch)
        return self._send(self._door.render_response(self._fold.response(), batch))

    # ------------------------------------------------------------ rules on every batch

    def _owned(self, batch: Batch) -> Batch:
        """The batch with what the exchange decides: the response's id, each call's id, names as the client knows them.
        A batch that nothing changes keeps its source."""
        events: list[StreamEvent] | None = None
        for number, event in enumerate(batch.events):
            if type(event) is ToolCallDelta:
                self._limits.arguments(event.index, event.fragment)
                self.summary.argument_bytes += len(event.fragment)
                continue
            new: StreamEvent = event
            if type(event) is ToolCallStart:
                new = self._own_call(event)
            elif type(event) is ResponseStart:
                new = self._own_start(event)
            if new is not event:
                events = events or list(batch.events)
                events[number] = new
        if events is None:
            return batch
        # A change of the bytes is what a client of the same dialect would see: a default for a missing time is none.
        if any(_shown(new) != _shown(old) for new, old in zip(events, batch.events, strict=True)):
            return self._rewritten(batch, events)
        return with_source(Batch(tuple(events), batch.extra), batch.source)

    def _rewritten(self, batch: Batch, events: list[StreamEvent]) -> Batch:
        plain = self._provider.without_source(batch)
        merged = [
            replace(new, extra=old.extra) if type(new) is ToolCallStart and type(old) is ToolCallStart else new
            for new, old in zip(events, plain.events, strict=True)
        ]
        return Batch(tuple(merged), plain.extra)

    def _own_start(self, event: ResponseStart) -> ResponseStart:
        id = event.id if self._lane and event.id else self._door.response_prefix + self._new_id(24)
        self.summary.model = event.model
        created = event.created if event.created is not None else int(self._now())
        return replace(event, id=id, created=created, model=event.model or self._request.model)

    def _own_call(self, event: ToolCallStart) -> ToolCallStart:
        self._limits.call()
        name = self._given_names.get(event.name, event.name)
        self.summary.calls += 1
        self.summary.tool_names.append(name)
        id = event.id
        keep = self._lane and not self._profile.yields_state
        if not id or not keep or not keeps(id, self._door.call_id, self._used_ids):
            id = mint(self.conversation.token, self._new_id(RANDOM_CHARS))
            self.summary.ids_minted += 1
        self._used_ids.add(id)
        return event if id == event.id and name == event.name else replace(event, id=id, name=name)

    def _count_repair(self, batch: Batch) -> None:
        """What the decoder gave without a source needed repair, unless it comes from the end of the body."""
        if batch.source is None and not all(type(event) in _ENDINGS for event in batch.events):
            self.summary.repaired_frames += 1

    def _see(self, batch: Batch) -> None:
        """Check the order, keep the log's figures."""
        if self.observe is not None:
            self.observe(batch)
        self._order.check(batch)
        for event in batch.events:
            if type(event) is UsageUpdate:
                self.summary.usage = event.usage
            elif type(event) is Finish:
                self.summary.finish = event.reason
            elif type(event) is ResponseEnd:
                self._over = True

    # ------------------------------------------------------------ heads

    def _stream_head(self) -> Head:
        return Head(200, self._headers("text/event-stream; charset=utf-8", ("cache-control", "no-cache")))

    def _headers(self, content_type: str, *more: tuple[str, str]) -> Headers:
        headers = [("content-type", content_type), ("x-request-id", self._request_id)]
        headers.append(("x-conversation-id", self.conversation.id))
        if self.summary.warnings:
            headers.append(("x-toolwire-warnings", ",".join(self.summary.warnings)[:1024]))
        return (*headers, *more)


def _shown(event: StreamEvent) -> tuple[object, ...]:
    """The identity of an event that its source's bytes carry."""
    if type(event) is ResponseStart:
        return (event.id, event.model)
    return (event,)
