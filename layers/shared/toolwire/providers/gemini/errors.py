"""Errors of Google's APIs: `{"error": {code, message, status, details}}`, in an array if the stream is an array.

Google says when to come back in a `RetryInfo` among the details, not in a header, and refuses a wrong key with 400.
"""

from __future__ import annotations

from typing import Any

import msgspec

from toolwire.model.errors import UpstreamError
from toolwire.model.source import Source
from toolwire.providers.upstream_errors import (
    code_of,
    credential_refused,
    in_words,
    retry_delay_in,
    retry_of,
    why_refused,
)
from toolwire.wire.gemini import DIALECT

#: google.rpc.Code -> (HTTP status, our code). The status counts where an error comes within a 200 answer.
_STATUSES = {
    "INVALID_ARGUMENT": (400, "upstream_invalid_request"),
    "FAILED_PRECONDITION": (400, "upstream_invalid_request"),
    "OUT_OF_RANGE": (400, "upstream_invalid_request"),
    "UNAUTHENTICATED": (401, "upstream_authentication_failed"),
    "PERMISSION_DENIED": (403, "upstream_authentication_failed"),
    "NOT_FOUND": (404, "upstream_not_found"),
    "RESOURCE_EXHAUSTED": (429, "rate_limit_exceeded"),
    "UNAVAILABLE": (503, "upstream_overloaded"),
    "DEADLINE_EXCEEDED": (504, "upstream_timeout"),
}


def error_from_body(body: bytes, status: int, retry_after: str | None = None) -> UpstreamError:
    """The upstream's error as ours. `status` is the HTTP status; where that is below 400, the error's own counts.

    A refused credential becomes 502: the client's own key was fine, and Google's text may name our project.
    """
    error = _error_object(body)
    word = error.get("status")
    known = _STATUSES.get(word) if isinstance(word, str) else None
    if not 400 <= status < 600:
        given = error.get("code")
        status = given if isinstance(given, int) and 400 <= given < 600 else known[0] if known else 502
    details = [detail for detail in _list(error.get("details")) if isinstance(detail, dict)]
    message = error.get("message")
    if not isinstance(message, str) or not message:
        message = f"the upstream answered {status} without a message"
    status, meant = in_words(status, message)
    if status in (401, 403) or any(detail.get("reason") == "API_KEY_INVALID" for detail in details):
        return credential_refused(status, why_refused(message, body) if status == 403 else "")
    return UpstreamError(
        message,
        code=meant or (known[1] if known else code_of(status)),
        status=status,
        retry=retry_of(status),
        retry_after=retry_after or retry_delay_in(details),
        source=Source(DIALECT, body) if error else None,
    )


def _error_object(body: bytes) -> dict[str, Any]:
    """The object that holds `message`; empty if there is none."""
    try:
        document = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {}
    if isinstance(document, list):
        document = document[0] if document else None
    error = document.get("error") if isinstance(document, dict) else None
    if isinstance(error, str):  # OAuth's shape, from a proxy or a token endpoint
        return {"message": error}
    return error if isinstance(error, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
