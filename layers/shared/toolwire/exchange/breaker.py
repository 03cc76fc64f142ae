"""The circuit breaker of one target, as a pure state machine: what is known of its failures, and who may ask it.

    closed      everybody asks it; so many failures within a window open it
    open        nobody asks it, until `open_until`
    half open   one request asks it, and claims that by opening the circuit for another period; the others wait.
                Its success closes the circuit, its failure opens it anew. If it never ends, another one tries after
                that period

An open circuit ignores the outcomes of attempts that began before its last failure. A long stream that ends well only
shows how the target was; attempts that still wait for a dead target would keep the circuit open until the last one
gives up.

A circuit is a value. Its keeper (`shell.network.breaker`) replaces one by the next atomically.
"""

from __future__ import annotations

from collections import deque

from msgspec import Struct

from toolwire.exchange.retries import who_may_follow
from toolwire.model.errors import GatewayError
from toolwire.model.settings import BreakerRules

#: The number of outcomes by which one process judges whether a target fails, or only some requests do.
_OUTCOMES = 10


#: A circuit cannot be open for more periods than this. If it seems to be, its clock was wrong or was set back.
_MOST_PERIODS = 2


class Circuit(Struct, frozen=True):
    """What is known of one target. Times are seconds since 1970."""

    #: The last failures.
    failures: tuple[float, ...] = ()
    #: Until when nobody asks it; 0: it is closed.
    open_until: float = 0.0


CLOSED = Circuit()


def claimed(circuit: Circuit, rules: BreakerRules, now: float) -> tuple[Circuit, float]:
    """Returns the circuit after a request has asked for permission, and the seconds that this request must wait (0: it
    may go). If it may go and the circuit has changed, the new circuit must be stored before the target is asked."""
    if not circuit.open_until:
        return circuit, 0.0
    if now < circuit.open_until <= now + _MOST_PERIODS * rules.open_seconds:
        return circuit, circuit.open_until - now
    return Circuit(tuple(at for at in circuit.failures if at <= now), now + rules.open_seconds), 0.0


def after_failure(circuit: Circuit, rules: BreakerRules, now: float, began: float) -> Circuit:
    """The circuit after the failure of an attempt that began at `began`."""
    if _is_past(circuit, began):
        return circuit
    recent = tuple(at for at in (*circuit.failures, now) if abs(now - at) < rules.seconds)[-rules.failures :]
    opens = bool(circuit.open_until) or len(recent) >= rules.failures
    return Circuit(recent, now + rules.open_seconds if opens else 0.0)


def after_success(circuit: Circuit, began: float) -> Circuit:
    """The circuit after the success of an attempt that began at `began`: closed. A closed circuit keeps its failures
    until the window has passed."""
    return CLOSED if circuit.open_until and not _is_past(circuit, began) else circuit


def _is_past(circuit: Circuit, began: float) -> bool:
    """Whether the circuit is open, and an attempt that began at `began` is older than the failure that opened it."""
    return bool(circuit.open_until) and began < max(circuit.failures, default=0.0)


def is_failure(error: GatewayError, status: int | None) -> bool:
    """Whether a failure counts against the target: it is down, overloaded or broken. A rate limit does not count, since
    it says itself when to come back. `status`: the HTTP status of the answer; None where there was none."""
    return who_may_follow(error, status) == "any" and error.status != 429


class Outcomes:
    """The last outcomes of one target in this process. A failure of a target that mostly answers does not count."""

    def __init__(self) -> None:
        self._failed: deque[bool] = deque(maxlen=_OUTCOMES)

    def note(self, *, failed: bool) -> bool:
        """Notes an outcome. Returns whether it is a failure that counts."""
        self._failed.append(failed)
        return failed and 2 * sum(self._failed) >= len(self._failed)
