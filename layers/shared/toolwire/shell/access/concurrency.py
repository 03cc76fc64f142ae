"""Limits the requests that are served at once, of a tenant and at a provider. A request without a slot is refused; none
waits.

A slot is a lease. It is given back when its request ends, and expires after the longest time that the request may take,
in case its process died. Without a table of rates each process counts for itself.
"""

from __future__ import annotations

import functools
import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Any, Protocol

from toolwire.shell.telemetry.log import logger

#: The seconds that one call to the table may take. If the table does not answer, no request is refused.
_PATIENCE_SECONDS = 1.0

#: The most leases that one write removes: DynamoDB takes no expression of more than 4 KB.
_MOST_REMOVED = 100

#: Seconds for which an item stays in the table after its last lease.
_KEPT_SECONDS = 3600

#: Gives a slot back. It may be called once.
GiveBack = Callable[[], None]


class Slots(Protocol):
    """Hands out slots by key. Safe to use from several threads."""

    def take(self, key: str, most: int, seconds: float) -> GiveBack | None:
        """Takes a slot for at most so many seconds. None if `most` are taken."""


class MemorySlots:
    """The slots of this process, which end with it."""

    def __init__(self) -> None:
        self._taken: Counter[str] = Counter()
        self._lock = threading.Lock()

    def take(self, key: str, most: int, seconds: float) -> GiveBack | None:  # noqa: ARG002
        """See `Slots`."""
        with self._lock:
            if self._taken[key] >= most:
                return None
            self._taken[key] += 1
        return functools.partial(self._give_back, key)

    def _give_back(self, key: str) -> None:
        with self._lock:
            self._taken[key] -= 1
            if not self._taken[key]:
                del self._taken[key]


class TableSlots:
    """The slots of all environments: an item of the table for each key, with a map of leases and their ends."""

    def __init__(self, table: str, clock: Callable[[], float] = time.time) -> None:
        self._table, self._clock = table, clock

    def take(self, key: str, most: int, seconds: float) -> GiveBack | None:
        """See `Slots`."""
        lease = "l" + secrets.token_hex(8)
        from toolwire.shell.network import aws

        try:
            taken = self._take(key, lease, most, seconds)
        except aws.AwsError as failure:
            logger().error("slots are not counted", problem=str(failure))
            return lambda: None
        return functools.partial(self._give_back, key, lease) if taken else None

    def _take(self, key: str, lease: str, most: int, seconds: float) -> bool:
        """Whether a lease was taken. Raises AwsError."""
        for _ in range(3):
            refused = self._update(
                key,
                "SET leases.#lease = :until, expires_at = :expires",
                "attribute_exists(leases) AND size(leases) < :most",
                {"#lease": lease},
                {
                    ":until": int(self._clock() + seconds) + 1,
                    ":expires": int(self._clock() + seconds) + _KEPT_SECONDS,
                    ":most": most,
                },
            )
            if refused is None:
                return True
            if not self._made_room(key):
                return False
        return False

    def _made_room(self, key: str) -> bool:
        """Makes the item, or removes the expired leases. Returns whether another try may succeed."""
        leases = self._call("get_item", Key=_key(key), ConsistentRead=True).get("Item", {}).get("leases")
        if leases is None:
            values: dict[str, Any] = {":none": {"M": {}}}
            self._write(
                key, "SET leases = :none", ConditionExpression="attribute_not_exists(leases)",
                ExpressionAttributeValues=values,
            )  # fmt: skip
            return True
        now = self._clock()
        over = [lease for lease, until in leases["M"].items() if int(until["N"]) < now]
        if over:
            names = {f"#l{number}": lease for number, lease in enumerate(over[:_MOST_REMOVED])}
            gone = ", ".join(f"leases.{name}" for name in names)
            self._write(key, f"REMOVE {gone}", ExpressionAttributeNames=names)
        return bool(over)

    def _give_back(self, key: str, lease: str) -> None:
        from toolwire.shell.network import aws

        try:
            self._write(key, "REMOVE leases.#lease", ExpressionAttributeNames={"#lease": lease})
        except aws.AwsError as failure:  # the lease expires by itself
            logger().error("slots are not counted", problem=str(failure))

    def _update(
        self, key: str, expression: str, condition: str, names: dict[str, str], values: dict[str, int]
    ) -> str | None:
        """Writes under a condition. Returns the code of the refusal if the condition did not hold or there is no item
        yet; None if it was written. Raises AwsError."""
        return self._write(
            key,
            expression,
            ConditionExpression=condition,
            ExpressionAttributeNames=names,
            ExpressionAttributeValues={name: {"N": str(value)} for name, value in values.items()},
        )

    def _write(self, key: str, expression: str, **more: Any) -> str | None:
        from toolwire.shell.network import aws

        try:
            self._call("update_item", Key=_key(key), UpdateExpression=expression, **more)
        except aws.AwsError as error:
            # An item without a map of leases is refused as ValidationException.
            if error.code not in ("ConditionalCheckFailedException", "ValidationException"):
                raise
            return error.code
        return None

    def _call(self, operation: str, **arguments: Any) -> dict[str, Any]:
        from toolwire.shell.network import aws

        deadline = time.monotonic() + _PATIENCE_SECONDS
        return aws.call("dynamodb", operation, deadline=deadline, TableName=self._table, **arguments)


def _key(key: str) -> dict[str, dict[str, str]]:
    """The key of the item. It begins with "#", as no tenant's name does, so that no window of rates has the same."""
    return {"window": {"S": f"#slots#{key}"}}


@functools.cache
def slots(table: str | None) -> Slots:
    """The slots that this process shares with all others that have this table."""
    return MemorySlots() if table is None else TableSlots(table)
