"""POST .../models/{model}:countTokens: the API's own count."""

from __future__ import annotations

from collections.abc import Iterable

from toolwire.model.http import UpstreamRequest
from toolwire.providers.token_count import Count, counting
from toolwire.wire.json import dump, members, write_object


def count_request(request: UpstreamRequest) -> Count:
    """The request that asks for the tokens of `request`."""
    address, _, _ = request.url.rpartition(":")
    return counting(request, address + ":countTokens", _told(address, members(request.body)), "totalTokens")


def _told(address: str, given: dict[str, bytes]) -> Iterable[tuple[str, bytes]]:
    """The members of the count: the request itself for Vertex AI, an object with the request for the Gemini API."""
    if "/publishers/" in address:
        return ((name, value) for name, value in given.items() if name != "toolConfig")
    _, _, model = address.rpartition("/models/")
    inner = write_object([("model", dump(f"models/{model}")), *given.items()])
    return (("generateContentRequest", inner),)
