"""What providers' errors have in common: our code for a status, which faults are final, a refused credential."""

from __future__ import annotations

import re

from toolwire.model.errors import TOO_LONG, UpstreamError

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


_CONTEXT = r"context[ _-]?(length|size|window|limit)"
#: What hosts say of a prompt that the model's context does not hold. Each has words of its own, and few have a code.
_TOO_LONG = re.compile(
    rf"\b(maximum|max|available|model('s)?) {_CONTEXT}|\bexceed\w*\b.{{0,60}}\b{_CONTEXT}|\b{_CONTEXT}\W+exceed"
    r"|\b(prompt|input)( is)? too long\b|\btoo many input tokens\b|\bcontext length of only\b"
    r"|\b(prompt|input) (tokens?( count)?|length)\b.{0,40}\bexceed|\bmaximum prompt length\b|\bmodel token limit\b"
    r"|\brange of input length\b|\bprompt exceeds max length\b|\breduce the length of (the|your) (message|prompt|input)"
    r"|`inputs`.{0,60}\bmust (be <=|have less than)",
    re.IGNORECASE | re.DOTALL,
)


def code_of(status: int, message: str = "") -> str:
    """Our code for an upstream's status and what it says."""
    return TOO_LONG if is_too_long(status, message) else CODES.get(status, "upstream_error")


def is_too_long(status: int, message: str) -> bool:
    """Whether an upstream refuses a prompt for its length."""
    return status in (400, 413, 422) and _TOO_LONG.search(message) is not None


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
