"""Merges two schemas that both apply to one value, where one schema with the same meaning exists."""

from __future__ import annotations

from typing import Any

#: Keywords without an effect on what is accepted. Of two, the outer one is kept.
ANNOTATIONS = frozenset(
    ["$comment", "default", "deprecated", "description", "example", "examples", "readOnly", "title", "writeOnly"]
)

#: Keywords whose effect depends on the others of their group in the same schema.
_GROUPS = (
    frozenset({"items", "prefixItems", "additionalItems"}),
    frozenset({"contains", "minContains", "maxContains"}),
    frozenset({"if", "then", "else"}),
)

#: Keywords whose effect depends on all others in the same schema.
_OPEN = frozenset({"unevaluatedItems", "unevaluatedProperties"})

_OBJECT = ("properties", "patternProperties")


def merge(inner: dict[str, Any], outer: dict[str, Any]) -> dict[str, Any] | None:
    """The schema that accepts a value if both accept it; None if their keywords cannot be merged, or `inner` is a
    reference. Annotations of `outer` win."""
    if "$ref" in inner or not (_OPEN.isdisjoint(inner) and _OPEN.isdisjoint(outer)) or not _closed_alike(inner, outer):
        return None
    for group in _GROUPS:
        mine, yours = group & inner.keys(), group & outer.keys()
        if mine and yours and any(inner.get(keyword) != outer.get(keyword) for keyword in group):
            return None
    merged = dict(inner)
    for keyword, value in outer.items():
        if keyword not in inner or keyword in ANNOTATIONS or _same(inner[keyword], value):
            merged[keyword] = value
            continue
        both = _both(keyword, inner[keyword], value)
        if both is None:
            return None
        merged[keyword] = both
    return merged


def _closed_alike(inner: dict[str, Any], outer: dict[str, Any]) -> bool:
    """Whether `additionalProperties` of each still applies to the same properties once the other's are beside them."""
    for one, other in ((inner, outer), (outer, inner)):
        if one.get("additionalProperties", True) is not True and any(
            not other.get(keyword, {}).keys() <= one.get(keyword, {}).keys() for keyword in _OBJECT
        ):
            return False
    return True


def _both(keyword: str, inner: Any, outer: Any) -> Any:
    """The keyword's value that asks for what both ask for; None where one value cannot."""
    match keyword:
        case "required":
            return list(dict.fromkeys([*inner, *outer]))
        case "allOf":
            return [*inner, *outer]
        case "type":
            return _types(inner, outer)
        case "properties" | "patternProperties":
            return _properties(inner, outer)
    return None


def _types(inner: Any, outer: Any) -> Any:
    mine = [inner] if isinstance(inner, str) else inner
    yours = [outer] if isinstance(outer, str) else outer
    kept = [kind for kind in mine if kind in yours or (kind == "integer" and "number" in yours)]
    kept += [kind for kind in yours if kind == "integer" and kind not in kept and "number" in mine]
    return (kept[0] if len(kept) == 1 else kept) or None


def _properties(inner: dict[str, Any], outer: dict[str, Any]) -> dict[str, Any]:
    merged = dict(inner)
    for name, schema in outer.items():
        mine = inner.get(name, True)
        if mine is True or _same(mine, schema):
            merged[name] = schema
        elif isinstance(mine, dict) and isinstance(schema, dict) and "$ref" not in schema:
            both = merge(mine, schema)
            merged[name] = {"allOf": [mine, schema]} if both is None else both
        else:
            merged[name] = {"allOf": [mine, schema]}
    return merged


def _same(one: Any, other: Any) -> bool:
    """Whether two values are equal as JSON. Numbers are raw text here, so Python's `True == 1` does not matter."""
    return bool(one == other)
