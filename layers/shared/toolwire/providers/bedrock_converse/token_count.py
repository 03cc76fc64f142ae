"""CountTokens: Bedrock's own count, which it has for Claude.

https://docs.aws.amazon.com/bedrock/latest/userguide/count-tokens.html
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import quote, unquote

from toolwire.model.http import UpstreamRequest
from toolwire.providers.token_count import NO_COUNT, Count, counting
from toolwire.wire.json import members, write_object

#: The members of a Converse request that a count takes.
_COUNTED = frozenset({"additionalModelRequestFields", "messages", "system", "toolConfig"})

#: The statuses for a model without a count (400), and for a role that may not count (403).
_ABSENT = NO_COUNT | {400, 403}

#: An inference profile. Only its model can count, whose id stands behind the region's name.
_PROFILE = re.compile(r"(?:arn:[^/]*:inference-profile/)?(?:[a-z]{2,}(?:-[a-z]+)*\.)?(anthropic\..+)")


def count_request(request: UpstreamRequest) -> Count | None:
    """The request that asks for the tokens of a Converse request."""
    told = ((name, value) for name, value in members(request.body).items() if name in _COUNTED)
    return counted_as(request, [("converse", write_object(told))])


def counted_as(request: UpstreamRequest, given: Iterable[tuple[str, bytes]]) -> Count | None:
    """The request that asks for the tokens of `given`, at the model of `request`; None for a model that Bedrock does
    not count."""
    before, _, rest = request.url.partition("/model/")
    model = unquote(rest.partition("/")[0])
    if "anthropic." not in model and not model.startswith("arn:"):
        return None
    found = _PROFILE.fullmatch(model)
    url = f"{before}/model/{quote(found[1] if found else model, safe='')}/count-tokens"
    return counting(request, url, [("input", write_object(given))], "inputTokens")._replace(absent=_ABSENT)
