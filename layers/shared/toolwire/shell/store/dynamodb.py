"""The store in a DynamoDB table. Its client is made by the first call, or ahead of it by `warm`.

    conversation_id   HASH    Key.partition
    tool_call_id      RANGE   Key.sort
    expires_at        N       the table's TTL attribute, in seconds since 1970
    ...                       Item.values: text as S, whole numbers as N, bytes as B

DynamoDB deletes an expired item days later, so every read filters: the Query in the table (a filtered item still costs
its read), and all reads by this process's own clock.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from toolwire.model.stored import CALL_PREFIX, Item, Key, Value
from toolwire.shell.network import aws
from toolwire.shell.store.store import Failure, StoreError, check_all_fit, fitting_items

#: DynamoDB's own limits for one call.
KEYS_PER_READ, ITEMS_PER_WRITE = 100, 25

#: The most pages of one Query, of 1 MB each: some 50,000 mappings, far more than a conversation has.
MOST_PAGES = 16

#: The most failures in a row other than throttling, which is retried as long as there is time.
ATTEMPTS = 3

#: Seconds of the first pause before a retry and of the longest; each pause is a random part of that.
FIRST_PAUSE, LONGEST_PAUSE = 0.025, 0.4

_FAILURES: dict[aws.Reason, Failure] = {
    "unavailable": "unavailable",
    "timeout": "timeout",
    "throttled": "throttled",
    "not_found": "missing_table",
    "denied": "denied",
    "too_large": "too_large",
    "refused": "unavailable",
}


class Call(Protocol):
    """One call to DynamoDB."""

    def __call__(self, operation: str, *, deadline: float, **arguments: Any) -> dict[str, Any]:
        """Its answer. Raises AwsError."""


def _call_dynamodb(operation: str, *, deadline: float, **arguments: Any) -> dict[str, Any]:
    return aws.call("dynamodb", operation, deadline=deadline, **arguments)


def _warm_dynamodb(wait: float) -> None:
    aws.warm("dynamodb", wait=wait)


class DynamoDbStore:
    """A store in one table: see `store.Store`. It calls Query, BatchGetItem and BatchWriteItem."""

    def __init__(
        self,
        table: str,
        *,
        name: str = "dynamodb",
        call: Call = _call_dynamodb,
        warm: Callable[[float], None] = _warm_dynamodb,
        clock: Callable[[], float] = time.time,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self.name = name
        self._table = table
        self._aws = call
        self._warm = warm
        self._clock = clock
        self._pause = pause

    def warm(self, *, wait: float = 0.0) -> None:
        self._warm(wait)

    def mappings(self, partition: str, *, deadline: float) -> list[Item]:
        only_calls = " AND begins_with(tool_call_id, :call)", {":call": {"S": CALL_PREFIX}}
        return self._query(partition, *only_calls, deadline=deadline)

    def everything(self, partition: str, *, deadline: float) -> list[Item]:
        return self._query(partition, "", {}, deadline=deadline)

    def _query(self, partition: str, condition: str, values: dict[str, Any], *, deadline: float) -> list[Item]:
        now = self._clock()
        arguments: dict[str, Any] = {
            "TableName": self._table,
            "KeyConditionExpression": f"conversation_id = :partition{condition}",
            "FilterExpression": "expires_at > :now",
            "ExpressionAttributeValues": {":partition": {"S": partition}, ":now": {"N": str(int(now))}, **values},
            "ConsistentRead": True,
        }
        found: list[Item] = []
        for _ in range(MOST_PAGES):
            answer = self._call("query", deadline, **arguments)
            found += _items(answer.get("Items", ()), now)
            if not answer.get("LastEvaluatedKey"):
                return found
            arguments["ExclusiveStartKey"] = answer["LastEvaluatedKey"]
        raise StoreError("too_large", f"a conversation has more than {MOST_PAGES} pages of mappings")

    def get(self, keys: Sequence[Key], *, deadline: float) -> list[Item]:
        now, found = self._clock(), {}
        distinct = list(dict.fromkeys(keys))  # a key given twice would be refused
        pending = [_key_attributes(key) for key in distinct]
        for answer in self._batches("batch_get_item", pending, deadline):
            for item in _items(answer.get("Responses", {}).get(self._table, ()), now):
                found[item.key] = item
        return [found[key] for key in distinct if key in found]

    def put(self, items: Sequence[Item], *, deadline: float) -> None:
        fitting = fitting_items(items)
        pending = [{"PutRequest": {"Item": _attributes(item)}} for item in fitting]
        for _ in self._batches("batch_write_item", pending, deadline):
            pass
        check_all_fit(items, fitting)

    def delete(self, keys: Sequence[Key], *, deadline: float) -> None:
        pending = [{"DeleteRequest": {"Key": _key_attributes(key)}} for key in dict.fromkeys(keys)]
        for _ in self._batches("batch_write_item", pending, deadline):
            pass

    def _batches(self, operation: str, pending: list[Any], deadline: float) -> Iterator[dict[str, Any]]:
        """Yields the answers to a batch operation, until nothing is left. Unprocessed entries join the next call."""
        reads = operation == "batch_get_item"
        size, left_out = (KEYS_PER_READ, "UnprocessedKeys") if reads else (ITEMS_PER_WRITE, "UnprocessedItems")
        incomplete = 0
        while pending:
            batch, pending = pending[:size], pending[size:]
            request = {"Keys": batch, "ConsistentRead": True} if reads else batch
            answer = self._call(operation, deadline, RequestItems={self._table: request})
            yield answer
            left = answer.get(left_out, {}).get(self._table, [])
            if left:
                pending = [*(left["Keys"] if reads else left), *pending]
                self._back_off(incomplete, deadline, StoreError("throttled", f"{operation} left items out"))
            incomplete = incomplete + 1 if left else 0

    def _call(self, operation: str, deadline: float, **arguments: Any) -> dict[str, Any]:
        """Makes one call, with retries if they can help. Raises StoreError, with the table's own reason if it gave one
        in time."""
        failure, failures = None, 0
        while True:
            try:
                return self._aws(operation, deadline=deadline, **arguments)
            except aws.AwsError as error:
                if failure is None or error.code != aws.DEADLINE_EXCEEDED:
                    failure = StoreError(_FAILURES[error.reason], str(error))
                if not error.retry or (error.reason != "throttled" and failures + 1 >= ATTEMPTS):
                    raise failure from None
            self._back_off(failures, deadline, failure)
            failures += 1

    def _back_off(self, failures: int, deadline: float, failure: StoreError) -> None:
        """Waits a random part of a time that doubles with each failure. Raises `failure` if that is too long."""
        delay = random.uniform(0, min(LONGEST_PAUSE, FIRST_PAUSE * 2**failures))  # noqa: S311 - it keeps no secret
        if time.monotonic() + delay >= deadline:
            raise failure
        self._pause(delay)


def create_table(client: Any, table: str) -> None:
    """Makes the table as the template describes it, for local endpoints and tests; `client` is a boto3 client."""
    names = ("conversation_id", "tool_call_id")
    client.create_table(
        TableName=table,
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": n, "KeyType": t} for n, t in zip(names, ("HASH", "RANGE"), strict=True)],
        AttributeDefinitions=[{"AttributeName": n, "AttributeType": "S"} for n in names],
    )


def _key_attributes(key: Key) -> dict[str, Any]:
    return {"conversation_id": {"S": key.partition}, "tool_call_id": {"S": key.sort}}


def _attributes(item: Item) -> dict[str, Any]:
    """An item as DynamoDB takes it."""
    named = {name: _attribute(value) for name, value in item.values.items()}
    return {**named, **_key_attributes(item.key), "expires_at": _attribute(item.expires_at)}


def _attribute(value: Value) -> dict[str, Any]:
    if isinstance(value, int):
        return {"N": str(value)}
    return {"S": value} if isinstance(value, str) else {"B": value}


def _items(found: Sequence[dict[str, Any]], now: float) -> list[Item]:
    """The items that are valid now. An item that is not ours (another type, no `expires_at`) counts as absent."""
    items = []
    for attributes in found:
        try:
            values = {name: _value(*attribute.items()) for name, attribute in attributes.items()}
            key = Key(str(values.pop("conversation_id")), str(values.pop("tool_call_id")))
            item = Item(key, values, int(values.pop("expires_at")))
        except (KeyError, TypeError, ValueError):
            continue
        if item.expires_at > now:
            items.append(item)
    return items


def _value(typed: tuple[str, Any]) -> Value:
    """The value of an attribute. Raises ValueError for a type that we do not write, and for a number that is not
    whole."""
    kind, value = typed
    if kind == "S" and isinstance(value, str):
        return value
    if kind == "N" and isinstance(value, str):
        return int(value)
    if kind == "B" and isinstance(value, bytes):
        return value
    raise ValueError
