"""How fit each model's tool calls have been, and a plan in that order.

Two numbers describe a model: the calls of its validated answers, and their faults. Both lose half of their weight in an
hour. When too little weight is left, the model goes back to its configured place, so that a model which was bad is
tried again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from toolwire.model.settings import Settings, Target

#: A provider's name and its own name for a model.
ModelKey = tuple[str, str]

#: The seconds in which the numbers lose half of their weight.
HALF_LIFE = 3600.0
#: With fewer calls than this, a model is not judged.
LEAST_CALLS = 20.0
#: Models whose shares differ by less than this count as equal. An order that changed with every call would move
#: conversations from one provider's cache to another's.
STEP = 0.05


class Quality(Struct, frozen=True):
    """The two numbers of one model, as they were at `at` (seconds since 1970)."""

    calls: float = 0.0
    faults: float = 0.0
    at: float = 0.0


def key_of(target: Target) -> ModelKey:
    """The key of a target's model. All endpoints of a provider share it, since they have the same models."""
    return target.provider.name, target.model


def share_fit(calls: float, faults: float) -> float:
    """The share of calls without a fault, from 0 to 1. A call that was promised and never came is a fault, too."""
    most = max(calls, faults)
    return 1 - faults / most if most else 1.0


def noted(quality: Quality, calls: int, faults: int, now: float) -> Quality:
    """The numbers after one more answer."""
    aged = _aged(quality, now)
    return Quality(aged.calls + calls, aged.faults + faults, now)


def shares(known: Mapping[ModelKey, Quality], now: float) -> dict[ModelKey, float]:
    """The share of fit calls of each model that has enough calls to be judged."""
    aged = {key: _aged(quality, now) for key, quality in known.items()}
    return {key: share_fit(it.calls, it.faults) for key, it in aged.items() if max(it.calls, it.faults) >= LEAST_CALLS}


def is_ordered(model: str, target: Target, settings: Settings) -> bool:
    """Whether the plan of a request for this model, which leads to this target, is ordered by quality."""
    return bool(settings.by_quality) and not settings.by_quality.isdisjoint((model, "/".join(key_of(target))))


def in_order(targets: Iterable[Target], known: Mapping[ModelKey, float]) -> tuple[Target, ...]:
    """The targets, the best model first. The targets of one model stay together. A model that is not judged keeps its
    place. Equal models stay in the order of the configuration."""
    groups: dict[ModelKey, list[Target]] = {}
    for target in targets:
        groups.setdefault(key_of(target), []).append(target)
    best = iter(sorted((key for key in groups if key in known), key=lambda key: -round(known[key] / STEP)))
    order = [next(best) if key in known else key for key in groups]
    return tuple(target for key in order for target in groups[key])


def _aged(quality: Quality, now: float) -> Quality:
    """The quality as it counts at `now`: older answers count less. A clock that was set back changes nothing."""
    left = 0.5 ** (max(0.0, now - quality.at) / HALF_LIFE)
    return Quality(quality.calls * left, quality.faults * left, now)
