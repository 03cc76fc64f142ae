"""The interface of a store, which keeps the items of `model/stored.py` from turn to turn, and the store in memory.

`current.py` chooses the store of a process.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Literal, Protocol

from toolwire.model.stored import CALL_PREFIX, Item, Key

#: The seconds that reading may delay the upstream's request, and that writing may delay the end of a turn.
READ_SECONDS, WRITE_SECONDS = 1.0, 2.0

#: The seconds that a process's first reading may wait for the table's client. It takes 0.1 s on a whole CPU, some twice
#: that on the template's share of one; a profile's credentials may come from a server.
WARM_SECONDS = 4.0

#: The most bytes of one item, with the names of its attributes (DynamoDB: 400 KB).
MOST_ITEM_BYTES = 400 * 1024

#: The most bytes of the memory store; then its oldest items are dropped.
MEMORY_ITEMS, MEMORY_BYTES = 20_000, 16 << 20

#: The bytes of a number: DynamoDB's most, for 38 digits.
_NUMBER_BYTES = 21
#: The bytes of the names of the keys and of the date, and of the date.
_KEYS_BYTES = len("conversation_idtool_call_idexpires_at") + _NUMBER_BYTES

Failure = Literal["unavailable", "timeout", "throttled", "missing_table", "denied", "too_large"]


class StoreError(Exception):
    """The store could not do all of a call. `code` is stable, for metrics; the text is for the log. Neither has content
    of an item."""

    def __init__(self, code: Failure, detail: str = "") -> None:
        super().__init__(f"{code}: {detail}" if detail else code)
        self.code = code


class Store(Protocol):
    """Items by partition and sort key. Safe to use from several threads.

    An item is not returned after its `expires_at`, deleted or not. A `deadline` is a moment of `time.monotonic`: no
    method returns later. Each raises StoreError; then what was read is lost, and what was written stays.
    """

    #: For /health and the start banner.
    @property
    def name(self) -> str: ...

    def warm(self, *, wait: float = 0.0) -> None:
        """Prepares a process's first call in a thread, and waits for it at most `wait` seconds.

        Deadlines do not include this time: a cold process must not lose a conversation's state. Never raises.
        """

    def mappings(self, partition: str, *, deadline: float) -> list[Item]:
        """Every item of a partition whose sort key is a call's id, ordered by it. One Query."""

    def everything(self, partition: str, *, deadline: float) -> list[Item]:
        """Every item of a partition, ordered by its sort key. For people who look at a conversation."""

    def get(self, keys: Sequence[Key], *, deadline: float) -> list[Item]:
        """The items of these keys, as far as there are any, in the keys' order. One BatchGetItem per 100."""

    def delete(self, keys: Sequence[Key], *, deadline: float) -> None:
        """Deletes the items of these keys. For people who delete a conversation; the gateway itself deletes nothing,
        since items expire."""

    def put(self, items: Sequence[Item], *, deadline: float) -> None:
        """Writes items, replacing those with the same keys. One BatchWriteItem per 25.

        An item over MOST_ITEM_BYTES, or with text that is no UTF-8, is left out; the others are written, and then
        `too_large` is raised.
        """


class MemoryStore:
    """A bounded store in this process. Its oldest items are dropped first."""

    name = "memory"

    def __init__(
        self,
        *,
        most_items: int = MEMORY_ITEMS,
        most_bytes: int = MEMORY_BYTES,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._most_items, self._most_bytes = most_items, most_bytes
        self._clock = clock
        self._lock = threading.Lock()
        #: Oldest first.
        self._items: dict[Key, Item] = {}
        self._sorts: dict[str, set[str]] = {}
        self._bytes = 0

    def warm(self, *, wait: float = 0.0) -> None:
        """Does nothing."""

    def mappings(self, partition: str, *, deadline: float) -> list[Item]:
        return self._in(partition, CALL_PREFIX, deadline)

    def everything(self, partition: str, *, deadline: float) -> list[Item]:
        return self._in(partition, "", deadline)

    def _in(self, partition: str, prefix: str, deadline: float) -> list[Item]:
        _check(deadline)
        with self._lock:
            sorts = sorted(sort for sort in self._sorts.get(partition, ()) if sort.startswith(prefix))
            return self._valid(Key(partition, sort) for sort in sorts)

    def get(self, keys: Sequence[Key], *, deadline: float) -> list[Item]:
        _check(deadline)
        with self._lock:
            return self._valid(dict.fromkeys(keys))

    def delete(self, keys: Sequence[Key], *, deadline: float) -> None:
        _check(deadline)
        with self._lock:
            for key in keys:
                self._remove(key)

    def put(self, items: Sequence[Item], *, deadline: float) -> None:
        _check(deadline)
        fitting = fitting_items(items)
        with self._lock:
            for item in fitting:
                self._remove(item.key)
                self._items[item.key] = item
                self._sorts.setdefault(item.key.partition, set()).add(item.key.sort)
                self._bytes += size_of(item)
            while len(self._items) > self._most_items or self._bytes > self._most_bytes:
                self._remove(next(iter(self._items)))
        check_all_fit(items, fitting)

    def _valid(self, keys: Iterable[Key]) -> list[Item]:
        """The items of these keys. Removes those that have expired."""
        now, found = self._clock(), []
        for key in list(keys):
            item = self._items.get(key)
            if item is not None and item.expires_at > now:
                found.append(item)
            elif item is not None:
                self._remove(key)
        return found

    def _remove(self, key: Key) -> None:
        item = self._items.pop(key, None)
        if item is None:
            return
        self._bytes -= size_of(item)
        sorts = self._sorts[key.partition]
        sorts.discard(key.sort)
        if not sorts:
            del self._sorts[key.partition]


def size_of(item: Item) -> int:
    """The bytes of an item as DynamoDB counts them, with its keys and the names of its attributes; numbers count their
    most."""
    size = _KEYS_BYTES + _value_bytes(item.key.partition) + _value_bytes(item.key.sort)
    for name, value in item.values.items():
        size += len(name) + _value_bytes(value)
    return size


def _value_bytes(value: str | int | bytes) -> int:
    if isinstance(value, str):
        return len(value) if value.isascii() else len(value.encode())
    return len(value) if isinstance(value, bytes) else _NUMBER_BYTES


def fitting_items(items: Sequence[Item]) -> list[Item]:
    """The items that a table takes: the last one of each key, without those that are too large or have half a surrogate
    pair."""
    return [item for item in {item.key: item for item in items}.values() if _fits(item)]


def _fits(item: Item) -> bool:
    try:
        return size_of(item) <= MOST_ITEM_BYTES
    except UnicodeEncodeError:
        return False


def check_all_fit(items: Sequence[Item], fitting: Sequence[Item]) -> None:
    """Raises StoreError (`too_large`) if `fitting_items` left out a key."""
    left_out = len({item.key for item in items}) - len(fitting)
    if left_out:
        raise StoreError("too_large", f"{left_out} items are over {MOST_ITEM_BYTES} bytes, or no valid text")


def _check(deadline: float) -> None:
    if time.monotonic() >= deadline:
        raise StoreError("timeout")
