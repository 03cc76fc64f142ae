"""One client request and its answer: the sans-IO pipe between a door and a provider.

    exchange = Exchange(door, checked(...), target, ...) builds `upstream_request`
    exchange.receive_head(status, headers)               then, for the upstream's answer,
    exchange.receive_data(chunk)  *                      bytes in, actions out,
    exchange.receive_end(error or None)                  until the body is over or broke off

Actions come in the order in which the shell must carry them out: `Head` once, then `Send`. A `Store` is the last of its
list: once it is done, or was given up, `receive_stored` gives the actions that waited for it. So what a turn leaves
behind is stored before the client hears that the turn is over. When the provider refuses the state it was given,
`resend` says so, and `upstream_request` is to be sent once more.

No network, no clock and no randomness: `now` and `new_id` are handed in, so the same bytes give the same answer.
`new_id` is called once for the response and once for each minted call, before the door sees the event.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from msgspec import Struct

from toolwire.conversation import NOTHING_FOUND, Found, TurnRecord, origin_of, partition_of, restored
from toolwire.conversation.tool_call_ids import find_conversation
from toolwire.doors import AnswerContext, Door
from toolwire.doors.typed import too_deep
from toolwire.exchange.answer_ids import AnswerIds
from toolwire.exchange.figures import Summary
from toolwire.exchange.stages import AnswerRules
from toolwire.framing.sse import Frame, SseDecoder, encode_comment
from toolwire.model.errors import GatewayError, UpstreamProtocolError, UpstreamTruncated
from toolwire.model.events import Batch, StreamFailed
from toolwire.model.http import Head, Headers, UpstreamRequest, id_headers
from toolwire.model.limits import ANSWER_BYTES
from toolwire.model.request import ChatRequest
from toolwire.model.settings import Target, Tenant
from toolwire.model.stored import Item
from toolwire.policy import AnswerPolicy
from toolwire.policy.checked_request import Checked
from toolwire.providers import load_provider, profile_of
from toolwire.rewrite.custom_tools import CustomCalls
from toolwire.rewrite.foreign_parts import without_server_tool_items
from toolwire.rewrite.history import check_results
from toolwire.rewrite.tool_names import renamed, with_wire_names
from toolwire.stream.fold import Fold

if TYPE_CHECKING:
    from toolwire.stream.text_calls.recovery import TextCallRecovery


class Send(Struct, frozen=True, gc=False):
    """Bytes of the body for the client."""

    data: bytes


class Store(Struct, frozen=True, gc=False):
    """What later turns will look up. To be stored before anything else is sent; see `Exchange.receive_stored`."""

    items: tuple[Item, ...]


Action = Head | Send | Store


def carried_out(
    exchange: Exchange, actions: Iterable[Action], store: Callable[[tuple[Item, ...]], str | None]
) -> Iterator[Head | Send]:
    """What is to be sent of these actions, each Store done in its turn by `store`, which returns an error's code or
    None."""
    for action in actions:
        if isinstance(action, Store):
            yield from carried_out(exchange, exchange.receive_stored(store(action.items)), store)
        else:
            yield action


#: How a body of events begins, whatever its content type says.
_EVENTS = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?::|data:|event:|id:|retry:)")

#: What is shorter is no secret but a word ("ollama", "EMPTY") that a host's message may well contain.
_SECRET_CHARS = 12

#: What a refusal says that is about the state in a history.
_ABOUT_STATE = re.compile(r"signature|thinking|thought|reasoning|encrypted", re.IGNORECASE)

#: The form of a provider's header that may be shown, and how many of them.
_SHOWN_VALUE = re.compile(r"[\x21-\x7e]{1,64}")
_MOST_SHOWN = 32

_TOO_DEEP = "the upstream's answer is nested too deeply"


class Exchange:
    """See the module. The constructor raises RequestError for what the provider cannot take; `warnings` are those that
    are known before."""

    def __init__(
        self,
        door: Door,
        checked: Checked,
        target: Target,
        tenant: Tenant,
        *,
        headers: dict[str, str],
        credential: str | None,
        request_id: str,
        now: Callable[[], float],
        new_id: Callable[[int], str],
        found: Found = NOTHING_FOUND,
        state_seconds: int = 30 * 86_400,
        leaves: tuple[Item, ...] = (),
        answer_headers: Headers = (),
    ) -> None:
        """`found`: what the store had of `turn_state.wanted`. What this turn leaves there lives for `state_seconds`;
        `leaves` are items that it leaves in any case. `answer_headers` go with every answer."""
        request = checked.request
        self._door, self._request, self._request_id = door, request, request_id
        self._target, self._found = target, found
        self._credential = credential
        self._now, self._new_id = now, new_id
        self._provider = load_provider(target.provider.wire)
        self._profile = profile_of(target)
        self._lane = door.dialect == self._provider.dialect
        check_results(request, self._provider.dialect)
        self._has_state = False
        self._resend = False
        self.summary = Summary(request.stream, warnings=list(checked.warnings))
        self.upstream_request = self._build()
        self.conversation = find_conversation(request, headers, tenant.name, new_id)
        self._leaves, self.answer_headers = leaves, answer_headers
        self._record = self._turn_record(tenant, state_seconds) if request.tools else None
        self._rules = self._answer_rules(checked)
        self._decoder = self._provider.decoder()
        self._context = AnswerContext(
            request_id,
            self.conversation.id,
            target.provider.name,
            request,
            warnings=self.summary.warnings,
            faults=self._rules.policy.faults,
        )
        self._encoder = door.stream_encoder(request, self._context)
        self._fold = Fold()  # for an answer that is one document
        self._sse: SseDecoder | None = None
        self._body = bytearray()  # an answer, or an error, that is not streamed
        self._gathered = 0  # bytes of what is kept until the answer's end
        self._status = 0
        self._upstream_headers: dict[str, str] = {}
        self._head_sent = False
        self._told = 0  # warnings that the head has told
        self._waiting: bytes | None = None  # for the Store to be done
        self._over = False  # the client was told of it, or of a failure
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
                refusal = self._provider.parse_error(self._status, self._upstream_headers, bytes(self._body))
                if self._refuses_state(refusal):
                    return self._begin_again()
                raise refusal
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
        held = b""
        if not self._rules.complete:
            broken = self._rules.broken(StreamFailed(error.code, error.message, error.status))
            held = self._encoded(self._observed(broken)[:-1])
        return [Send(held + self._encoder.fail(error, self._request_id))]

    @property
    def over(self) -> bool:
        """Whether the answer is complete: the upstream has nothing more to say."""
        return self._over

    @property
    def ends(self) -> bool:
        """Whether the turn's end was seen: how many calls it has is known, and the client hears of it next."""
        return self._rules.ends

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
                return self._send(b"".join(out), broken=True) + self.fail(error)
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
        out: list[bytes] = []
        inside = True
        try:
            for frame in sse.end():
                out.append(self._frame(frame))
            inside = False
            out.append(self._pass(self._decoder.end()))
            return self._send(b"".join(out))
        except UpstreamTruncated as truncated:
            failure: GatewayError = error or truncated
        except UpstreamProtocolError as unreadable:
            failure = unreadable
            if inside:
                failure = error or UpstreamTruncated("the upstream's answer broke off inside a frame")
        except GatewayError as other:
            failure = other
        return self._send(b"".join(out), broken=True) + self.fail(failure)

    def _pass(self, batch: Batch) -> bytes:
        """One batch through the exchange's own rules to the door's bytes."""
        if self._over:  # what follows the end, such as a second [DONE]
            return b""
        batches = self._ruled(batch)
        if self._request.stream:
            data = self._encoder.encode(batches[0]) if len(batches) == 1 else self._encoded(batches)
        else:  # a host that streams unasked; members without a name came in pieces that nobody could join
            for shown in batches:
                self._fold.take(Batch(self._provider.without_source(shown).events))
            data = self._document(Batch(())) if self._rules.complete else b""
        self._finished()
        return data

    def _encoded(self, batches: Iterable[Batch]) -> bytes:
        return b"".join(map(self._encoder.encode, batches))

    def _document(self, batch: Batch) -> bytes:
        return self._door.render_response(self._fold.response(), batch, self._context)

    def _send(self, data: bytes, *, broken: bool = False) -> list[Action]:
        """The body's bytes, once what the turn leaves behind is stored. A broken turn leaves nothing."""
        if self._rules.ends and not broken and (items := self._items()):
            self.summary.stored_items += len(items)
            self._waiting = data
            return [Store(items)]
        return self._sent(data)

    def _finished(self) -> None:
        """The answer's last batch was written. Not before: what the door cannot show still becomes an error."""
        self._over = self._rules.complete

    def _items(self) -> tuple[Item, ...]:
        """What is to be stored and was not handed out before."""
        leaves, self._leaves = self._leaves, ()
        if self._record is None:
            return leaves
        items = self._record.items()
        self.summary.warn(*self._record.warnings)
        return (*items, *leaves)

    def receive_stored(self, error: str | None = None) -> list[Action]:
        """A Store is done, or was given up with an error's code: what waited for it."""
        data, self._waiting = self._waiting or b"", None
        if error is not None:
            self.summary.warn("state_not_stored")
        return self._sent(data)

    def _sent(self, data: bytes) -> list[Action]:
        """The body's bytes, behind the head if it is still to come. The answer has begun with its first event."""
        waits = self._head_sent or not self._request.stream  # the head of a document comes with it
        if not self._rules.begun or (waits and not data):
            return []
        actions: list[Action] = []
        if not self._head_sent:
            self._head_sent = True
            json_head = Head(200, self._headers("application/json"))
            actions.append(self._stream_head() if self._request.stream else json_head)
        if data:
            actions.append(Send(self._late_warnings() + data))
        return actions

    def _late_warnings(self) -> bytes:
        """What was found out after the head, as a comment in front of the end of a stream."""
        late = self.summary.warnings[self._told :]
        if not late or not self._rules.complete or not self._request.stream:
            return b""
        self._told += len(late)
        return encode_comment(b"x-toolwire-warnings: " + ",".join(late).encode())

    # ------------------------------------------------------------ whole answers

    def _whole(self, batch: Batch) -> list[Action]:
        batches = self._ruled(batch)
        if self._request.stream:  # a host that ignores `stream`
            data = self._encoded(map(self._provider.without_source, batches))
        else:
            for shown in batches:
                self._fold.take(shown)
            data = self._document(batches[-1])
        self._finished()
        return self._send(data)

    # ------------------------------------------------------------ every batch

    def _ruled(self, batch: Batch) -> list[Batch]:
        """What the client may be shown of it now, maybe nothing."""
        return self._observed(self._rules.take(batch))

    def _observed(self, batches: list[Batch]) -> list[Batch]:
        if self.observe is not None:
            for batch in batches:
                self.observe(batch)
        return batches

    def _answer_rules(self, checked: Checked) -> AnswerRules:
        request, without_source = self._request, self._provider.without_source
        ids = AnswerIds(
            response_prefix=self._door.response_prefix,
            kept=self._door.call_id if self._lane and not self._profile.yields_state else None,
            keeps_response_id=self._lane,
            token=self.conversation.token,
            names={wire: name for name, wire in renamed(request, self._provider.tool_name).items()},
            used={call.id for message in request.messages for call in message.tool_calls},
            model=request.model,
            new_id=self._new_id,
            now=self._now,
            without_source=without_source,
            minted=self._minted,
        )
        warnings = self.summary.warnings
        return AnswerRules(
            self._text_calls(request),
            ids,
            CustomCalls(request, warnings, without_source),
            AnswerPolicy(request, checked.rules, without_source, warnings=warnings),
            self._record,
            self.summary,
            origin=None if self._lane else origin_of(self._target),
        )

    def _minted(self, call_id: str, provider_call_id: str | None, name: str) -> None:
        self.summary.ids_minted += 1
        if self._record is not None:
            self._record.minted(call_id, provider_call_id, name)

    # ------------------------------------------------------------ state of earlier turns

    def _build(self, with_state: bool = True) -> UpstreamRequest:
        """The upstream's request, with what the provider gave in earlier turns where it belongs."""
        request = self._request
        if not self._lane:
            request = without_server_tool_items(request, self.summary.warnings)
        turn = restored(request, self._found, origin_of(self._target), same_dialect=self._lane, with_state=with_state)
        self._has_state = turn.has_state
        try:
            built, found = self._provider.build_request(turn.request, self._target, self._profile, self._credential)
        except RecursionError:
            raise too_deep() from None
        self.summary.warn(*turn.warnings, *found)
        return built

    def _text_calls(self, request: ChatRequest) -> TextCallRecovery | None:
        """What turns calls that a model writes as text into calls, where that is done."""
        if not self._profile.recovers_text_calls or self._provider.dialect != "openai_chat":
            if request.options.recover_text_calls:
                self.summary.warn("not_supported:recover_text_calls")
            return None
        if not request.tools:
            return None
        from toolwire.stream.text_calls.recovery import (  # for few hosts: no cold start's business
            TextCallRecovery,
            recoverable,
        )

        tools = recoverable(with_wire_names(request, self._provider.tool_name))
        return TextCallRecovery(tools, self._provider.without_source) if tools else None

    def _turn_record(self, tenant: Tenant, seconds: int) -> TurnRecord:
        return TurnRecord(
            self._target,
            partition_of(tenant.name, self.conversation.token),
            int(self._now()) + seconds,
            keeps_state=tenant.store_state,
            keeps_plain_reasoning=self._profile.yields_state,
        )

    @property
    def resend(self) -> bool:
        """Whether `upstream_request` is a new one, to be sent in place of the one that was refused."""
        return self._resend

    def _refuses_state(self, refusal: GatewayError) -> bool:
        return (
            self._has_state
            and not self._resend
            and self._status == 400
            and _ABOUT_STATE.search(refusal.message) is not None
        )

    def _begin_again(self) -> list[Action]:
        """The provider refuses the state it is given: once more without any."""
        self._resend = True
        self.summary.warn("state_refused")
        self.upstream_request = self._build(with_state=False)
        self._body.clear()
        self._status, self._gathered = 0, 0
        return []

    # ------------------------------------------------------------ heads

    def _stream_head(self) -> Head:
        return Head(200, self._headers("text/event-stream; charset=utf-8", ("cache-control", "no-cache")))

    def _headers(self, content_type: str, *more: tuple[str, str]) -> Headers:
        headers = [("content-type", content_type), *id_headers(self._request_id)]
        headers.append(("x-conversation-id", self.conversation.id))
        self._told = len(self.summary.warnings)
        if self.summary.warnings:
            headers.append(("x-toolwire-warnings", ",".join(self.summary.warnings)[:1024]))
        return (*headers, *(self.answer_headers or self._lane_headers()), *more)

    def _lane_headers(self) -> Headers:
        """What the provider says of its limits to a client of its own API: where the tenant has none of its own."""
        shown = self._provider.shown_headers if self._lane else ()
        return tuple(
            (name, value)
            for name, value in self._upstream_headers.items()
            if name.startswith(shown) and _SHOWN_VALUE.fullmatch(value)
        )[:_MOST_SHOWN]
