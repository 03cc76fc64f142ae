"""Remembers the lessons of hosts' refusals in this process, so that the next request is right at once."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from toolwire.exchange.profile_lessons import Lesson
from toolwire.model.settings import Target

#: The seconds for which a lesson holds. Then it is learnt again, by one refusal, since the host may have changed.
LESSON_SECONDS = 3600.0

#: The most entries that are remembered: the last used ones.
MOST = 500

_Key = tuple[str, ...]


class Lessons:
    """Lessons by tenant, API of the client, and target. They are not shared by tenants, since a refusal may quote the
    request; nor by APIs, since clients of the host's own API choose their settings themselves."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock` gives seconds."""
        self._clock = clock
        self._lock = threading.Lock()
        self._known: OrderedDict[_Key, tuple[float, tuple[Lesson, ...]]] = OrderedDict()

    def of(self, tenant: str, dialect: str, target: Target) -> tuple[Lesson, ...]:
        """The lessons for a request to this target."""
        if not self._known:
            return ()
        key = _key(tenant, dialect, target)
        with self._lock:
            until, lessons = self._known.get(key, (0.0, ()))
            if not lessons:
                return ()
            if self._clock() >= until:
                del self._known[key]
                return ()
            self._known.move_to_end(key)
            return lessons

    def note(self, tenant: str, dialect: str, target: Target, lessons: tuple[Lesson, ...]) -> None:
        """Notes that the target has answered a request with these lessons."""
        key = _key(tenant, dialect, target)
        with self._lock:
            until, known = self._known.get(key, (self._clock() + LESSON_SECONDS, ()))
            new = tuple(lesson for lesson in lessons if lesson not in known)
            self._known[key] = until, (*known, *new)
            self._known.move_to_end(key)
            if len(self._known) > MOST:
                self._known.popitem(last=False)

    def clear(self) -> None:
        """Forgets everything."""
        with self._lock:
            self._known.clear()


def _key(tenant: str, dialect: str, target: Target) -> _Key:
    provider = target.provider
    return tenant, dialect, provider.name, provider.wire, provider.base_url, target.model


#: This process's.
LESSONS = Lessons()
