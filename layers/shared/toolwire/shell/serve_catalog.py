"""GET /models and GET /health: a request to the gateway itself. No door and no upstream is imported for them."""

from __future__ import annotations

from typing import Any

from toolwire import __version__
from toolwire.catalog import error_body, health_body, models_body
from toolwire.model.errors import GatewayError, RequestError
from toolwire.model.http import Head, HttpRequest, id_headers
from toolwire.providers import WIRES
from toolwire.shell import observe
from toolwire.shell.keys import authenticate
from toolwire.shell.output import Answer
from toolwire.shell.proxy_event import IGNORED, error_head, http_request, is_proxy_event, request_id
from toolwire.shell.settings import current_settings
from toolwire.shell.store import current_store

_JSON = "application/json"


def serve_catalog(event: Any, context: Any) -> Answer:
    """The answer to one proxy event: a Head, then the body."""
    if not is_proxy_event(event):
        yield from IGNORED
        return
    record = observe.RequestRecord(request_id(event, context), "catalog")
    try:
        body = _body(http_request(event), record)
        head = Head(200, (("content-type", _JSON), *id_headers(record.request_id)))
    except Exception as failure:  # noqa: BLE001 - a request is answered, whatever happens
        error = failure if isinstance(failure, GatewayError) else observe.unexpected(failure, record.request_id)
        record.failed(error)
        body, head = error_body(error, record.request_id), error_head(error, _JSON, record.request_id)
    record.status = head.status
    try:
        yield head
        record.byte_sent()
        yield body
    finally:
        observe.finish(record)


def _body(request: HttpRequest, record: observe.RequestRecord) -> bytes:
    settings = current_settings()
    if request.path == "/health":
        record.routine = True
        return health_body(__version__, demo=settings.enable_demo, store=current_store().name)
    tenant = authenticate(request.headers, settings)
    record.tenant = tenant.name
    if request.path != "/models":
        raise RequestError(f"There is nothing at {request.path}.", status=404, code="not_found")
    return models_body(settings, WIRES, tenant)
