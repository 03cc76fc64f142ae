"""The messages door's errors, as an answer and as an event of a stream."""

from __future__ import annotations

import re

from toolwire.model.errors import TOO_LONG, GatewayError, InternalError
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

#: The rules that all doors share name a place within a tool as the Chat API does.
_TOOL_PLACES = (
    (re.compile(r"(tools\[\d+\])\.(?:function|custom)\.parameters"), r"\1.input_schema"),
    (re.compile(r"(tools\[\d+\])\.(?:function|custom)\b"), r"\1"),
)

#: The texts by which Claude Code recognises that it must summarise, or may ask again for fewer tokens.
_KNOWN_TOO_LONG = ("prompt is too long", "input length and `max_tokens` exceed context limit")
#: vLLM's message for a prompt that would fit if fewer tokens were asked for.
_SUMS = (
    re.compile(
        r"context length (?:is|of) (?P<limit>\d+)\b.*?\b(?P<input>\d+) (?:tokens )?(?:in|from) the (?:input )?"
        r"(?:messages|prompt|input)\b.*?\b(?P<output>\d+) (?:tokens )?(?:in|for) the completion"
    ),
    re.compile(
        r"too large: (?P<output>\d+)\b.*?context length is (?P<limit>\d+)\b.*?request has (?P<input>\d+) input tokens"
    ),
)


def render_error(error: GatewayError, request_id: str) -> bytes:
    """`{"type": "error", "error": {type, message, details}, "request_id"}`. `details` has our code, at the place of
    Anthropic's own. An upstream's own error body of this API is passed on as it came: clients match its wording."""
    if error.source is not None and error.source.dialect == DIALECT:
        return error.source.raw
    kind = _TYPES.get(error.status, "invalid_request_error" if error.status < 500 else "api_error")
    if isinstance(error, InternalError):
        kind = "api_error"
    details: dict[str, object] = {"error_code": error.code}
    if error.param is not None:
        details["param"] = _own_place(error.param)
    if error.code == NO_THREADS:
        details["unsupported"] = error.features  # by which the SDKs know that they may continue without
    elif error.features:
        details["incompatible_features"] = error.features
    message = _too_long(error.message) if error.code == TOO_LONG else _own_place(error.message)
    shown = {"type": kind, "message": message, "details": details}
    return dump({"type": "error", "error": shown, "request_id": request_id})


def _too_long(message: str) -> str:
    """Anthropic's message, with the upstream's behind it."""
    if any(known in message.lower() for known in _KNOWN_TOO_LONG):
        return message
    for pattern in _SUMS:
        if (said := pattern.search(message)) and int(said["input"]) < int(said["limit"]):
            return f"{_KNOWN_TOO_LONG[1]}: {said['input']} + {said['output']} > {said['limit']}: {message}"
    return f"{_KNOWN_TOO_LONG[0]}: {message}"


def _own_place(text: str) -> str:
    for pattern, replacement in _TOOL_PLACES:
        text = pattern.sub(replacement, text)
    return text
