"""Reduces a schema to the keywords that every host takes: one type for each value, properties and which of them are
required, items, enums of texts and numbers, alternatives (`anyOf`) that each have a type, and references.

Hosts that build a grammar of a schema (llama.cpp, Ollama, xgrammar), or have a form of their own (Moonshot's, Google's
behind other APIs), refuse a request with any other keyword in one of its tools, and every agent has such a tool.
Keywords that are left out are put into the description, where the model reads them. The result accepts all that the
schema accepts, and more. A value without a type gets the type that its keywords are about.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Raw, json

from toolwire.schema.flatten import flattened
from toolwire.schema.merge import ANNOTATIONS, merge
from toolwire.schema.tree import DEFINITIONS, References, Schema, escaped

#: Every type; an integer is a number.
_ALL = ("string", "number", "boolean", "object", "array", "null")

#: Keywords without an effect on values of other types than theirs, by type.
_ABOUT: dict[str, tuple[str, ...]] = {
    "object": (
        "additionalProperties", "dependencies", "dependentRequired", "dependentSchemas", "maxProperties",
        "minProperties", "patternProperties", "properties", "propertyNames", "required", "unevaluatedProperties",
    ),
    "array": (
        "contains", "items", "maxContains", "maxItems", "minContains", "minItems", "prefixItems", "unevaluatedItems",
        "uniqueItems",
    ),
    "string": ("contentEncoding", "contentMediaType", "format", "maxLength", "minLength", "pattern"),
    "number": ("exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum", "multipleOf"),
}  # fmt: skip

#: Those of them that some hosts read. They are kept with `keeps_bounds`.
_BOUNDS = frozenset({*_ABOUT["string"], *_ABOUT["number"], "maxItems", "minItems", "uniqueItems"})

#: Keywords that restrict values of every type.
_OTHERS = ("allOf", "anyOf", "else", "enum", "if", "not", "oneOf", "then")

#: Keywords that restrict nothing and are put into the description all the same.
_NOTES = ("default", "examples")

#: Keywords that describe a value for the reader.
_NAMES = ("title", "description")

#: The most characters of what is told, and the most alternatives: Moonshot's.
_TOLD, _MOST = 500, 10

_WHOLE = re.compile(rb"-?[0-9]+")


def essential(root: dict[str, Any], *, keeps_bounds: bool) -> tuple[dict[str, Any], list[str]]:
    """The schema, and the JSON pointers of the restrictions that were left out. `root`: a schema of objects without
    combinations at its root, from `Converter` with `plain`. `keeps_bounds`: whether bounds, patterns and formats
    stay."""
    reducer = _Reducer(root, keeps_bounds=keeps_bounds)
    named = {
        name: reducer.node(schema, f"/{word}/{escaped(name)}")
        for word in DEFINITIONS & root.keys()
        for name, schema in root[word].items()
    }
    schema = reducer.node({word: value for word, value in root.items() if word not in DEFINITIONS}, "")
    return schema | ({"$defs": named} if named else {}), reducer.cuts


class _Reducer:
    """Reduces one document, without changing it."""

    def __init__(self, root: dict[str, Any], *, keeps_bounds: bool) -> None:
        self._references, self._keeps_bounds = References(root), keeps_bounds
        self.cuts: list[str] = []

    def node(self, schema: Schema, at: str) -> dict[str, Any]:
        """Reduces the schema at this JSON pointer."""
        if isinstance(schema, bool):
            self.cuts += [] if schema else [at]
            return {"type": list(_ALL)}
        if "$ref" in schema:
            return {"$ref": schema["$ref"], **_named(schema)}
        node = _in_one_word(schema)
        told: dict[str, Any] = {}
        if "anyOf" in node and not node.keys().isdisjoint(("properties", "required")):
            self._flatten(node, told, at)
        branches = node.pop("anyOf", None)
        kinds = _kinds(node)
        if branches is None and len(kinds) > 1 and _says_more(node):
            branches = [_of_kind(node, kind) for kind in kinds]
            node = {word: value for word, value in node.items() if word in ANNOTATIONS or word in _OTHERS}
            node.pop("enum", None)
        if branches is not None:
            return self._alternatives(node, branches, told, at)
        if len(kinds) == 1:
            return self._of_one_kind(node, kinds[0], told, at)
        return self._described({"type": list(kinds)}, node, told, (), at)

    def _flatten(self, node: dict[str, Any], told: dict[str, Any], at: str) -> None:
        """Moves the properties of an object's alternatives into the object, in place."""
        told |= flattened(node, {"anyOf"}, self._references).told or {}
        self.cuts.append(f"{at}/anyOf")

    def _alternatives(
        self, node: dict[str, Any], branches: list[Schema], told: dict[str, Any], at: str
    ) -> dict[str, Any]:
        """Reduces alternatives, each joined with the keywords beside them."""
        beside = {word: value for word, value in node.items() if word not in ANNOTATIONS and word not in _OTHERS}
        found: dict[bytes, dict[str, Any]] = {}
        for number, branch in enumerate(branches):
            if branch is False or (isinstance(branch, dict) and branch.get("not") == {}):
                continue  # it accepts nothing
            both = merge(branch, beside) if isinstance(branch, dict) else beside
            if both is None:
                told |= {word: value for word, value in beside.items() if word != "type"}
            inner = self.node(branch if both is None else both, f"{at}/anyOf/{number}")
            for each in inner["anyOf"] if inner.keys() == {"anyOf"} else [inner]:
                found.setdefault(json.encode(each), each)
        some = _joined(list(found.values()))
        kept: dict[str, Any] = {"anyOf": some} if some else {"type": list(_ALL)}
        self.cuts += [f"{at}/{word}" for word in beside if word in told]
        return self._described(some[0] if len(some) == 1 else kept, node, told, tuple(beside), at)

    def _of_one_kind(self, node: dict[str, Any], kind: str, told: dict[str, Any], at: str) -> dict[str, Any]:
        new: dict[str, Any] = {"type": kind}
        read = ["enum"]
        if "enum" in node:
            values = [value for value in node["enum"] if _is(value, kind)]
            if values and kind in ("string", "number", "integer"):
                new["enum"] = values
            elif kind != "null" and not (kind == "boolean" and len(values) == 2):
                told["enum"] = values
                self.cuts.append(f"{at}/enum")
        if kind == "object":
            read += self._object(node, new, at)
        if kind == "array":
            read += self._array(node, new, at)
        bounds = _BOUNDS.intersection(_ABOUT.get("number" if kind == "integer" else kind, ()))
        if self._keeps_bounds:
            new |= {word: node[word] for word in node if word in bounds}
            read += bounds
        if kind in ("integer", "number"):  # a name of a machine's type
            read.append("format")
        if "default" in node and _is(node["default"], kind) and kind not in ("object", "array"):
            new["default"] = node["default"]
            read.append("default")
        return self._described(new, node, told, read, at)

    def _object(self, node: dict[str, Any], new: dict[str, Any], at: str) -> list[str]:
        """Adds an object's keywords to `new`. Returns the keywords that `new` now has."""
        properties = node.get("properties", {})
        inner = {name: self.node(value, f"{at}/properties/{escaped(name)}") for name, value in properties.items()}
        required = node.get("required", [])
        inner |= {name: {"type": list(_ALL)} for name in required if name not in inner}
        new["properties"] = inner
        if required:
            new["required"] = required
        others = node.get("additionalProperties", True)
        if others is False and not node.get("patternProperties"):
            new["additionalProperties"] = False
        elif isinstance(others, dict) and others and not node.get("patternProperties"):
            new["additionalProperties"] = self.node(others, f"{at}/additionalProperties")
        return ["properties", "required", "additionalProperties"]

    def _array(self, node: dict[str, Any], new: dict[str, Any], at: str) -> list[str]:
        """Adds an array's keywords to `new`; the entries of a closed tuple become alternatives. Returns the keywords
        that `new` now has."""
        entries, others = node.get("prefixItems"), node.get("items", True)
        if not entries:
            if isinstance(others, dict) and others:
                new["items"] = self.node(others, f"{at}/items")
            return ["items"]
        if others in (False, {"not": {}}) or node.get("maxItems") == Raw(b"%d" % len(entries)):
            new["items"] = self.node({"anyOf": entries}, f"{at}/prefixItems")
        return []

    def _described(
        self, new: dict[str, Any], node: dict[str, Any], told: dict[str, Any], read: Iterable[str], at: str
    ) -> dict[str, Any]:
        """Adds titles and descriptions to the new schema, and puts the schema's other keywords into its description.
        `read`: the keywords that the new schema has already."""
        for word in (*_OTHERS, *(word for words in _ABOUT.values() for word in words)):
            if word in node and word not in read:
                told[word] = node[word]
                self.cuts.append(f"{at}/{word}")
        told |= {word: node[word] for word in _NOTES if node.get(word) is not None and word not in read}
        named = _named(new) | _named(node)
        if told:
            said = json.encode(told).decode("utf-8", "replace")
            if len(said) <= _TOLD:
                named["description"] = f"{named['description']}\n\n{said}" if named.get("description") else said
        return new | named


