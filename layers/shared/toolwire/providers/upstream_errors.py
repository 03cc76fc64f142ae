"""What providers' errors have in common: our code for a status, which faults are final, a refused credential."""

from __future__ import annotations

import re

from toolwire.model.errors import UpstreamError

_MILLISECONDS = re.compile(r"[0-9]{1,8}(\.[0-9]{1,6})?")

#: HTTP status -> our code, where the upstream has no code of its own.
CODES = {
    400: "upstream_invalid_request",
    402: "insufficient_quota",
    404: "upstream_not_found",
    408: "upstream_timeout",
    413: "upstream_request_too_large",
    422: "upstream_invalid_request",
    429: "rate_limit_exceeded",
    503: "upstream_overloaded",
    504: "upstream_timeout",
    529: "upstream_overloaded",
}


def code_of(status: int) -> str:
    """Our code for an upstream's status."""
    return CODES.get(status, "upstream_error")


def retry_of(status: int) -> bool | None:
    """False for a fault that the same request will meet again; None leaves the choice to the client."""
    return False if status < 500 and status not in (408, 409, 429) else None


def retry_after_of(headers: dict[str, str]) -> str | None:
    """When the upstream says to try again, as `Retry-After` has it. `retry-after-ms`, which OpenAI's hosts send beside
    it or in its place, is told in seconds with a fraction. Names of headers in lower case."""
    if (said := headers.get("retry-after")) is not None:
        return said
    milliseconds = headers.get("retry-after-ms", "").strip()
    return f"{float(milliseconds) / 1000:g}" if _MILLISECONDS.fullmatch(milliseconds) else None


def credential_refused(status: int, why: str = "") -> UpstreamError:
    """A refused credential becomes 502: the client's own key was fine, and the upstream's text may quote ours. `why` is
    in our own words."""
    return UpstreamError(
        f"the upstream refused this gateway's credential ({status}){f': {why}' if why else ''}",
        code="upstream_authentication_failed",
        status=502,
        retry=False,
    )
