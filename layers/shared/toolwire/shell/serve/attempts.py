"""Prepares the attempts at one request's answer: each when its turn comes, with its own credential. Logs those that
fail."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from toolwire.conversation import NOTHING_FOUND, Found
from toolwire.exchange.actions import Action
from toolwire.exchange.attempt import Attempt, prepare_attempt
from toolwire.exchange.breaker import is_failure
from toolwire.exchange.exchange import Exchange
from toolwire.exchange.plan import Plan
from toolwire.exchange.prepare import ClientRequest
from toolwire.exchange.retries import OF_THE_TARGET, Attempts
from toolwire.exchange.time_limits import asked_limits, limits_for
from toolwire.model.errors import GatewayError, UpstreamError
from toolwire.model.settings import ProviderConfig, Settings, Target, TimeLimits
from toolwire.policy.arguments import INVALID, MALFORMED, UNKNOWN
from toolwire.providers.hosts import DEMO
from toolwire.shell.access.concurrency import GiveBack, slots
from toolwire.shell.access.credentials import credential
from toolwire.shell.network.breaker import breaker_for
from toolwire.shell.network.output import current_output
from toolwire.shell.serve.call_quality import QUALITIES
from toolwire.shell.serve.profile_lessons import LESSONS
from toolwire.shell.telemetry import observe
from toolwire.shell.telemetry.log import logger
from toolwire.shell.telemetry.request_record import RequestRecord, code_of, short

#: Codes of answers that were refused because of the model's calls.
_FAULTS = frozenset({INVALID, MALFORMED, UNKNOWN})


class Preparation:
    """Prepares the attempts of one request, whose answer must be there in `seconds`."""

    def __init__(
        self, client: ClientRequest, plan: Plan, seconds: float, settings: Settings, record: RequestRecord
    ) -> None:
        """Raises RequestError for an invalid header with a time limit."""
        self._client, self._plan, self._settings, self._record = client, plan, settings, record
        self._asked = asked_limits(client.http.headers)
        totals = (seconds, self._asked.total_seconds, client.tenant.time_limits.total_seconds)
        self._seconds = min(total for total in totals if total is not None)
        #: The moment of `time.monotonic` at which the answer must be there.
        self.expires = time.monotonic() + self._seconds
        self._breaker = breaker_for(settings, several=bool(plan.more))
        self._slot: GiveBack | None = None
        #: The time when the current attempt began.
        self._began = 0.0
        self._found = NOTHING_FOUND
        self.attempts: Attempts | None = None

    def first(self, found: Found) -> Attempt:
        """Prepares the attempt at the first target that can be asked. `found`: what the store had of earlier turns.
        Raises GatewayError."""
        plan, self._found = self._plan, found
        if plan.most == 1:
            return self._prepared(plan.first)
        ends_at = time.time() + min(plan.retries.seconds, self._seconds)
        self.attempts = Attempts(plan, ends_at, time.time, random.random)
        failed = None
        while True:
            try:
                return self._prepared(self.attempts.target)
            except GatewayError as error:
                if error.code not in OF_THE_TARGET:
                    raise
                failed = failed or error
                self._tell(self.attempts.target, error)
                if self.attempts.instead() is None:
                    raise failed from None

    def following(self) -> Attempt | None:
        """Waits, then prepares the attempt at the next target that can be asked; None if no target is left."""
        assert self.attempts is not None
        while True:
            try:
                return self._prepared(self.attempts.target)
            except GatewayError as error:
                self._tell(self.attempts.target, error)
                if (instead := self.attempts.instead()) is None:
                    return None
                pause(instead.pause)

    def limits(self, target: Target) -> TimeLimits:
        """The time limits of the target."""
        return limits_for(target.provider, self._client.tenant, self._asked)

    def ended(self, exchange: Exchange) -> None:
        """Ends an attempt: gives its slot back, tells the breaker, and notes the quality of its calls and its
        lessons."""
        self.give_back()
        if exchange.answer.error is not None or exchange.answer.over:
            self._tell_breaker(exchange.attempt.target, exchange.answer.error, exchange.figures.upstream_status)
        if self._is_judged(exchange):
            QUALITIES.note(exchange.attempt.target, exchange.figures)
        kept = tuple(lesson for lesson in exchange.attempt.given.lessons if lesson.is_kept)
        if kept and exchange.answer.over and exchange.answer.error is None:
            client = self._client
            LESSONS.note(client.tenant.name, client.door.dialect, exchange.attempt.target, kept)

    def _is_judged(self, exchange: Exchange) -> bool:
        """Whether an answer counts for its model's quality: its calls were validated, and it has no other failure."""
        if not self._settings.by_quality or self._client.rules.validate_tool_arguments == "off":
            return False
        return exchange.answer.over if exchange.answer.error is None else exchange.answer.error.code in _FAULTS

    @contextmanager
    def question(self, target: Target) -> Iterator[None]:
        """A context for a request to the target that is no attempt at an answer. Tells the breaker how it ended."""
        try:
            yield
        except GatewayError as error:
            self._tell_breaker(target, error, None)
            raise
        self._tell_breaker(target, None, None)

    def _tell_breaker(self, target: Target, error: GatewayError | None, status: int | None) -> None:
        if self._breaker is not None:
            failed = error is not None and is_failure(error, status)
            code = None if error is None else code_of(error)
            self._breaker.ended(target, failed=failed, began=self._began, code=code)

    def give_back(self) -> None:
        """Gives the provider's slot back, if one is held."""
        if self._slot is not None:
            slot, self._slot = self._slot, None
            slot()

    def _take_slot(self, provider: ProviderConfig) -> None:
        """Raises UpstreamError."""
        most = provider.concurrent_requests
        if most is None:
            return
        self._slot = slots(self._settings.rates_table).take(f"provider#{provider.name}", most, self._seconds)
        if self._slot is None:
            message = f"The provider {provider.name!r} is sent {most} requests at once, and has them."
            raise UpstreamError(message, code="provider_busy", status=503, retry_after="1")

    def _prepared(self, target: Target) -> Attempt:
        """Raises GatewayError."""
        self.give_back()
        self._record.target = target
        client = self._client
        attempt = prepare_attempt(client, _listening(target), credential(target.provider), self._found)
        if lessons := LESSONS.of(client.tenant.name, client.door.dialect, attempt.target):
            from toolwire.exchange.mending import with_lessons  # for few hosts: spares a cold start the import

            attempt = with_lessons(attempt, lessons)
        self._take_slot(target.provider)
        self._began = time.time()
        if self._breaker is not None and (wait := self._breaker.claim(attempt.target)):
            self.give_back()
            raise _unavailable(target, wait, self._breaker.last_failure(attempt.target))
        self._record.begin_attempt(attempt.target)
        if (watch := observe.current_watch.get()) is not None:
            watch.attempting(attempt.target)
        return attempt

    def _tell(self, target: Target, error: GatewayError) -> None:
        """Logs that a target is passed over."""
        logger().warning(
            "a target was passed over",
            request_id=self._record.request_id,
            provider=target.provider.name,
            model=short(target.model),
            error_code=code_of(error),
        )


