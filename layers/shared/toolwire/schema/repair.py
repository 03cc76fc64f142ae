"""Repairs a schema that breaks the rules of JSON Schema: `required: null`, `properties: []`, `type: "any"`, a tuple
without a `$schema`. MCP servers in languages with one empty value write these, and providers differ in what they take.

A value without meaning (null, an empty list of names, a repeated name) is removed without loss, and a keyword of an old
draft gets its new form. A value that no validator understands is removed, and its place returned. The result accepts
all that the schema was meant to accept, and more. Where to remove a value would make the schema accept less (below
`not` and `if`, and in `oneOf`), the whole keyword is removed, or becomes `anyOf`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from msgspec import Raw, json

from toolwire.schema.tree import MANY, NAMED, ONE, References, draft_of, escaped

#: A type's name, in JSON Schema or in other languages -> the type. A name that is not here is removed.
_TYPES = {name: name for name in ("array", "boolean", "integer", "null", "number", "object", "string")}
_TYPES |= dict.fromkeys(("int", "int32", "int64", "long"), "integer")
_TYPES |= dict.fromkeys(("decimal", "double", "float"), "number")
_TYPES |= {"str": "string", "text": "string", "bool": "boolean", "none": "null"}
_TYPES |= {"dict": "object", "map": "object", "list": "array"}

_SIZES = tuple(f"{bound}{of}" for bound in ("max", "min") for of in ("Contains", "Items", "Length", "Properties"))
_BOUNDS = {"exclusiveMaximum": "maximum", "exclusiveMinimum": "minimum"}

#: Names of types that mean any type.
_ANYTHING = frozenset({"", "any", "mixed", "unknown"})

#: Keywords for readers, which have no effect on what is accepted, and names of a document.
_TEXTS = frozenset({"$comment", "$id", "$schema", "contentEncoding", "contentMediaType", "description", "id", "title"})
_FLAGS = frozenset({"deprecated", "readOnly", "writeOnly"})

#: References that are left out where they have no target.
_ELSEWHERE = re.compile(r"#|https?://", re.IGNORECASE)

_SIZE = re.compile(rb"[0-9]+(?:\.0+)?")


def repaired(root: dict[str, Any], is_pattern: Callable[[str], bool]) -> tuple[dict[str, Any], list[str]]:
    """The schema with each keyword's value repaired, and the JSON pointers of the values that were removed.
    `is_pattern` says whether a text is a regular expression."""
    repair = _Repair(root, is_pattern)
    return repair.schema(root, ""), repair.cuts


class _Repair:
    """Repairs one document. It builds a new one and does not change the given one."""

    def __init__(self, root: dict[str, Any], is_pattern: Callable[[str], bool]) -> None:
        self._is_pattern = is_pattern
        self._draft, self._references = draft_of(root), References(root)
        self.cuts: list[str] = []

    def schema(self, node: dict[str, Any], at: str) -> dict[str, Any]:
        """The node with each keyword repaired."""
        found: dict[str, Any] = {}
        for word, value in node.items():
            if value is None and word in _SAYS_NOTHING:
                continue
            kept = self._keyword(word, value, f"{at}/{escaped(word)}")
            if isinstance(kept, _Loosened) and "anyOf" not in node:
                found["anyOf"] = kept.alternatives
            elif not isinstance(kept, _Cut | _Loosened):
                found[word] = kept
        self._modernise(node, found)
        patterns = found.get("patternProperties")
        if patterns is not None and len(patterns) < len(node["patternProperties"]):
            found.pop("additionalProperties", None)  # it would refuse properties that a removed pattern allowed
            found.pop("unevaluatedProperties", None)
        return found

    def _keyword(self, word: str, value: Any, at: str) -> Any:
        if word in ONE and not (word == "items" and isinstance(value, list)):
            return self._guarded(word, value, at)
        if word in MANY:
            return self._many(word, value, at)
        if word in NAMED:
            return self._named(word, value, at)
        check = _VALUES.get(word)
        if check is None:
            return value
        kept = check(value)
        if isinstance(value, str) and (
            (word == "$ref" and self._leads_nowhere(value)) or (word == "pattern" and not self._is_pattern(value))
        ):
            kept = _CUT
        if kept is _CUT and word in _BOUNDS and isinstance(value, bool):
            return value  # draft 4's form: see `_modernise`
        if kept is _CUT and not _is_silent(word, value):
            self.cuts.append(at)
        return kept

    def _leads_nowhere(self, reference: str) -> bool:
        """Whether a reference has no target here: into this document, or to a schema on the web (GeoJSON's, or JSON
        Schema's own, for a tool that takes a schema), which nobody fetches. What leads to a file is refused."""
        return _ELSEWHERE.match(reference) is not None and self._references.target(reference) is None

    def _guarded(self, word: str, value: Any, at: str) -> Any:
        """A keyword's value that is one schema. `not` and `if` are removed as a whole if a part of them would be: their
        schema must not accept more."""
        before = len(self.cuts)
        kept = self._one(value, at)
        if word in ("not", "if") and len(self.cuts) > before:
            self.cuts[before:] = [at]
            return _CUT
        return kept

    def _one(self, value: Any, at: str) -> Any:
        if isinstance(value, dict):
            return self.schema(value, at)
        if isinstance(value, bool):
            return value
        if isinstance(value, str) and value.lower() in _TYPES:  # `"city": "string"`
            return {"type": _TYPES[value.lower()]}
        self.cuts.append(at)
        return _CUT

    def _many(self, word: str, value: Any, at: str) -> Any:
        if not isinstance(value, list):
            self.cuts.append(at)
            return _CUT
        if not value:
            return _CUT
        before = len(self.cuts)
        kept = [self._one(entry, f"{at}/{number}") for number, entry in enumerate(value)]
        lost = any(entry is _CUT for entry in kept)
        if word in ("items", "prefixItems"):
            return [{} if entry is _CUT else entry for entry in kept]
        if lost and word in ("anyOf", "oneOf"):  # an alternative that accepts anything makes all do so
            self.cuts[before:] = [at]
            return _CUT
        if word == "oneOf" and len(self.cuts) > before:
            return _Loosened(kept)
        return [entry for entry in kept if entry is not _CUT] or _CUT

    def _named(self, word: str, value: Any, at: str) -> Any:
        if not isinstance(value, dict):
            if value != []:
                self.cuts.append(at)
            return _CUT
        found: dict[str, Any] = {}
        for name, entry in value.items():
            place = f"{at}/{escaped(name)}"
            if word == "patternProperties" and not self._is_pattern(name):
                self.cuts.append(place)
                continue
            if word == "dependencies" and isinstance(entry, list):
                found[name] = _names(entry)
                continue
            kept = {} if entry is None else self._one(entry, place)
            found[name] = {} if kept is _CUT else kept
        return found

    def _modernise(self, node: dict[str, Any], found: dict[str, Any]) -> None:
        """Modernises keywords of an old draft in a schema that does not name it: a tuple, a bound that is a flag."""
        if self._draft == 2020 and isinstance(found.get("items"), list):
            entries = found.pop("items")
            found |= {"prefixItems": entries}
            if isinstance(node.get("additionalItems"), dict | bool):
                found["items"] = found.pop("additionalItems")
        if self._draft > 4:
            for exclusive, inclusive in _BOUNDS.items():
                if isinstance(found.get(exclusive), bool) and found.pop(exclusive) and inclusive in found:
                    found[exclusive] = found.pop(inclusive)


class _Cut:
    """The value of a keyword that is removed."""


_CUT = _Cut()


class _Loosened(NamedTuple):
    """A `oneOf` that becomes an `anyOf`, since its repaired alternatives may overlap."""

    alternatives: list[Any]


def _is_silent(word: str, value: Any) -> bool:
    """Whether a value can be removed without loss."""
    if word == "type" and isinstance(value, str):
        return value.lower() in _ANYTHING
    return word in _TEXTS or word in _FLAGS or value in ({}, [], "", False)


def _type(value: Any) -> Any:
    if isinstance(value, str):
        return _TYPES.get(value.lower(), _CUT)
    if not isinstance(value, list):
        return _CUT
    kinds = [_TYPES.get(kind.lower()) if isinstance(kind, str) else "null" if kind is None else None for kind in value]
    return list(dict.fromkeys(kinds)) if kinds and None not in kinds else _CUT


def _names(value: Any) -> Any:
    return list(dict.fromkeys(name for name in value if isinstance(name, str))) if isinstance(value, list) else _CUT


def _required(value: Any) -> Any:
    names = _names(value)
    return names or _CUT


def _dependent(value: Any) -> Any:
    return (
        {name: _names(entry) for name, entry in value.items() if isinstance(entry, list)} if _is(dict)(value) else _CUT
    )


def _enum(value: Any) -> Any:
    if not isinstance(value, list) or not value:
        return _CUT
    return list({json.encode(entry): entry for entry in reversed(value)}.values())[::-1]


def _size(value: Any) -> Any:
    return value if isinstance(value, Raw) and _SIZE.fullmatch(bytes(value)) else _CUT


def _factor(value: Any) -> Any:
    return value if isinstance(value, Raw) and not bytes(value).startswith(b"-") and bytes(value).strip(b"0.") else _CUT


def _is(kind: type) -> Callable[[Any], Any]:
    return lambda value: value if isinstance(value, kind) else _CUT


#: Keyword -> a function of its value that returns the value, a repaired one, or `_CUT`.
_VALUES: dict[str, Callable[[Any], Any]] = {
    "type": _type,
    "required": _required,
    "enum": _enum,
    "dependentRequired": _dependent,
    "multipleOf": _factor,
    "examples": _is(list),
    "uniqueItems": _is(bool),
}
_VALUES |= dict.fromkeys(_SIZES, _size)
_VALUES |= dict.fromkeys(("maximum", "minimum", *_BOUNDS), _is(Raw))
_VALUES |= dict.fromkeys(("$anchor", "$ref", "format", "pattern", *_TEXTS), _is(str))
_VALUES |= dict.fromkeys(_FLAGS, _is(bool))

#: Keywords for which null has no meaning. For `const`, `default` and the like it has one.
_SAYS_NOTHING = frozenset(_VALUES) | ONE | MANY | NAMED
