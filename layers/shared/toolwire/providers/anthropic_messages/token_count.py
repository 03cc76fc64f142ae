"""POST /v1/messages/count_tokens: the API's own count."""

from __future__ import annotations

from toolwire.model.http import UpstreamRequest
from toolwire.providers.token_count import Count, counting
from toolwire.wire.json import members

#: Members of a request that a count is not told: they say what the answer is to be like, not what is read.
_NOT_COUNTED = frozenset(
    {
        "container", "diagnostics", "inference_geo", "max_tokens", "metadata", "service_tier", "speed",
        "stop_sequences", "stream", "temperature", "top_k", "top_p",
    }
)  # fmt: skip


def count_request(request: UpstreamRequest) -> Count:
    """The request that asks for the tokens of `request`."""
    told = ((name, value) for name, value in members(request.body).items() if name not in _NOT_COUNTED)
    return counting(request, request.url + "/count_tokens", told, "input_tokens")
