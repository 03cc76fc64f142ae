"""An output limit within what the host has said that it takes."""

from __future__ import annotations

from toolwire.model.request import ChatRequest
from toolwire.model.source import replace
from toolwire.model.warnings import Warnings


def with_known_output(request: ChatRequest, most: int | None, warnings: Warnings) -> ChatRequest:
    """The request with at most so many tokens of output; itself where it asks for no more. A client of the Messages API
    always names a limit, which is its own model's: an answer that may be cut earlier is better than none."""
    if most is None or (request.max_tokens is not None and request.max_tokens <= most):
        return request
    warnings.add("max_tokens_lowered")
    return replace(request, max_tokens=most)
