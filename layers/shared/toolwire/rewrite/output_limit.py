"""Lowers an output limit to the most that the host has said it takes."""

from __future__ import annotations

from toolwire.model.request import ChatRequest
from toolwire.model.source import replace
from toolwire.model.warnings import Warnings


def with_known_output(request: ChatRequest, most: int | None, warnings: Warnings) -> ChatRequest:
    """The request with at most `most` tokens of output; the same object if it asks for no more. Clients of the Messages
    API always name a limit, that of Claude: an answer that may be cut earlier is better than none."""
    if most is None or (request.max_tokens is not None and request.max_tokens <= most):
        return request
    warnings.add("max_tokens_lowered")
    return replace(request, max_tokens=most)
