"""What providers' errors have in common: our code for a status, which faults are final, a refused credential."""

from __future__ import annotations

from toolwire.model.errors import UpstreamError

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


def credential_refused(status: int) -> UpstreamError:
    """A refused credential becomes 502: the client's own key was fine, and the upstream's text may quote ours."""
    return UpstreamError(
        f"the upstream refused this gateway's credential ({status})",
        code="upstream_authentication_failed",
        status=502,
        retry=False,
    )
