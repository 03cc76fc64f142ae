"""Converts a schema to draft 2020-12 and the keywords of one provider. Both accept the same values.

Why each step keeps the meaning:
- A reference stays a reference, into `$defs`. If it has other keywords beside it, it becomes a reference to its target
  merged with them, where `merge` can do so; a merged target that is used once replaces its reference. References are
  never expanded, so a recursive schema ends.
- Keywords of old drafts get their name in 2020-12: `items` with an array is `prefixItems`.
- `const` is an `enum` of one value. An exclusive bound of an integer is the next inclusive one. `allOf` of schemas that
  merge is the merged schema. `true` is `{}`, and `false` is `{"not":{}}`.
Values (enum, const, default, examples) and unknown keywords stay as they are.

A schema that names an old draft and uses newer keywords keeps them, since its author meant them. Before draft 7,
conditions (`if`) have no effect, and are removed: in 2020-12 they would have one.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from msgspec import Raw, json

from toolwire.schema.merge import ANNOTATIONS, merge
from toolwire.schema.survey import EXPANDED_NODES
from toolwire.schema.tree import DEFINITIONS, References, Schema, children, draft_of

#: Keywords that name the document and its parts. All references are written anew, so nothing needs them.
_NAMES = frozenset({"$schema", "$id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$vocabulary"})

#: Keywords that have no effect before draft 7.
CONDITIONS, CONDITIONS_SINCE = frozenset({"if", "then", "else"}), 7

_INTEGER = re.compile(rb"-?[0-9]{1,18}")
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_PREFIX = "#/$defs/"

#: Exclusive bounds: keyword, its inclusive form, the step from one to the other, and which of two inclusive bounds
#: counts.
_BOUNDS = (("exclusiveMinimum", "minimum", 1, max), ("exclusiveMaximum", "maximum", -1, min))


class CannotConvertError(ValueError):
    """The schema has a feature, the argument, that cannot be converted with the same meaning."""


class Converter:
    """Converts one document, once. `plain`: whether to replace keywords of 2020-12 that Gemini does not document as
    well: `const`, boolean schemas, exclusive bounds of integers, `allOf`, and keywords beside a `$ref`."""

    def __init__(self, root: dict[str, Any], references: References, *, plain: bool) -> None:
        self._root, self._references, self._plain = root, references, plain
        self._draft = draft_of(root)
        self._nodes = 0
        self._definitions: dict[str, dict[str, Any]] = {}
        self._names: dict[object, str] = {}  # source, and what it is merged with -> the definition's name
        #: Definitions to be written: the name, the source, and what it is merged with.
        self._waiting: list[tuple[str, dict[str, Any], dict[str, Any]]] = []
        self._uses: Counter[str] = Counter()
        self._sites: dict[str, dict[str, Any]] = {}  # a merged definition's name -> the last reference to it
        self._given = {
            id(schema): name
            for keyword in DEFINITIONS
            if isinstance(named := root.get(keyword), dict)
            for name, schema in named.items()
        } | {id(root): "Root"}

    def document(self) -> dict[str, Any]:
        """The converted document, its root an object with no reference. Raises CannotConvertError."""
        root = self._node({**self._root, "type": "object"}, at_root=True)
        while self._waiting:
            name, source, beside = self._waiting.pop()
            inner = self._node(source)
            self._definitions[name] = self._merged(inner, source, beside) if beside else inner
        for name, site in self._sites.items():
            if self._uses[name] == 1 and site is not root:
                site.clear()
                site.update(self._definitions.pop(name))
        alone = True  # whether only the root refers to its target
        while "$ref" in root:
            name = root["$ref"].removeprefix(_PREFIX)
            alone = alone and self._uses[name] == 1
            root = self._definitions.pop(name) if alone else self._definitions[name]
        if root.get("type", "object") != "object":
            raise CannotConvertError("type")
        definitions = {"$defs": self._definitions} if self._definitions else {}
        return {**root, "type": "object", **definitions}

    # ------------------------------------------------------------ one schema

    def _node(self, schema: Schema, keyword: str = "", *, at_root: bool = False) -> Any:
        self._nodes += 1
        if self._nodes > EXPANDED_NODES:
            raise CannotConvertError("$ref")
        if isinstance(schema, bool):
            stays = not self._plain or keyword.startswith(("additional", "unevaluated"))
            return schema if stays else ({} if schema else {"not": {}})
        plain = self._plain or at_root
        if self._draft < CONDITIONS_SINCE and not CONDITIONS.isdisjoint(schema):
            schema = {word: value for word, value in schema.items() if word not in CONDITIONS}
        source = self._one_reference(schema, plain)
        if unspeakable := {"$dynamicRef", "$recursiveRef"} & source.keys():
            raise CannotConvertError(unspeakable.pop())
        below = {
            (child.keyword, child.key): self._node(child.schema, child.keyword)
            for child in children(source)
            if child.keyword not in DEFINITIONS
        }
        node = {
            word: _with_children(word, value, below)
            for word, value in source.items()
            if word not in _NAMES and word not in DEFINITIONS and (word != "id" or self._draft > 4)
        }
        _modernise(node, self._draft)
        if self._plain:
            _in_plain_words(node)
        if plain and "allOf" in node:
            node = _joined(node)
        return self._with_reference(node, plain) if "$ref" in node else node

    def _one_reference(self, schema: dict[str, Any], plain: bool) -> dict[str, Any]:
        """The schema with its reference beside its other keywords, as 2020-12 has it. A lone reference in `allOf`
        counts as its own."""
        if "$ref" in schema:
            if self._draft > 7:
                return schema
            return {word: value for word, value in schema.items() if word == "$ref" or word in ANNOTATIONS}
        if not plain:
            return schema
        members = list(schema.get("allOf", ()))
        single = [word for word in ("anyOf", "oneOf") if len(schema.get(word, ())) == 1]
        for word in single:
            members += schema[word]
        rest = {word: value for word, value in schema.items() if word != "allOf" and word not in single}
        referring = [number for number, member in enumerate(members) if isinstance(member, dict) and "$ref" in member]
        if len(referring) == 1:
            member = self._one_reference(members.pop(referring[0]), plain)
            rest["$ref"] = member["$ref"]
            beside = {word: value for word, value in member.items() if word != "$ref"}
            members += [beside] if beside else []
        return {**rest, "allOf": members} if members else rest

    # ------------------------------------------------------------ references

    def _with_reference(self, node: dict[str, Any], plain: bool) -> dict[str, Any]:
        """The node with a reference into `$defs`. Keywords beside the reference are merged with its target, as a
        definition of their own."""
        target = self._references.target(node.pop("$ref"))
        while plain and node and isinstance(target, dict) and "$ref" in target:
            inner = self._one_reference(target, plain)
            both = merge(self._node({word: value for word, value in inner.items() if word != "$ref"}), node)
            if both is None:
                break
            node, target = both, self._references.target(inner["$ref"])
        if not isinstance(target, dict):
            return node if target else {**node, "not": {}}
        if not (plain and node):
            return {"$ref": self._definition(target, {}), **node}
        site = {"$ref": self._definition(target, node)}
        self._sites[site["$ref"].removeprefix(_PREFIX)] = site
        return site

    def _definition(self, target: dict[str, Any], beside: dict[str, Any]) -> str:
        """A reference to the definition of the target merged with `beside`. Each such pair has one definition, so this
        ends even if the target contains itself."""
        key = (id(target), json.encode(beside, order="sorted"))
        if key not in self._names:
            given = self._given.get(id(target), "")
            stem = given if _NAME.fullmatch(given) else "Schema"
            name = stem if not beside else f"{stem}_2"
            while name in self._definitions:
                name = f"{stem}_{len(self._definitions) + 2}"
            self._names[key] = name
            self._definitions[name] = {}  # takes the name; the definition follows, see `_waiting`
            self._waiting.append((name, target, beside))
        self._uses[self._names[key]] += 1
        return _PREFIX + self._names[key]

    def _merged(self, inner: dict[str, Any], source: dict[str, Any], beside: dict[str, Any]) -> dict[str, Any]:
        both = merge(inner, beside)
        if both is None:
            both = {**beside, "allOf": [*beside.get("allOf", ()), {"$ref": self._definition(source, {})}]}
        return both


def _with_children(word: str, value: Any, below: dict[tuple[str, str | int | None], Any]) -> Any:
    """The keyword's value with each schema in it replaced by its conversion."""
    if (word, None) in below:
        return below[word, None]
    if isinstance(value, dict):
        return {name: below.get((word, name), schema) for name, schema in value.items()}
    if isinstance(value, list):
        return [below.get((word, number), schema) for number, schema in enumerate(value)]
    return value


