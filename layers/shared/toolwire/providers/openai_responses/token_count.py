"""POST /v1/responses/input_tokens: the API's own count."""

from __future__ import annotations

from toolwire.model.http import UpstreamRequest
from toolwire.providers.address import below
from toolwire.providers.token_count import Count, counting
from toolwire.wire.json import members

#: The members of a request that a count takes: those that the model reads.
_COUNTED = frozenset(
    {
        "conversation", "input", "instructions", "model", "parallel_tool_calls", "previous_response_id", "reasoning",
        "text", "tool_choice", "tools", "truncation",
    }
)  # fmt: skip


def count_request(request: UpstreamRequest) -> Count:
    """The request that asks for the tokens of `request`."""
    told = ((name, value) for name, value in members(request.body).items() if name in _COUNTED)
    return counting(request, below(request.url, "/input_tokens"), told, "input_tokens")
