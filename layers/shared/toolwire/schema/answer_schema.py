"""Rewrites the schema of an answer to what providers take: OpenAI wants an object at its root; Anthropic and Bedrock
take only the part of JSON Schema that they enforce.

A provider of the second kind refuses a schema with other keywords. Keywords that it does not enforce move into the
description, where the model reads them, as in Anthropic's own SDKs. Objects are closed, so that each possible answer is
valid for the client's schema too. Some schemas cannot be rewritten so: a map, a schema that contains itself, a
condition.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from msgspec import json

from toolwire.schema.convert import Converter
from toolwire.schema.strict import is_enforced, is_object, strict_cost
from toolwire.schema.survey import Survey, SurveyError
from toolwire.schema.tree import parse, walk

#: Keywords that no description can replace.
_NO_WORDS = frozenset(
    {
        "additionalItems", "allOf", "contains", "dependencies", "dependentRequired", "dependentSchemas", "else", "if",
        "not", "patternProperties", "prefixItems", "propertyNames", "then", "unevaluatedItems",
        "unevaluatedProperties",
    }
)  # fmt: skip

#: Keywords of a root that do not say whether its values are objects.
_COMBINED = frozenset({"allOf", "anyOf", "enum", "not", "oneOf"})

#: Keywords that say nothing about the value.
_NOTES = frozenset({"$comment", "$id", "$schema", "deprecated", "examples", "readOnly", "writeOnly"})

#: The most optional properties, and the most properties with a union type, of one request.
_OPTIONAL, _UNIONS = 24, 16


class Enforced(NamedTuple):
    """A schema that the provider takes, as JSON, and whether some of it is now only in its descriptions."""

    raw: bytes
    is_reduced: bool


def of_object(raw: bytes) -> bytes | None:
    """The schema with `type: object` at its root; its own bytes if it has that. None for a schema of other values, or
    of several types. A reference at the root, as in recursive models, is replaced by its target."""
    try:
        root = parse(raw)
        if not isinstance(root, dict) or not _COMBINED.isdisjoint(root):
            return None
        if root.get("type") == "object" and "$ref" not in root:
            return raw
        if "$ref" not in root:
            return json.encode({"type": "object", **root}) if "type" not in root and "properties" in root else None
        target = Converter(root, Survey(root).references, plain=False).document()
    except (ValueError, RecursionError, SurveyError):  # CannotConvertError is a ValueError
        return None
    return json.encode(target) if "properties" in target and _COMBINED.isdisjoint(target) else None


def enforced(raw: bytes) -> Enforced | None:
    """The schema as the provider takes it; its own bytes if nothing had to change. None if it cannot be rewritten."""
    try:
        root = parse(raw)
        if not isinstance(root, dict) or Survey(root).has_cycle():
            return None
        changes = [_change(node) for node in list(walk(root))]
        if None in changes:
            return None
        cost = strict_cost(root, Survey(root))
    except (ValueError, RecursionError, SurveyError):
        return None
    if cost is None or cost.optional > _OPTIONAL or cost.unions > _UNIONS:
        return None
    return Enforced(json.encode(root) if any(changes) else raw, "reduced" in changes)


def _change(node: dict[str, Any]) -> str | None:
    """Changes one schema in place. Returns how: "" for not at all; None if there is no way."""
    if not _NO_WORDS.isdisjoint(node) or isinstance(node.get("items"), list):
        return None
    notes = [node.pop(name) for name in _NOTES & node.keys()]
    change = "closed" if notes else ""
    if "oneOf" in node:
        if "anyOf" in node:
            return None
        node["anyOf"] = node.pop("oneOf")
        change = "closed"
    if is_object(node) and node.get("additionalProperties") is not False:
        if node.get("additionalProperties") not in (None, True, {}) or not node.get("properties"):
            return None  # a map, or an object of any members, of which nothing would be left
        node["additionalProperties"] = False
        change = "closed"
    told = {name: node.pop(name) for name in list(node) if not is_enforced(name, node[name])}
    if told:
        said = json.encode(told).decode()
        node["description"] = f"{node['description']}\n\n{said}" if node.get("description") else said
        change = "reduced"
    return change
