"""One client request and its answer: the sans-IO pipeline between a door and a provider.

    client, target = prepare(door, http, settings, tenant)
    attempt = prepare_attempt(client, target, credential)
    exchange = Exchange(client, attempt, ...)      `upstream_request` is to be sent; then, for its answer,
    exchange.receive_head(status, headers)
    exchange.receive_data(chunk)  *                bytes in, actions out,
    exchange.receive_end(error or None)            until the body is over or broke off

    bytes ─► reader ─► stages ─► writer ─► gate ─► actions

Actions come in the order in which the shell must carry them out: `Head` once, then `Send`. A `Store` is the last of its
list: once it is done, or was given up, `receive_stored` gives the actions that waited for it. So what a turn leaves
behind is stored before the client hears that the turn is over. When the provider refuses the state that it was
given, the exchange is `unanswered` again: there is a new `upstream_request`.

No network, no clock and no randomness: `now` and `new_id` are handed in, so the same bytes give the same answer.
`new_id` is called once for the response and once for each minted call, before the door sees the event.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from toolwire.conversation.sticky_model import sticky_item
from toolwire.conversation.tool_call_ids import find_conversation
from toolwire.exchange.actions import Action, Send, Store
from toolwire.exchange.attempt import Attempt
from toolwire.exchange.figures import Figures
from toolwire.exchange.gate import Gate
from toolwire.exchange.heads import Heads
from toolwire.exchange.observer import Observer
from toolwire.exchange.prepare import ClientRequest
from toolwire.exchange.reader import Reader, reader_for
from toolwire.exchange.stages import stages_for
from toolwire.exchange.turn import Turn
from toolwire.exchange.writer import writer_for
from toolwire.model.errors import GatewayError, UpstreamProtocolError, UpstreamTruncated
from toolwire.model.events import Batch, StreamFailed
from toolwire.model.http import Head, Headers, UpstreamRequest
from toolwire.model.warnings import Warnings

T = TypeVar("T")


class Exchange:
    """See the module."""

    def __init__(
        self,
        client: ClientRequest,
        attempt: Attempt,
        *,
        request_id: str,
        now: Callable[[], float],
        new_id: Callable[[int], str],
        state_seconds: int = 30 * 86_400,
        answer_headers: Headers = (),
        observer: Observer | None = None,
    ) -> None:
        """The first attempt. What this turn leaves in the store lives for `state_seconds`; `answer_headers` go with
        every answer."""
        self.client, self.answer_headers, self._observer = client, answer_headers, observer
        self.figures = Figures(client.request.stream, client.door.dialect, warnings=Warnings(client.warnings))
        self.conversation = find_conversation(
            client.request, client.http.headers, client.tenant.name, new_id, client.door.conversation_headers
        )
        expires_at = int(now()) + state_seconds
        self._turn = Turn(client, self.conversation, self.figures, request_id, now, new_id, expires_at)
        self._heads = Heads(request_id, self.conversation.id, self.figures, answer_headers)
        #: Whether the answer is complete: the upstream has nothing more to say.
        self.over = False
        if observer is not None:
            observer.client_request(client.http)
        self.begin(attempt)

    def begin(self, attempt: Attempt) -> None:
        """Begins an attempt: the first, or one in place of another of whose answer nothing was sent."""
        self.attempt = attempt
        self.figures.warn(*attempt.warnings)
        self._heads.shown = attempt.provider.shown_headers if attempt.same_dialect else ()
        self._stages = stages_for(self._turn, attempt)
        self._writer = writer_for(self._turn, attempt, self._stages, self._heads)
        sticky = sticky_item(self.client.request, self.client.tenant.name, attempt.target, self._turn.expires_at)
        self._gate = Gate(self._stages.record, sticky, self.figures)
        self._reader: Reader | None = None
        if self._observer is not None:
            self._observer.upstream_request(attempt.upstream_request)

    @property
    def upstream_request(self) -> UpstreamRequest:
        """What is to be sent to the provider."""
        return self.attempt.upstream_request

    @property
    def unanswered(self) -> bool:
        """Whether `upstream_request` is still to be sent."""
        return self._reader is None and not self.over

    @property
    def finished(self) -> bool:
        """Whether the turn's end was seen: how many calls it has is known, and the client hears of it next."""
        return self._stages.order.finished

    # ------------------------------------------------------------ what the shell reports

    def receive_head(self, status: int, headers: dict[str, str]) -> list[Action]:
        """The upstream's status and headers (names in lower case)."""
        if self._observer is not None:
            self._observer.upstream_head(status, headers)
        self.figures.upstream_status = status
        self._heads.upstream_headers = headers
        self._reader = reader_for(
            status,
            headers,
            self.attempt.provider,
            self.figures,
            self.attempt.asked(self.figures.warn),
            for_stream=self.client.request.stream,
            observer=self._observer,
        )
        return []

    def receive_data(self, data: bytes) -> list[Action]:
        """Some bytes of the upstream's body."""
        if self.over or self._reader is None:
            return []
        if self._observer is not None:
            self._observer.upstream_data(data)
        return self._pass(self._reader.feed, data)

    def receive_end(self, error: GatewayError | None = None) -> list[Action]:
        """The upstream's body is over, or broke off with `error`."""
        if self._observer is not None:
            self._observer.upstream_end(error)
        if self.over:
            return []
        if self._reader is None:
            return self.fail(error or UpstreamTruncated("the upstream closed the connection without an answer"))
        return self._pass(self._reader.end, error)

    def receive_stored(self, error: str | None = None) -> list[Action]:
        """A Store is done, or was given up with an error's code: what waited for it."""
        return self._sent(self._writer.send(self._gate.release(error)))

    def fail(self, error: GatewayError) -> list[Action]:
        """End with an error: an HTTP answer while no head was sent, else the door's error event."""
        if self.over:
            return []
        self.over = True
        error = self.attempt.without_secret(error)
        self.figures.error = error
        held: list[Batch] = []
        if self._heads.sent and not self._stages.order.ended:
            held = self._observed(self._stages.broken())
            self._observed([Batch((StreamFailed(error.code, error.message, error.status),))])
        return self._sent(self._writer.fail(error, held))

    def early_head(self) -> Head | None:
        """The head to commit when the client must not wait longer for the upstream; None where that cannot be."""
        return self._writer.early_head()

    def keep_alive(self) -> bytes:
        """Bytes that show life and change nothing. Whoever asks has committed a head, this one or the early one:
        what fails from now on is an error event."""
        data = self._writer.keep_alive()
        self._sent([Send(data)])
        return data

    # ------------------------------------------------------------ batches

    def _pass(self, read: Callable[[T], Iterable[Batch]], given: T) -> list[Action]:
        """What the reader makes of what came, through the stages to the client."""
        written: list[bytes] = []
        try:
            for batch in read(given):
                if self.over:  # what follows the end, such as a second [DONE]
                    break
                written.append(self._writer.write(self._observed(self._stages.take(batch))))
                # Not before: what the door cannot show still becomes an error.
                self.over = self._stages.order.ended
        except RecursionError:
            return self._broken(written, UpstreamProtocolError("the upstream's answer is nested too deeply"))
        except GatewayError as error:
            return self._broken(written, error)
        return self._send(b"".join(written))

    def _send(self, data: bytes) -> list[Action]:
        """The body's bytes, once what the turn leaves behind is stored."""
        if self.finished and (items := self._gate.hold(data)):
            return [Store(items)]
        return self._sent(self._writer.send(data))

    def _broken(self, written: list[bytes], error: GatewayError) -> list[Action]:
        """The answer's end with an error. What was understood before reaches the client before; nothing is stored."""
        if self.attempt.lacks_reasoning(self.figures.upstream_status, error):
            return self._begin_again("reasoning_added", self.attempt.with_reasoning)
        if self.attempt.refuses_state(self.figures.upstream_status, error):
            return self._begin_again("state_refused", self.attempt.without_state)
        if self.attempt.refuses_betas(self.figures.upstream_status, error):
            return self._begin_again("betas_refused", self.attempt.without_betas)
        before = self._sent(self._writer.send(b"".join(written))) if written else []
        return before + self.fail(error)

    def _begin_again(self, warning: str, prepared: Callable[[], Attempt]) -> list[Action]:
        """The provider refuses the state that it was given, or not given: once more, otherwise."""
        self.figures.warn(warning)
        try:
            self.begin(prepared())
        except GatewayError as error:
            return self.fail(error)
        return []

    def _observed(self, batches: list[Batch]) -> list[Batch]:
        if self._observer is not None:
            for batch in batches:
                self._observer.batch(batch)
        return batches

    def _sent(self, actions: list[Action]) -> list[Action]:
        if self._observer is not None:
            for action in actions:
                if not isinstance(action, Store):
                    self._observer.sent(action.data if isinstance(action, Send) else action)
        return actions
