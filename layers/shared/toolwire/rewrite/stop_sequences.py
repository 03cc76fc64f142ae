"""Limits stop sequences to those that a provider takes. The rest is left out, with a warning in the client's own
words."""

from __future__ import annotations

from collections.abc import Callable

from toolwire.model.request import ChatRequest
from toolwire.model.source import replace
from toolwire.model.warnings import Warnings


def with_stops(
    request: ChatRequest, warnings: Warnings, *, most: int | None = None, takes: Callable[[str], object] = bool
) -> ChatRequest:
    """The request with the first `most` stop sequences for which `takes` is true; the same object if these are all. No
    provider takes an empty one. The rest is only warned of, since an answer that stops later is better than none."""
    given = request.sampling.stop
    if given is None:
        return request
    kept = tuple(stop for stop in given if takes(stop))[:most]
    if len(kept) == len(given):
        return request
    warnings.add(f"stop_cut:{request.fields.stop if request.fields is not None else 'stop'}")
    return replace(request, sampling=replace(request.sampling, stop=kept or None))
