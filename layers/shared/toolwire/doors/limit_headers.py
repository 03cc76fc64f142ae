"""The headers of answers about a tenant's limits."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import NamedTuple

from toolwire.model.http import Headers


class RateLimit(NamedTuple):
    """One limit of the running minute: on "requests", or on "tool-calls"."""

    name: str
    limit: int
    remaining: int
    #: The minute's end, in seconds since 1970, and the whole seconds until then.
    ends_at: int
    seconds_left: int


def openai_limit_headers(limits: Iterable[RateLimit]) -> Headers:
    """OpenAI's names, with `tool-calls` in the place of its `tokens`."""
    found: Headers = ()
    for rate in limits:
        found += (
            (f"x-ratelimit-limit-{rate.name}", str(rate.limit)),
            (f"x-ratelimit-remaining-{rate.name}", str(rate.remaining)),
            (f"x-ratelimit-reset-{rate.name}", f"{rate.seconds_left}s"),
        )
    return found


def anthropic_limit_headers(limits: Iterable[RateLimit]) -> Headers:
    """Anthropic's names, which has none for tool calls."""
    found: Headers = ()
    for rate in limits:
        if rate.name == "requests":
            reset = datetime.fromtimestamp(rate.ends_at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
            found += (
                ("anthropic-ratelimit-requests-limit", str(rate.limit)),
                ("anthropic-ratelimit-requests-remaining", str(rate.remaining)),
                ("anthropic-ratelimit-requests-reset", reset),
            )
    return found
