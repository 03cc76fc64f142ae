"""One client request and its answer: the sans-IO pipeline between a door and a provider.

    exchange = Exchange(door, checked(...), target, ...) builds `upstream_request`
    exchange.receive_head(status, headers)               then, for the upstream's answer,
    exchange.receive_data(chunk)  *                      bytes in, actions out,
    exchange.receive_end(error or None)                  until the body is over or broke off

    attempt ─► upstream_request        bytes ─► reader ─► stages ─► writer ─► gate ─► actions

Actions come in the order in which the shell must carry them out: `Head` once, then `Send`. A `Store` is the last of its
list: once it is done, or was given up, `receive_stored` gives the actions that waited for it. So what a turn leaves
behind is stored before the client hears that the turn is over. When the provider refuses the state it was given,
`resend` says so, and `upstream_request` is to be sent once more.

No network, no clock and no randomness: `now` and `new_id` are handed in, so the same bytes give the same answer.
`new_id` is called once for the response and once for each minted call, before the door sees the event.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from toolwire.conversation import NOTHING_FOUND, Found
from toolwire.conversation.tool_call_ids import find_conversation
from toolwire.doors import AnswerContext, Door
from toolwire.exchange.actions import Action, Store
from toolwire.exchange.attempt import prepare_attempt
from toolwire.exchange.figures import Figures
from toolwire.exchange.gate import Gate
from toolwire.exchange.heads import Heads
from toolwire.exchange.reader import Reader, reader_for
from toolwire.exchange.stages import stages_for
from toolwire.exchange.writer import DocumentWriter, StreamWriter, Writer
from toolwire.framing import Frame
from toolwire.model.errors import GatewayError, UpstreamProtocolError, UpstreamTruncated
from toolwire.model.events import Batch, StreamFailed
from toolwire.model.http import Head, Headers, UpstreamRequest
from toolwire.model.settings import Target, Tenant
from toolwire.model.stored import Item
from toolwire.policy.checked_request import Checked

T = TypeVar("T")


class Exchange:
    """See the module. The constructor raises RequestError for what the provider cannot take; `figures.warnings` are
    those that are known before."""

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
        self._door, self._request = door, request
        self._attempt = prepare_attempt(request, door.dialect, target, credential, found=found)
        self.figures = Figures(request.stream, warnings=list(checked.warnings))
        self.figures.warn(*self._attempt.warnings)
        self.conversation = find_conversation(request, headers, tenant.name, new_id)
        self.answer_headers = answer_headers
        self._stages = stages_for(
            door,
            checked,
            self._attempt,
            self.figures,
            conversation=self.conversation,
            tenant=tenant,
            now=now,
            new_id=new_id,
            state_seconds=state_seconds,
        )
        self._reader: Reader | None = None
        attempt = self._attempt
        self._heads = Heads(
            request_id,
            self.conversation.id,
            self.figures,
            answer_headers,
            attempt.provider.shown_headers if attempt.same_dialect else (),
        )
        context = AnswerContext(
            request_id,
            self.conversation.id,
            target.provider.name,
            request,
            warnings=self.figures.warnings,
            faults=self._stages.policy.faults,
        )
        write = StreamWriter if request.stream else DocumentWriter
        self._writer: Writer = write(door, context, self._heads, self._stages.order)
        self._gate = Gate(self._stages.record, leaves, self.figures)
        #: Whether `upstream_request` is a new one, to be sent in place of the one that was refused.
        self.resend = False
        #: Whether the answer is complete: the upstream has nothing more to say.
        self.over = False
        #: For DEBUG logs and replay: every frame and batch as it passes.
        self.observe: Callable[[Frame | Batch], None] | None = None

    @property
    def upstream_request(self) -> UpstreamRequest:
        """What is to be sent to the provider."""
        return self._attempt.upstream_request

    def signed(self, request: UpstreamRequest, now: float) -> UpstreamRequest:
        """A request to this exchange's provider as it is sent: its last header is set. `now` is in seconds since
        1970."""
        return self._attempt.signed(request, now)

    @property
    def ends(self) -> bool:
        """Whether the turn's end was seen: how many calls it has is known, and the client hears of it next."""
        return self._stages.order.finished

    # ------------------------------------------------------------ what the shell reports

    def receive_head(self, status: int, headers: dict[str, str]) -> list[Action]:
        """The upstream's status and headers (names in lower case)."""
        self.figures.upstream_status = status
        self._heads.upstream_headers = headers
        self._reader = reader_for(
            status,
            headers,
            self._attempt.provider,
            self.figures,
            for_stream=self._request.stream,
            observe=self.observe,
        )
        return []

    def receive_data(self, data: bytes) -> list[Action]:
        """Some bytes of the upstream's body."""
        if self.over or self._reader is None:
            return []
        return self._pass(self._reader.feed, data)

    def receive_end(self, error: GatewayError | None = None) -> list[Action]:
        """The upstream's body is over, or broke off with `error`."""
        if self.over:
            return []
        if self._reader is None:
            return self.fail(error or UpstreamTruncated("the upstream closed the connection without an answer"))
        return self._pass(self._reader.end, error)

    def receive_stored(self, error: str | None = None) -> list[Action]:
        """A Store is done, or was given up with an error's code: what waited for it."""
        return self._writer.send(self._gate.release(error))

    def fail(self, error: GatewayError) -> list[Action]:
        """End with an error: an HTTP answer while no head was sent, else the door's error event."""
        if self.over:
            return []
        self.over = True
        error = self._attempt.without_secret(error)
        self.figures.error = error
        held: list[Batch] = []
        if self._writer.head_sent and not self._stages.order.ended:
            held = self._observed(self._stages.broken())
            self._observed([Batch((StreamFailed(error.code, error.message, error.status),))])
        return self._writer.fail(error, held)

    def early_head(self) -> Head | None:
        """The head to commit when the client must not wait longer for the upstream; None where that cannot be."""
        return self._writer.early_head()

    def keep_alive(self) -> bytes:
        """Bytes that show life and change nothing. Whoever asks has committed a head, this one or the early one:
        what fails from now on is an error event."""
        return self._writer.keep_alive()

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
        if self.ends and (items := self._gate.hold(data)):
            return [Store(items)]
        return self._writer.send(data)

    def _broken(self, written: list[bytes], error: GatewayError) -> list[Action]:
        """The answer's end with an error. What was understood before reaches the client before; nothing is stored."""
        if self._attempt.refuses_state(self.figures.upstream_status, error):
            return self._begin_again()
        return (self._writer.send(b"".join(written)) if written else []) + self.fail(error)

    def _begin_again(self) -> list[Action]:
        """The provider refuses the state it is given: once more without any."""
        self.figures.warn("state_refused")
        try:
            self._attempt = self._attempt.without_state()
        except GatewayError as error:
            return self.fail(error)
        self.figures.warn(*self._attempt.warnings)
        self.resend, self._reader = True, None
        return []

    def _observed(self, batches: list[Batch]) -> list[Batch]:
        if self.observe is not None:
            for batch in batches:
                self.observe(batch)
        return batches
