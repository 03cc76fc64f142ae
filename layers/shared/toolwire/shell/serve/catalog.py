"""Answers GET /models, GET /models/{id} and GET /health, and requests for a path or by a method that is not served. It
imports no provider, and a door only for the form of an error."""

from __future__ import annotations

from functools import partial
from typing import Any

from toolwire import __version__
from toolwire.doors import DOORS, KEY_PLACES, Door, load_door
from toolwire.model.http import Headers, HttpRequest
from toolwire.pages.catalog import health_body, model_body, models_body
from toolwire.pages.paths import path_of, refusal, render_error_at, served
from toolwire.providers import WIRES
from toolwire.shell.access.keys import authenticate
from toolwire.shell.network.output import Answer
from toolwire.shell.network.proxy_event import is_proxy_event, resource
from toolwire.shell.serve.json_endpoint import serve_document
from toolwire.shell.settings.current import current_settings
from toolwire.shell.store.current import current_store
from toolwire.shell.telemetry.request_record import RequestRecord


def serve_catalog(event: Any, context: Any) -> Answer:
    """The answer to one proxy event: a Head, then the body."""
    path = path_of(resource(event), event.get("pathParameters") or {}) if is_proxy_event(event) else ""
    yield from serve_document("catalog", event, context, _document, partial(render_error_at, path))


def _document(request: HttpRequest, record: RequestRecord) -> tuple[bytes, Headers]:
    methods = served().get(request.path, {})
    if methods.get("GET" if request.method == "HEAD" else request.method) != "catalog":
        raise refusal(request.method, path_of(request.path, request.parameters), request.headers)
    settings = current_settings()
    if request.path == "/health":
        record.routine = True
        return health_body(__version__, demo=settings.enable_demo, store=current_store().name), ()
    door = _door_of(request)
    tenant = authenticate(request, settings, KEY_PLACES if door is None else door.key_places)
    record.tenant = tenant.name
    if request.path.endswith("/models"):
        return models_body(settings, WIRES, tenant, door), ()
    return model_body(request.parameters.get("id", ""), settings, WIRES, tenant, door), ()


def _door_of(request: HttpRequest) -> Door | None:
    """The door whose client asks for models, if its API has its own form for them."""
    for name, row in DOORS.items():
        if request.path in row.models or row.header in request.headers or row.query in request.query:
            return load_door(name)
    return None
