"""Who looks at one request from outside, such as the local server's terminal and recorder: nobody, unless it is asked
for. Whoever runs a handler sets `observe.current_watch` for the request; on Lambda nobody does.
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
    """Sees one request, its exchange included, and takes the place of the lines of `observe.call_lines`. Each method
    may be left out."""

    def admitted(self, admitted: Admitted) -> None:
        """Who asks, once that is known, and under which configuration."""

    def continued(self, answers: Mapping[str, KeptAnswer]) -> None:
        """The kept answers from which the request continues, as the store had them."""

    def prepared(self, client: ClientRequest, plan: Plan, found: Found) -> None:
        """What the exchange that begins now is given: the request that was read and checked, where it may go, and what
        the store had of its conversation."""

    def attempting(self, target: Target) -> None:
        """An attempt at this target is about to be sent: the first, or one that follows a failure. What an exchange
        mends by itself is none."""

    def told_time(self, seconds: float) -> None:
        """What the exchange was told when it asked for the time."""

    def gave_id(self, text: str) -> None:
        """What the exchange was given as the characters of a new id."""

    def finished(self, record: RequestRecord) -> None:
        """The request is over, and this is what is known of it."""


def watched_clock(watch: Watch) -> Callable[[], float]:
    """The time, which the watch is told."""
    told = watch.told_time

    def now() -> float:
        seconds = time.time()
        told(seconds)
        return seconds

    return now


def watched_ids(watch: Watch, new_id: Callable[[int], str]) -> Callable[[int], str]:
    """New ids, which the watch is told."""
    told = watch.gave_id

    def watched(length: int) -> str:
        text = new_id(length)
        told(text)
        return text

    return watched
