"""A schema reduced to what every host takes: held against Moonshot's documented form, and against what the schema was
meant to accept."""

from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.named_rows import each_row
from tests.schema.test_same_meaning import EXAMPLES, OBJECTS, VALIDATORS, documents, usable
from toolwire.model.errors import RequestError
from toolwire.model.request import Tool
from toolwire.providers.openai_tools import BARE_SCHEMAS, BARE_STRICT_SCHEMAS, TYPED_SCHEMAS
from toolwire.schema.dialects import Adapted, SchemaDialect, SchemaMode, adapted
from toolwire.schema.essential import _ABOUT
from toolwire.schema.tree import walk

PATH = "tools[0].function.parameters"
RULES = {"typed": TYPED_SCHEMAS, "bare": BARE_SCHEMAS, "bare, at OpenAI": BARE_STRICT_SCHEMAS}

ALL = ["string", "number", "boolean", "object", "array", "null"]
TYPES = {*ALL, "integer"}
#: Keyword -> the types beside which it stands.
WORDS = {
    "properties": {"object"}, "required": {"object"}, "additionalProperties": {"object"}, "items": {"array"},
    "enum": {"string", "number", "integer"}, "default": TYPES - {"array", "object"},
}  # fmt: skip
BOUNDS = {
    "minimum": {"number", "integer"}, "maximum": {"number", "integer"}, "multipleOf": {"number", "integer"},
    "exclusiveMinimum": {"number", "integer"}, "exclusiveMaximum": {"number", "integer"},
    "minLength": {"string"}, "maxLength": {"string"}, "pattern": {"string"}, "format": {"string"},
    "minItems": {"array"}, "maxItems": {"array"}, "uniqueItems": {"array"},
    "contentEncoding": {"string"}, "contentMediaType": {"string"},
}  # fmt: skip
NAMES = {"title", "description"}


def told(schema: Any, rules: SchemaDialect, mode: SchemaMode | None = None) -> Adapted:
    return adapted(Tool("f", parameters=json.dumps(schema).encode()), rules, PATH, "vendor", mode)


def check(node: Any, *, bounds: bool, whole: bool, root: Any = None) -> None:
    """Fails unless the schema is one that Moonshot documents
    (https://github.com/MoonshotAI/walle/blob/main/docs/walle.md), and llama.cpp makes a grammar of."""
    assert isinstance(node, dict)
    root = node if root is None else root
    words = node.keys() - NAMES - ({"$defs"} if node is root else set())
    for inner in node.get("$defs", {}).values():
        check(inner, bounds=bounds, whole=whole, root=root)
    if "$ref" in node:
        assert words == {"$ref"}
        assert node["$ref"].removeprefix("#/$defs/") in root["$defs"]
        return
    if "anyOf" in node:
        assert words == {"anyOf"}
        assert node["anyOf"]
        for inner in node["anyOf"]:
            check(inner, bounds=bounds, whole=whole, root=root)
        return
    kinds = node["type"]
    if isinstance(kinds, list):
        assert words <= {"type"} | ({"items"} if whole else set())
        assert set(kinds) <= TYPES
        return
    assert kinds in TYPES
    for word in words - {"type"}:
        assert kinds in (WORDS | (BOUNDS if bounds else {}))[word]
    for inner in node.get("properties", {}).values():
        check(inner, bounds=bounds, whole=whole, root=root)
    assert set(node.get("required", ())) <= node.get("properties", {}).keys()
    assert node.get("required") != []
    if (items := node.get("items")) is not None and not (whole and items == {}):
        check(items, bounds=bounds, whole=whole, root=root)
    if isinstance(node.get("additionalProperties"), dict):
        check(node["additionalProperties"], bounds=bounds, whole=whole, root=root)
    if "enum" in node:
        assert node["enum"]
        assert len({type(value) is str for value in node["enum"]}) == 1


