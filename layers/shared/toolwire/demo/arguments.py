"""JSON Schema -> an instance of it, so that the demo can call any client's tools.

Only what a schema requires is filled in (its first property where it requires nothing), from what the user wrote where
that fits. Supported: `$ref` inside the schema, allOf, anyOf, oneOf, const, enum, examples, default, types, bounds of
numbers, lengths, the usual formats. A string with a `pattern` is not solved: it takes the schema's own example or
default, else the user's words. The schema is a client's, so depth and work are bounded, and no regex of it is run.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable
from typing import Any

from toolwire.demo.subjects import Subjects

#: Levels of objects, arrays and references that are followed; a recursive schema ends here.
_MAX_DEPTH = 12
#: Schemas that are looked at for one instance: references could ask for any number.
_MAX_VISITS = 5_000
#: The most array items that a `minItems` may ask of us.
_MAX_ITEMS = 16
#: Characters of the user's sentence that fill a string when it names nothing.
_STRING_CHARS = 200

_BOUNDS: dict[str, Callable[[float, float], bool]] = {
    "minimum": operator.ge,
    "exclusiveMinimum": operator.gt,
    "maximum": operator.le,
    "exclusiveMaximum": operator.lt,
}

_FORMATS = {
    "date": "2026-01-31",
    "date-time": "2026-01-31T12:00:00Z",
    "time": "12:00:00Z",
    "duration": "PT1H",
    "email": "demo@example.com",
    "hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://example.com/",
    "url": "https://example.com/",
    "uuid": "00000000-0000-4000-8000-000000000000",
}


def instance(schema: Any, said: Subjects) -> Any:
    """A value that is valid under `schema` (parsed JSON), made of what was `said`."""
    return _Filler(schema, said).value(schema, 0)


def free_strings(schema: Any) -> int:
    """How many names one instance takes up: the required string properties that the user's words may fill."""
    filler = _Filler(schema, Subjects("", (), ()))
    resolved = filler.resolved(schema, 0)
    wanted = [filler.resolved(child, 1) for child in _wanted(resolved).values()]
    return sum(1 for child in wanted if _kind(child) == "string" and not _own_value(child) and not _format_of(child))


def first_parameter(schema: Any) -> str | None:
    """The name of the first property that one instance has; None where there is none."""
    filler = _Filler(schema, Subjects("", (), ()))
    return next(iter(_wanted(filler.resolved(schema, 0))), None)


class _Filler:
    """Fills one instance; names and numbers are used up in order, the last of them again when they run out."""

    def __init__(self, root: Any, said: Subjects) -> None:
        self._root = root
        self._said = said
        self._names = list(said.names)
        self._numbers = list(said.numbers)
        self._visits = 0

    def value(self, schema: Any, depth: int) -> Any:
        schema = self.resolved(schema, depth)
        if own := _own_value(schema):
            return self._mentioned(own)
        match _kind(schema):
            case "object":
                wanted = _wanted(schema) if depth < _MAX_DEPTH else {}
                return {name: self.value(child, depth + 1) for name, child in wanted.items()}
            case "array":
                return self._array(schema, depth)
            case "string":
                return self._string(schema)
            case "integer" | "number" as kind:
                return self._number(schema, whole=kind == "integer")
            case "boolean":
                return True
            case _:
                return None

    def resolved(self, schema: Any, depth: int) -> dict[str, Any]:
        """The schema with references followed, allOf merged, and the first alternative that is not null chosen."""
        self._visits += 1
        if self._visits > _MAX_VISITS:
            return {"type": "null"}
        if not isinstance(schema, dict):
            return {}
        if depth > _MAX_DEPTH:
            return schema
        merged = dict(schema)
        parts = [self._target(merged.pop("$ref"))] if isinstance(merged.get("$ref"), str) else []
        all_of = merged.pop("allOf", None)
        parts += all_of if isinstance(all_of, list) else []
        for word in ("anyOf", "oneOf"):
            choices = merged.pop(word, None)
            if isinstance(choices, list) and choices:
                parts.append(next((choice for choice in choices if _kind(choice) != "null"), choices[0]))
        for part in parts:
            merged = _merge(merged, self.resolved(part, depth + 1))
        return merged

    def _target(self, reference: str) -> Any:
        target: Any = self._root
        for step in reference.removeprefix("#").strip("/").split("/"):
            key = step.replace("~1", "/").replace("~0", "~")
            if key:
                target = target.get(key) if isinstance(target, dict) else None
        return target if reference.startswith("#") else None

    def _mentioned(self, values: list[Any]) -> Any:
        """The first value that the user named, else the first."""
        named = (value for value in values if isinstance(value, str) and value and _names_value(self._said.text, value))
        return next(named, values[0])

    def _array(self, schema: dict[str, Any], depth: int) -> list[Any]:
        if depth >= _MAX_DEPTH:
            return []
        prefix = schema.get("prefixItems")
        items = [self.value(child, depth + 1) for child in prefix] if isinstance(prefix, list) else []
        wanted = schema.get("minItems", 1 if isinstance(schema.get("items"), dict) and not items else 0)
        wanted = min(wanted, _MAX_ITEMS) if isinstance(wanted, int) else 0
        while len(items) < wanted:
            items.append(self.value(schema.get("items"), depth + 1))
        return items

    def _string(self, schema: dict[str, Any]) -> str:
        if made := _format_of(schema):
            return made
        text = self._next(self._names) or self._said.text[:_STRING_CHARS] or "example"
        shortest, longest = schema.get("minLength"), schema.get("maxLength")
        if isinstance(shortest, int):
            text = text.ljust(min(shortest, 10_000), ".")
        return text[:longest] if isinstance(longest, int) else text

    def _number(self, schema: dict[str, Any], *, whole: bool) -> int | float:
        said = self._next(self._numbers)
        candidates = ([] if said is None else [said]) + _near_bounds(schema)
        number = next((number for number in candidates if _fits(number, schema, whole=whole)), 1.0)
        return int(number) if number == int(number) else number

    @staticmethod
    def _next(values: list[Any]) -> Any:
        """The next value; the last one is given again and again."""
        return None if not values else values.pop(0) if len(values) > 1 else values[0]


