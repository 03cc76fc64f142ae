"""Reads API Gateway's REST proxy event as a request, and makes the heads of the gateway's own errors."""

from __future__ import annotations

import binascii
import codecs
import re
from typing import Any

from toolwire.model.errors import GatewayError, RequestError
from toolwire.model.http import Head, HttpRequest, id_headers
from toolwire.model.limits import BODY_BYTES
from toolwire.shell.network.content_encoding import unpacked
from toolwire.shell.random_text import new_uuid

#: A valid request id: fit for a header and a log, even if a client made up the event.
_REQUEST_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")

#: The stage at the beginning of a path: see `resource`.
_STAGE = "/v1"

#: The answer to an invocation that is not a client's request.
IGNORED = (Head(200, (("content-type", "application/json"),)), b"{}")


def is_proxy_event(event: Any) -> bool:
    """Whether the invocation is a client's request. A function may also be invoked by hand, by a schedule, or
    (reportedly) by API Gateway once more after a stream."""
    return isinstance(event, dict) and bool(event.get("httpMethod")) and isinstance(event.get("requestContext"), dict)


def request_id(event: dict[str, Any], context: Any) -> str:
    """The one id of this request: API Gateway's, else the invocation's, else a new one. Never the client's."""
    for candidate in (event["requestContext"].get("requestId"), getattr(context, "aws_request_id", None)):
        if isinstance(candidate, str) and _REQUEST_ID.fullmatch(candidate):
            return candidate
    return new_uuid()


def resource(event: dict[str, Any]) -> str:
    """The path of the request, as the template writes it. (`path` begins with the base path of a custom domain.) If a
    client's base URL has the stage twice, the second one is removed."""
    path: str = event.get("resource") or event.get("path") or "/"
    return path.removeprefix(_STAGE) if path.startswith(_STAGE + "/") else path


def headers(event: dict[str, Any]) -> dict[str, str]:
    """The request's headers, names in lower case, a repeated one joined with ", "."""
    several: dict[str, list[str] | None] = event.get("multiValueHeaders") or {}
    if several:
        return {name.lower(): ", ".join(values) for name, values in several.items() if values}
    single: dict[str, str | None] = event.get("headers") or {}
    return {name.lower(): value for name, value in single.items() if value}


def http_request(event: dict[str, Any]) -> HttpRequest:
    """The request, with its body unpacked. Raises RequestError for a body that is too large (413), is not of its named
    coding or not base64, or is no text, as in an event written by hand (400), or has an unknown coding (415)."""
    text = event.get("body") or ""
    if not isinstance(text, str):
        raise RequestError("The event's body must be a string that holds the JSON, as API Gateway sends it.")
    if event.get("isBase64Encoded"):
        try:
            body = binascii.a2b_base64(text, strict_mode=True)  # a third less than b64decode
        except (ValueError, binascii.Error) as error:
            raise RequestError("The body is not valid base64.") from error
    else:
        # A lone surrogate is no UTF-8. It is kept here, and the door's JSON parser refuses it.
        body = text.encode("utf-8", "surrogatepass")
    if len(body) > BODY_BYTES:
        message = f"The body has {len(body)} bytes; the limit is {BODY_BYTES}."
        raise RequestError(message, status=413, code="request_too_large")
    given = headers(event)
    if body and "content-encoding" in given:
        body = unpacked(body, given["content-encoding"])
    return HttpRequest(
        method=event["httpMethod"],
        path=resource(event),
        headers=given,
        body=body.removeprefix(codecs.BOM_UTF8),
        parameters=event.get("pathParameters") or {},
        query={name: value for name, value in (event.get("queryStringParameters") or {}).items() if value is not None},
    )


def with_body(event: dict[str, Any], body: str) -> dict[str, Any]:
    """The event with this text as its body, not packed."""
    event = event | {"body": body, "isBase64Encoded": False}
    for member in ("headers", "multiValueHeaders"):
        given = event.get(member) or {}
        event[member] = {name: value for name, value in given.items() if name.lower() != "content-encoding"} or None
    return event


def error_head(error: GatewayError, content_type: str, request_id: str) -> Head:
    """The head of an error's answer, with the headers by which the official SDKs decide on a retry."""
    fields = (("content-type", content_type), *id_headers(request_id))
    return Head(error.status, fields + error.retry_headers())
