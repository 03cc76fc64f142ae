"""Errors of Messages hosts: `{"type": "error", "error": {type, message, details?}, "request_id"}`, as an answer with an
error status, as an `error` event of a stream, or inside a 200 answer."""

from __future__ import annotations

from typing import Any

import msgspec

from toolwire.model.errors import UpstreamError
from toolwire.model.source import Source
from toolwire.providers.openai_chat import errors as openai_errors
from toolwire.providers.upstream_errors import code_of, credential_refused, in_words, retry_of, why_refused
from toolwire.wire.anthropic_messages import DIALECT

#: Anthropic's error type -> the HTTP status it comes with.
_STATUS = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "conflict_error": 409,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}


def error_from_body(body: bytes, status: int, retry_after: str | None = None) -> UpstreamError:
    """The upstream's error as ours. `status` is the HTTP status; where that is below 400 (an `error` event, an
    error inside a 200 answer), the status of the error's type counts.

    A refused credential (401, 403) becomes 502: the client's own key was fine, and the upstream's text may quote ours.
    """
    error, whole = _error_object(body)
    answered = status
    if not 400 <= status < 600:
        kind = error.get("type")
        status = _STATUS.get(kind, 502) if isinstance(kind, str) else 502
    message = error.get("message")
    if not isinstance(message, str) or not message:
        message = f"the upstream answered {answered} without a message"
    status, meant = in_words(status, message)
    if status in (401, 403):
        return credential_refused(status, why_refused(message, body) if status == 403 else "")
    return UpstreamError(
        message,
        code=_code(error, status, meant),
        status=status,
        retry=retry_of(status),
        retry_after=retry_after,
        source=Source(DIALECT, body) if whole else None,
    )


def _code(error: dict[str, Any], status: int, meant: str | None) -> str:
    details = error.get("details")
    code = details.get("error_code") if isinstance(details, dict) else None
    return code if isinstance(code, str) and code else meant or code_of(status)


def _error_object(body: bytes) -> tuple[dict[str, Any], bool]:
    """The error's object (empty if there is none), and whether the body has the form that Anthropic's SDKs read."""
    try:
        document = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {}, False
    if isinstance(document, list) and len(document) == 1:  # Vertex AI, where a stream was asked for
        document = document[0]
    if not isinstance(document, dict):
        return {}, False
    error = document.get("error", document)
    if isinstance(error, str):  # proxies in front of hosts of this protocol
        return {"message": error}, False
    if not isinstance(error, dict):
        return {}, False
    if not error.get("message"):  # a proxy's or a host's own form
        return {**error, "message": openai_errors.text_in(document)}, False
    kind, message = error.get("type"), error.get("message")
    whole = document.get("type") == "error" and error is not document
    return error, whole and isinstance(kind, str) and isinstance(message, str) and bool(message)
