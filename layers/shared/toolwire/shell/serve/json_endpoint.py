"""Serves a request whose answer is one JSON document, made by a function and not by an exchange."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from toolwire.model.errors import GatewayError
from toolwire.model.http import Head, Headers, HttpRequest, id_headers
from toolwire.shell.network.output import Answer
from toolwire.shell.network.proxy_event import IGNORED, error_head, http_request, is_proxy_event, request_id
from toolwire.shell.serve.failures import shown
from toolwire.shell.telemetry import observe
from toolwire.shell.telemetry.request_record import RequestRecord

_JSON = "application/json"


def serve_document(
    door: str,
    event: Any,
    context: Any,
    make: Callable[[HttpRequest, RequestRecord], tuple[bytes, Headers]],
    render_error: Callable[[GatewayError, str], bytes],
) -> Answer:
    """The answer to one proxy event: a Head, then the body. `make` returns the document and its additional headers.
    `render_error` makes the body for an error that it raises, with the request's id."""
    if not is_proxy_event(event):
        yield from IGNORED
        return
    record = RequestRecord(request_id(event, context), door)
    try:
        body, more = make(http_request(event), record)
        head = Head(200, (("content-type", _JSON), *id_headers(record.request_id), *more))
    except Exception as failure:  # noqa: BLE001 - a request is answered, whatever happens
        error = shown(failure, record.request_id)
        record.failed(error)
        body, head = render_error(error, record.request_id), error_head(error, _JSON, record.request_id)
    record.status = head.status
    try:
        yield head
        record.byte_sent()
        yield body
    finally:
        observe.finish(record)
