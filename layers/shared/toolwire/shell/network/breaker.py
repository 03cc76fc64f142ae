"""Keeps the circuits of targets (`exchange.breaker`): in this process, or in the table of rates for all environments of
a deployed gateway. On Lambda the failures of one host are spread over many environments, of which each sees few.

An item of the table is one target. It is written after a failure and when a circuit changes, never for a success in a
closed circuit, and read at most every two seconds. If the table does not answer, targets are asked as usual.
"""

from __future__ import annotations

import functools
import hashlib
import random
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import msgspec

from toolwire.exchange.breaker import CLOSED, Circuit, Outcomes, after_failure, after_success, claimed
from toolwire.model.settings import BreakerRules, Settings, Target
from toolwire.shell.telemetry.log import logger

#: The seconds for which a circuit from the table is used before it is read again.
_FRESH_SECONDS = 2.0

#: Seconds that one call to the table may take.
_PATIENCE_SECONDS = 0.25

#: The most tries to change a circuit that others change at the same time.
_TRIES = 8

#: Seconds for which the item of a target stays in the table after it was written.
_KEPT_SECONDS = 3600


class UnavailableError(Exception):
    """The table could not be asked. The text says why and is safe to log."""


class Kept(NamedTuple):
    """A stored circuit. `version` counts its changes."""

    circuit: Circuit = CLOSED
    version: int = 0


class Circuits(Protocol):
    """Keeps circuits by key. Safe to use from several threads. Both methods raise UnavailableError."""

    #: The seconds for which a circuit is used before it is read again.
    fresh_seconds: float

    def read(self, key: str) -> Kept:
        """The circuit; a closed one if none is stored."""

    def swap(self, key: str, version: int, circuit: Circuit) -> Kept | None:
        """Replaces the circuit that has this version, atomically. Returns None if another process has replaced it."""


class MemoryCircuits:
    """The circuits of this process."""

    fresh_seconds = 0.0

    def __init__(self) -> None:
        self._kept: dict[str, Kept] = {}
        self._lock = threading.Lock()

    def read(self, key: str) -> Kept:
        """See `Circuits`."""
        return self._kept.get(key, Kept())

    def swap(self, key: str, version: int, circuit: Circuit) -> Kept | None:
        """See `Circuits`."""
        with self._lock:
            if self.read(key).version != version:
                return None
            made = self._kept[key] = Kept(circuit, version + 1)
            return made


class TableCircuits:
    """The circuits of all environments, in a table of DynamoDB."""

    fresh_seconds = _FRESH_SECONDS

    def __init__(self, table: str) -> None:
        self._table = table

    def read(self, key: str) -> Kept:
        """See `Circuits`."""
        item = self._call("get_item", Key={"window": {"S": key}}, ConsistentRead=True).get("Item")
        try:
            return Kept() if item is None else Kept(_decode(item["circuit"]["S"]), int(item["version"]["N"]))
        except (KeyError, ValueError, msgspec.MsgspecError):
            raise UnavailableError("the item of a target's circuit cannot be read") from None

    def swap(self, key: str, version: int, circuit: Circuit) -> Kept | None:
        """See `Circuits`."""
        made = Kept(circuit, version + 1)
        values = {
            ":circuit": {"S": msgspec.json.encode(circuit).decode()},
            ":version": {"N": str(made.version)},
            ":expires": {"N": str(int(time.time()) + _KEPT_SECONDS)},
        }
        try:
            self._call(
                "update_item",
                Key={"window": {"S": key}},
                UpdateExpression="SET circuit = :circuit, version = :version, expires_at = :expires",
                ConditionExpression="version = :before" if version else "attribute_not_exists(version)",
                ExpressionAttributeValues=values | ({":before": {"N": str(version)}} if version else {}),
            )
        except _ChangedError:
            return None
        return made

    def _call(self, operation: str, **arguments: Any) -> dict[str, Any]:
        from toolwire.shell.network import aws

        try:
            deadline = time.monotonic() + _PATIENCE_SECONDS
            return aws.call("dynamodb", operation, deadline=deadline, TableName=self._table, **arguments)
        except aws.AwsError as error:
            if error.code == "ConditionalCheckFailedException":
                raise _ChangedError from None
            raise UnavailableError(str(error)) from None


