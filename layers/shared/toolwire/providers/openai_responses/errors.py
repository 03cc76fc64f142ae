"""Errors of Responses hosts. An answer with an error status has the Chat API's body. A stream has an `error` event,
flat or nested, or the `error` of a failed response, with a code in place of a status."""

from __future__ import annotations

import msgspec

from toolwire.model.errors import UpstreamError
from toolwire.model.source import Source
from toolwire.providers.openai_chat import errors as openai_errors
from toolwire.wire.json import dump, raw_members, write_object
from toolwire.wire.openai_responses import DIALECT

#: The code of an error within an answer -> the HTTP status for it.
_STATUS = {
    "server_error": 500,
    "rate_limit_exceeded": 429,
    "insufficient_quota": 429,
    "server_is_overloaded": 503,
    "slow_down": 503,
    "vector_store_timeout": 504,
}
#: Prefixes of codes for faults of the client's request. Every code of OpenAI's that is not listed above has one.
_CLIENTS = ("invalid_", "image_", "context_length", "unsupported_", "empty_image", "failed_to_download_image",
            "data_residency", "bio_policy", "misalignment_policy", "cyber_policy")  # fmt: skip


def error_from_body(body: bytes, status: int, retry_after: str | None = None) -> UpstreamError:
    """The upstream's error as ours, for an answer with an error status: the body is the Chat API's."""
    error = openai_errors.error_from_body(body, status, retry_after)
    if error.source is not None:
        error.source = Source(DIALECT, error.source.raw)
    return error


def error_in_answer(raw: bytes) -> UpstreamError:
    """The error that a stream or an answer with status 200 reports: `raw` is an error's object, or a document that has
    one in its `error`, or is one itself."""
    inner = raw
    found: dict[str, msgspec.Raw] = {}
    try:
        found = raw_members(raw)
        if bytes(found.get("error", b""))[:1] == b"{":
            inner = bytes(found["error"])
            found = raw_members(inner)
    except (ValueError, RecursionError):
        pass
    code = bytes(found.get("code", b"null"))
    status = _status_of(code.strip(b'"').decode("utf-8", "replace"))
    if status is not None:  # else the code may be one itself
        inner = write_object([*((n, bytes(v)) for n, v in found.items() if n != "status"), ("status", dump(status))])
    error = openai_errors.error_from_body(b'{"error":' + inner + b"}", 200)
    error.source = None  # no body of an HTTP answer
    return error


def _status_of(code: str) -> int | None:
    if code in _STATUS:
        return _STATUS[code]
    return 400 if code.startswith(_CLIENTS) else None
