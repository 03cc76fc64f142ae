"""The messages door's errors, as an answer and as an event of a stream."""

from __future__ import annotations

import re

from toolwire.model.errors import GatewayError, InternalError
from toolwire.rewrite.client_dialect import NO_THREADS
from toolwire.wire.anthropic_messages import DIALECT
from toolwire.wire.json import dump

#: HTTP status -> Anthropic's error type.
_TYPES = {
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    409: "conflict_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
    504: "timeout_error",
    529: "overloaded_error",
}

#: Where a rule that every door shares names a place within a tool, it does so in the Chat API's words.
_TOOL_PLACES = (
    (re.compile(r"(tools\[\d+\])\.(?:function|custom)\.parameters"), r"\1.input_schema"),
    (re.compile(r"(tools\[\d+\])\.(?:function|custom)\b"), r"\1"),
)


def render_error(error: GatewayError, request_id: str) -> bytes:
    """`{"type": "error", "error": {type, message, details}, "request_id"}`, our code in `details` where Anthropic has
    its own. An upstream's own error body of this API is passed on as it came: clients match on its wording."""
    if error.source is not None and error.source.dialect == DIALECT:
        return error.source.raw
    kind = _TYPES.get(error.status, "invalid_request_error" if error.status < 500 else "api_error")
    if isinstance(error, InternalError):
        kind = "api_error"
    details: dict[str, object] = {"error_code": error.code}
    if error.param is not None:
        details["param"] = _own_place(error.param)
    if error.code == NO_THREADS:
        details["unsupported"] = error.features  # by which the SDKs know that they may go on without
    elif error.features:
        details["incompatible_features"] = error.features
    shown = {"type": kind, "message": _own_place(error.message), "details": details}
    return dump({"type": "error", "error": shown, "request_id": request_id})


def _own_place(text: str) -> str:
    for pattern, replacement in _TOOL_PLACES:
        text = pattern.sub(replacement, text)
    return text
