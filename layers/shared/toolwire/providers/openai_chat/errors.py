"""Errors of Chat Completions hosts: `{"error": {message, type, param, code}}` and its many deviations.

Seen: the object in an array (Gemini's endpoint), `error` as a string, `message` or `detail` at the top (Mistral,
FastAPI hosts), `base_resp` (MiniMax), numeric codes (OpenRouter, llama.cpp), an error inside a 200 answer, no JSON at
all.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from toolwire.model.errors import UpstreamError
from toolwire.model.source import Source
from toolwire.providers.upstream_errors import (
    code_of,
    credential_refused,
    in_words,
    is_too_long,
    retry_delay_in,
    retry_of,
    why_refused,
)
from toolwire.wire.json import ABSENT, is_set, raw_members, whole_characters
from toolwire.wire.openai_chat import DIALECT, Chunk

#: Where hosts put the text of an error, the likeliest first.
_TEXTS = ("message", "detail", "error", "errors", "msg", "error_msg", "error_message", "error_description",
          "base_resp", "status_msg", "x_groq", "Response", "Error", "Message", "title")  # fmt: skip
#: The longest body without JSON that is used as a message, and the most of a model's words in one.
_TEXT_CHARS = 500
#: What OpenRouter's moderation says beside a 403, which is about the prompt and not about our key.
_FLAGGED = ("reasons", "flagged_input")
#: MiniMax's status within a 200 answer -> the HTTP status for it.
_BASE_RESP = {1001: 504, 1002: 429, 1008: 402, 1026: 400, 1027: 400, 1039: 429, 1042: 400, 2013: 400, 2056: 429}
#: The word of an error's code, type or status -> its HTTP status. The words are those of OpenAI's, Anthropic's and
#: Google's APIs, which relays pass on within a 200 answer.
_WORDS = {
    **dict.fromkeys((
        "invalid_request_error", "badrequesterror", "bad_request_error", "context_length_exceeded", "content_filter",
        "content_policy_violation", "invalid_argument", "failed_precondition", "invalid_prompt",
    ), 400),
    "authentication_error": 401, "unauthenticated": 401, "invalid_api_key": 401, "billing_error": 402,
    "permission_error": 403, "permission_denied": 403, "not_found_error": 404, "model_not_found": 404, "not_found": 404,
    **dict.fromkeys((
        "rate_limit_error", "rate_limit_exceeded", "insufficient_quota", "resource_exhausted", "too_many_requests",
    ), 429),
    "overloaded_error": 529, "unavailable": 503, "engine_overloaded_error": 503, "service_unavailable": 503,
    "timeout_error": 504, "deadline_exceeded": 504,
}  # fmt: skip
_EVENT = re.compile(rb"^data:[ ]?(\{.*)$", re.MULTILINE)


def error_from_body(body: bytes, status: int, retry_after: str | None = None) -> UpstreamError:
    """The upstream's error as ours. `status` is the HTTP status; where that is below 400 (an error inside a 200
    answer, a redirect), the error's own code counts, if that is one.

    A refused credential (401, 403) becomes 502: the client's own key was fine, and the upstream's text may quote ours.
    """
    error, whole = _error_object(body)
    answered = status
    about = error.get("metadata")
    about = about if isinstance(about, dict) else {}
    message, code = error.get("message"), error.get("code")
    if not isinstance(message, str) or not message:
        message = f"the upstream answered {answered} without a message"
    if (why := _told_behind(about.get("raw"))) and why not in message:
        message = f"{message}: {why}"
    if isinstance(wrote := error.get("failed_generation"), str) and wrote:  # only this API's clients see the member
        message = f"{message} The model wrote: {wrote[:_TEXT_CHARS]}"
    if not 400 <= status < 600:
        status = _status_in(error) or (400 if is_too_long(400, message) else 502)
    if status == 403 and any(about.get(name) for name in _FLAGGED):
        status = 400
        code = "content_filter"
    else:
        status, meant = in_words(status, f"{message} {code}")
        code = meant or code
    if status in (401, 403):
        return credential_refused(status, why_refused(message, body) if status == 403 else "")
    param = error.get("param")
    if (where := _place_in(error.get("detail"))) is not None:
        param, message = where, message if where in message else f"{where}: {message}"
    return UpstreamError(
        message,
        code=code if isinstance(code, str) and code else code_of(status),
        status=status,
        param=param if isinstance(param, str) else None,
        retry=retry_of(status),
        retry_after=retry_after or retry_delay_in(error.get("details")),
        source=Source(DIALECT, body) if whole else None,
    )


def _told_behind(raw: Any) -> str | None:
    """The message of the host behind an aggregator: OpenRouter's own is "Provider returned error"."""
    value = _document(raw.encode("utf-8", "replace"))[0] if isinstance(raw, str) else raw
    return text_in(value)


