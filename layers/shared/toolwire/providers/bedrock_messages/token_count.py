"""CountTokens of a request of InvokeModel, which travels as base64."""

from __future__ import annotations

import msgspec

from toolwire.model.http import UpstreamRequest
from toolwire.providers.bedrock_converse.token_count import counted_as
from toolwire.providers.token_count import Count
from toolwire.wire.json import dump, members, write_object


class _Thinking(msgspec.Struct):
    budget_tokens: int = 0


def count_request(request: UpstreamRequest) -> Count | None:
    """The request that asks for the tokens of `request`. Bedrock wants a whole request, with an output limit that is
    over the budget for thinking; clients of the count send none."""
    given = members(request.body)
    if "max_tokens" not in given:
        given["max_tokens"] = dump(_budget(given.get("thinking", b"{}")) + 1)
    body = dump({"body": write_object(given.items())})  # bytes are written as base64
    return counted_as(request, [("invokeModel", body)])


def _budget(thinking: bytes) -> int:
    try:
        return msgspec.json.decode(thinking, type=_Thinking).budget_tokens
    except msgspec.DecodeError:
        return 0
