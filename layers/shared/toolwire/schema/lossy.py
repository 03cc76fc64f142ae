"""Steps that remove what a provider cannot take from a schema, unless `schema_mode` is `reject`.

Each removes a restriction, never a parameter: the result accepts all that the schema accepts, and more. Each returns
the JSON pointers of what it removed.
"""

from __future__ import annotations

from typing import Any

from toolwire.schema.flatten import offered
from toolwire.schema.survey import Survey
from toolwire.schema.tree import DEFINITIONS, References, escaped, placed, walk


def names_alone(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema reduced to an object with the parameters' names, titles and descriptions."""
    properties = {
        name: {word: text for word, text in ((word, one.get(word)) for word in _WORDS) if isinstance(text, str)}
        for name, found in offered(schema, References(schema)).items()
        for one in [next((entry for entry in found if isinstance(entry, dict)), {})]
    }
    return {"type": "object", "properties": properties} if properties else {"type": "object"}


_WORDS = ("title", "description")


def without_dynamic_references(schema: dict[str, Any]) -> list[str]:
    """Removes `$dynamicRef` and `$recursiveRef`, in place: their target depends on the validator's way to them. Returns
    their JSON pointers."""
    cuts = []
    for pointer, node in list(placed(schema)):
        for keyword in ("$dynamicRef", "$recursiveRef"):
            if keyword in node:
                cuts.append(f"{pointer}/{keyword}")
                del node[keyword]
    return cuts


def with_optional_cycles(schema: dict[str, Any]) -> list[str]:
    """Makes each property optional, in place, through which the schema contains itself. Returns the JSON pointers of
    the names that were removed from `required`."""
    survey = Survey(schema)
    recursive = _recursive(survey)
    cuts = []
    for pointer, node in list(placed(schema)):
        required, properties = node.get("required"), node.get("properties")
        if not isinstance(required, list) or not isinstance(properties, dict):
            continue
        free = dict.fromkeys(name for name in required if _leads_to(properties.get(name), survey.references, recursive))
        if free:
            cuts += [f"{pointer}/required/{escaped(name)}" for name in free]
            node["required"] = [name for name in required if name not in free]
    return cuts


def _recursive(survey: Survey) -> set[int]:
    """The ids of the units that contain themselves, or refer to one that does. A unit without references is removed,
    with the references to it, until there is none: in linear time, the rest remains."""
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
    """Removes definitions without a reference to them, in place."""
    used = Survey(schema).units
    for keyword in DEFINITIONS & schema.keys():
        named = schema[keyword]
        kept = {name: value for name, value in named.items() if id(value) in used}
        schema[keyword] = kept
        if not kept:
            del schema[keyword]