def is_told_beside(chunk: Chunk, body: bytes) -> bool:
    """Whether a host reports an error beside its choices: MiniMax in `base_resp`, Groq in `x_groq`."""
    if b'"base_resp"' in body and _is_refused(raw_members(whole_characters(body))):
        return True
    if chunk.x_groq is ABSENT or bytes(chunk.x_groq)[:1] != b"{":
        return False
    return is_set(raw_members(whole_characters(bytes(chunk.x_groq))).get("error", ABSENT))


def is_failure(body: bytes) -> bool:
    """Whether a document reports an error in place of choices."""
    found = raw_members(whole_characters(body))
    if any(name != "error" and bytes(found.get(name, b""))[:1] in (b'"', b"[") for name in _TEXTS):
        return True
    return _is_refused(found)


def _is_refused(found: Mapping[str, msgspec.Raw]) -> bool:
    """Whether MiniMax's status in a document means a refusal."""
    status = bytes(found.get("base_resp", b""))
    return status[:1] == b"{" and bytes(raw_members(status).get("status_code", b"0")) not in (b"0", b"null")


def _error_object(body: bytes) -> tuple[dict[str, Any], bool]:
    """The error's fields with its `message`, wherever the host put it (empty if there is none), and whether the body
    has the form that OpenAI's SDKs read: `{"error": {"message": "..."}}`."""
    document, is_body = _document(body)
    in_array = isinstance(document, list) and bool(document)  # Gemini's endpoint
    document = document[0] if in_array else document
    error = document.get("error") if isinstance(document, dict) else None
    if isinstance(error, dict) and isinstance(error.get("message"), str) and error["message"]:
        return error, is_body and not in_array
    fields = (error or document) if isinstance(document, dict) else {}
    return {**(fields if isinstance(fields, dict) else {}), "message": text_in(document)}, False


def _document(body: bytes) -> tuple[Any, bool]:
    """The JSON value of an error body, and whether it is the whole body. DashScope writes errors as events. Text that
    is neither JSON nor HTML becomes the message."""
    try:
        return msgspec.json.decode(body), True
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    if event := _EVENT.search(body):
        return _document(event[1])[0], False
    try:
        text = body.decode().strip()
    except UnicodeDecodeError:
        return None, False
    return (text if len(text) <= _TEXT_CHARS and text[:1] not in ("<", "{", "[") else None), False


def text_in(value: Any, levels: int = 4) -> str | None:
    """The first text that is a message, within objects and lists."""
    if isinstance(value, str):
        return value or None
    if isinstance(value, dict):
        value = [value.get(name) for name in _TEXTS]
    if not isinstance(value, list) or not levels:
        return None
    return next((text for item in value if (text := text_in(item, levels - 1))), None)


def _place_in(detail: Any) -> str | None:
    """The path of the member that FastAPI's first complaint is about: its message does not name it."""
    first = detail[0] if isinstance(detail, list) and detail else None
    place = first.get("loc") if isinstance(first, dict) else None
    names = [str(name) for name in place if name != "body"] if isinstance(place, list) else []
    return ".".join(names) or None


def _status_in(error: dict[str, Any]) -> int | None:
    for name in ("status", "code", "status_code"):
        value = error.get(name)
        if isinstance(value, str) and value.isdecimal():
            value = int(value)
        if isinstance(value, int) and 400 <= value < 600:
            return value
    for name in ("code", "type", "status"):
        value = error.get(name)
        if isinstance(value, str) and value.lower() in _WORDS:
            return _WORDS[value.lower()]
    told = error.get("base_resp")
    said = told.get("status_code") if isinstance(told, dict) else None
    return _BASE_RESP.get(said) if isinstance(said, int) else None