class _ChangedError(Exception):
    """Another environment has changed the item meanwhile."""


_decode = msgspec.json.Decoder(Circuit).decode


class Breaker:
    """The breakers of all targets. Safe to use from several threads."""

    def __init__(self, rules: BreakerRules, circuits: Circuits, clock: Callable[[], float] = time.time) -> None:
        self._rules, self._circuits, self._clock = rules, circuits, clock
        self._read: dict[str, tuple[Kept, float]] = {}
        self._outcomes: defaultdict[str, Outcomes] = defaultdict(Outcomes)
        self._last: dict[str, str] = {}

    def claim(self, target: Target) -> float:
        """Claims the right to ask a target. Returns the seconds for which it must not be asked; 0: it may be asked
        now."""
        wait = 0.0

        def ask(circuit: Circuit) -> Circuit:
            nonlocal wait
            changed, wait = claimed(circuit, self._rules, self._clock())
            return changed

        self._change(key_of(target), ask)
        return wait

    def last_failure(self, target: Target) -> str | None:
        """The code of the target's last failure in this process."""
        return self._last.get(key_of(target))

    def ended(self, target: Target, *, failed: bool, began: float, code: str | None = None) -> None:
        """Notes the end of an attempt that began at `began`: it was answered, or has failed with this code."""
        key = key_of(target)
        if failed and code is not None:
            self._last[key] = code
        counts = self._outcomes[key].note(failed=failed)
        if failed and counts:
            self._change(key, lambda circuit: after_failure(circuit, self._rules, self._clock(), began))
        elif not failed:
            self._change(key, lambda circuit: after_success(circuit, began))

    def _change(self, key: str, change: Callable[[Circuit], Circuit]) -> None:
        """Changes a circuit. If others have changed it meanwhile, applies the change to their version."""
        try:
            kept = self._recent(key)
            for _ in range(_TRIES):
                changed = change(kept.circuit)
                if changed == kept.circuit:
                    return
                swapped = self._circuits.swap(key, kept.version, changed)
                if swapped is not None:
                    self._note(key, swapped)
                    return
                time.sleep(random.uniform(0, 0.01))  # noqa: S311 - it keeps no secret
                kept = self._circuits.read(key)
                self._note(key, kept)
        except UnavailableError as failure:
            self._note(key, Kept())
            logger().error("the breaker is not shared", problem=str(failure))

    def _recent(self, key: str) -> Kept:
        """The circuit, at most two seconds old."""
        read = self._read.get(key)
        if read is not None and 0 <= self._clock() - read[1] < self._circuits.fresh_seconds:
            return read[0]
        kept = self._circuits.read(key)
        self._note(key, kept)
        return kept

    def _note(self, key: str, kept: Kept) -> None:
        self._read[key] = kept, self._clock()


@functools.lru_cache(1024)
def key_of(target: Target) -> str:
    """The key of a target's circuit. It begins with "#", as no tenant's name does, so that no window of rates has the
    same."""
    provider = target.provider
    place = "\n".join((provider.base_url, provider.credential, target.model))
    return f"#breaker#{provider.name}#{hashlib.sha256(place.encode('utf-8', 'surrogatepass')).hexdigest()[:24]}"


def breaker_for(settings: Settings, *, several: bool) -> Breaker | None:
    """The breaker of this process; None if it is switched off. Without configured rules only requests with `several`
    targets use the shared table: reading it costs time, which a request with one target is spared."""
    rules = settings.breaker or BreakerRules()
    if not rules.enabled:
        return None
    shared = settings.breaker is not None or several
    return _breaker(rules, settings.rates_table if shared else None)


@functools.cache
def _breaker(rules: BreakerRules, table: str | None) -> Breaker:
    return Breaker(rules, MemoryCircuits() if table is None else TableCircuits(table))
