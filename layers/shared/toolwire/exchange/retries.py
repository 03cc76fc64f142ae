"""Decides whether a request is sent once more after a failure, to which target, and when. Pure: time and chance are
handed in.

    408 429 5xx 529, no connection, a timeout, a cut, an error event     any target of the plan, this one too
    the credential was refused (401 403), or its account is empty (402)   another target
    any other 4xx, and a fault of the model's own words                   none

Another target is asked at once. One that has failed is asked again after a pause: exponential, with full jitter, and
not before the moment that it named itself (`Retry-After`). The exchange makes sure that nothing is sent again once the
client was shown some of an answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC
from typing import Literal, NamedTuple

from toolwire.exchange.plan import Plan
from toolwire.model.errors import GatewayError, UpstreamError, UpstreamProtocolError
from toolwire.model.settings import Target

#: The longest pause before a target's second attempt, in seconds; it doubles with every further one, up to the most.
_FIRST_PAUSE, _MOST_PAUSE = 0.5, 8.0

#: A number of seconds. Some hosts write a fraction, which HTTP does not know.
_SECONDS = re.compile(r"[0-9]+(\.[0-9]+)?")

#: Codes of `UpstreamError`s that are about the transport of an answer, not about its content.
_ON_THE_WAY = frozenset(
    {"upstream_error", "upstream_overloaded", "upstream_timeout", "upstream_truncated", "upstream_unreachable"}
)

#: Codes of failures that keep one target from being asked. Another target may answer.
OF_THE_TARGET = frozenset({"missing_credential", "credential_unavailable", "upstream_unavailable", "provider_busy"})

#: Which targets may be asked after a failure.
Others = Literal["any", "another", "none"]


def who_may_follow(error: GatewayError, status: int | None) -> Others:
    """Which targets may be asked after this failure. `status`: the HTTP status of the upstream's answer; None where
    there was none."""
    if not isinstance(error, UpstreamError):
        return "none"
    no_money = error.status == 402 or (error.code == "insufficient_quota" and error.status != 429)
    if error.code == "upstream_authentication_failed" or no_money:
        return "another"
    if error.retry is False:
        return "none"
    if isinstance(error, UpstreamProtocolError):
        return "any" if error.code == UpstreamProtocolError.code else "none"
    within = status is not None and 200 <= status < 300
    if within and error.status == 502 and error.code.startswith("upstream_") and error.code not in _ON_THE_WAY:
        return "none"  # it is about the model's words: `upstream_malformed_function_call`
    return "any" if error.status >= 500 or error.status in (408, 429) else "none"


class Next(NamedTuple):
    """The next attempt, and the seconds to wait before it."""

    target: Target
    pause: float


@dataclass(slots=True)
class _Place:
    """A target of the plan. `asked`: the number of attempts at it. `ready_at`: the earliest time of the next one."""

    target: Target
    asked: int = 0
    ready_at: float = 0.0
    usable: bool = True


class Attempts:
    """The attempts at one request's answer. The first is under way when this begins."""

    def __init__(self, plan: Plan, ends_at: float, now: Callable[[], float], chance: Callable[[], float]) -> None:
        """No attempt begins after `ends_at`, a moment of `now` (seconds since 1970). `chance` gives a number from 0 up
        to 1."""
        self._places = [_Place(target) for target in plan.targets]
        self._again = plan.retries.attempts is not None
        self._most, self._ends_at, self._now, self._chance = plan.most, ends_at, now, chance
        self._at = 0
        #: The number of attempts, with the one that is under way.
        self.count = 1

    @property
    def planned(self) -> bool:
        """Whether the plan allows more than one attempt."""
        return self._most > 1

    @property
    def may_follow(self) -> bool:
        """Whether another attempt may follow the one that is under way."""
        return self.count < self._most

    @property
    def target(self) -> Target:
        """The target of the attempt that is under way."""
        return self._places[self._at].target

    def after(self, error: GatewayError, status: int | None) -> Next | None:
        """The attempt to make after one that failed with `error`; None for none. `status`: the upstream's HTTP
        status."""
        if not self.may_follow or (others := who_may_follow(error, status)) == "none":
            return None
        place, now = self._places[self._at], self._now()
        place.usable = others == "any" and self._again
        place.ready_at = now + max(self._backoff(place.asked), _wanted_pause(error.retry_after, now))
        place.asked += 1
        following = self._next(now)
        if following is not None:
            self.count += 1
        return following

    def instead(self) -> Next | None:
        """The attempt that replaces one whose target cannot be asked at all; None for none."""
        self._places[self._at].usable = False
        return self._next(self._now())

    def _next(self, now: float) -> Next | None:
        """The next target that is ready, in the plan's order; else the one that will be ready first."""
        order = [(self._at + step) % len(self._places) for step in range(1, len(self._places) + 1)]
        usable = [at for at in order if self._places[at].usable]
        if not usable:
            return None
        at = min(usable, key=lambda at: max(now, self._places[at].ready_at))
        pause = max(0.0, self._places[at].ready_at - now)
        if now + pause >= self._ends_at:
            return None
        self._at = at
        return Next(self._places[at].target, pause)

    def _backoff(self, asked: int) -> float:
        return self._chance() * min(_MOST_PAUSE, _FIRST_PAUSE * 2.0**asked)


def _wanted_pause(retry_after: str | None, now: float) -> float:
    """The seconds that a `Retry-After` asks for; nothing where it cannot be read."""
    said = (retry_after or "").strip()
    if _SECONDS.fullmatch(said):
        return float(said)
    if not said:
        return 0.0
    from email.utils import parsedate_to_datetime  # half a megabyte, for the few hosts that send a date

    try:
        moment = parsedate_to_datetime(said)
    except (ValueError, TypeError, OverflowError):
        return 0.0
    if moment.tzinfo is None:  # HTTP's dates are in UTC, also in the two old forms and where the zone is "-0000"
        moment = moment.replace(tzinfo=UTC)
    return moment.timestamp() - now