def _modernise(node: dict[str, Any], draft: int) -> None:
    """Replaces keywords of draft 4, 6, 7 or 2019-09 by those of 2020-12, in place."""
    if draft == 2020:
        return
    for exclusive, inclusive, _, _ in _BOUNDS:
        if isinstance(node.get(exclusive), bool) and node.pop(exclusive) and inclusive in node:
            node[exclusive] = node.pop(inclusive)
    more = node.pop("additionalItems", None)
    if isinstance(node.get("items"), list):
        tuple_ = node.pop("items")
        node |= {"prefixItems": tuple_} if tuple_ else {}
        node |= {"items": more} if more is not None else {}
    if draft <= 7 and isinstance(dependencies := node.pop("dependencies", None), dict):
        names = {name: value for name, value in dependencies.items() if isinstance(value, list)}
        schemas = {name: value for name, value in dependencies.items() if name not in names}
        node |= {"dependentRequired": names} if names else {}
        node |= {"dependentSchemas": schemas} if schemas else {}


def _in_plain_words(node: dict[str, Any]) -> None:
    if isinstance(node.get("const"), str | Raw) and "enum" not in node:
        node["enum"] = [node.pop("const")]
    kinds = node.get("type", ())
    if kinds != "integer" and ("integer" not in kinds or "number" in kinds):
        return
    for exclusive, inclusive, step, tighter in _BOUNDS:
        bounds = [bytes(node[word]) for word in (exclusive, inclusive) if isinstance(node.get(word), Raw)]
        if exclusive in node and all(map(_INTEGER.fullmatch, bounds)):
            del node[exclusive]
            bounds[0] = b"%d" % (int(bounds[0]) + step)
            node[inclusive] = Raw(b"%d" % tighter(map(int, bounds)))


def _joined(node: dict[str, Any]) -> dict[str, Any]:
    """The node with each member of `allOf` that can be merged into it."""
    apart: list[Any] = []
    joined = {word: value for word, value in node.items() if word != "allOf"}
    for member in reversed(node["allOf"]):  # backwards, each before the others, so that properties keep their order
        both = merge(member, joined) if isinstance(member, dict) else None
        if both is None:
            apart.insert(0, member)
        else:
            joined = both
    return {**joined, "allOf": [*joined.get("allOf", ()), *apart]} if apart else joined
