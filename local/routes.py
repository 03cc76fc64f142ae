"""Which function answers what: the table that `template.yaml` is to API Gateway."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from toolwire.shell.serve.output import Answer

#: A Lambda handler: a proxy event and a context in, a generator out.
Handler = Callable[[dict[str, Any], Any], Answer]

#: Path below the stage -> method -> folder in functions/.
ROUTES: Mapping[str, Mapping[str, str]] = {
    "/chat/completions": {"POST": "chat_completions"},
    "/responses": {"POST": "responses"},
    "/responses/compact": {"POST": "responses"},
    "/native/chat": {"POST": "native"},
    "/native/tools/check": {"POST": "native"},
    "/native/translate": {"POST": "native"},
    "/messages": {"POST": "messages"},
    "/messages/count_tokens": {"POST": "messages"},
    "/models": {"GET": "catalog"},
    "/models/{id+}": {"GET": "catalog"},
    "/health": {"GET": "catalog"},
}

_PARAMETER = re.compile(r"{(\w+)(\+?)}")

#: The stage's name, the first part of every deployed path.
STAGE = "v1"

#: Also served without the stage, for whoever watches over the process.
_WITHOUT_STAGE = ("/health",)

#: Claude Code asks with HEAD for the root of its base URL, which has no stage, before it sends anything.
_ROOT = "/"


@dataclass(frozen=True, slots=True)
class NoRoute:
    """Nothing is served there; `allow` holds the methods that are, where the path is known."""

    allow: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Route:
    """Where a request goes: a path below the stage, a folder in functions/, and what stands for names in braces."""

    resource: str
    function: str
    parameters: tuple[tuple[str, str], ...] = ()


def resolve(method: str, path: str) -> Route | NoRoute:
    """The route of a request. HEAD is answered where GET is, as HTTP asks; at the root, with the gateway's health."""
    path = plain(path)
    if path == _ROOT and method in ("GET", "HEAD"):
        return Route("/health", "catalog")
    if path in _WITHOUT_STAGE:
        path = f"/{STAGE}{path}"
    resource, parameters = _resource(path.removeprefix(f"/{STAGE}")) if path.startswith(f"/{STAGE}/") else ("", ())
    methods = ROUTES.get(resource, {})
    function = methods.get("GET" if method == "HEAD" else method)
    if function is None:
        return NoRoute((*methods, "HEAD") if "GET" in methods else tuple(methods))
    return Route(resource, function, parameters)


def plain(path: str) -> str:
    """A path as it was meant: base URLs that end in a slash or have their `/v1` already double both."""
    parts = [part for part in path.split("/") if part]
    while parts[:2] == [STAGE, STAGE]:
        del parts[0]
    return "/" + "/".join(parts)


def _resource(path: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """The resource that API Gateway would choose, and its parameters."""
    if path not in ROUTES:
        for resource in ROUTES:
            if found := _pattern(resource).fullmatch(path):
                return resource, tuple(found.groupdict().items())
    return path, ()


@cache
def _pattern(resource: str) -> re.Pattern[str]:
    """`{name}` stands for one segment of a path, `{name+}` for one or more: a model's name may have slashes."""
    return re.compile(_PARAMETER.sub(lambda it: f"(?P<{it[1]}>{'.+' if it[2] else '[^/]+'})", resource))


def load_handlers(functions: Path) -> dict[str, Handler]:
    """Imports each function's `app.py` and returns its handler by folder. Raises what the import raises."""
    folders = {folder for methods in ROUTES.values() for folder in methods.values()}
    return {folder: _load(functions / folder / "app.py", folder) for folder in sorted(folders)}


def _load(path: Path, folder: str) -> Handler:
    # By path, and under a name of its own: on Lambda each of them is the only `app`.
    spec = importlib.util.spec_from_file_location(f"functions.{folder}.app", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"cannot load {path}")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    handler: Handler = module.handler
    return handler
