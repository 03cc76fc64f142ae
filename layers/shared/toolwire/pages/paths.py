"""Finds the route of a path. For a path that is not served, makes the error, in the form of the API whose client asks.

Most often the client's base URL is wrong, so the error names the right one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from toolwire.doors import DOORS, door_of, load_door
from toolwire.model.errors import GatewayError, RequestError
from toolwire.model.nearest_word import did_you_mean
from toolwire.pages.catalog import error_body

#: The stage's name, the first part of every deployed path.
STAGE = "v1"

#: The paths beside the doors', which the function `catalog` serves.
_CATALOG = ("/models", "/models/{id+}", "/health")

#: The lists of models in the form of one API.
_OWN_LISTS = tuple(path for row in DOORS.values() for path in row.models)

#: Also served without the stage, for health checks of the process.
_WITHOUT_STAGE = ("/health",)

#: Paths of an API that has versions of its own.
_OWN_VERSIONS = ("/v1alpha/", "/v1beta/", "/v1beta1/")

#: Claude Code asks with HEAD for the root of its base URL, which has no stage, before it sends anything.
_ROOT = "/"

_PARAMETER = re.compile(r"{(\w+)(\+?)}")


def served() -> dict[str, dict[str, str]]:
    """Path below the stage -> method -> the folder in functions/ whose function answers. HEAD is answered like GET."""
    table = {path: {"POST": row.module.split(".")[-2]} for row in DOORS.values() for path in (*row.paths, *row.beside)}
    for row in DOORS.values():
        for method, path in row.kept:
            table[path] = {**table.get(path, {}), method: row.module.split(".")[-2]}
    return table | {path: {**table.get(path, {}), "GET": "catalog"} for path in (*_CATALOG, *_OWN_LISTS)}


def _ends_in_served(path: str) -> bool:
    """Whether a path ends in a served one. Most often the base URL is wrong then."""
    parts, table = path.split("/"), served()
    return any(_resource("/" + "/".join(parts[at:]), table)[0] in table for at in range(1, len(parts)))


def _places() -> list[str]:
    """The main path of each API below the stage, for the error's list."""
    paths = [path for row in DOORS.values() for path in (row.paths[0], *row.beside)]
    return [path.replace("{id+}", "{model}:generateContent") for path in paths] + ["/models", "/health"]


@dataclass(frozen=True, slots=True)
class Route:
    """A route: a path below the stage, a folder in functions/, and the values of the names in braces."""

    resource: str
    function: str
    parameters: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class NoRoute:
    """No route. `allow`: the methods that are served, if the path is known."""

    allow: tuple[str, ...] = ()


def resolve(method: str, path: str) -> Route | NoRoute:
    """The route of a request, by its path as the client wrote it. HEAD is answered like GET, as HTTP asks; at the root
    with the gateway's health."""
    path = _plain(path)
    if path == _ROOT and method in ("GET", "HEAD"):
        return Route("/health", "catalog")
    if path in _WITHOUT_STAGE:
        path = f"/{STAGE}{path}"
    table = served()
    below = _below_stage(path)
    resource, parameters = _resource(below, table)
    methods = table.get(resource, {})
    function = methods.get("GET" if method == "HEAD" else method)
    if function is None:
        return NoRoute((*methods, "HEAD") if "GET" in methods else tuple(methods))
    return Route(resource, function, parameters)


def refusal(method: str, path: str, headers: Mapping[str, str]) -> GatewayError:
    """The error for a request without a route: its path is not served (404), or not by this method (405), or its door
    has its own error. Names of headers are lower case."""
    name = _door_of(path)
    if name is not None and (error := load_door(name).not_served(method, _plain(path), headers)) is not None:
        return error
    route = resolve(method, path)
    if isinstance(route, NoRoute) and route.allow:
        message = f"{path} does not take {method}, but {' and '.join(route.allow)}."
        if method == "OPTIONS" and "origin" in headers:
            message += " A browser asks this for a page: CORS_ORIGIN (deployed: CorsOrigin) names the origin to let in."
        allow = (("allow", ", ".join(route.allow)),)
        return RequestError(message, status=405, code="method_not_allowed", headers=allow)
    return RequestError(
        f"There is nothing at {method} {path}{_meant(_plain(path), name)}", status=404, code="not_found"
    )


def _meant(path: str, name: str | None) -> str:
    """A hint at what this door's client may have meant by a path that is not served."""
    every = "; ".join(dict.fromkeys(row.base_url for row in DOORS.values()))
    advice = every if name is None else DOORS[name].base_url
    if _ends_in_served(path):
        return f": {advice}."
    places = _places()
    below = path.removeprefix(f"/{STAGE}")
    known = [place for place in places if not place.startswith(_OWN_VERSIONS)]
    near = did_you_mean(below, known, before=f"/{STAGE}") if below else ""
    # Below the stage the base URL is right.
    why = near or ("" if path.startswith(f"/{STAGE}/") else f" {advice[:1].upper()}{advice[1:]}.")
    shown = (place if place.startswith(_OWN_VERSIONS) else f"/{STAGE}{place}" for place in places)
    return f".{why} Served are {', '.join(shown)}, and no API that makes anything but text and tool calls."


def render_error_at(path: str, error: GatewayError, request_id: str) -> bytes:
    """The error in the form of the API whose client asks for this path; if the path does not show it, in one that every
    SDK reads."""
    name = _door_of(path)
    return error_body(error, request_id) if name is None else load_door(name).render_error(error, request_id)


def path_of(resource: str, parameters: Mapping[str, str]) -> str:
    """The path, with the stage, that led to a resource with these parameters."""
    return f"/{STAGE}" + _PARAMETER.sub(lambda name: parameters.get(name[1], name[0]), resource)


def _door_of(path: str) -> str | None:
    """The name of the door whose client asks for a path. Names of models are ignored, since they may be any words; the
    method behind a model counts, as in Gemini's paths."""
    resource, _ = _resource(_plain(path).removeprefix(f"/{STAGE}"), served())
    own = any(path.endswith(f":{method}") for row in DOORS.values() for method in row.methods)
    return None if resource in _CATALOG and not own else door_of(path)


def _plain(path: str) -> str:
    """A path without the doubled slash or `/v1` of a base URL that ends in one."""
    parts = [part for part in path.split("/") if part]
    while parts[:2] == [STAGE, STAGE]:
        del parts[0]
    return "/" + "/".join(parts)


def _below_stage(path: str) -> str:
    """The path below the stage, "" for one that is not there. Locally the root serves Gemini's clients, whose base URL
    ends with the host."""
    if path.startswith(f"/{STAGE}/"):
        return path.removeprefix(f"/{STAGE}")
    return path if path.startswith(_OWN_VERSIONS) else ""


def _resource(path: str, table: Mapping[str, object]) -> tuple[str, tuple[tuple[str, str], ...]]:
    """The resource that API Gateway would choose for a path below the stage, and its parameters."""
    if path not in table:
        for resource in table:
            if found := _pattern(resource).fullmatch(path):
                return resource, tuple(found.groupdict().items())
    return path, ()


@cache
def _pattern(resource: str) -> re.Pattern[str]:
    """`{name}` stands for one segment of a path, `{name+}` for one or more: a model's name may have slashes."""
    return re.compile(_PARAMETER.sub(lambda it: f"(?P<{it[1]}>{'.+' if it[2] else '[^/]+'})", resource))
