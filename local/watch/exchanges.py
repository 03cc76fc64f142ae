"""The latest exchanges, in bounded memory: a line of each for long, its bytes while there is room."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from local.watch.exchange import SeenExchange, Summary, summary
from toolwire.model.errors import GatewayError
from toolwire.shell.serve.observe import current_watch

#: Lines that are kept, and bytes of exchanges.
MOST_LINES = 2_000
MOST_BYTES = 8 << 20

Listener = Callable[[SeenExchange], None]


class Exchanges:
    """The exchanges of one server. Its methods may be called by any thread.

    A listener is told of an exchange when it begins, each time a provider is asked, and when it is over. It runs in the
    thread that serves the request: what it does is waited for.
    """

    def __init__(self, *, most_lines: int = MOST_LINES, most_bytes: int = MOST_BYTES) -> None:
        self._most_lines, self._most_bytes = most_lines, most_bytes
        self._listeners: list[Listener] = []
        self._kept: OrderedDict[str, SeenExchange] = OrderedDict()
        self._lines: OrderedDict[str, Summary] = OrderedDict()
        self._sizes: dict[str, int] = {}
        self._bytes = 0
        self._lock = threading.Lock()
        self._news = threading.Condition(self._lock)
        self._version = 0

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
            self._kept[seen.request_id] = seen
        self._changed(seen)
        return seen

    def get(self, request_id: str) -> SeenExchange | None:
        """The exchange of a request; None if there was none or its bytes are gone."""
        with self._lock:
            return self._kept.get(request_id)

    def lines(self) -> list[Summary]:
        """A line of each exchange, the latest first."""
        with self._lock:
            lines = list(self._lines.values())
            running = [seen for seen in self._kept.values() if not seen.over]
        fresh = {line.request_id: line for line in map(summary, running)}
        return [fresh.get(line.request_id, line) for line in reversed(lines)]

    @property
    def running(self) -> int:
        """How many requests are being served now."""
        with self._lock:
            return sum(not seen.over for seen in self._kept.values())

    def later_than(self, seen: SeenExchange) -> list[SeenExchange]:
        """The exchanges that began after this one, of which there is more than a line."""
        with self._lock:
            return [other for other in self._kept.values() if other.began_at > seen.began_at]

    @property
    def version(self) -> int:
        """Grows with every change of a line."""
        with self._lock:
            return self._version

    @property
    def count(self) -> int:
        """How many lines there are."""
        with self._lock:
            return len(self._lines)

    @property
    def size(self) -> int:
        """Bytes that are held, nearly."""
        with self._lock:
            return self._bytes

    def changes(self, since: int, timeout: float) -> tuple[int, list[Summary]]:
        """Waits until a line is newer than the version `since`: the version now, and the lines that are."""
        with self._news:
            self._news.wait_for(lambda: self._version > since, timeout)
            return self._version, [line for line in self._lines.values() if line.changed > since]

    def _changed(self, seen: SeenExchange) -> None:
        line = summary(seen)
        with self._news:
            self._version += 1
            line.changed = self._version
            self._lines[seen.request_id] = line
            self._bytes += seen.size - self._sizes.get(seen.request_id, 0)
            self._sizes[seen.request_id] = seen.size
            self._make_room()
            self._news.notify_all()
        for listener in list(self._listeners):
            listener(seen)

    def _make_room(self) -> None:
        while len(self._lines) > self._most_lines:
            self._drop(self._lines.popitem(last=False)[0])
        if self._bytes <= self._most_bytes:
            return
        # Some more than must go, so that this is not done for every request; but whoever looks finds the latest.
        for request_id in [request_id for request_id, seen in self._kept.items() if seen.over][:-1]:
            if self._bytes <= self._most_bytes * 0.9:
                return
            self._drop(request_id)

    def _drop(self, request_id: str) -> None:
        self._kept.pop(request_id, None)
        self._bytes -= self._sizes.pop(request_id, 0)
