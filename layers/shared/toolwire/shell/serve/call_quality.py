"""What this process has seen of how fit models' tool calls are (`exchange.call_quality`). It is of no tenant: a model
is as good for one as for another."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from toolwire.exchange.call_quality import ModelKey, Quality, key_of, noted, shares
from toolwire.exchange.figures import Figures
from toolwire.model.settings import Target

#: Models that are remembered: names that clients make up must not fill the memory.
_MOST_MODELS = 1000


class Qualities:
    """How fit the calls of every model have been. Safe to use from several threads."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._known: dict[ModelKey, Quality] = {}
        self._lock = threading.Lock()

    def note(self, target: Target, figures: Figures) -> None:
        """Notes an answer whose calls were validated."""
        faults = sum(figures.call_faults.values())
        if not figures.calls and not faults:
            return
        key = key_of(target)
        with self._lock:
            before = self._known.pop(key, Quality())
            self._known[key] = noted(before, figures.calls, faults, self._clock())
            if len(self._known) > _MOST_MODELS:
                del self._known[next(iter(self._known))]  # the one that was noted longest ago

    def shares(self) -> dict[ModelKey, float]:
        """The share of fit calls of each model of which enough is known."""
        with self._lock:
            known = dict(self._known)
        return shares(known, self._clock())


QUALITIES = Qualities()
