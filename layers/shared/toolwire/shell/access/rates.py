"""Counts a tenant's requests, and the tool calls of its answers, in each minute of the clock.

A request is checked and counted in one atomic step before it is served, so that exactly the allowed number passes, also
of many at once. Tool calls are counted when an answer has them (the reference's "tool call units", one a call): the
answer that crosses the limit is served, the next request is refused.

The counts of a tenant's minute are one item of DynamoDB. Without a table each process counts for itself.
"""

from __future__ import annotations

import math
import threading
import time
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from toolwire.doors import Door
from toolwire.doors.limit_headers import RateLimit
from toolwire.model.errors import RequestError
from toolwire.model.http import Headers
from toolwire.model.settings import Settings, Tenant
from toolwire.shell.telemetry.log import logger

WINDOW_SECONDS = 60

#: The seconds for which a window's item stays after its end, so that people can look at it.
_KEPT_SECONDS = 3600

#: The seconds that counting may take. If the table does not answer, a request waits as long and is admitted.
_PATIENCE_SECONDS = 1.0


class NotCountedError(Exception):
    """The table could not be asked. The text says why and is safe to log."""


class Counts(NamedTuple):
    """The counts of one window."""

    requests: int
    tool_calls: int


class Counter(Protocol):
    """Counts windows. Safe to use from several threads. Both methods raise NotCountedError."""

    def take(self, window: str, most: Counts, expires_at: int) -> tuple[bool, Counts]:
        """Counts one more request if both counts are below `most`, in one step. Returns whether it did, and the
        counts."""

    def add(self, window: str, tool_calls: int, expires_at: int) -> None:
        """Counts tool calls, whatever the limit."""


@dataclass(frozen=True, slots=True)
class RateState:
    """A tenant's minute after a request was counted."""

    tenant: Tenant
    counts: Counts
    #: The window's end, in seconds since 1970, and the whole seconds until then.
    ends_at: int
    seconds_left: int

    @property
    def limits(self) -> list[RateLimit]:
        """The limits that the tenant has, and what is left of them."""
        return [
            RateLimit(name, limit, max(0, limit - count), self.ends_at, self.seconds_left)
            for name, limit, count in (
                ("requests", self.tenant.requests_per_minute, self.counts.requests),
                ("tool-calls", self.tenant.tool_calls_per_minute, self.counts.tool_calls),
            )
            if limit is not None
        ]


def admit(tenant: Tenant, door: Door, settings: Settings, now: float) -> Headers:
    """Counts a request of the tenant. Returns the door's headers about the tenant's limits; none for a tenant without
    limits. `now` is in seconds since 1970.

    If the table cannot be asked, the request is admitted, and the log says so: a limit protects from high bills, and an
    outage of some minutes would hurt more. Raises RequestError (429, `rate_limit_exceeded`) with the moment to come
    back.
    """
    if not _limited(tenant):
        return ()
    window, ends_at = _window(tenant, now)
    most = Counts(tenant.requests_per_minute or _NO_LIMIT, tenant.tool_calls_per_minute or _NO_LIMIT)
    try:
        admitted, counts = _counter(settings).take(window, most, ends_at + _KEPT_SECONDS)
    except NotCountedError as failure:
        _tell(failure, tenant)
        return ()
    state = RateState(tenant, counts, ends_at, max(1, math.ceil(ends_at - now)))
    headers = door.limit_headers(state.limits)
    if admitted:
        return headers
    what = (
        f"{tenant.requests_per_minute} requests a minute are allowed"
        if counts.requests >= most.requests
        else f"{tenant.tool_calls_per_minute} tool calls a minute are allowed, and this minute's answers have made them"
    )
    raise RequestError(
        f"The rate limit of this key's tenant is reached: {what}. Try again in {state.seconds_left} s.",
        status=429,
        code="rate_limit_exceeded",
        retry=None,
        retry_after=str(state.seconds_left),
        headers=headers,
    )


def charge(tenant: Tenant, tool_calls: int, settings: Settings, now: float) -> None:
    """Counts the tool calls of an answer, in the current minute. Raises nothing, since the answer was served."""
    if tool_calls <= 0 or tenant.tool_calls_per_minute is None:
        return
    window, ends_at = _window(tenant, now)
    try:
        _counter(settings).add(window, tool_calls, ends_at + _KEPT_SECONDS)
    except NotCountedError as failure:
        _tell(failure, tenant)


