"""The rules of strict schemas, to which a provider forces the model's arguments: OpenAI's and Anthropic's.

They are those of the guides of 2026. Only documented rules are checked, so that nothing is refused that a provider
takes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from msgspec import Raw

from toolwire.schema.survey import Survey
from toolwire.schema.tree import DEFINITIONS, children, walk


@dataclass(frozen=True, slots=True)
class StrictLimits:
    """OpenAI's limits for one strict schema."""

    properties: int = 5_000
    #: Objects inside objects.
    levels: int = 10
    #: Characters of all property names, definition names, enum and const values together.
    characters: int = 120_000
    enum_values: int = 1_000
    #: Characters of all values together, in an enum with more than `long_enum` strings.
    long_enum: int = 250
    long_enum_characters: int = 15_000


class StrictFault(NamedTuple):
    """A schema that breaks a rule, and a sentence about it."""

    node: dict[str, Any]
    text: str


_COMPOSITION = frozenset(
    ["allOf", "dependencies", "dependentRequired", "dependentSchemas", "else", "if", "not", "oneOf", "then"]
)


def strict_fault(root: dict[str, Any], limits: StrictLimits = StrictLimits()) -> StrictFault | None:
    """The first rule of OpenAI's strict mode that the schema breaks."""
    if "anyOf" in root:
        return StrictFault(root, "a strict schema may not have `anyOf` at its root: put it into a property")
    for node in walk(root):
        if refused := sorted(_COMPOSITION & node.keys()):
            return StrictFault(node, f"`{refused[0]}` is not allowed in a strict schema")
        if text := _open_object(node):
            return StrictFault(node, text)
        if text := _long_enum(node, limits):
            return StrictFault(node, text)
    counts = (
        ("properties", sum(len(_named(node, "properties")) for node in walk(root)), limits.properties),
        ("levels of objects", _levels(root, limits.levels), limits.levels),
        ("enum values", sum(len(_listed(node, "enum")) for node in walk(root)), limits.enum_values),
        ("characters in names and values", sum(map(_characters, walk(root))), limits.characters),
    )
    for what, count, most in counts:
        if count > most:
            return StrictFault(root, f"a strict schema has at most {most} {what}, this one has {count}")
    return None


def _open_object(node: dict[str, Any]) -> str | None:
    """What a strict object lacks: `additionalProperties: false`, or a property in `required`. None if it lacks nothing,
    or is no object."""
    if not is_object(node):
        return None
    if node.get("additionalProperties") is not False:
        return "every object of a strict schema has `additionalProperties: false`"
    missing = _named(node, "properties").keys() - set(map(str, _listed(node, "required")))
    if missing:
        return (
            f"every property of a strict schema is `required` ({min(missing)[:64]!r} is not): "
            "let one that may be left out be null"
        )
    return None


def is_object(node: dict[str, Any]) -> bool:
    """Whether the schema is one of objects, by its `type` or its `properties`."""
    kind = node.get("type")
    return "properties" in node or kind == "object" or (isinstance(kind, list) and "object" in kind)


def _named(node: dict[str, Any], keyword: str) -> dict[str, Any]:
    value = node.get(keyword)
    return value if isinstance(value, dict) else {}


def _listed(node: dict[str, Any], keyword: str) -> list[Any]:
    value = node.get(keyword)
    return value if isinstance(value, list) else []


def _long_enum(node: dict[str, Any], limits: StrictLimits) -> str | None:
    values = _listed(node, "enum")
    size = sum(len(value) for value in values if isinstance(value, str))
    if len(values) > limits.long_enum and size > limits.long_enum_characters:
        return f"an enum of more than {limits.long_enum} values has at most {limits.long_enum_characters} characters"
    return None


def _characters(node: dict[str, Any]) -> int:
    """Characters of the names and fixed values in one schema."""
    names = [name for keyword in ("properties", *DEFINITIONS) for name in _named(node, keyword)]
    values = [*_listed(node, "enum"), node.get("const")]
    return sum(map(len, names)) + sum(len(value) for value in values if isinstance(value, str))


def _levels(root: dict[str, Any], most: int) -> int:
    """How many objects are inside one another, without following references; no more than the limit and one."""
    deepest = 0
    stack = [(root, 0)]
    while stack and deepest <= most:
        node, level = stack.pop()
        level += is_object(node)
        deepest = max(deepest, level)
        for keyword, _, schema in children(node):
            if isinstance(schema, dict):
                stack.append((schema, 0 if keyword in DEFINITIONS else level))
    return deepest


# ---------------------------------------------------------------- budgets


@dataclass(frozen=True, slots=True)
class StrictCost:
    """What a strict tool uses of a provider's budget for one request."""

    #: Properties that may be left out.
    optional: int
    #: Properties with a union type.
    unions: int


class StrictBudget(NamedTuple):
    """How many strict tools one request may have, and how many optional and union properties these have together."""

    tools: int
    optional: int
    unions: int


#: Keywords that a provider with a budget does not enforce: Anthropic's guide, so far the only one.
_UNENFORCED = frozenset(
    [
        "contains",
        "default",
        "dependencies",
        "dependentRequired",
        "dependentSchemas",
        "else",
        "exclusiveMaximum",
        "exclusiveMinimum",
        "if",
        "maxItems",
        "maxLength",
        "maximum",
        "minLength",
        "minimum",
        "multipleOf",
        "not",
        "oneOf",
        "pattern",
        "patternProperties",
        "prefixItems",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
        "uniqueItems",
    ]
)
#: Formats, and values of `minItems`, that it does.
_FORMATS = frozenset(["date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "time", "uri", "uuid"])
_FEW = (Raw(b"0"), Raw(b"1"))


def strict_cost(root: dict[str, Any], survey: Survey) -> StrictCost | None:
    """What a strict tool with this schema uses of a budget; None if the schema has keywords that are not enforced."""
    if survey.has_cycle():
        return None
    optional = unions = 0
    for node in walk(root):
        if not all(is_enforced(keyword, value) for keyword, value in node.items()):
            return None
        if is_object(node) and node.get("additionalProperties") is not False:
            return None
        required = frozenset(map(str, _listed(node, "required")))
        for name, schema in _properties(node):
            optional += name not in required
            unions += "anyOf" in schema or isinstance(schema.get("type"), list)
    return StrictCost(optional, unions)


def is_enforced(keyword: str, value: Any) -> bool:
    """Whether a provider with a budget enforces the keyword with this value."""
    match keyword:
        case "minItems":
            return value in _FEW
        case "format":
            return isinstance(value, str) and value in _FORMATS
        case _:
            return keyword not in _UNENFORCED


def _properties(node: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    return ((name, schema) for name, schema in _named(node, "properties").items() if isinstance(schema, dict))
