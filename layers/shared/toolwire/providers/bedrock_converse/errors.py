"""Errors of Amazon Bedrock: the exception's name in `x-amzn-errortype`, `{"message": ...}` in the body; in a stream a
frame whose type is the exception's name."""

from __future__ import annotations

from typing import Any

import msgspec

from toolwire.framing import Frame
from toolwire.framing.aws_event_stream import EXCEPTION
from toolwire.model.errors import UpstreamError
from toolwire.providers.upstream_errors import code_of, credential_refused, retry_after_of, retry_of

#: Exception -> the status it would have had before the stream began. Source: the API reference of ConverseStream.
_STATUS = {
    "accessdenied": 403, "conflict": 409, "internalserver": 500, "modelerror": 424, "modelnotready": 429,
    "modelstreamerror": 424, "modeltimeout": 408, "resourcenotfound": 404, "servicequotaexceeded": 429,
    "serviceunavailable": 503, "throttling": 429, "unrecognizedclient": 403, "validation": 400,
}  # fmt: skip

#: Exception -> our own text, with the fix. AWS's text names roles and accounts, and may quote what was signed.
_REFUSED = {
    "accessdenied": "its role may not invoke this model (`bedrock:InvokeModel`, for an inference profile also on its "
    "models in every region), or its account has no access to the model",
    "expiredtoken": "its AWS credentials have expired",
    "incompletesignature": "the request is not signed as AWS wants it",
    "invalidsignature": "the signature does not hold: is the provider's `region` that of its address, and the clock "
    "right?",
    "missingauthenticationtoken": 'the request was not signed: set `credential = "aws"`, or a Bedrock API key',
    "optinrequired": "its account has not opened this region or service",
    "unrecognizedclient": "AWS does not know its access key: it is wrong, deleted, or lacks its session token",
}


def error_of(status: int, headers: dict[str, str], body: bytes) -> UpstreamError:
    """An answer with an error status. `headers` have names in lower case."""
    name = headers.get("x-amzn-errortype", "").partition(":")[0]
    document = _document(body)
    return _error(name or str(document.get("__type", "")).rpartition("#")[2], status, document, retry_after_of(headers))


def error_of_frame(frame: Frame) -> UpstreamError:
    """A frame that reports an exception."""
    name = (frame.event or "").removeprefix(EXCEPTION)
    document = _document(frame.data)
    original = document.get("originalStatusCode")
    status = _STATUS.get(_plain(name), original if isinstance(original, int) and 400 <= original < 600 else 502)
    return _error(name, status, document, None)


def _plain(name: str) -> str:
    return name.lower().removesuffix("exception")


def _plain_name(name: str) -> str:
    """An exception's name as it may be shown: nothing but a name."""
    return name if name.isalnum() else ""


def _error(name: str, status: int, document: dict[str, Any], retry_after: str | None) -> UpstreamError:
    if status in (401, 403):
        return credential_refused(status, _REFUSED.get(_plain(name), _plain_name(name)))
    if _plain(name) == "servicequotaexceeded":  # which comes with 400
        status = 429
    message = document.get("message") or document.get("Message") or document.get("originalMessage")
    if not isinstance(message, str) or not message:
        message = f"the upstream answered {name or status} without a message"
    shown = _shown(status)
    return UpstreamError(
        message, code=code_of(status, message), status=shown, retry=retry_of(shown), retry_after=retry_after
    )


def _shown(status: int) -> int:
    """The status that the client is shown. It is another one for a model that failed (424) or took too long (408),
    since the client has made no mistake and can only try again."""
    return {408: 504, 424: 502}.get(status, status)


def _document(body: bytes) -> dict[str, Any]:
    try:
        document = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}