def completed(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema with the type that a value's keywords are about, where it says none: what its author means."""
    whole: dict[str, Any] = json.loads(json.dumps(schema))
    for node in walk(whole):
        kinds = [kind for kind, words in _ABOUT.items() if not node.keys().isdisjoint(words)]
        if kinds and node.keys().isdisjoint(("type", "enum", "const")):
            node["type"] = kinds
    return whole


TEXT = {"type": "string"}
A_OR_B = {"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}
#: What is declared as a parameter -> what is sent at hosts with a form of their own, and where they have refused.
KINDS: dict[str, tuple[Any, Any, Any]] = {
    "a type beside alternatives": (
        {"type": ["string", "boolean"], "anyOf": [TEXT, {"type": "boolean"}]},
        {"anyOf": [TEXT, {"type": "boolean"}]}, None,
    ),
    "a type for alternatives without": (
        {"type": "string", "anyOf": [{"enum": ["a"]}, {"pattern": "^b"}]},
        {"anyOf": [{"type": "string", "enum": ["a"]}, {"type": "string", "pattern": "^b"}]},
        {"anyOf": [{"type": "string", "enum": ["a"]}, {"type": "string", "description": '{"pattern":"^b"}'}]},
    ),
    "alternatives of required names": (
        {"type": "object", "properties": {"a": TEXT, "b": TEXT}, **A_OR_B},
        {"type": "object", "properties": {"a": TEXT, "b": TEXT},
         "description": '{"anyOf":[{"required":["a"]},{"required":["b"]}]}'}, None,
    ),
    "anything": ({}, {"type": ALL}, None),
    "anything, described": ({"description": "d"}, {"type": ALL, "description": "d"}, None),
    "no type": ({"enum": ["a", "b"]}, {"type": "string", "enum": ["a", "b"]}, None),
    "mixed values": (
        {"enum": ["a", 1, None]},
        {"anyOf": [{"type": "integer", "enum": [1]}, {"type": "string", "enum": ["a"]}, {"type": "null"}]}, None,
    ),
    "a nullable enum": (
        {"type": ["string", "null"], "enum": ["a", None]},
        {"anyOf": [{"type": "string", "enum": ["a"]}, {"type": "null"}]}, None,
    ),
    "OpenAPI's nullable": ({"type": "string", "nullable": True}, {"type": ["string", "null"]}, None),
    "optional in zod": (
        {"anyOf": [{"anyOf": [{"not": {}}, TEXT]}, {"type": "null"}]}, {"anyOf": [TEXT, {"type": "null"}]}, None,
    ),
    "a pattern of Claude Code's": (
        {"type": "string", "pattern": "^(?!\\.\\.?(?:\\/|$))[\\w\\-]{1,200}$", "maxLength": 65536},
        {"type": "string", "pattern": "^(?!\\.\\.?(?:\\/|$))[\\w\\-]{1,200}$", "maxLength": 65536},
        {"type": "string",
         "description": '{"maxLength":65536,"pattern":"^(?!\\\\.\\\\.?(?:\\\\/|$))[\\\\w\\\\-]{1,200}$"}'},
    ),
    "a described length": (
        {"type": "string", "maxLength": 9, "description": "d"},
        {"type": "string", "maxLength": 9, "description": "d"},
        {"type": "string", "description": 'd\n\n{"maxLength":9}'},
    ),
    "a machine's type": ({"type": "integer", "format": "int64"}, {"type": "integer"}, None),
    "a default": ({"type": "integer", "default": 5}, {"type": "integer", "default": 5}, None),
    "a default of another form": (
        {"type": "array", "items": TEXT, "default": []},
        {"type": "array", "items": TEXT, "description": '{"default":[]}'}, None,
    ),
    "a pair": (
        {"type": "array", "prefixItems": [TEXT, {"type": "null"}], "items": False},
        {"type": "array", "items": {"anyOf": [TEXT, {"type": "null"}]},
         "description": '{"items":{"not":{}},"prefixItems":[{"type":"string"},{"type":"null"}]}'}, None,
    ),
    "a required name that is no property": (
        {"type": "object", "properties": {}, "required": ["a"]},
        {"type": "object", "properties": {"a": {"type": ALL}}, "required": ["a"]}, None,
    ),
    "nothing required": (
        {"type": "object", "properties": {}, "required": []}, {"type": "object", "properties": {}}, None,
    ),
    "a map": (
        {"type": "object", "additionalProperties": {"type": "string", "minLength": 1}},
        {"type": "object", "properties": {}, "additionalProperties": {"type": "string", "minLength": 1}},
        {"type": "object", "properties": {},
         "additionalProperties": {"type": "string", "description": '{"minLength":1}'}},
    ),
    "names by a pattern": (
        {"type": "object", "patternProperties": {"^x": TEXT}, "additionalProperties": False},
        {"type": "object", "properties": {}, "description": '{"patternProperties":{"^x":{"type":"string"}}}'}, None,
    ),
    "the only value": ({"const": True}, {"type": "boolean", "description": '{"enum":[true]}'}, None),
    "many values with descriptions": (
        {"oneOf": [{"const": f"v{n}", "description": f"d{n}"} for n in range(11)]},
        {"type": "string", "enum": [f"v{n}" for n in range(11)],
         "description": "\n".join(f'"v{n}": d{n}' for n in range(11))}, None,
    ),
}  # fmt: skip


@each_row("kind", KINDS)
def test_what_is_sent(kind: str) -> None:
    given, typed, bare = KINDS[kind]
    for rules, expected in ((TYPED_SCHEMAS, typed), (BARE_SCHEMAS, typed if bare is None else bare)):
        sent = json.loads(told({"type": "object", "properties": {"p": given}}, rules).parameters or b"")
        assert sent["properties"]["p"] == expected


def test_a_reference_beside_its_description_is_one_schema() -> None:
    schema = {
        "type": "object",
        "properties": {"a": TEXT, "b": {"$ref": "#/properties/a", "description": "B"}, "c": {"$ref": "#/$defs/C"}},
        "$defs": {"C": {"type": "object", "properties": {"again": {"$ref": "#/$defs/C"}}}},
    }
    sent = json.loads(told(schema, TYPED_SCHEMAS).parameters or b"")
    assert sent["properties"]["b"] == {"type": "string", "description": "B"}
    assert sent["properties"]["c"] == {"$ref": "#/$defs/C"}
    assert sent["$defs"] == schema["$defs"]


def test_what_is_left_out_is_told_by_its_place_or_refused() -> None:
    schema = {"type": "object", "properties": {"p": {"type": "string", "pattern": "^a$"}}}
    assert told(schema, BARE_SCHEMAS).warnings == (f"tool_schema_reduced:{PATH}/properties/p/pattern",)
    with pytest.raises(RequestError) as refused:
        told(schema, BARE_SCHEMAS, "reject")
    assert (refused.value.code, refused.value.features) == ("tool_schema_incompatible", ("pattern",))
    assert told(schema, TYPED_SCHEMAS, "reject").parameters == json.dumps(schema).encode()


@EXAMPLES
@given(schema=documents(), instances=st.lists(OBJECTS, min_size=8, max_size=12))
def test_any_schema_becomes_one_that_accepts_as_much(schema: dict[str, Any], instances: list[Any]) -> None:
    tool = usable(schema)
    meant = VALIDATORS[schema.get("$schema")][1](completed(schema), offline=True)
    for name, rules in RULES.items():
        found = adapted(tool, rules, PATH, "vendor")
        sent = json.loads(found.parameters or b"")
        check(sent, bounds=name == "typed", whole=rules.whole)
        assert jsonschema_rs.meta.is_valid(sent)
        if not any("/anyOf" in cut or cut == f"tool_schema_reduced:{PATH}" for cut in found.warnings):
            hears = jsonschema_rs.Draft202012Validator(sent)
            assert all(hears.is_valid(each) for each in instances if meant.is_valid(each)), name
