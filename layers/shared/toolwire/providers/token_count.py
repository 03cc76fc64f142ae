"""How many tokens a request has: the provider's own count where it has one (`Provider.count_request`), else an estimate
of a token for every four bytes of the request, and 1,600 for each image or file in it.

The request to count is the one that would be sent for an answer, so what is counted is what would be paid for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

import msgspec

from toolwire.model.http import UpstreamRequest
from toolwire.wire.json import members, write_object

#: Statuses of a host that has no such count: hosts of a vendor's protocol often have only its main path.
NO_COUNT = frozenset({404, 405, 501})

#: What four bytes of English, JSON and code are on average, within a fifth, to the tokenisers of today.
_BYTES = 4
#: An image of the largest size that Anthropic's models look at (1.15 megapixels).
_FILE_TOKENS = 1_600
#: Base64 of something that is no text.
_FILE = re.compile(rb'[A-Za-z0-9+/_-]{1024,}={0,2}"')


class Count(NamedTuple):
    """The request that asks for a count, the member of the answer that is it, and the statuses that say that the host
    does not count this."""

    request: UpstreamRequest
    member: str
    absent: frozenset[int] = NO_COUNT


def counting(request: UpstreamRequest, url: str, members: Iterable[tuple[str, bytes]], member: str) -> Count:
    """The request with these members to `url`, as `request` would be sent."""
    return Count(replace(request, url=url, body=write_object(members), stream=False), member)


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
