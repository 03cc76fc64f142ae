"""Keeps the latest exchanges in bounded memory: a line of each for long, its bytes while there is room."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import msgspec

from local.watch.kept import Given, pack, unpack
from local.watch.ring import Ring
from toolwire.model.errors import GatewayError
from toolwire.shell.recording.exchange import SeenExchange
from toolwire.shell.recording.exchange_summary import Summary
from toolwire.shell.recording.summarize import close, summary
from toolwire.shell.telemetry.observe import current_watch

#: The most lines, and the most bytes of exchanges.
MOST_LINES = 10_000
MOST_BYTES = 4 << 20

#: The most ended exchanges that wait to be packed, and their most bytes. Packing many at once costs less than packing
#: each between two requests, when the code is cold.
_MOST_ENDED = 16
_MOST_ENDED_BYTES = 256 << 10

Listener = Callable[[SeenExchange], None]

# A line as it is kept, behind the version that it was new in. In JSON: a token count of a provider's may be any number.
_encode_line = msgspec.json.Encoder().encode
_decode_line = msgspec.json.Decoder(tuple[int, Summary]).decode


class _Held(msgspec.Struct, gc=False):
    """The place of an ended exchange in the ring, and its values other than bytes. `large`: its bytes, if the ring has
    no room for them."""

    request_id: str
    began: float
    line: bytes
    given: Given
    place: int
    size: int
    large: bytes = b""


class Exchanges:
    """The exchanges of one server. Its methods may be called by any thread.

    A listener is called when an exchange begins, each time a provider is asked, and when it is over. It runs in the
    thread that serves the request, which waits for it.

    With `most_bytes` 0 only the line of an ended exchange is kept.
    """

    def __init__(self, *, most_lines: int = MOST_LINES, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._listeners: list[Listener] = []
        self._running: dict[str, SeenExchange] = {}
        #: The ended exchanges that are not packed yet, and their size. Each look at the packed ones packs them first.
        self._ended: list[SeenExchange] = []
        self._ended_size = 0
        #: The lines of ended exchanges, in the order of their ends.
        self._lines: deque[bytes] = deque(maxlen=most_lines)
        #: The ended exchanges whose bytes are kept, in the same order, and the last large one.
        self._held: dict[str, _Held] = {}
        self._order: deque[_Held] = deque()
        self._large: _Held | None = None
        self._ring = Ring(most_bytes)
        self._given: Given | None = None
        self._lock = threading.Lock()
        self._news = threading.Condition(self._lock)
        self._version = 0
        self._waiting = 0

    def listen(self, listener: Listener) -> None:
        """Adds a listener."""
        self._listeners.append(listener)

    def forget(self, listener: Listener) -> None:
        """Removes a listener."""
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
        seen = SeenExchange(event, self._changed, path)
        self._changed(seen)
        current_watch.set(seen)
        return seen

    def end(self, seen: SeenExchange) -> None:
        """Called when the request of this context is over."""
        current_watch.set(None)
        close(seen)

    def refused(
        self, method: str, path: str, headers: list[tuple[str, str]], request_id: str, error: GatewayError
    ) -> None:
        """Notes a request that the server itself has answered: most often its path is not served."""
        context = {"requestId": request_id, "path": path}
        event = {"httpMethod": method, "headers": dict(headers), "body": None, "requestContext": context}
        seen = SeenExchange(event, self._changed)
        self._changed(seen)
        close(seen, error)

    def get(self, request_id: str) -> SeenExchange | None:
        """The exchange of a request; None if there was none or its bytes were dropped. An ended one is unpacked."""
        with self._lock:
            self._keep_ended()
            seen, held = self._running.get(request_id), self._held.get(request_id)
            data = b"" if held is None else self._data(held)
        return seen if held is None else _seen(held, data)

    def lines(self) -> list[Summary]:
        """A line of each exchange, the latest first."""
        with self._lock:
            self._keep_ended()
            running, lines = list(self._running.values()), list(self._lines)
        found = [*map(summary, running), *(_decode_line(line)[1] for line in lines)]
        return sorted(found, key=lambda line: line.began, reverse=True)[: self._lines.maxlen]

    @property
    def running(self) -> int:
        """The number of running requests."""
        return len(self._running)

    def later_than(self, seen: SeenExchange) -> list[SeenExchange]:
        """The exchanges that began after this one and whose bytes are kept."""
        with self._lock:
            self._keep_ended()
            running = [it for it in self._running.values() if it.began > seen.began]
            held = [(it, self._data(it)) for it in self._held.values() if it.began > seen.began]
        return sorted([*running, *(_seen(it, data) for it, data in held)], key=lambda it: it.began)

    @property
    def version(self) -> int:
        """The version, which grows with every change of a line."""
        return self._version

    @property
    def count(self) -> int:
        """The number of lines."""
        with self._lock:
            known = len(self._lines) + len(self._ended) + len(self._running)
            return min(known, self._lines.maxlen or 0)

    @property
    def held(self) -> set[str]:
        """The ids of the exchanges whose bytes are kept."""
        with self._lock:
            self._keep_ended()
            return {*self._held, *self._running}

    @property
    def size(self) -> int:
        """The bytes of memory for ended exchanges."""
        with self._lock:
            self._keep_ended()
            return self._ring.used + (0 if self._large is None else self._large.size)

    def changes(self, since: int, timeout: float) -> tuple[int, list[Summary]]:
        """Waits until a line is newer than the version `since`. Returns the current version, and the newer lines."""
        with self._news:
            self._waiting += 1
            try:
                self._news.wait_for(lambda: self._version > since, timeout)
            finally:
                self._waiting -= 1
            self._keep_ended()
            newer = [(it.changed, summary(it)) for it in self._running.values() if it.changed > since]
            for line in reversed(self._lines):  # each of them was new when it ended
                changed, over = _decode_line(line)
                if changed <= since:
                    break
                newer.append((changed, over))
            version = self._version
        return version, [line for _, line in sorted(newer, key=lambda it: it[0])]

    def _changed(self, seen: SeenExchange) -> None:
        with self._lock:
            self._version = seen.changed = self._version + 1
            if seen.over:
                self._running.pop(seen.request_id, None)
                self._ended.append(seen)
                self._ended_size += seen.size
                if len(self._ended) >= _MOST_ENDED or self._ended_size > _MOST_ENDED_BYTES:
                    self._keep_ended()
            else:
                self._running[seen.request_id] = seen
            if self._waiting:
                self._news.notify_all()
        if self._listeners:
            for listener in list(self._listeners):
                listener(seen)

    def _keep_ended(self) -> None:
        """Packs the ended exchanges."""
        ended, self._ended, self._ended_size = self._ended, [], 0
        for seen in ended:
            line = _encode_line((seen.changed, summary(seen)))
            self._lines.append(line)
            if self._most_bytes:
                self._keep(seen, line)

    def _keep(self, seen: SeenExchange, line: bytes) -> None:
        """Packs one exchange, and drops the oldest ones if there is no room."""
        data, given = pack(seen)
        if self._given is not None:
            given = given.like(self._given)
        self._given = given
        size = len(data)
        held = _Held(seen.request_id, seen.began, line, given, 0, size)
        # One that would take more than half of the ring is held beside it, or it would clear the list: until there is
        # no room for it, but for the latest, which whoever looks must find.
        is_large = size > self._most_bytes / 2
        if self._large is not None and (is_large or self._ring.used + size + self._large.size > self._most_bytes):
            self._held.pop(self._large.request_id, None)
            self._large = None
        if is_large:
            held.large, self._large = data, held
        else:
            held.place = self._ring.put(data)
            self._order.append(held)
            oldest, order = self._ring.oldest, self._order
            while order[0].place < oldest or len(order) > len(self._lines):
                self._held.pop(order.popleft().request_id, None)
        self._held[held.request_id] = held

    def _data(self, held: _Held) -> bytes:
        return held.large or self._ring.get(held.place, held.size)


def _seen(held: _Held, data: bytes) -> SeenExchange:
    seen = unpack(data, held.given)
    seen.changed, seen.line = _decode_line(held.line)
    return seen
