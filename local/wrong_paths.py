"""What to change where a path leads nowhere, for the API that its client speaks: most often it is the base URL."""

from __future__ import annotations

from local.http import RefusedError
from local.routes import ROUTES, STAGE, NoRoute, plain
from toolwire.doors import load_door
from toolwire.model.errors import GatewayError
from toolwire.pages.catalog import error_body

#: What only one API has in its paths -> the door of that API.
_DOOR_OF = {"messages": "messages", "responses": "responses", "conversations": "responses", "native": "native"}
_DOOR_OF |= dict.fromkeys(("chat", "completions", "embeddings", "images", "audio", "moderations"), "chat")
_DOOR_OF |= dict.fromkeys(("assistants", "batches", "files"), "chat")

_BASE_URLS: dict[str | None, str] = {
    "messages": f"the base URL of an Anthropic client has no /{STAGE}: it ends with the host",
    "chat": f"the base URL of an OpenAI client ends in /{STAGE}",
    "responses": f"the base URL of an OpenAI client ends in /{STAGE}",
    "native": f"the base URL of the native API ends in /{STAGE}",
}
_ANY_BASE_URL = f"the base URL ends in /{STAGE} for an OpenAI client, and with the host for an Anthropic one"


def door_of(path: str) -> str | None:
    """The name of the door that the path's client speaks to; None where it does not say."""
    return next((_DOOR_OF[part] for part in path.split("/") if part in _DOOR_OF), None)


def refusal(method: str, path: str, route: NoRoute) -> RefusedError:
    """The answer to a request that is for nobody."""
    if route.allow:
        message = f"{path} does not take {method}, but {' and '.join(route.allow)}."
        return RefusedError(message, 405, "method_not_allowed", (("allow", ", ".join(route.allow)),))
    message = f"There is nothing at {method} {path}"
    if any(plain(path).endswith(known) for known in ROUTES):
        message += f": {_BASE_URLS.get(door_of(path), _ANY_BASE_URL)}."
    else:
        message += f"; {_ANY_BASE_URL}. Served are {', '.join(f'/{STAGE}{known}' for known in ROUTES)}."
    return RefusedError(message, 404, "not_found")


def body(error: GatewayError, request_id: str, path: str | None) -> bytes:
    """The error in the form of the API that the path belongs to; in one that every SDK reads where that is unknown."""
    name = door_of(path) if path is not None else None
    return error_body(error, request_id) if name is None else load_door(name).render_error(error, request_id)
