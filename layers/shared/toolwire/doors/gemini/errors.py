"""The gemini door's errors, as an answer and as the last object of a stream: google.rpc.Status."""

from __future__ import annotations

import re

from toolwire.model.errors import GatewayError, UpstreamError
from toolwire.wire.gemini import DIALECT
from toolwire.wire.json import dump

#: HTTP status -> google.rpc.Code.
_CODES = {
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    408: "DEADLINE_EXCEEDED",
    409: "ABORTED",
    429: "RESOURCE_EXHAUSTED",
    502: "UNAVAILABLE",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
    529: "UNAVAILABLE",
}

_TYPE = "type.googleapis.com/google.rpc."
_SECONDS = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?")

#: The rules that all doors share use the Chat API's name for this member.
_CHOICE = re.compile(r"\btool_choice\b")


def render_error(error: GatewayError, request_id: str) -> bytes:
    """`{"error": {code, message, status, details}}`; our own code is the `reason` among the details. An upstream's own
    error of this API is passed on as it came."""
    if error.source is not None and error.source.dialect == DIALECT and error.source.raw.lstrip()[:1] == b"{":
        return error.source.raw
    metadata = {"code": error.code}
    param, message = error.param, error.message
    if not isinstance(error, UpstreamError):
        param, message = param and _own_words(param), _own_words(message)
    if param is not None:
        metadata["param"] = param
    if error.features:
        metadata["incompatible_features"] = ",".join(error.features)
    details: list[dict[str, object]] = [
        {"@type": f"{_TYPE}ErrorInfo", "reason": error.code.upper(), "domain": "toolwire", "metadata": metadata},
        {"@type": f"{_TYPE}RequestInfo", "requestId": request_id},
    ]
    if param is not None:
        fault = {"field": param, "description": message}
        details.append({"@type": f"{_TYPE}BadRequest", "fieldViolations": [fault]})
    if error.retry_after is not None and _SECONDS.fullmatch(error.retry_after):
        details.append({"@type": f"{_TYPE}RetryInfo", "retryDelay": f"{error.retry_after}s"})
    status = _CODES.get(error.status, "INVALID_ARGUMENT" if error.status < 500 else "INTERNAL")
    shown = {"code": error.status, "message": message, "status": status, "details": details}
    return dump({"error": shown})


def _own_words(text: str) -> str:
    return _CHOICE.sub("toolConfig.functionCallingConfig", text)