def go_on(exchange: Exchange, preparation: Preparation, record: RequestRecord) -> list[Action]:
    """Begins the attempt that follows a failed one. If none can be made, the client gets the failure."""
    following, failed = exchange.following, exchange.answer.error
    assert following is not None
    assert failed is not None
    record.attempt_failed(failed, following.pause)
    pause(following.pause)
    attempt = preparation.following()
    if attempt is None:
        record.target = exchange.attempt.target
        return exchange.fail(failed)
    exchange.begin(attempt)
    return []


def pause(seconds: float) -> None:
    """Waits. Sends the client keep-alives meanwhile. Raises ClientGone."""
    output = current_output.get()
    if output is not None:
        output.pause(seconds)
    elif seconds > 0:
        time.sleep(seconds)


def _unavailable(target: Target, wait: float, last: str | None) -> UpstreamError:
    how = f", at last with `{last}`" if last else ""
    again = f"it is asked again in {math.ceil(wait)} s"
    message = f"The provider {target.provider.name!r} has failed too often{how}; {again}."
    return UpstreamError(message, code="upstream_unavailable", status=503, retry_after=str(math.ceil(wait)))


def _listening(target: Target) -> Target:
    """The target; for the demo, with the address of its running server."""
    provider = target.provider
    if provider.name != DEMO:
        return target
    from toolwire.demo.server import demo_base_url  # starts the demo's server

    return replace(target, provider=replace(provider, base_url=demo_base_url() + provider.base_url))
