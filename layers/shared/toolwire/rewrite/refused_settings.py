"""Leaves out settings of another API's client that the host has refused."""

from __future__ import annotations

from collections.abc import Set

from msgspec import structs

from toolwire.model.request import ChatRequest
from toolwire.model.source import replace
from toolwire.model.warnings import Warnings

_SAMPLING = ("temperature", "top_p", "seed", "frequency_penalty", "presence_penalty", "stop")


def without_refused_settings(request: ChatRequest, refused: Set[str], warnings: Warnings) -> ChatRequest:
    """The request without these of its settings, with a warning for each; the same object if it has none of them."""
    if not refused:
        return request
    left_out = [name for name in _SAMPLING if name in refused and getattr(request.sampling, name) is not None]
    if left_out:
        request = replace(request, sampling=structs.replace(request.sampling, **dict.fromkeys(left_out)))
    if "reasoning_effort" in refused and request.reasoning_effort is not None:
        left_out.append("reasoning_effort")
        request = replace(request, reasoning_effort=None)
    warnings.add(*(f"not_supported:{name}" for name in left_out))
    return request
