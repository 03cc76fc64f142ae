"""One client request and its answer: the sans-IO pipeline between a door and a provider.

    client, target = prepare(door, http, settings, tenant)
    attempt = prepare_attempt(client, target, credential)
    exchange = Exchange(client, attempt, ...)      `upstream_request` is to be sent; then, for its answer,
    exchange.receive_head(status, headers)
    exchange.receive_data(chunk)  *                bytes in, actions out,
    exchange.receive_end(error or None)            until the body is over or broke off

Actions come in the order in which the shell must carry them out: `Head` once, then `Send`. A `Store` is the last of its
list: once it is done, or was given up, `receive_stored` gives the actions that waited for it. So what a turn leaves
behind is stored before the client hears that the turn is over.

If the answer fails before the client was shown any of it, another attempt may follow, and `unanswered` is true. Either
`mending` has changed what the provider refused, and there is a new `upstream_request`; or `following` names the next
target and the time to wait. The shell then calls `begin` with an attempt there, or `fail` with `answer.error`.

No network, no clock and no randomness: `now` and `new_id` are handed in, so the same bytes give the same answer.
`new_id` is called once for the response and once for each minted call, before the door sees the event.
"""

from __future__ import annotations

from collections.abc import Callable

from toolwire.exchange.actions import Action
from toolwire.exchange.answer import Answer
from toolwire.exchange.attempt import Attempt
from toolwire.exchange.heads import Heads
from toolwire.exchange.observer import NOBODY, Observer
from toolwire.exchange.prepare import ClientRequest
from toolwire.exchange.request_context import request_context
from toolwire.exchange.retries import Attempts, Next
from toolwire.model.errors import GatewayError
from toolwire.model.http import Head, Headers, UpstreamRequest


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
        attempts: Attempts | None = None,
        state_seconds: int = 30 * 86_400,
        answer_headers: Headers = (),
        observer: Observer | None = None,
    ) -> None:
        """`attempt` is the first attempt; `attempts` decides about further ones (None: there are none). The store keeps
        the items of this turn for `state_seconds`. `answer_headers` are sent with every answer."""
        self.client, self.answer_headers, self._observer = client, answer_headers, observer or NOBODY
        self._context = request_context(
            client, attempt.target, request_id=request_id, now=now, new_id=new_id, state_seconds=state_seconds
        )
        self.figures, self.conversation = self._context.figures, self._context.conversation
        self._heads = Heads(request_id, self.conversation.id, self.figures, answer_headers)
        self._attempts = attempts if attempts is not None and attempts.planned else None
        self._observer.client_request(client.http)
        self.begin(attempt)

    def begin(self, attempt: Attempt) -> None:
        """Begins an attempt: the first, or one that replaces an attempt of which the client was sent nothing."""
        self.attempt = attempt
        #: The next attempt, until it begins.
        self.following: Next | None = None
        self.figures.begin(attempt.warnings)
        self._heads.begin(attempt, None if self._attempts is None else self._attempts.count)
        may_follow = self._attempts is not None and self._attempts.may_follow
        #: The answer to this attempt.
        self.answer = Answer(self._context, attempt, self._heads, self._observer, holds_start=may_follow)
        self._observer.upstream_request(attempt.upstream_request)

    @property
    def upstream_request(self) -> UpstreamRequest:
        """The request to send to the provider."""
        return self.attempt.upstream_request

    @property
    def unanswered(self) -> bool:
        """Whether a request is still to be sent: `upstream_request`, or the one of the attempt in `following`."""
        return not self.answer.over and (self.following is not None or not self.answer.begun)

    # ------------------------------------------------------------ what the shell reports

    def receive_head(self, status: int, headers: dict[str, str]) -> list[Action]:
        """The upstream's status and headers (names in lower case)."""
        self.answer.receive_head(status, headers)
        return []

    def receive_data(self, data: bytes) -> list[Action]:
        """Some bytes of the upstream's body."""
        return self._or_next(self.answer.receive_data(data))

    def receive_end(self, error: GatewayError | None = None) -> list[Action]:
        """The upstream's body is over, or broke off with `error`."""
        return self._or_next(self.answer.receive_end(error))

    def receive_stored(self, error: str | None = None) -> list[Action]:
        """A Store is done, or was given up with an error's code. Returns the actions that waited for it."""
        return self.answer.receive_stored(error)

    def fail(self, error: GatewayError) -> list[Action]:
        """End with an error: an HTTP answer while no head was sent, else the door's error event."""
        if self.answer.over:
            return []
        self.figures.error = error = self.attempt.without_secret(error).forgetting_frames()
        return self.answer.fail(error)

    # ------------------------------------------------------------ while the client waits

    def early_head(self) -> Head:
        """The head to commit when the client must not wait longer for the upstream."""
        return self.answer.writer.early_head()

    def keep_alive(self) -> bytes:
        """Bytes that keep the connection alive and do not change the answer. The caller must have sent a head before:
        from now on a failure is told as an error event."""
        return self.answer.keep_alive()

    # ------------------------------------------------------------ after an attempt

    def _or_next(self, actions: list[Action]) -> list[Action]:
        """Returns the actions. If the answer has just failed, begins another attempt, plans one in `following`, or
        tells the client."""
        error = self.answer.error
        if error is None or self.answer.over or self.following is not None:
            return actions
        error.forgetting_frames()
        if self.answer.shown:
            return self.fail(error)
        from toolwire.exchange.mending import mended  # only after a failure: spares a cold start the import

        status = self.figures.upstream_status
        try:
            again = mended(self.attempt, status, error)
        except GatewayError as unmended:
            again, error = None, unmended
        if again is not None:
            self.begin(again)
            return []
        self.following = None if self._attempts is None else self._attempts.after(error, status)
        return [] if self.following is not None else self.fail(error)