#: Above every count that a minute can reach.
_NO_LIMIT = 1 << 52


def _limited(tenant: Tenant) -> bool:
    return tenant.requests_per_minute is not None or tenant.tool_calls_per_minute is not None


def _window(tenant: Tenant, now: float) -> tuple[str, int]:
    """The name and the end of the tenant's window at this moment."""
    minute = int(now // WINDOW_SECONDS)
    return f"{tenant.name}#{minute}", (minute + 1) * WINDOW_SECONDS


def _tell(failure: NotCountedError, tenant: Tenant) -> None:
    """Logs that nothing was counted."""
    logger().error("rates are not counted", tenant=tenant.name, problem=str(failure))


class MemoryCounter:
    """Counts in this process."""

    def __init__(self) -> None:
        self._windows: dict[str, tuple[Counts, int]] = {}
        self._lock = threading.Lock()

    def take(self, window: str, most: Counts, expires_at: int) -> tuple[bool, Counts]:
        with self._lock:
            counts = self._counts(window, expires_at)
            if counts.requests >= most.requests or counts.tool_calls >= most.tool_calls:
                return False, counts
            counts = counts._replace(requests=counts.requests + 1)
            self._windows[window] = counts, expires_at
            return True, counts

    def add(self, window: str, tool_calls: int, expires_at: int) -> None:
        with self._lock:
            counts = self._counts(window, expires_at)
            self._windows[window] = counts._replace(tool_calls=counts.tool_calls + tool_calls), expires_at

    def _counts(self, window: str, expires_at: int) -> Counts:
        """The counts of a window. A new minute's first call drops those of an hour ago."""
        if window not in self._windows:
            self._windows = {name: kept for name, kept in self._windows.items() if kept[1] > expires_at - _KEPT_SECONDS}
        return self._windows.get(window, (Counts(0, 0), 0))[0]


class DynamoDbCounter:
    """Counts in a table: one conditional write a request, one more for an answer with calls."""

    def __init__(self, table: str) -> None:
        self._table = table

    def take(self, window: str, most: Counts, expires_at: int) -> tuple[bool, Counts]:
        refused, item = self._update(
            window,
            "SET expires_at = :expires ADD requests :one",
            {":one": 1, ":expires": expires_at, ":requests": most.requests, ":calls": most.tool_calls},
            ConditionExpression="(attribute_not_exists(requests) OR requests < :requests)"
            " AND (attribute_not_exists(tool_calls) OR tool_calls < :calls)",
            ReturnValues="ALL_NEW",
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
        )
        if refused and not item:  # an emulator may leave the item out; one of the limits was reached
            return False, most
        return not refused, Counts(*(int(item[name]["N"]) if name in item else 0 for name in Counts._fields))

    def add(self, window: str, tool_calls: int, expires_at: int) -> None:
        values = {":calls": tool_calls, ":expires": expires_at}
        self._update(window, "SET expires_at = :expires ADD tool_calls :calls", values)

    def _update(
        self, window: str, expression: str, values: dict[str, int], **more: str
    ) -> tuple[bool, dict[str, dict[str, str]]]:
        """Writes. Returns whether the condition refused it, and the item if it was asked for. It is never tried again:
        a write without an answer may have been done."""
        from toolwire.shell.network import aws

        try:
            answer = aws.call(
                "dynamodb",
                "update_item",
                deadline=time.monotonic() + _PATIENCE_SECONDS,
                TableName=self._table,
                Key={"window": {"S": window}},
                UpdateExpression=expression,
                ExpressionAttributeValues={name: {"N": str(value)} for name, value in values.items()},
                **more,
            )
        except aws.AwsError as error:
            if error.code != "ConditionalCheckFailedException":
                raise NotCountedError(str(error)) from None
            return True, error.answer.get("Item", {})
        return False, answer.get("Attributes", {})


_memory = MemoryCounter()


def _counter(settings: Settings) -> Counter:
    return _memory if settings.rates_table is None else DynamoDbCounter(settings.rates_table)
