"""The native door's errors, as an answer and as an event of a stream."""

from __future__ import annotations

from toolwire.model.errors import GatewayError, InternalError, UpstreamError
from toolwire.wire.json import dump

#: HTTP status -> the error's type. For other statuses the class decides.
_TYPES = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
}


def error_object(error: GatewayError) -> dict[str, object]:
    """`{type, code, message, param}`, always all four, and the features that a provider does not have."""
    kind = _TYPES.get(error.status, "invalid_request_error" if error.status < 500 else "api_error")
    if isinstance(error, UpstreamError) and error.status >= 500:
        kind = "upstream_error"
    if isinstance(error, InternalError):
        kind = "api_error"
    found: dict[str, object] = {"type": kind, "code": error.code, "message": error.message, "param": error.param}
    return found | {"type": "semantic_error", "incompatible_features": error.features} if error.features else found


def render_error(error: GatewayError, request_id: str) -> bytes:
    """The error as an object with a `type`: it is the body of an answer, and an event of a stream."""
    return dump({"type": "error", "error": error_object(error), "request_id": request_id})
