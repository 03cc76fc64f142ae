"""The bodies of GET /models, GET /models/{id} and GET /health, and of the errors in their place.

The list of models has every member that some client reads: OpenAI's SDKs (`id`, `object`, `created`, `owned_by`) and
Claude Code's model discovery (`type`, `display_name`, `created_at`, `first_id`, `last_id`, `has_more`); `models` is
Codex's own catalogue. The gateway does not know a provider's models, so the list has the configured names: aliases, and
the demo's models.

Pure: settings in, bytes out.
"""

from __future__ import annotations

from collections.abc import Collection
from urllib.parse import unquote

import msgspec

from toolwire.doors import Door
from toolwire.doors.responses.models import model_entry
from toolwire.exchange.routing import may_use, route
from toolwire.model.errors import GatewayError, RequestError
from toolwire.model.settings import Settings, Tenant
from toolwire.providers.hosts import DEMO, DEMO_MODELS


def models_body(
    settings: Settings, wires: Collection[str], tenant: Tenant | None = None, door: Door | None = None
) -> bytes:
    """The models that a request of the tenant can name, as JSON. `wires`: the built ones; providers of others are not
    offered. `door`: the door whose form the list has, if it has its own."""
    models = _models(settings, wires, tenant or settings.tenant)
    own = None if door is None else door.models_document([str(model["id"]) for model in models])
    if own is not None:
        return own
    return msgspec.json.encode(
        {
            "object": "list",
            "data": models,
            "models": [model_entry(str(model["id"]), number) for number, model in enumerate(models)],
            "has_more": False,
            "first_id": models[0]["id"] if models else None,
            "last_id": models[-1]["id"] if models else None,
        }
    )


def _models(settings: Settings, wires: Collection[str], tenant: Tenant) -> list[dict[str, object]]:
    names = [f"{DEMO}/{name}" for name in DEMO_MODELS] if settings.enable_demo else []
    names += [alias for alias in settings.aliases if "*" not in alias]
    targets = [(name, route(name, settings)) for name in names]
    return [
        _model(name, target.provider.name)
        for name, target in targets
        if target.provider.wire in wires and may_use(tenant, name, target)
    ]


def model_body(name: str, settings: Settings, wires: Collection[str], tenant: Tenant, door: Door | None) -> bytes:
    """One model that a request of the tenant can name, as JSON. Any name of a provider's own models is accepted, since
    only the provider knows them. `name` may be percent-encoded. Raises RequestError (404, `model_not_found`)."""
    name = unquote(name)
    target = route(name, settings)
    if target.provider.wire not in wires or not may_use(tenant, name, target):
        raise RequestError(f"There is no model {name[:100]!r} here.", status=404, code="model_not_found", param="model")
    own = None if door is None else door.model_document(name)
    return own if own is not None else msgspec.json.encode(_model(name, target.provider.name))


def _model(name: str, owner: str) -> dict[str, object]:
    """One entry. Its time of creation is not known, so it is 0, which every client takes."""
    return {
        "id": name,
        "object": "model",
        "created": 0,
        "owned_by": owner,
        "type": "model",
        "display_name": name,
        "created_at": "1970-01-01T00:00:00Z",
    }


def health_body(version: str, *, demo: bool, store: str) -> bytes:
    """The gateway's own state, as JSON. It needs no key, so it does not name providers. `store`: the kind of the
    store."""
    return msgspec.json.encode({"status": "ok", "version": version, "demo": demo, "store": store})


def error_body(error: GatewayError, request_id: str) -> bytes:
    """An error that OpenAI's and Anthropic's SDKs both read: this function serves the clients of every door."""
    kind = _ERROR_TYPES.get(error.status, "api_error" if error.status >= 500 else "invalid_request_error")
    detail = {"type": kind, "code": error.code, "message": error.message, "param": error.param}
    return msgspec.json.encode({"type": "error", "error": detail, "request_id": request_id})


#: Anthropic's words, which OpenAI's SDKs take as they take any.
_ERROR_TYPES = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
}
