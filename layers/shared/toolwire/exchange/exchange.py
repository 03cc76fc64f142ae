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

An answer that fails before the client was shown any of it may be asked for again: the exchange is `unanswered` then.
Where the provider refuses what the gateway has put into the request (state, betas), there is a new `upstream_request`.
Else `following` says whom to ask and when: `begin` an attempt there, or `give_up`.

No network, no clock and no randomness: `now` and `new_id` are handed in, so the same bytes give the same answer.
`new_id` is called once for the response and once for each minted call, before the door sees the event.
"""

from __future__ import annotations

from collections.abc import Callable

from toolwire.exchange.actions import Action
from toolwire.exchange.answer import Answer
from toolwire.exchange.attempt import Attempt
from toolwire.exchange.figures import Figures
from toolwire.exchange.heads import Heads
from toolwire.exchange.observer import NOBODY, Observer
from toolwire.exchange.prepare import ClientRequest
from toolwire.exchange.request_context import RequestContext, conversation_of
from toolwire.exchange.retries import Attempts, Next
from toolwire.model.errors import GatewayError, UpstreamTruncated
from toolwire.model.http import Head, Headers, UpstreamRequest
from toolwire.model.warnings import Warnings


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
        """The first attempt. What this turn leaves in the store lives for `state_seconds`; `answer_headers` go with
        every answer. `attempts`: whom else to ask; None: nobody."""
        self.client, self.answer_headers, self._observer = client, answer_headers, observer or NOBODY
        self._follower = self._observer if self._observer.follows_tokens else None
        self.figures = Figures(client.request.stream, client.door.dialect, warnings=Warnings(client.warnings))
        self.conversation = conversation_of(client, attempt.target, new_id)
        expires_at = int(now()) + state_seconds
        self._context = RequestContext(client, self.conversation, self.figures, request_id, now, new_id, expires_at)
        self._heads = Heads(request_id, self.conversation.id, self.figures, answer_headers)
        self.attempts = attempts if attempts is not None and attempts.planned else None
        #: The next attempt, while it is to be begun.
        self.following: Next | None = None
        #: Whether the answer is complete: the upstream has nothing more to say.
        self.over = False
        self._observer.client_request(client.http)
        self.begin(attempt)

    def begin(self, attempt: Attempt) -> None:
        """Begins an attempt: the first, or one in place of another of whose answer nothing was sent."""
        self.attempt, self.following = attempt, None
        self.figures.begin(attempt.warnings)
        self._heads.begin(attempt, None if self.attempts is None else self.attempts.count)
        may_follow = self.attempts is not None and self.attempts.may_follow
        self._answer = Answer(self._context, attempt, self._heads, self._follower, holds_start=may_follow)
        self._observer.upstream_request(attempt.upstream_request)

    @property
    def upstream_request(self) -> UpstreamRequest:
        """What is to be sent to the provider."""
        return self.attempt.upstream_request

    @property
    def unanswered(self) -> bool:
        """Whether there is a request still to be sent: `upstream_request`, or that of the attempt that follows."""
        return not self.over and (self.following is not None or not self._answer.begun)

    @property
    def error(self) -> GatewayError | None:
        """What the attempt has failed with."""
        return self._answer.error

    @property
    def finished(self) -> bool:
        """Whether the turn's end was seen: how many calls it has is known, and the client hears of it next."""
        return self._answer.finished

    # ------------------------------------------------------------ what the shell reports

    def receive_head(self, status: int, headers: dict[str, str]) -> list[Action]:
        """The upstream's status and headers (names in lower case)."""
        self._observer.upstream_head(status, headers)
        self._answer.receive_head(status, headers)
        return []

    def receive_data(self, data: bytes) -> list[Action]:
        """Some bytes of the upstream's body."""
        if self.over or not self._answer.begun or self.following is not None:
            return []
        self._observer.upstream_data(data)
        return self._told(self._answer.receive_data(data))

    def receive_end(self, error: GatewayError | None = None) -> list[Action]:
        """The upstream's body is over, or broke off with `error`."""
        self._observer.upstream_end(error)
        if self.over or self.following is not None:
            return []
        if not self._answer.begun:
            self._answer.error = error or UpstreamTruncated("the upstream closed the connection without an answer")
        return self._told(self._answer.receive_end(error))

    def receive_stored(self, error: str | None = None) -> list[Action]:
        """A Store is done, or was given up with an error's code: what waited for it."""
        return self._answer.receive_stored(error)

    def fail(self, error: GatewayError) -> list[Action]:
        """End with an error: an HTTP answer while no head was sent, else the door's error event."""
        if self.over:
            return []
        self.over, self.following = True, None
        self.figures.error = error = self.attempt.without_secret(error).forgetting_frames()
        return self._answer.fail(error)

    def give_up(self) -> list[Action]:
        """The attempt that follows cannot be made: the failure of the one before is the answer."""
        assert self.error is not None
        return self.fail(self.error)

    def early_head(self) -> Head:
        """The head to commit when the client must not wait longer for the upstream."""
        return self._answer.writer.early_head()

    def keep_alive(self) -> bytes:
        """Bytes that show life and change nothing. Whoever asks has committed a head, this one or the early one:
        what fails from now on is an error event."""
        return self._answer.keep_alive()

    # ------------------------------------------------------------ after an attempt

    def _told(self, actions: list[Action]) -> list[Action]:
        """The actions; where the attempt has failed, what is done about that."""
        self.over = self._answer.over
        error = self._answer.error
        return actions if error is None else self._after(error)

    def _after(self, error: GatewayError) -> list[Action]:
        """The attempt has failed: another one, or the error."""
        error.forgetting_frames()
        if self._answer.shown:
            return self.fail(error)
        status = self.figures.upstream_status if self._answer.begun else None
        try:
            if (mended := self.attempt.mended(status, error)) is not None:
                self.begin(mended.attempt)
                if mended.warning:
                    self.figures.warn(mended.warning)
                return []
        except GatewayError as unmended:
            error = unmended
        self.following = None if self.attempts is None else self.attempts.after(error, status)
        return [] if self.following is not None else self.fail(error)
