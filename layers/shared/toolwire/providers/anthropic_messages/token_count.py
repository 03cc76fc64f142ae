"""POST /v1/messages/count_tokens: the API's own count."""

from __future__ import annotations

from urllib.parse import unquote

from toolwire.model.http import UpstreamRequest
from toolwire.providers.address import below
from toolwire.providers.anthropic_messages.cloud import PUBLISHED
from toolwire.providers.token_count import Count, counting
from toolwire.wire.json import dump, members

#: Members of a request that a count does not take: they are about the answer, not about what the model reads.
_NOT_COUNTED = frozenset(
    {
        "container", "diagnostics", "inference_geo", "max_tokens", "metadata", "service_tier", "speed",
        "stop_sequences", "stream", "temperature", "top_k", "top_p",
    }
)  # fmt: skip


def count_request(request: UpstreamRequest) -> Count:
    """The request that asks for the tokens of `request`."""
    told = [(name, value) for name, value in members(request.body).items() if name not in _NOT_COUNTED]
    before, published, rest = request.url.partition(PUBLISHED + "/models/")
    if published:  # there the model is a member, not in the URL
        model, _, _ = rest.rpartition(":")
        url = f"{before}{published}count-tokens:rawPredict"
        return counting(request, url, [("model", dump(unquote(model))), *told], "input_tokens")
    return counting(request, below(request.url, "/count_tokens"), told, "input_tokens")
