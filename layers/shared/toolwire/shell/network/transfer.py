"""The deadlines of one request to a host and its answer, and the waiting for it.

Each phase has its own time, and the whole request ends at `expires`.
"""

from __future__ import annotations

import select
import socket
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from toolwire.model.settings import TimeLimits
from toolwire.shell.network.output import current_output

#: The phases: to connect, to send the request, to wait for the answer's head, and for the next bytes.
Phase = Literal["connect", "send", "first_byte", "idle"]

#: The longest single poll, in seconds: poll takes no infinity.
_LONGEST_POLL = 3600.0


@dataclass(frozen=True, slots=True)
class Timeouts:
    """The seconds for each phase. The whole time is each request's own (`expires`)."""

    #: To resolve the name (which nothing can cut short), to connect and to shake hands, together.
    connect: float = 5.0
    #: To take the whole request.
    send: float = 30.0
    #: From the request to the end of the answer's head, for a stream. The head of a JSON answer comes after all tokens,
    #: so only the whole time bounds it.
    first_byte: float = 120.0
    #: Between two reads of the body.
    idle: float = 240.0

    def within(self, limits: TimeLimits) -> Timeouts:
        """These timeouts, replaced by the limits that are set."""
        return replace(
            self,
            first_byte=limits.first_byte_seconds or self.first_byte,
            idle=limits.idle_seconds or self.idle,
        )


class Transfer:
    """The state and the deadlines of one request and its answer."""

    __slots__ = (
        "_by", "_now", "_timeouts", "answered", "expires", "head_read", "phase", "streams", "while_waiting",
    )  # fmt: skip

    def __init__(self, timeouts: Timeouts, expires: float, now: Callable[[], float], *, streams: bool) -> None:
        self._timeouts = timeouts
        self._now = now
        self._by = 0.0
        self.expires = expires
        #: The answer is a stream, so its head comes before its tokens.
        self.streams = streams
        #: The current or last phase, for the message of a timeout.
        self.phase: Phase | None = None
        #: A byte of the answer has arrived.
        self.answered = False
        self.head_read = False
        #: Called once, when the request was sent and the answer has not begun.
        self.while_waiting: Callable[[], None] | None = None

    def until(self, phase: Phase) -> float:
        """The moment by which this phase must end. The time of a phase begins with the first call; that of `idle` with
        each call."""
        if phase != self.phase or phase == "idle":
            self.phase = phase
            if phase == "first_byte" and self.while_waiting is not None:
                meanwhile, self.while_waiting = self.while_waiting, None
                meanwhile()
            endless = phase == "first_byte" and not self.streams
            self._by = self.expires if endless else self._now() + getattr(self._timeouts, phase)
        return min(self._by, self.expires)

    def hurry(self, seconds: float) -> None:
        """Brings the end of the whole transfer forward."""
        self.expires = min(self.expires, self._now() + seconds)

    def share(self, deadline: float, sharers: int) -> float:
        """The moment by which the next one of `sharers` must end. Raises TimeoutError if no time is left."""
        now = self._now()
        if now >= deadline:
            raise TimeoutError
        return now + (deadline - now) / sharers

    def check_total(self) -> None:
        """Raises TimeoutError if the request's time is up, although the upstream still sends."""
        if self._now() >= self.expires:
            raise TimeoutError

    def wait(self, sock: socket.socket, events: int, deadline: float) -> None:
        """Blocks until the socket is ready. Raises TimeoutError at the deadline. If there is a client's Output, that
        waits in our place, in every phase: it also sends keep-alives and notices the client's hang-up."""
        if (output := current_output.get()) is not None:
            output.before_block(sock, deadline, events)
            return
        poll = select.poll()
        poll.register(sock, events)
        while (left := deadline - self._now()) > 0:
            if poll.poll(int(min(left, _LONGEST_POLL) * 1000) + 1):
                return
        raise TimeoutError

    @property
    def timed_out(self) -> str:
        """The message of a timeout: what the upstream did not do in time."""
        if self.phase is None or self._by >= self.expires or self._now() >= self.expires:
            return "did not finish within the time this request has"
        seconds = getattr(self._timeouts, self.phase)
        return {
            "connect": f"could not be connected to within {seconds:g} s",
            "send": f"did not take the request within {seconds:g} s",
            "first_byte": f"did not begin to answer within {seconds:g} s",
            "idle": f"sent nothing more for {seconds:g} s",
        }[self.phase]
