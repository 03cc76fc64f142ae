"""A schema made to fit by leaving out what a provider cannot be told: only for requests that ask for it
(`schema_mode: lossy`).

What is lost is always a restriction, never a parameter that the model could have filled in: what is left accepts
whatever the schema did, and more. Each step notes where it cut, as a JSON pointer into the schema.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any

from toolwire.schema.survey import Survey
from toolwire.schema.tree import DEFINITIONS, References, children, escaped, walk

#: What is left of a schema of which nothing can be said: an object.
ANYTHING: dict[str, Any] = {"type": "object"}


def without_dynamic_references(schema: dict[str, Any]) -> list[str]:
    """Drops references that depend on how a validator came by, in place. Returns where they stood."""
    cuts = []
    for pointer, node in list(_placed(schema)):
        for keyword in ("$dynamicRef", "$recursiveRef"):
            if keyword in node:
                cuts.append(f"{pointer}/{keyword}")
                del node[keyword]
    return cuts


def _placed(root: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every schema object in the tree with its JSON pointer."""
    stack: list[tuple[str, Any]] = [("", root)]
    while stack:
        pointer, node = stack.pop()
        if isinstance(node, dict):
            yield pointer, node
            for keyword, key, schema in children(node):
                stack.append((f"{pointer}/{keyword}" + ("" if key is None else f"/{escaped(key)}"), schema))


def without_root_keywords(schema: dict[str, Any], refused: Collection[str]) -> list[str]:
    """Drops combinations at the root, in place, and gives the root the properties that stood in them, so that the model
    still hears of each. Returns what was dropped."""
    dropped = [keyword for keyword in sorted(refused) if keyword in schema]
    references = References(schema)
    properties: dict[str, Any] = dict(schema.get("properties", {}))
    required = list(schema.get("required", ()))
    for keyword in dropped:
        for branch in schema[keyword]:
            target = references.target(branch["$ref"]) if isinstance(branch, dict) and "$ref" in branch else branch
            if not isinstance(target, dict):
                continue
            for name, child in target.get("properties", {}).items():
                properties[name] = _either(properties[name], child) if name in properties else child
            if keyword == "allOf":
                required += target.get("required", ())
    for keyword in dropped:
        del schema[keyword]
    if dropped:
        # Closed, the root would now refuse what only a dropped branch allowed.
        schema.pop("additionalProperties", None)
        schema.pop("unevaluatedProperties", None)
        schema |= {"properties": properties} if properties else {}
        schema |= {"required": list(dict.fromkeys(required))} if required else {}
    return [f"/{keyword}" for keyword in dropped]


def _either(first: Any, second: Any) -> Any:
    return first if first == second else {"anyOf": [first, second]}


def without_odd_names(schema: dict[str, Any], name_rule: re.Pattern[str]) -> list[str]:
    """Drops the root's properties whose names the provider refuses, in place. Returns where they stood."""
    properties = schema.get("properties", {})
    odd = dict.fromkeys(name for name in properties if not name_rule.fullmatch(name))
    if odd:
        schema["properties"] = {name: value for name, value in properties.items() if name not in odd}
        schema["required"] = [name for name in schema.get("required", ()) if name not in odd]
        schema.pop("additionalProperties", None)
    return [f"/properties/{escaped(name)}" for name in odd]


def with_optional_cycles(schema: dict[str, Any]) -> list[str]:
    """Lets be absent, in place, each property through which the schema contains itself. Returns what was `required`."""
    survey = Survey(schema)
    recursive = _recursive(survey)
    cuts = []
    for pointer, node in list(_placed(schema)):
        required, properties = node.get("required"), node.get("properties")
        if not isinstance(required, list) or not isinstance(properties, dict):
            continue
        free = dict.fromkeys(name for name in required if _leads_to(properties.get(name), survey.references, recursive))
        if free:
            cuts += [f"{pointer}/required/{escaped(name)}" for name in free]
            node["required"] = [name for name in required if name not in free]
    return cuts


def _recursive(survey: Survey) -> set[int]:
    """The units (by id) from which references go on for ever: those that contain themselves, and those on the way
    there. Linear in their number: what leads nowhere is taken away until nothing does."""
    left = {key: len(unit.edges) for key, unit in survey.units.items()}
    sources: dict[int, list[int]] = {}
    for key, unit in survey.units.items():
        for edge in unit.edges:
            sources.setdefault(edge.target, []).append(key)
    waiting = [key for key, count in left.items() if count == 0]
    while waiting:
        key = waiting.pop()
        del left[key]
        for source in sources.get(key, ()):
            left[source] -= 1
            if left[source] == 0:
                waiting.append(source)
    return set(left)


def _leads_to(schema: Any, references: References, recursive: set[int]) -> bool:
    """Whether a property's schema refers to one that contains itself."""
    nodes = (node for node in walk(schema) if "$ref" in node) if isinstance(schema, dict) else ()
    return any(id(references.target(node["$ref"])) in recursive for node in nodes)


def unused_definitions_dropped(schema: dict[str, Any]) -> None:
    """Drops definitions that nothing refers to any more, in place."""
    used = Survey(schema).units
    for keyword in DEFINITIONS & schema.keys():
        named = schema[keyword]
        kept = {name: value for name, value in named.items() if id(value) in used}
        schema[keyword] = kept
        if not kept:
            del schema[keyword]
