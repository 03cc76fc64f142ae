"""Flattens a schema whose root is a combination (`anyOf`, `oneOf`, `allOf`, ...), for providers that refuse that.

The parameters of every alternative become properties of the root, and a text tells the model which of them go together.
So a call has the same arguments as before, and they need no change on their way back.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

from msgspec import json

from toolwire.schema.tree import References, Schema

#: Keywords whose schemas apply to the same value, and may name properties of it.
_LISTS, _NAMED, _SINGLE = ("allOf", "anyOf", "oneOf"), ("dependentSchemas",), ("then", "else")

#: Keywords that distinguish alternatives.
_TELLING = ("const", "enum", "required", "dependentRequired")

#: The most characters of the text for the model, and the most schemas that are read for it.
_CHARACTERS = 2_000

_SOME = "Only some combinations of these parameters are allowed."


class Flattened(NamedTuple):
    """The JSON pointers of the keywords that were removed, the text for the model, and what it tells as a schema."""

    cuts: list[str]
    note: str | None = None
    told: dict[str, Any] | None = None


def flattened(schema: dict[str, Any], refused: Collection[str], references: References | None = None) -> Flattened:
    """Removes the refused keywords from the root, in place, and adds the properties that they name to it. `references`:
    those of the document, where the schema is only a part of it."""
    references = references or References(schema)
    dropped = {word: schema[word] for word in sorted(refused) if word in schema}
    if not dropped:
        return Flattened([])
    own: dict[str, Any] = schema.get("properties", {})
    properties = dict(own)
    for name, schemas in offered(dropped, references).items():
        if name not in own:
            properties[name] = schemas[0] if len(schemas) == 1 else {"anyOf": schemas}
    required = list(dict.fromkeys([*schema.get("required", ()), *_required(dropped, references, {})]))
    told = _told(dropped, references)
    for word in dropped:
        del schema[word]
    schema.pop("unevaluatedProperties", None)  # it depended on the removed keywords
    schema |= {"properties": properties} if properties else {}
    schema |= {"required": required} if required else {}
    return Flattened([f"/{word}" for word in dropped], _note(told), told)


def offered(root: Schema, references: References) -> dict[str, list[Schema]]:
    """Each property that any schema for the root's own value names -> its schemas, each once."""
    found: dict[str, dict[bytes, Schema]] = {}
    seen: set[int] = set()
    waiting: deque[Schema] = deque([root])
    while waiting:
        node = waiting.popleft()
        if not isinstance(node, dict) or id(node) in seen:
            continue
        seen.add(id(node))
        for name, schema in _dict(node.get("properties")).items():
            found.setdefault(name, {}).setdefault(json.encode(schema), schema)
        waiting += _beside(node, references)
    return {name: list(schemas.values()) for name, schemas in found.items()}


def _beside(node: dict[str, Any], references: References) -> Iterator[Schema]:
    """The schemas in this node that apply to the same value."""
    for word in _LISTS:
        yield from node.get(word, ()) if isinstance(node.get(word), list) else ()
    for word in _NAMED:
        yield from node.get(word, {}).values() if isinstance(node.get(word), dict) else ()
    for word in _SINGLE:
        yield node.get(word, True)
    if "$ref" in node:
        yield references.target(node["$ref"]) or True


def _required(node: Schema, references: References, known: dict[int, dict[str, None]]) -> dict[str, None]:
    """The names of the properties that every accepted value has, in order: those that the schema, all of `allOf`, or
    every alternative requires. `known` caches the names by schema."""
    if not isinstance(node, dict):
        return {}
    if id(node) not in known:
        known[id(node)] = {}  # until it is read: a schema may contain itself
        found = dict.fromkeys(node.get("required", ()))
        if "$ref" in node:
            found |= _required(references.target(node["$ref"]) or True, references, known)
        for member in node.get("allOf", ()):
            found |= _required(member, references, known)
        for word in ("anyOf", "oneOf"):
            first, *others = [_required(branch, references, known) for branch in node.get(word, ())] or [{}]
            found |= {name: None for name in first if all(name in other for other in others)}
        known[id(node)] = found
    return known[id(node)]


def _told(dropped: dict[str, Any], references: References) -> dict[str, Any] | None:
    """What of the keywords tells alternatives from each other; None if it is too much."""
    try:
        return _Told(references).of(dropped)
    except (OverflowError, RecursionError):
        return None


def _note(told: dict[str, Any] | None) -> str | None:
    if not told:
        return _SOME if told is None else None
    text = json.encode(told).decode("utf-8", "replace")
    return f"The arguments must also match this JSON Schema: {text}" if len(text) <= _CHARACTERS else _SOME


class _Told:
    """Reduces schemas to the keywords that distinguish their alternatives. The root has the properties' own schemas."""

    def __init__(self, references: References) -> None:
        self._references, self._left = references, _CHARACTERS

    def of(self, node: Schema) -> dict[str, Any]:
        """The reduced schema. Raises OverflowError for one that is too large."""
        self._left -= 1
        if self._left < 0:
            raise OverflowError
        if not isinstance(node, dict):
            return {}
        if "$ref" in node:
            node = {**_dict(self._references.target(node["$ref"])), **{w: v for w, v in node.items() if w != "$ref"}}
        told = {word: node[word] for word in _TELLING if word in node}
        if properties := {name: inner for name, it in _dict(node.get("properties")).items() if (inner := _values(it))}:
            told["properties"] = properties
        for word in _LISTS:
            branches = [self.of(branch) for branch in node.get(word, ())]
            told |= {word: branches} if any(branches) else {}
        for word in ("not", "if", "then", "else"):
            if inner := self.of(node.get(word, True)):
                told[word] = inner
        return told


def _values(schema: Schema) -> dict[str, Any]:
    return {word: schema[word] for word in ("const", "enum") if word in schema} if isinstance(schema, dict) else {}


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
