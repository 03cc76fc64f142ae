"""The latest exchanges, in bounded memory: a line of each for long, its bytes while there is room."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from local.watch.exchange import SeenExchange, Summary, summary
from toolwire.model.errors import GatewayError
from toolwire.shell.serve.observe import current_watch

#: Lines that are kept, and bytes of exchanges.
MOST_LINES = 10_000
MOST_BYTES = 8 << 20

Listener = Callable[[SeenExchange], None]


@dataclass(slots=True)
class _Entry:
    """One exchange: itself while its bytes are held, and its line as soon as somebody looks or it must outlive them."""

    seen: SeenExchange | None
    line: Summary | None = None
    #: The version of its last change.
    changed: int = 0
    size: int = 0

    def summed_up(self) -> Summary:
        """Its line. That of a running exchange is another one each time."""
        if self.line is not None:
            return self.line
        assert self.seen is not None
        line = summary(self.seen)
        if line.seconds is not None:
            self.line = line
        return line


class Exchanges:
    """The exchanges of one server. Its methods may be called by any thread.

    A listener is told of an exchange when it begins, each time a provider is asked, and when it is over. It runs in the
    thread that serves the request: what it does is waited for.
    """

    def __init__(self, *, most_lines: int = MOST_LINES, most_bytes: int = MOST_BYTES) -> None:
        self._most_lines, self._most_bytes = most_lines, most_bytes
        self._listeners: list[Listener] = []
        self._entries: OrderedDict[str, _Entry] = OrderedDict()
        #: The same by their last changes.
        self._by_change: OrderedDict[str, _Entry] = OrderedDict()
        #: Those of which there is more than a line, and the last of them that ended.
        self._held: dict[str, _Entry] = {}
        self._latest: _Entry | None = None
        self._running: set[str] = set()
        self._bytes = 0
        self._lock = threading.Lock()
        self._news = threading.Condition(self._lock)
        self._version = 0
        self._waiting = 0

    def listen(self, listener: Listener) -> None:
        """Tells a listener from now on."""
        self._listeners.append(listener)

    def forget(self, listener: Listener) -> None:
        """Tells it no more."""
        with suppress(ValueError):
            self._listeners.remove(listener)

    @contextmanager
    def watching(self, event: dict[str, Any]) -> Iterator[SeenExchange]:
        """Watches the request that came as this proxy event, while it is served in this context."""
        seen = self._begin(event)
        token = current_watch.set(seen)
        try:
            yield seen
        finally:
            current_watch.reset(token)
            seen.closed()

    def refused(
        self, method: str, path: str, headers: list[tuple[str, str]], request_id: str, error: GatewayError
    ) -> None:
        """Notes a request that the server has answered itself: most often its path leads nowhere."""
        context = {"requestId": request_id, "path": path}
        event = {"httpMethod": method, "headers": dict(headers), "body": None, "requestContext": context}
        self._begin(event).closed(error)

    def _begin(self, event: dict[str, Any]) -> SeenExchange:
        seen = SeenExchange(event, self._changed)
        with self._lock:
            entry = self._held[seen.request_id] = _Entry(seen)
            self._entries[seen.request_id] = self._by_change[seen.request_id] = entry
            self._running.add(seen.request_id)
        self._changed(seen)
        return seen

    def get(self, request_id: str) -> SeenExchange | None:
        """The exchange of a request; None if there was none or its bytes are gone."""
        with self._lock:
            entry = self._entries.get(request_id)
            return None if entry is None else entry.seen

    def lines(self) -> list[Summary]:
        """A line of each exchange, the latest first."""
        with self._lock:
            return [entry.summed_up() for entry in reversed(self._entries.values())]

    @property
    def running(self) -> int:
        """How many requests are being served now."""
        with self._lock:
            return len(self._running)

    def later_than(self, seen: SeenExchange) -> list[SeenExchange]:
        """The exchanges that began after this one, of which there is more than a line."""
        with self._lock:
            others = [entry.seen for entry in self._held.values() if entry.seen is not None]
        return [other for other in others if other.began_at > seen.began_at]

    @property
    def version(self) -> int:
        """Grows with every change of a line."""
        with self._lock:
            return self._version

    @property
    def count(self) -> int:
        """How many lines there are."""
        with self._lock:
            return len(self._entries)

    @property
    def held(self) -> set[str]:
        """The ids of those of which there is more than a line."""
        with self._lock:
            return set(self._held)

    @property
    def size(self) -> int:
        """Bytes that are held, nearly."""
        with self._lock:
            return self._bytes

    def changes(self, since: int, timeout: float) -> tuple[int, list[Summary]]:
        """Waits until a line is newer than the version `since`: the version now, and the lines that are."""
        with self._news:
            self._waiting += 1
            try:
                self._news.wait_for(lambda: self._version > since, timeout)
            finally:
                self._waiting -= 1
            newer = list(takewhile(lambda entry: entry.changed > since, reversed(self._by_change.values())))
            return self._version, [entry.summed_up() for entry in reversed(newer)]

    def _changed(self, seen: SeenExchange) -> None:
        with self._news:
            self._version += 1
            entry = self._entries.get(seen.request_id)
            if seen.over:
                self._running.discard(seen.request_id)
                self._latest = entry
            if entry is not None:  # else as many began after it as there are lines
                entry.changed = self._version
                self._by_change.move_to_end(seen.request_id)
                self._bytes += seen.size - entry.size
                entry.size = seen.size
                self._make_room()
            if self._waiting:
                self._news.notify_all()
        for listener in list(self._listeners):
            listener(seen)

    def _make_room(self) -> None:
        while len(self._entries) > self._most_lines:
            request_id, entry = self._entries.popitem(last=False)
            self._held.pop(request_id, None)
            del self._by_change[request_id]
            self._bytes -= entry.size
        if self._bytes <= self._most_bytes:
            return
        # What runs, and the latest, which whoever looks must find, stay; if they are large, half of the memory is still
        # the others'. Of these some more go than must, so that it is not done for every request.
        stay = {id(it): it.size for it in (*map(self._held.get, self._running), self._latest) if it is not None}
        may_stay = max(self._most_bytes * 0.9 - sum(stay.values()), self._most_bytes * 0.45)
        left = self._bytes - sum(stay.values())
        others = [it for it in self._held.items() if id(it[1]) not in stay] if left > may_stay else []
        # The oldest first; but what is large before all that is small, or one would clear the list.
        for request_id, entry in sorted(others, key=lambda it: it[1].size <= self._most_bytes / 2):
            if left <= may_stay:
                break
            left -= entry.size
            self._bytes -= entry.size
            entry.summed_up()
            entry.seen, entry.size = None, 0
            del self._held[request_id]
