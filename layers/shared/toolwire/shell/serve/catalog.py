"""GET /models, GET /models/{id} and GET /health: requests to the gateway itself. No door and no upstream is imported
for them."""

from __future__ import annotations

from typing import Any

from toolwire import __version__
from toolwire.model.errors import RequestError
from toolwire.model.http import Headers, HttpRequest
from toolwire.pages.catalog import error_body, health_body, model_body, models_body
from toolwire.providers import WIRES
from toolwire.shell.access.keys import authenticate
from toolwire.shell.serve import observe
from toolwire.shell.serve.document import serve_document
from toolwire.shell.serve.output import Answer
from toolwire.shell.settings.configuration import current_settings
from toolwire.shell.store.current import current_store


def serve_catalog(event: Any, context: Any) -> Answer:
    """The answer to one proxy event: a Head, then the body."""
    yield from serve_document("catalog", event, context, _document, error_body)


def _document(request: HttpRequest, record: observe.RequestRecord) -> tuple[bytes, Headers]:
    settings = current_settings()
    if request.path == "/health":
        record.routine = True
        return health_body(__version__, demo=settings.enable_demo, store=current_store().name), ()
    tenant = authenticate(request, settings)
    record.tenant = tenant.name
    if request.path == "/models":
        return models_body(settings, WIRES, tenant), ()
    if request.path == "/models/{id+}":
        return model_body(request.parameters.get("id", ""), settings, WIRES, tenant), ()
    raise RequestError(f"There is nothing at {request.path}.", status=404, code="not_found")
