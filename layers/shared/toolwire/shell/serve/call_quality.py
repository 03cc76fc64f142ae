"""The quality of models' tool calls, as this process has seen it (`exchange.call_quality`). All tenants share it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from toolwire.exchange.call_quality import ModelKey, Quality, key_of, noted, shares
from toolwire.exchange.figures import Figures
from toolwire.model.settings import Target

#: The most models that are remembered: names that clients make up must not fill the memory.
_MOST_MODELS = 1000


class Qualities:
    """The quality of every model's calls. Safe to use from several threads."""

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
                del self._known[next(iter(self._known))]  # the least recently noted one

    def shares(self) -> dict[ModelKey, float]:
        """The share of fit calls of each model that has enough calls to be judged."""
        with self._lock:
            known = dict(self._known)
        return shares(known, self._clock())


QUALITIES = Qualities()
