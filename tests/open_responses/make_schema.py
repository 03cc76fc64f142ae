"""Makes `standard.json`: what Open Responses requires of answers and requests, as one compact JSON schema.

    python -m tests.open_responses.make_schema openapi.json

`openapi.json` is the OpenAPI document of a release of the standard (https://www.openresponses.org). The document itself
is not kept here: what is taken of it are names of members, their types and which of them are required, no prose.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SCHEMA = Path(__file__).with_name("standard.json")

#: What says whether a value is valid.
_KEYWORDS = frozenset({
    "$ref", "additionalProperties", "allOf", "anyOf", "enum", "items", "maxItems", "maxLength", "maxProperties",
    "maximum", "minItems", "minLength", "minimum", "oneOf", "pattern", "properties", "required", "type",
})  # fmt: skip
_ROOTS = ("CreateResponseBody", "CompactResponseMethodPublicBody", "CompactResource", "ResponseResource")
_REF = "#/components/schemas/"


def compact(node: Any, *, names: bool = False) -> Any:
    """The schema without prose. `names`: the node's members are names of properties, not keywords."""
    if isinstance(node, list):
        return [compact(one) for one in node]
    if not isinstance(node, dict):
        return node
    return {
        name: compact(value, names=name == "properties" and not names)
        for name, value in node.items()
        if names or name in _KEYWORDS
    }


def referenced(node: Any) -> Iterator[str]:
    """The names of the schemas that a schema refers to."""
    if isinstance(node, dict):
        if isinstance(ref := node.get("$ref"), str):
            yield ref.removeprefix(_REF)
        for value in node.values():
            yield from referenced(value)
    elif isinstance(node, list):
        for value in node:
            yield from referenced(value)


def made(document: dict[str, Any]) -> dict[str, Any]:
    """The compact schema of an OpenAPI document."""
    given = document["components"]["schemas"]
    left = [name for name in given if name in _ROOTS or name.endswith("StreamingEvent")]
    schemas: dict[str, Any] = {}
    while left:
        name = left.pop()
        if name not in schemas:
            schemas[name] = compact(given[name])
            left += referenced(schemas[name])
    return {"release": document["info"]["version"], "components": {"schemas": dict(sorted(schemas.items()))}}


if __name__ == "__main__":
    schema = made(json.loads(Path(sys.argv[1]).read_text("utf-8")))
    lines = (f"{json.dumps(name)}: {json.dumps(value)}" for name, value in schema["components"]["schemas"].items())
    SCHEMA.write_text(
        f'{{"release": "{schema["release"]}", "components": {{"schemas": {{\n' + ",\n".join(lines) + "\n}}}\n", "utf-8"
    )
