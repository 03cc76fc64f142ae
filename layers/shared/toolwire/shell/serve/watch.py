"""Who looks at one request from outside, such as the local server's terminal and recorder: nobody, unless it is asked
for. Whoever runs a handler sets `observe.current_watch` for the request; on Lambda nobody does.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolwire.exchange.observer import Observer

if TYPE_CHECKING:
    from toolwire.conversation.restore import Found
    from toolwire.exchange.prepare import ClientRequest
    from toolwire.model.settings import Settings, Target
    from toolwire.shell.serve.observe import RequestRecord


@dataclass(frozen=True, slots=True)
class Given:
    """What an exchange was given beside the client's request and the provider's answer: with these, the clock and the
    ids, it can be repeated. The client's request has the model that it names or that its conversation had."""

    settings: Settings
    client: ClientRequest
    target: Target
    found: Found


class Watch(Observer):
    """Sees one request, its exchange included, and takes the place of the lines of `observe.call_lines`. Each method
    may be left out."""

    def given(self, given: Given) -> None:
        """What the exchange that begins now was given."""

    def told_time(self, seconds: float) -> None:
        """What the exchange was told when it asked for the time."""

    def gave_id(self, text: str) -> None:
        """What the exchange was given as the characters of a new id."""

    def finished(self, record: RequestRecord) -> None:
        """The request is over, and this is what is known of it."""


def watched_clock(watch: Watch) -> Callable[[], float]:
    """The time, which the watch is told."""

    def now() -> float:
        seconds = time.time()
        watch.told_time(seconds)
        return seconds

    return now


def watched_ids(watch: Watch, new_id: Callable[[int], str]) -> Callable[[int], str]:
    """New ids, which the watch is told."""

    def watched(length: int) -> str:
        text = new_id(length)
        watch.gave_id(text)
        return text

    return watched
