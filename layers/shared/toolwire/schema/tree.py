"""A JSON Schema as a tree: the schemas in it, the targets of its references, and its numbers as they were written.

A property may have the name `pattern`, and an enum the value "const": the tables below say where a name is a keyword.
Numbers are kept as `msgspec.Raw`, so that `1.10` and numbers of 19 digits stay as they are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import unquote

import msgspec

#: A schema: an object or a boolean. A value of a keyword may be any JSON.
Schema = dict[str, Any] | bool

#: Keywords whose value is one schema. `items` may also be an array of them (before 2020-12).
ONE = frozenset(
    [
        "additionalItems",
        "additionalProperties",
        "contains",
        "contentSchema",
        "else",
        "if",
        "items",
        "not",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
    ]
)
#: Keywords whose value is an array of schemas.
MANY = frozenset({"allOf", "anyOf", "items", "oneOf", "prefixItems"})
#: Keywords whose value is an object with a schema under each name. A dependency may also be an array of names.
NAMED = frozenset({"$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"})

#: Those of `NAMED` whose schemas apply only where a reference leads to them.
DEFINITIONS = frozenset({"$defs", "definitions"})

#: Keywords that apply a schema to the same value, not to a part of it. References do, too.
IN_PLACE = frozenset(["allOf", "anyOf", "dependencies", "dependentSchemas", "else", "if", "not", "oneOf", "then"])

#: Keywords that refer to another schema. The last two depend on the validator's way to them; here they count as `$ref`.
REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")

_DRAFT = re.compile(r"https?://json-schema\.org/(?:draft-0([467])|draft/(2019-09|2020-12))/schema#?")


class Child(NamedTuple):
    """A schema directly below another: the value of `keyword`, or the value at `key` in it."""

    keyword: str
    key: str | int | None
    schema: Schema


def parse(raw: bytes) -> Any:
    """The document, its numbers as raw text. Raises ValueError, or RecursionError if it is nested too deeply."""
    return json.loads(raw, parse_int=_number, parse_float=_number)


def _number(text: str) -> msgspec.Raw:
    return msgspec.Raw(text.encode())


def draft_of(root: dict[str, Any]) -> int:
    """The schema's draft: 4, 6, 7, 2019 or 2020. A schema that names none, or an unknown one, is of 2020-12."""
    declared = root.get("$schema")
    found = _DRAFT.fullmatch(declared) if isinstance(declared, str) else None
    return int(found[1] or found[2][:4]) if found else 2020


def children(node: dict[str, Any]) -> Iterator[Child]:
    """The schemas directly below this one, in order."""
    for keyword, value in node.items():
        if isinstance(value, dict):
            if keyword in NAMED:
                for name, child in value.items():
                    if isinstance(child, dict | bool):
                        yield Child(keyword, name, child)
            elif keyword in ONE:
                yield Child(keyword, None, value)
        elif isinstance(value, list):
            if keyword in MANY:
                for number, child in enumerate(value):
                    if isinstance(child, dict | bool):
                        yield Child(keyword, number, child)
        elif isinstance(value, bool) and keyword in ONE:
            yield Child(keyword, None, value)


def walk(root: Schema) -> Iterator[dict[str, Any]]:
    """Every schema object in the tree, definitions included, without recursion."""
    stack = [root]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            yield node
            stack += [child.schema for child in children(node)]


def placed(root: Schema) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every schema object in the tree with its JSON pointer."""
    stack: list[tuple[str, Schema]] = [("", root)]
    while stack:
        pointer, node = stack.pop()
        if isinstance(node, dict):
            yield pointer, node
            for keyword, key, schema in children(node):
                stack.append((f"{pointer}/{keyword}" + ("" if key is None else f"/{escaped(key)}"), schema))


def locate(root: dict[str, Any], wanted: Schema) -> str:
    """The JSON pointer of a schema object in the tree; "" for the root, and for an object that is not in it."""
    return next((pointer for pointer, node in placed(root) if node is wanted), "")


def escaped(step: str | int) -> str:
    """A name or a number as one step of a JSON pointer."""
    return str(step).replace("~", "~0").replace("/", "~1")


class References:
    """The targets of the local references of one document."""

    def __init__(self, root: dict[str, Any]) -> None:
        self._root = root
        identity = root.get("$id", root.get("id"))
        self._base = identity.partition("#")[0] if isinstance(identity, str) else ""
        self._anchors: dict[str, dict[str, Any]] | None = None

    def target(self, reference: object) -> Schema | None:
        """The schema that a reference points to; None for a reference out of the document, or without a target."""
        if not isinstance(reference, str):
            return None
        base, mark, fragment = reference.partition("#")
        if (not mark and not base) or (base and base != self._base):
            return None
        if not fragment:
            return self._root
        fragment = unquote(fragment)
        if not fragment.startswith("/"):
            return self._anchor(fragment)
        node: Any = self._root
        for step in fragment[1:].split("/"):
            step = step.replace("~1", "/").replace("~0", "~")
            if isinstance(node, dict) and step in node:
                node = node[step]
            elif isinstance(node, list) and step.isdecimal() and len(step) < 9 and int(step) < len(node):
                node = node[int(step)]
            else:
                return None
        return node if isinstance(node, dict | bool) else None

    def _anchor(self, name: str) -> dict[str, Any] | None:
        if self._anchors is None:
            self._anchors = {}
            for node in walk(self._root):
                for keyword in ("$anchor", "$dynamicAnchor", "$id", "id"):  # the last two: before 2019-09, "#name"
                    value = node.get(keyword)
                    if isinstance(value, str):
                        self._anchors.setdefault(value.removeprefix("#"), node)
        return self._anchors.get(name)
