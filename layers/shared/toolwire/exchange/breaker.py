"""The circuit breaker of one target, as a pure state machine: what is known of its failures, and who may ask it.

    closed      everybody asks it; so many failures within a window open it
    open        nobody asks it, until `open_until`
    half open   one request asks it, and claims that by opening it for another period: who loses the claim waits.
                Its success closes the circuit, its failure opens it anew; one that never ends lets the next one try

An attempt that began before the last failure says nothing of an open circuit: a long stream that ends well tells how
the target was, and those that still wait for a dead one would keep the circuit open until the last has given up.

A circuit is a value. Whoever keeps it (`shell.network.breaker`) replaces one by the next in one step.
"""

from __future__ import annotations

from collections import deque

from msgspec import Struct

from toolwire.exchange.retries import who_may_follow
from toolwire.model.errors import GatewayError
from toolwire.model.settings import BreakerRules

#: Outcomes by which one process judges whether a target fails, or only some of its requests do.
_OUTCOMES = 10


#: A circuit that is open for more periods than that was opened by another clock: one that is wrong, or was set back.
_MOST_PERIODS = 2


class Circuit(Struct, frozen=True):
    """What is known of one target. Times are seconds since 1970."""

    #: The last failures.
    failures: tuple[float, ...] = ()
    #: Until when nobody asks it; 0: it is closed.
    open_until: float = 0.0


CLOSED = Circuit()


def claimed(circuit: Circuit, rules: BreakerRules, now: float) -> tuple[Circuit, float]:
    """The circuit once a request asks the target, and the seconds for which it must not. Without a wait, a circuit that
    changes must be kept before anybody is asked."""
    if not circuit.open_until:
        return circuit, 0.0
    if now < circuit.open_until <= now + _MOST_PERIODS * rules.open_seconds:
        return circuit, circuit.open_until - now
    return Circuit(tuple(at for at in circuit.failures if at <= now), now + rules.open_seconds), 0.0


def after_failure(circuit: Circuit, rules: BreakerRules, now: float, began: float) -> Circuit:
    """The circuit after the failure of an attempt that began at this moment."""
    if _is_past(circuit, began):
        return circuit
    recent = tuple(at for at in (*circuit.failures, now) if abs(now - at) < rules.seconds)[-rules.failures :]
    opens = bool(circuit.open_until) or len(recent) >= rules.failures
    return Circuit(recent, now + rules.open_seconds if opens else 0.0)


def after_success(circuit: Circuit, began: float) -> Circuit:
    """The circuit after the success of an attempt that began at this moment: closed. Failures in a closed one stay
    until the window has passed them."""
    return CLOSED if circuit.open_until and not _is_past(circuit, began) else circuit


def _is_past(circuit: Circuit, began: float) -> bool:
    """Whether the circuit is open, and an attempt that began at this moment is older than what opened it."""
    return bool(circuit.open_until) and began < max(circuit.failures, default=0.0)


def is_failure(error: GatewayError, status: int | None) -> bool:
    """Whether an attempt's failure is the target's: it is down, overloaded or broken. A rate limit is not, which has
    its own moment to come back. `status`: the HTTP status of its answer; None where there was none."""
    return who_may_follow(error, status) == "any" and error.status != 429


class Outcomes:
    """The last outcomes of one target, as one process has seen them: of a target that mostly answers, a failure is no
    sign."""

    def __init__(self) -> None:
        self._failed: deque[bool] = deque(maxlen=_OUTCOMES)

    def note(self, *, failed: bool) -> bool:
        """Notes an outcome. Whether it is a failure that counts."""
        self._failed.append(failed)
        return failed and 2 * sum(self._failed) >= len(self._failed)
