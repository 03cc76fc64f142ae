"""Counts the tokens of a request: by the provider if it can count (`Provider.count_request`), else by an estimate of
one token for four bytes of the request, and 1,600 for each image or file in it.

The counted request is the one that would be sent for an answer, and paid for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

import msgspec

from toolwire.model.http import UpstreamRequest
from toolwire.wire.json import members, write_object

#: The statuses of a host without a count: hosts of a vendor's protocol often have only its main path.
NO_COUNT = frozenset({404, 405, 501})

#: What four bytes of English, JSON and code are on average, within a fifth, to the tokenisers of today.
_BYTES = 4
#: An image of the largest size that Anthropic's models look at (1.15 megapixels).
_FILE_TOKENS = 1_600
#: Base64 of anything but text.
_FILE = re.compile(rb'[A-Za-z0-9+/_-]{1024,}={0,2}"')


class Count(NamedTuple):
    """The request that asks for a count, the member of the answer with the count, and the statuses that mean that the
    host does not count this."""

    request: UpstreamRequest
    member: str
    absent: frozenset[int] = NO_COUNT


def counting(request: UpstreamRequest, url: str, members: Iterable[tuple[str, bytes]], member: str) -> Count:
    """A request with these members to `url`, with the headers of `request`."""
    return Count(replace(request, url=url, body=write_object(members), stream=False), member)


def read_count(body: bytes, member: str) -> int | None:
    """The count in a provider's answer; None where there is none."""
    try:
        value = msgspec.json.decode(members(body)[member])
    except (KeyError, ValueError):
        return None
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def estimate(body: bytes) -> int:
    """Estimates the tokens of a request body: see the module. It is rather too high, since the names of members count
    as text."""
    files = len(_FILE.findall(body))
    text = _FILE.sub(b"", body) if files else body
    return -(-len(text) // _BYTES) + files * _FILE_TOKENS
