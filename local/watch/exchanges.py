"""The latest exchanges, in bounded memory: a line of each for long, its bytes while there is room."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

from toolwire.model.errors import GatewayError
from toolwire.shell.recording.exchange import SeenExchange, Summary, summary
from toolwire.shell.serve.observe import current_watch

#: Lines that are kept, and bytes of exchanges.
MOST_LINES = 10_000
MOST_BYTES = 8 << 20

Listener = Callable[[SeenExchange], None]


class _Left(NamedTuple):
    """What is left of an exchange when its bytes are gone: its line, and the version of its last change."""

    line: Summary
    changed: int


class Exchanges:
    """The exchanges of one server. Its methods may be called by any thread.

    A listener is told of an exchange when it begins, each time a provider is asked, and when it is over. It runs in the
    thread that serves the request: what it does is waited for.
    """

    def __init__(self, *, most_lines: int = MOST_LINES, most_bytes: int = MOST_BYTES) -> None:
        self._most_lines, self._most_bytes = most_lines, most_bytes
        self._listeners: list[Listener] = []
        #: The lines, in the order in which the requests came: an exchange is its own while its bytes are held.
        self._entries: OrderedDict[str, SeenExchange | _Left] = OrderedDict()
        #: Those of which there is more than a line, and the last of them that ended.
        self._held: dict[str, SeenExchange] = {}
        self._latest: SeenExchange | None = None
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
        seen = self.begin(event)
        try:
            yield seen
        finally:
            self.end(seen)

    def begin(self, event: dict[str, Any], path: str | None = None) -> SeenExchange:
        """Watches the request from now on, until `end`: for the server, to which the block of `watching` costs more.
        `path`: as the client wrote it."""
        seen = self._begin(event, path)
        current_watch.set(seen)
        return seen

    def end(self, seen: SeenExchange) -> None:
        """The request that this context serves is over."""
        current_watch.set(None)
        seen.closed()

    def refused(
        self, method: str, path: str, headers: list[tuple[str, str]], request_id: str, error: GatewayError
    ) -> None:
        """Notes a request that the server has answered itself: most often its path leads nowhere."""
        context = {"requestId": request_id, "path": path}
        event = {"httpMethod": method, "headers": dict(headers), "body": None, "requestContext": context}
        self._begin(event).closed(error)

    def _begin(self, event: dict[str, Any], path: str | None = None) -> SeenExchange:
        seen = SeenExchange(event, self._changed, path)
        with self._lock:
            self._entries[seen.request_id] = self._held[seen.request_id] = seen
            self._running.add(seen.request_id)
        self._changed(seen)
        return seen

    def get(self, request_id: str) -> SeenExchange | None:
        """The exchange of a request; None if there was none or its bytes are gone."""
        with self._lock:
            return self._held.get(request_id)

    def lines(self) -> list[Summary]:
        """A line of each exchange, the latest first."""
        with self._lock:
            entries = list(reversed(self._entries.values()))
        return [_line(entry) for entry in entries]

    @property
    def running(self) -> int:
        """How many requests are being served now."""
        with self._lock:
            return len(self._running)

    def later_than(self, seen: SeenExchange) -> list[SeenExchange]:
        """The exchanges that began after this one, of which there is more than a line."""
        with self._lock:
            others = list(self._held.values())
        return [other for other in others if other.began > seen.began]

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
            version, newer = self._version, [entry for entry in self._entries.values() if entry.changed > since]
        return version, [_line(entry) for entry in sorted(newer, key=lambda entry: entry.changed)]

    def _changed(self, seen: SeenExchange) -> None:
        with self._lock:
            self._version = seen.changed = self._version + 1
            if seen.request_id in self._held:  # else as many began after it as there are lines
                self._bytes += seen.size - seen.counted
                seen.counted = seen.size
            if seen.over:
                self._running.discard(seen.request_id)
                self._latest = seen
                self._make_room()
            if self._waiting:
                self._news.notify_all()
        if self._listeners:
            for listener in list(self._listeners):
                listener(seen)

    def _make_room(self) -> None:
        while len(self._entries) > self._most_lines:
            request_id, _ = self._entries.popitem(last=False)
            if (gone := self._held.pop(request_id, None)) is not None:
                self._bytes -= gone.counted
        if self._bytes <= self._most_bytes:
            return
        # What runs, and the latest, which whoever looks must find, stay; if they are large, half of the memory is still
        # the others'. Of these some more go than must, so that it is not done for every request.
        stay = {it for it in (*map(self._held.get, self._running), self._latest) if it is not None}
        stays = sum(it.counted for it in stay if it.request_id in self._held)
        may_stay = max(self._most_bytes * 0.9 - stays, self._most_bytes * 0.45)
        left = self._bytes - stays
        others = [it for it in self._held.values() if it not in stay] if left > may_stay else []
        # The oldest first; but what is large before all that is small, or one would clear the list.
        for seen in sorted(others, key=lambda it: it.counted <= self._most_bytes / 2):
            if left <= may_stay:
                break
            left -= seen.counted
            self._bytes -= seen.counted
            self._entries[seen.request_id] = _Left(summary(seen), seen.changed)
            del self._held[seen.request_id]


def _line(entry: SeenExchange | _Left) -> Summary:
    return entry.line if isinstance(entry, _Left) else summary(entry)