def _near_bounds(schema: dict[str, Any]) -> list[float]:
    """Numbers to try: 1, and those just inside the schema's bounds, on its grid."""
    bounds = [bound for word in _BOUNDS if (bound := _number_at(schema, word)) is not None]
    step = _grid(schema) or 1
    ends = [end for bound in bounds for end in (bound, bound + step, bound - step, bound + 0.5, bound - 0.5)]
    middle = [sum(bounds) / len(bounds)] if bounds else []
    on_grid = [round_to(end / step) * step for end in ends for round_to in (math.ceil, math.floor)]
    return [float(number) for number in (1, *on_grid, step, *ends, *middle)]


def _fits(number: float, schema: dict[str, Any], *, whole: bool) -> bool:
    grid = _grid(schema)
    on_grid = grid is None or (number / grid).is_integer()
    bounds = ((holds, _number_at(schema, word)) for word, holds in _BOUNDS.items())
    inside = all(bound is None or holds(number, bound) for holds, bound in bounds)
    return inside and on_grid and (not whole or number.is_integer())


def _own_value(schema: dict[str, Any]) -> list[Any]:
    """Values the schema itself offers, the binding ones first."""
    if "const" in schema:
        return [schema["const"]]
    for word in ("enum", "examples"):
        if isinstance(schema.get(word), list) and schema[word]:
            return list(schema[word])
    return [schema["default"]] if "default" in schema else []


def _wanted(schema: dict[str, Any]) -> dict[str, Any]:
    """The properties to fill: the required ones, else the first one."""
    properties = schema.get("properties")
    properties = properties if isinstance(properties, dict) else {}
    required = schema.get("required")
    names = [name for name in required if isinstance(name, str)] if isinstance(required, list) else []
    return {name: properties.get(name, {"type": "string"}) for name in names or list(properties)[:1]}


def _kind(schema: Any) -> str:
    if not isinstance(schema, dict):
        return "string"
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = next((one for one in kind if one != "null"), "null")
    if isinstance(kind, str):
        return kind
    return "object" if "properties" in schema else "array" if "items" in schema else "string"


def _format_of(schema: dict[str, Any]) -> str | None:
    return _FORMATS.get(str(schema.get("format")))


def _merge(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """Both schemas at once: properties and required are joined, for the rest the first one wins."""
    merged = {**second, **first}
    for word in ("properties", "$defs"):
        if isinstance(first.get(word), dict) and isinstance(second.get(word), dict):
            merged[word] = {**second[word], **first[word]}
    if isinstance(first.get("required"), list) and isinstance(second.get("required"), list):
        merged["required"] = list(dict.fromkeys([*second["required"], *first["required"]]))
    return merged


def _names_value(text: str, value: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text, re.IGNORECASE) is not None


def _grid(schema: dict[str, Any]) -> float | None:
    grid = _number_at(schema, "multipleOf")
    return grid if grid is not None and grid > 0 else None


def _number_at(schema: dict[str, Any], word: str) -> float | None:
    """The number under a schema's keyword; None where there is none (draft 4 has booleans there)."""
    value = schema.get(word)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
