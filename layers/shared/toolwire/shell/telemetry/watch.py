"""The interface of those that watch a request from outside, such as the local server's terminal and recorder. The
runner of a handler sets `observe.current_watch` for the request. On Lambda only a recording into the bucket does.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from toolwire.exchange.observer import Observer

if TYPE_CHECKING:
    from toolwire.conversation.kept_answers import KeptAnswer
    from toolwire.conversation.restore import Found
    from toolwire.exchange.plan import Plan
    from toolwire.exchange.prepare import ClientRequest
    from toolwire.model.admitted import Admitted
    from toolwire.model.settings import Target
    from toolwire.shell.telemetry.request_record import RequestRecord


class Watch(Observer):
    """Watches one request and its exchange. While there is a watch, `observe.call_lines` writes no lines. A class may
    leave out any method."""

    def admitted(self, admitted: Admitted) -> None:
        """The tenant and the settings, once the request is admitted."""

    def continued(self, answers: Mapping[str, KeptAnswer]) -> None:
        """The kept answers from which the request continues, as the store had them."""

    def prepared(self, client: ClientRequest, plan: Plan, found: Found) -> None:
        """The inputs of the exchange that begins now: the checked request, its plan, and what the store had of its
        conversation."""

    def attempting(self, target: Target) -> None:
        """An attempt at this target is about to be sent: the first, or one that follows a failure. A request that the
        exchange mends by itself is not reported."""

    def told_time(self, seconds: float) -> None:
        """The time that the exchange was given."""

    def gave_id(self, text: str) -> None:
        """The characters that the exchange was given for a new id."""

    def finished(self, record: RequestRecord) -> None:
        """The request is over. `record`: the facts about it."""


def watched_clock(watch: Watch) -> Callable[[], float]:
    """A clock that reports each time to the watch."""
    told = watch.told_time

    def now() -> float:
        seconds = time.time()
        told(seconds)
        return seconds

    return now


def watched_ids(watch: Watch, new_id: Callable[[int], str]) -> Callable[[int], str]:
    """A source of ids that reports each one to the watch."""
    told = watch.gave_id

    def watched(length: int) -> str:
        text = new_id(length)
        told(text)
        return text

    return watched
