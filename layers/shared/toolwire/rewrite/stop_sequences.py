"""Stop sequences within what a provider takes: the rest is left out, and the client is told in its own words."""

from __future__ import annotations

from collections.abc import Callable

from toolwire.model.request import ChatRequest
from toolwire.model.source import replace
from toolwire.model.warnings import Warnings


def with_stops(
    request: ChatRequest, warnings: Warnings, *, most: int | None = None, takes: Callable[[str], object] = bool
) -> ChatRequest:
    """The request with the first `most` stop sequences that `takes` lets pass; itself if these are all. Nobody takes an
    empty one. Stopping later than asked is no error of the request's, so the rest is a warning."""
    given = request.sampling.stop
    if given is None:
        return request
    kept = tuple(stop for stop in given if takes(stop))[:most]
    if len(kept) == len(given):
        return request
    warnings.add(f"stop_cut:{request.fields.stop if request.fields is not None else 'stop'}")
    return replace(request, sampling=replace(request.sampling, stop=kept or None))
