"""Errors of Chat Completions hosts: `{"error": {message, type, param, code}}` and its many deviations.

Seen: the object in an array (Gemini's endpoint), `error` as a string, `message` or `detail` at the top (Mistral,
FastAPI hosts), numeric codes (OpenRouter, llama.cpp), an error inside a 200 answer, no JSON at all.
"""

from __future__ import annotations

from typing import Any

import msgspec

from toolwire.model.errors import UpstreamError
from toolwire.model.source import Source
from toolwire.wire.openai_chat import DIALECT

#: HTTP status -> our code, where the upstream names none.
_CODES = {
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


def error_from_body(body: bytes, status: int, retry_after: str | None = None) -> UpstreamError:
    """The upstream's error as ours. `status` is the HTTP status; if that is none of an error (an error inside a 200
    answer, a redirect), the error's own code counts, if that is one.

    A refused credential (401, 403) becomes 502: the client's own key was fine, and the upstream's text may quote ours.
    """
    error, whole = _error_object(body)
    answered = status
    if not 400 <= status < 600:
        status = _status_in(error) or 502
    if status in (401, 403):
        return UpstreamError(
            f"the upstream refused this gateway's credential ({status})",
            code="upstream_authentication_failed",
            status=502,
            retry=False,
        )
    message, code = error.get("message"), error.get("code")
    if not isinstance(message, str) or not message:
        message = f"the upstream answered {answered} without a message"
    return UpstreamError(
        message,
        code=code if isinstance(code, str) and code else _CODES.get(status, "upstream_error"),
        status=status,
        param=error.get("param") if isinstance(error.get("param"), str) else None,
        retry=False if status < 500 and status not in (408, 409, 429) else None,
        retry_after=retry_after,
        source=Source(DIALECT, body) if whole else None,
    )


def _error_object(body: bytes) -> tuple[dict[str, Any], bool]:
    """The object that holds `message`, wherever the host put it (empty if nowhere), and whether the body is what
    OpenAI's SDKs read: `{"error": {"message": "..."}}`."""
    try:
        document = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {}, False
    in_array = isinstance(document, list) and bool(document)  # Gemini's endpoint
    document = document[0] if in_array else document
    if not isinstance(document, dict):
        return {}, False
    error = document.get("error") or document
    if isinstance(error, str):
        return {"message": error}, False
    if not isinstance(error, dict):
        return {}, False
    if isinstance(error.get("message"), str) and error["message"]:
        return error, error is not document and not in_array
    for name in ("detail", "message", "error_description"):
        if isinstance(document.get(name), str):
            return {**error, "message": document[name]}, False
    return error, False


def _status_in(error: dict[str, Any]) -> int | None:
    for name in ("status", "code", "status_code"):
        value = error.get(name)
        if isinstance(value, str) and value.isdecimal():
            value = int(value)
        if isinstance(value, int) and 400 <= value < 600:
            return value
    return None
