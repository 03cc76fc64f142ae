"""Serves all paths by one function, for a Lambda function URL, which has no routes as API Gateway has.

Its events are in payload format 2.0 ("Invoking Lambda function URLs" in the Lambda developer guide). They become those
of API Gateway's REST proxy, so that everything behind is the same.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import Any
from urllib.parse import parse_qsl

from toolwire.doors import DOORS
from toolwire.model.http import Head, Headers, HttpRequest
from toolwire.pages.paths import NoRoute, Route, refusal, render_error_at, resolve
from toolwire.shell.network.output import Answer
from toolwire.shell.network.proxy_event import IGNORED
from toolwire.shell.serve.cors import PREFLIGHT, cors_origin
from toolwire.shell.serve.door import serve
from toolwire.shell.serve.json_endpoint import serve_document
from toolwire.shell.telemetry.request_record import RequestRecord

_Handler = Callable[[dict[str, Any], Any], Answer]


def serve_function_url(event: Any, context: Any) -> Answer:
    """The answer to one event of a function URL: a Head, then bytes."""
    http = _http(event)
    if http is None:
        yield from IGNORED
        return
    method, path = http["method"], event.get("rawPath") or "/"
    route = resolve(method, path)
    proxied = _proxied(event, method, path, route)
    if isinstance(route, Route):
        yield from _function(route)(proxied, context)
    elif method == "OPTIONS" and route.allow and cors_origin(os.environ):
        yield Head(204, PREFLIGHT)
    else:
        make = partial(_refused, path)
        yield from serve_document("catalog", proxied, context, make, partial(render_error_at, path))


def _http(event: Any) -> dict[str, Any] | None:
    """The event's object about its request; None for an invocation that is not a client's request."""
    context = event.get("requestContext") if isinstance(event, dict) else None
    http = context.get("http") if isinstance(context, dict) else None
    return http if isinstance(http, dict) and http.get("method") else None


def _proxied(event: dict[str, Any], method: str, path: str, route: Route | NoRoute) -> dict[str, Any]:
    """The event that API Gateway would make of the request. Cookies, which are apart from the headers, are left out,
    since nothing reads them."""
    found = route if isinstance(route, Route) else Route(path, "catalog")
    return {
        "httpMethod": "GET" if method == "HEAD" else method,
        "resource": found.resource,
        "pathParameters": dict(found.parameters),
        "headers": event.get("headers"),
        "queryStringParameters": dict(parse_qsl(event.get("rawQueryString") or "", keep_blank_values=True)),
        "body": event.get("body"),
        "isBase64Encoded": event.get("isBase64Encoded"),
        "requestContext": event["requestContext"],
    }


def _function(route: Route) -> _Handler:
    """The function that answers at a route. Most are imported with the first request that needs them."""
    if route.function == "catalog":
        from toolwire.shell.serve.catalog import serve_catalog

        return serve_catalog
    if route.function == "native":
        from toolwire.shell.serve.native import serve_native

        return serve_native
    if any(route.resource == path for row in DOORS.values() for _, path in row.kept):
        from toolwire.shell.serve.kept_answers import serve_kept_answer

        return serve_kept_answer
    doors = {row.module.split(".")[-2]: name for name, row in DOORS.items()}
    return partial(serve, doors[route.function])


def _refused(path: str, request: HttpRequest, record: RequestRecord) -> tuple[bytes, Headers]:  # noqa: ARG001
    raise refusal(request.method, path, request.headers)
