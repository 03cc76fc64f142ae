"""Makes a handler's event and context, as API Gateway and Lambda would."""

from __future__ import annotations

import base64
import time
from typing import Any
from urllib.parse import parse_qsl

from local.http import RequestHead
from toolwire.pages.paths import STAGE, Route, path_of


def proxy_event(head: RequestHead, route: Route, body: bytearray, *, request_id: str, client: str) -> dict[str, Any]:
    """A REST API proxy event (payload version 1). A body that is no UTF-8 comes in base64, as a binary one would."""
    text, is_base64 = _text(body)
    path = path_of(route.resource, dict(route.parameters))
    method = "GET" if head.method == "HEAD" else head.method
    query = parse_qsl(head.target.partition("?")[2], keep_blank_values=True)
    return {
        "resource": route.resource,
        "path": path.removeprefix(f"/{STAGE}"),
        "httpMethod": method,
        "headers": dict(head.headers),
        "multiValueHeaders": _by_name(head.headers),
        "queryStringParameters": dict(query) or None,
        "multiValueQueryStringParameters": _by_name(query) or None,
        "pathParameters": dict(route.parameters) or None,
        "stageVariables": None,
        "requestContext": {
            "accountId": "local",
            "apiId": "local",
            "domainName": head.fields.get("host", ""),
            "httpMethod": method,
            "identity": {"sourceIp": client, "userAgent": head.fields.get("user-agent")},
            "path": path,
            "protocol": "HTTP/1.0" if head.http_1_0 else "HTTP/1.1",
            "requestId": request_id,
            "requestTimeEpoch": int(time.time() * 1000),
            "resourcePath": route.resource,
            "stage": STAGE,
        },
        "body": text,
        "isBase64Encoded": is_base64,
    }


def _text(body: bytearray) -> tuple[str | None, bool]:
    if not body:
        return None, False
    try:
        return body.decode(), False
    except UnicodeDecodeError:
        return base64.b64encode(body).decode(), True


def _by_name(pairs: list[tuple[str, str]]) -> dict[str, list[str]]:
    values: dict[str, list[str]] = {}
    for name, value in pairs:
        values.setdefault(name, []).append(value)
    return values


class LocalContext:
    """The part of Lambda's context object that exists without Lambda."""

    function_version = "$LATEST"
    memory_limit_in_mb = "0"

    def __init__(self, function: str, request_id: str, seconds: float) -> None:
        self.function_name = function
        self.invoked_function_arn = f"arn:aws:lambda:local:0:function:{function}"
        self.aws_request_id = request_id
        self._ends = time.monotonic() + seconds

    def get_remaining_time_in_millis(self) -> int:
        """The milliseconds until the invocation's time is up. Lambda would stop it then; nothing does so here."""
        return max(0, int((self._ends - time.monotonic()) * 1000))
