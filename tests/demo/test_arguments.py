"""The demo fills in any client's schema, validly, with what the user said."""

from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
import pytest

from tests.named_rows import each_row
from toolwire.demo.arguments import free_strings, instance
from toolwire.demo.subjects import subjects

SAID = subjects("Compare Paris and New York at 42 in celsius")

STRING = {"type": "string"}
FLAG = {"type": "boolean"}
TWO = {"a": STRING, "b": STRING}

CASES: list[tuple[str, Any, Any]] = [
    (
        "names fill strings in order",
        TWO,
        {"a": "Paris", "b": "New York"},
    ),
    ("the first enum value", {"a": {"enum": ["kelvin", "rankine"]}}, {"a": "kelvin"}),
    ("an enum value the user named", {"a": {"enum": ["kelvin", "celsius"]}}, {"a": "celsius"}),
    ("const", {"a": {"const": {"deep": [1]}}}, {"a": {"deep": [1]}}),
    ("default", {"a": {"type": "string", "default": "d"}}, {"a": "d"}),
    ("a number of the user's", {"a": {"type": "integer"}}, {"a": 42}),
    ("a bound that the user's number breaks", {"a": {"type": "integer", "maximum": 10}}, {"a": 1}),
    ("minimum", {"a": {"type": "integer", "minimum": 50}}, {"a": 50}),
    ("exclusive minimum", {"a": {"type": "integer", "exclusiveMinimum": 50}}, {"a": 51}),
    ("a narrow range of reals", {"a": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 0.1}}, {"a": 0.05}),
    ("multipleOf", {"a": {"type": "integer", "minimum": 50, "multipleOf": 7}}, {"a": 56}),
    ("negative", {"a": {"type": "number", "maximum": -3}}, {"a": -3}),
    ("boolean and null", {"a": FLAG, "b": {"type": "null"}}, {"a": True, "b": None}),
    ("array", {"a": {"type": "array", "items": STRING, "minItems": 2}}, {"a": ["Paris", "New York"]}),
    ("array without items", {"a": {"type": "array"}}, {"a": []}),
    (
        "tuple",
        {"a": {"prefixItems": [STRING, FLAG], "type": "array"}},
        {"a": ["Paris", True]},
    ),
    ("format", {"a": {"type": "string", "format": "date"}}, {"a": "2026-01-31"}),
    ("lengths", {"a": {"type": "string", "minLength": 7}, "b": {"type": "string", "maxLength": 3}}, None),
    ("nullable type", {"a": {"type": ["null", "string"]}}, {"a": "Paris"}),
    ("anyOf with null", {"a": {"anyOf": [{"type": "null"}, FLAG]}}, {"a": True}),
    ("allOf", {"a": {"allOf": [{"type": "integer"}, {"minimum": 100}]}}, {"a": 100}),
    (
        "nested",
        {"a": {"type": "object", "properties": {"b": STRING}, "required": ["b"]}},
        {"a": {"b": "Paris"}},
    ),
    ("reference", {"a": {"$ref": "#/$defs/City"}}, {"a": {"name": "Paris"}}),
    ("recursive reference", {"a": {"$ref": "#/$defs/Node"}}, None),
]

DEFS = {
    "City": {"type": "object", "properties": {"name": STRING}, "required": ["name"]},
    "Node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}},
}


@each_row(("properties", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_instance_is_valid_and_made_of_what_was_said(properties: Any, expected: Any) -> None:
    schema = {"type": "object", "properties": properties, "required": list(properties), "$defs": DEFS}

    made = instance(schema, SAID)

    jsonschema_rs.validator_for(schema).validate(made)
    assert expected is None or made == expected


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (
            {"type": "object", "properties": TWO, "required": ["b"]},
            {"b": "Paris"},
        ),
        ({"type": "object", "properties": TWO}, {"a": "Paris"}),
        ({"type": "object", "properties": {}}, {}),
        ({"type": "object"}, {}),
    ],
)
def test_only_what_is_required_is_filled_in(schema: Any, expected: Any) -> None:
    assert instance(schema, SAID) == expected


@pytest.mark.parametrize(
    "schema", [None, True, [], "x", {"$ref": "http://example.com/"}, {"type": "object", "required": 3}]
)
def test_a_schema_that_is_none_is_survived(schema: Any) -> None:
    json.dumps(instance(schema, SAID))


def test_a_schema_that_asks_for_endless_work_is_bounded() -> None:
    names = [f"p{number}" for number in range(10)]
    node = {"allOf": [{"$ref": "#"}, {"$ref": "#"}], "properties": {name: {"$ref": "#"} for name in names}}

    made = instance({**node, "type": "object", "required": names}, SAID)

    assert len(json.dumps(made)) < 1_000_000


def test_a_string_without_a_name_takes_the_sentence() -> None:
    schema = {"type": "object", "properties": {"query": STRING}, "required": ["query"]}

    assert instance(schema, subjects("cheap flights")) == {"query": "cheap flights"}


def test_free_strings_counts_the_names_one_call_takes() -> None:
    properties = {"from": STRING, "to": STRING, "day": {"type": "string", "format": "date"}}

    assert free_strings({"type": "object", "properties": properties, "required": list(properties)}) == 2
    assert free_strings({"type": "object"}) == 0
