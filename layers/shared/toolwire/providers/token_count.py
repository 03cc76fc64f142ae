"""How many tokens a request has: the provider's own count where it has one, else an estimate.

The request to count is the one that would be sent for an answer, so what is counted is what would be paid for.

    Anthropic    POST /v1/messages/count_tokens
    Gemini       POST .../models/{model}:countTokens
    OpenAI       POST /v1/responses/input_tokens, for the models that are asked over the Responses API
    estimate     a token for every four bytes of the request, and 1,600 for each image or file in it
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import NamedTuple

import msgspec

from toolwire.model.http import UpstreamRequest
from toolwire.wire.json import dump, members, write_object

#: Statuses of a host that has no such count: hosts of a vendor's protocol often have only its main path.
NO_COUNT = frozenset({404, 405, 501})

#: What four bytes of English, JSON and code are on average, within a fifth, to the tokenisers of today.
_BYTES = 4
#: An image of the largest size that Anthropic's models look at (1.15 megapixels).
_FILE_TOKENS = 1_600
#: Base64 of something that is no text.
_FILE = re.compile(rb'[A-Za-z0-9+/_-]{1024,}={0,2}"')

#: Members of a request that a count is not told: they say what the answer is to be like, not what is read.
_NOT_ANTHROPIC = frozenset(
    {
        "container", "diagnostics", "inference_geo", "max_tokens", "metadata", "service_tier", "speed",
        "stop_sequences", "stream", "temperature", "top_k", "top_p",
    }
)  # fmt: skip
_OPENAI = frozenset(
    {
        "conversation", "input", "instructions", "model", "parallel_tool_calls", "previous_response_id", "reasoning",
        "text", "tool_choice", "tools", "truncation",
    }
)  # fmt: skip


class Count(NamedTuple):
    """The request that asks for a count, and the member of the answer that is it."""

    request: UpstreamRequest
    member: str


def count_request(wire: str, request: UpstreamRequest) -> Count | None:
    """How a provider of this wire is asked for the tokens of `request`, which was built for a whole answer; None where
    it cannot be."""
    given = members(request.body)
    if wire == "anthropic_messages":
        kept = [pair for pair in given.items() if pair[0] not in _NOT_ANTHROPIC]
        return Count(_asking(request, request.url + "/count_tokens", write_object(kept)), "input_tokens")
    if wire == "openai_responses":
        kept = [pair for pair in given.items() if pair[0] in _OPENAI]
        return Count(_asking(request, request.url + "/input_tokens", write_object(kept)), "input_tokens")
    if wire == "gemini":
        address, _, _ = request.url.rpartition(":")
        return Count(_asking(request, address + ":countTokens", _gemini(address, given)), "totalTokens")
    return None


def _gemini(address: str, given: dict[str, bytes]) -> bytes:
    """Vertex AI is told the request itself, the Gemini API one inside another."""
    if "/publishers/" in address:
        return write_object(pair for pair in given.items() if pair[0] != "toolConfig")
    _, _, model = address.rpartition("/models/")
    inner = write_object([("model", dump(f"models/{model}")), *given.items()])
    return write_object([("generateContentRequest", inner)])


def _asking(request: UpstreamRequest, url: str, body: bytes) -> UpstreamRequest:
    return replace(request, url=url, body=body, stream=False)


def read_count(body: bytes, member: str) -> int | None:
    """The count in a provider's answer; None where there is none."""
    try:
        value = msgspec.json.decode(members(body)[member])
    except (KeyError, ValueError):
        return None
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def estimate(body: bytes) -> int:
    """About how many tokens a request body has: see the module. It rather errs on the high side, since the names of
    members count as text does."""
    files = len(_FILE.findall(body))
    text = _FILE.sub(b"", body) if files else body
    return -(-len(text) // _BYTES) + files * _FILE_TOKENS
