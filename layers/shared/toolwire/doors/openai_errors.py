"""Errors as both of OpenAI's APIs have them."""

from __future__ import annotations

from toolwire.model.errors import GatewayError, InternalError, RequestError
from toolwire.wire.json import dump

#: The dialects whose error bodies clients of both APIs can read.
_DIALECTS = ("openai_chat", "openai_responses")

#: HTTP status -> OpenAI's error type.
_TYPES = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
}


def render_error(error: GatewayError, request_id: str) -> bytes:
    """`{"error": {message, type, param, code}}`, always all four, with the request id beside it. An upstream's own
    error body is passed on as it came."""
    if error.source is not None and error.source.dialect in _DIALECTS:
        return error.source.raw
    return dump({"error": error_object(error), "request_id": request_id})


def error_object(error: GatewayError) -> dict[str, object]:
    """The object with the four members."""
    client = isinstance(error, RequestError) or error.status < 500
    kind = _TYPES.get(error.status, "invalid_request_error" if client else "server_error")
    if isinstance(error, InternalError):
        kind = "server_error"
    body: dict[str, object] = {"message": error.message, "type": kind, "param": error.param, "code": error.code}
    if error.features:
        body |= {"type": "semantic_error", "incompatible_features": error.features}
    return body
