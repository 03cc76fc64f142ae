"""OpenAI's rules for strict schemas, each at its limit and one beyond, and what Anthropic's cost."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from tests.named_rows import each_row
from tests.schema.provider_schemas import DIALECTS, adapted
from toolwire.model.request import Tool
from toolwire.schema.dialects import STRICT_OFF, Adapted, within_strict_budget
from toolwire.schema.strict import StrictBudget, StrictCost, StrictLimits, strict_fault
from toolwire.schema.tree import locate, parse

#: Anthropic's.
BUDGET = StrictBudget(20, 24, 16)


LIMITS = StrictLimits(properties=3, levels=3, characters=20, enum_values=4, long_enum=2, long_enum_characters=6)


def closed(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}


def fault(schema: dict[str, Any]) -> tuple[str, str] | None:
    root = parse(json.dumps(schema).encode())
    found = strict_fault(root, LIMITS)
    return found and (locate(root, found.node), found.text)


STRING = {"type": "string"}


@each_row(
    "schema",
    [
        closed(),
        closed(a=STRING, b={"type": ["string", "null"]}, c={"anyOf": [STRING, {"type": "null"}]}),
        closed(a=closed(b=closed())),
        closed(a={"enum": ["abc", "def"]}),
        closed(a={"enum": [1, 2, 3, 4]}),
        closed(a={"enum": ["ab", "cd", "ef"]}),
        closed(a={"type": "array", "items": closed(b={"$ref": "#"})}),
        {**closed(a={"$ref": "#/$defs/n"}), "$defs": {"n": closed(next={"$ref": "#/$defs/n"})}},
        closed(**{"n" * 20: STRING}),
    ],
)
def test_strict(schema: dict[str, Any]) -> None:
    assert fault(schema) is None


@each_row(
    ("schema", "where", "what"),
    [
        ({"type": "object"}, "", "additionalProperties"),
        ({**closed(a=STRING), "additionalProperties": True}, "", "additionalProperties"),
        ({**closed(a=STRING), "required": []}, "", "'a' is not"),
        (closed(a=closed(b={"type": "object"})), "/properties/a/properties/b", "additionalProperties"),
        ({**closed(), "anyOf": [closed()]}, "", "root"),
        (closed(a={"oneOf": [STRING]}), "/properties/a", "`oneOf`"),
        (closed(a={"allOf": [STRING]}), "/properties/a", "`allOf`"),
        (closed(a={"not": STRING}), "/properties/a", "`not`"),
        ({**closed(), "$defs": {"d": {"type": ["object", "null"]}}}, "/$defs/d", "additionalProperties"),
        (closed(a=STRING, b=STRING, c=STRING, d=STRING), "", "at most 3 properties, this one has 4"),
        (closed(a=closed(b={"items": closed(c=closed())})), "", "at most 3 levels of objects, this one has 4"),
        (closed(a={"enum": [1, 2, 3, 4, 5]}), "", "at most 4 enum values, this one has 5"),
        (closed(a={"enum": ["ab", "cd", "efg"]}), "/properties/a", "at most 6 characters"),
        (closed(**{"n" * 21: STRING}), "", "at most 20 characters in names and values, this one has 21"),
        (closed(a={"const": "x" * 20}), "", "this one has 21"),
    ],
)
def test_not_strict(schema: dict[str, Any], where: str, what: str) -> None:
    found = fault(schema)
    assert found is not None
    assert found[0] == where
    assert what in found[1]


def test_the_limits_are_todays() -> None:
    assert StrictLimits() == StrictLimits(5_000, 10, 120_000, 1_000, 250, 15_000)
    assert DIALECTS["anthropic_messages"].strict_budget == BUDGET


# ------------------------------------------------------------ Anthropic


def at_anthropic(schema: dict[str, Any]) -> Adapted:
    raw = json.dumps(schema).encode()
    return adapted(Tool("f", parameters=raw, strict=True), "anthropic_messages", "p", "anthropic")


@pytest.mark.parametrize(
    ("schema", "cost"),
    [
        (closed(a=STRING), StrictCost(0, 0)),
        ({**closed(a=STRING, b=STRING), "required": ["a"]}, StrictCost(1, 0)),
        (closed(a={"type": ["string", "null"]}, b={"anyOf": [STRING, {"type": "null"}]}), StrictCost(0, 2)),
        ({**closed(a={"$ref": "#/$defs/d"}), "$defs": {"d": {**closed(b=STRING), "required": []}}}, StrictCost(1, 0)),
        (closed(a={"type": "array", "minItems": 1}), StrictCost(0, 0)),
        (closed(a={"type": "string", "format": "date"}), StrictCost(0, 0)),
    ],
)
def test_what_can_be_forced_at_anthropic(schema: dict[str, Any], cost: StrictCost) -> None:
    told = at_anthropic(schema)
    assert (told.strict, told.cost, told.warnings) == (True, cost, ())


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object"},
        closed(a={"type": "string", "pattern": "a"}),
        closed(a={"type": "integer", "minimum": 1}),
        closed(a={"type": "array", "minItems": 2}),
        closed(a={"type": "string", "format": "iri"}),
        closed(a={"type": "object", "additionalProperties": STRING}),
        {**closed(a={"$ref": "#"}), "required": []},
    ],
)
def test_what_cannot_goes_without_strict_and_says_so(schema: dict[str, Any]) -> None:
    told = at_anthropic(schema)
    assert (told.strict, told.cost, told.warnings) == (None, None, (STRICT_OFF,))
    assert told.parameters == json.dumps(schema).encode()


def strict_tool(optional: int = 0, unions: int = 0) -> Adapted:
    return Adapted(b"{}", True, cost=StrictCost(optional, unions))


LOOSE = Adapted(b"{}", None)


def off(tool: Adapted) -> Adapted:
    return replace(tool, strict=None, cost=None, warnings=(STRICT_OFF,))


@each_row(
    ("tools", "loosened"),
    [
        ([], []),
        ([LOOSE] * 30, []),
        ([strict_tool()] * 20, []),
        ([strict_tool()] * 21, [20]),
        ([strict_tool(12), strict_tool(12)], []),
        ([strict_tool(12), strict_tool(13)], [1]),
        ([strict_tool(25), LOOSE, strict_tool(24)], [0]),
        ([strict_tool(0, 17), strict_tool(3, 1)], [0]),
        ([strict_tool(20, 10), strict_tool(20, 10), strict_tool(1, 0)], [1]),
    ],
)
def test_the_costliest_tools_of_a_request_are_loosened(tools: list[Adapted], loosened: list[int]) -> None:
    expected = [off(tool) if number in loosened else tool for number, tool in enumerate(tools)]
    assert within_strict_budget(tools, BUDGET) == expected