def _named(node: dict[str, Any]) -> dict[str, Any]:
    return {word: node[word] for word in _NAMES if isinstance(node.get(word), str)}


def _in_one_word(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema with an `enum` for a `const`, and `anyOf` for a `oneOf`, since no host enforces that exactly one
    alternative matches."""
    node = dict(schema)
    if "const" in node:
        value = node.pop("const")
        node.setdefault("enum", [value])
    if "oneOf" in node and "anyOf" not in node:
        node["anyOf"] = node.pop("oneOf")
    return node


def _kinds(node: dict[str, Any]) -> tuple[str, ...]:
    """The types of the values that are accepted."""
    given = node.get("type")
    if given is None:
        found = {_kind(value) for value in node["enum"]} if "enum" in node else set(_meant(node))
        given = [kind for kind in ("integer", *_ALL) if kind in found] or list(_ALL)
    kinds = [given] if isinstance(given, str) else list(given)
    if node.get("nullable") is True and "null" not in kinds:  # OpenAPI's
        kinds.append("null")
    return tuple(kind for kind in kinds if kind != "integer" or "number" not in kinds)


def _meant(node: dict[str, Any]) -> Iterator[str]:
    return (kind for kind, words in _ABOUT.items() if not node.keys().isdisjoint(words))


def _kind(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case str():
            return "string"
        case list():
            return "array"
        case dict():
            return "object"
    return "integer" if _WHOLE.fullmatch(bytes(value)) else "number"


def _is(value: Any, kind: str) -> bool:
    found = _kind(value)
    return found == kind or {found, kind} == {"integer", "number"}


def _says_more(node: dict[str, Any]) -> bool:
    """Whether the schema restricts more than the type."""
    return "enum" in node or any(True for _ in _meant(node))


def _of_kind(node: dict[str, Any], kind: str) -> dict[str, Any]:
    """The schema's keywords for values of one of its types."""
    about = _ABOUT.get("number" if kind == "integer" else kind, ())
    found: dict[str, Any] = {"type": kind} | {word: node[word] for word in node if word in about}
    if "enum" not in node:
        return found
    values = [value for value in node["enum"] if _is(value, kind)]
    return found | {"enum": values} if values else {"not": {}}


def _joined(branches: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The alternatives. If there are more than a host takes, those of one type with an enum are joined, with their
    descriptions."""
    if len(branches) <= _MOST:
        return branches
    others, enums = [], dict[str, dict[str, Any]]()
    for branch in branches:
        if "enum" not in branch or not isinstance(branch.get("type"), str):
            others.append(branch)
            continue
        one = enums.setdefault(branch["type"], {"type": branch["type"], "enum": []})
        one["enum"] = [*one["enum"], *(value for value in branch["enum"] if value not in one["enum"])]
        if said := branch.get("description"):
            text = f"{', '.join(map(_text, branch['enum']))}: {said}"
            one["description"] = f"{one['description']}\n{text}" if "description" in one else text
    return [*enums.values(), *others]


def _text(value: Any) -> str:
    return json.encode(value).decode("utf-8", "replace")
