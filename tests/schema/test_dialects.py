"""What each provider is told of a schema, to the byte; what is refused, and how; what is kept."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.named_rows import each_row
from tests.schema.provider_schemas import adapted
from toolwire.doors.openai_errors import render_error
from toolwire.model.errors import RequestError
from toolwire.model.request import Tool
from toolwire.schema import dialects
from toolwire.schema.dialects import Adapted
from toolwire.schema.memory import Memory

PATH = "tools[3].function.parameters"
DRAFT_4 = {"$schema": "http://json-schema.org/draft-04/schema#"}
DRAFT_7 = {"$schema": "http://json-schema.org/draft-07/schema#"}


def told(schema: Any, dialect: str = "gemini") -> Any:
    """The parsed parameters; numbers are compared in their own test."""
    raw = adapted(Tool("f", parameters=json.dumps(schema).encode()), dialect, PATH, "vendor").parameters
    return None if raw is None else json.loads(raw)


def of(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def refused(schema: Any, dialect: str) -> RequestError:
    with pytest.raises(RequestError) as caught:
        adapted(Tool("f", parameters=json.dumps(schema).encode()), dialect, PATH, "vendor", "reject")
    return caught.value


STRING, INTEGER = {"type": "string"}, {"type": "integer"}
NODE = of(name=STRING, next={"$ref": "#/$defs/Node"})


# ------------------------------------------------------------ nothing to change

KEYWORDS_AS_NAMES = of(
    **dict.fromkeys(("pattern", "title", "const", "default", "additionalProperties", "$ref", "allOf"), STRING),
    properties=of(type={"type": "string", "enum": ["title", "const"], "default": {"const": {"$ref": 1}}}),
) | {"required": ["pattern", "title", "const", "properties"]}


@each_row(
    "schema",
    [
        of(a=STRING),
        KEYWORDS_AS_NAMES,
        {**of(root={"$ref": "#/$defs/Node"}), "$defs": {"Node": NODE}},
        of(a={"anyOf": [STRING, {"type": "null"}]}, b={"oneOf": [STRING, INTEGER]}, c={"type": ["string", "null"]}),
        of(a={"pattern": "a", "multipleOf": 2, "not": {"enum": ["b"]}, "x-hint": {"const": 1}}),
        of(a={"type": "number", "exclusiveMinimum": 0}),
        of(a={"prefixItems": [STRING], "items": STRING}),
        of(a={"minimum": 2, "allOf": [{"minimum": 1}]}),
        of(a={"const": True}, b={"const": {"a": 1}}),
    ],
)
def test_the_same_bytes_where_nothing_must_change(schema: dict[str, Any]) -> None:
    raw = json.dumps(schema, indent=1).encode()
    for dialect in ("gemini", "openai_chat", *(["anthropic_messages"] if schema is not KEYWORDS_AS_NAMES else [])):
        assert adapted(Tool("f", parameters=raw), dialect, PATH, "vendor") == Adapted(raw, None)


def test_numbers_keep_their_text() -> None:
    raw = b'{"type":"object","properties":{"a":{"const":1.10,"default":1234567890123456789},"b":{"minimum":1E2}}}'
    told = adapted(Tool("f", parameters=raw), "gemini", PATH, "vendor").parameters
    assert told == raw.replace(
        b'"const":1.10,"default":1234567890123456789', b'"default":1234567890123456789,"enum":[1.10]'
    )


# ------------------------------------------------------------ no parameters


EMPTY = b'{"type":"object","properties":{}}'


@each_row("dialect", ["gemini", "anthropic_messages", "openai_chat"])
@each_row(
    ("parameters", "gemini", "anthropic", "openai"),
    [
        (None, None, EMPTY, None),
        (b"{}", None, b'{"type":"object"}', EMPTY),
        (b'{"type":"object"}', None, b'{"type":"object"}', EMPTY),
        (b'{"type":"object","properties":{},"required":[],"additionalProperties":false}', None, ..., ...),
        (b'{"$schema":"http://json-schema.org/draft-07/schema#"}', None, b'{"type":"object"}', EMPTY),
        (
            b'{"type":"object","additionalProperties":{"type":"string"}}', ..., ...,
            b'{"type":"object","additionalProperties":{"type":"string"},"properties":{}}',
        ),
        (
            b'{"type":"object","minProperties":1}', ..., ...,
            b'{"type":"object","minProperties":1,"properties":{}}',
        ),
    ],
)  # fmt: skip
def test_without_properties(dialect: str, parameters: bytes | None, gemini: Any, anthropic: Any, openai: Any) -> None:
    """`...`: as it came."""
    expected = {"gemini": gemini, "anthropic_messages": anthropic, "openai_chat": openai}[dialect]
    got = adapted(Tool("f", parameters=parameters), dialect, PATH, "vendor").parameters
    assert got == (parameters if expected is ... else expected)


# ------------------------------------------------------------ Gemini


@each_row(
    ("given", "expected"),
    [
        # words
        ({"const": "v"}, {"enum": ["v"]}),
        ({"const": 1}, {"enum": [1]}),
        ({"const": "v", "enum": ["v"]}, {"const": "v", "enum": ["v"]}),
        ({**INTEGER, "exclusiveMinimum": 0}, {**INTEGER, "minimum": 1}),
        ({**INTEGER, "exclusiveMaximum": 0}, {**INTEGER, "maximum": -1}),
        ({**INTEGER, "exclusiveMinimum": 3, "minimum": 1}, {**INTEGER, "minimum": 4}),
        ({**INTEGER, "exclusiveMinimum": 3, "minimum": 9}, {**INTEGER, "minimum": 9}),
        ({"type": ["integer", "null"], "exclusiveMinimum": 0}, {"type": ["integer", "null"], "minimum": 1}),
        ({**INTEGER, "exclusiveMinimum": 0.5}, {**INTEGER, "exclusiveMinimum": 0.5}),
        ({**INTEGER, "exclusiveMinimum": 1e30}, {**INTEGER, "exclusiveMinimum": 1e30}),
        (True, {}),
        (False, {"not": {}}),
        ({"items": True}, {"items": {}}),
        ({"additionalProperties": False, "minProperties": 1}, {"additionalProperties": False, "minProperties": 1}),
        # composition
        ({"allOf": [STRING], "description": "d"}, {**STRING, "description": "d"}),
        ({"allOf": [{**STRING, "description": "in"}], "description": "out"}, {**STRING, "description": "out"}),
        ({"anyOf": [STRING]}, STRING),
        ({"oneOf": [STRING]}, STRING),
        ({"allOf": [of(a=STRING), of(b=INTEGER)]}, of(a=STRING, b=INTEGER)),
        ({"allOf": [{"type": "number"}, INTEGER]}, INTEGER),
        ({"allOf": [{"required": ["a"]}, {"required": ["b", "a"]}]}, {"required": ["a", "b"]}),
        ({"allOf": [of(a=STRING), of(a={"minLength": 1})]}, of(a={**STRING, "minLength": 1})),
        ({"allOf": [of(a=STRING), of(a=INTEGER)]}, of(a={"allOf": [STRING, INTEGER]})),
        (
            {"allOf": [{**of(a=STRING), "additionalProperties": False}, of(b=STRING)]},
            {"allOf": [{**of(a=STRING), "additionalProperties": False}], **of(b=STRING)},
        ),
    ],
)
def test_words_that_gemini_documents(given: Any, expected: Any) -> None:
    assert told(of(x=given)) == of(x=expected)


@pytest.mark.parametrize("word", ["anyOf", "oneOf"])
def test_a_choice_of_schemas_reaches_gemini_as_it_is(word: str) -> None:
    schema = {**of(x={word: [STRING, INTEGER]}, y=STRING), word: [{"required": ["x"]}, {"required": ["y"]}]}
    assert told(schema) == schema


@each_row(
    ("given", "definitions", "expected", "left"),
    [
        ({"$ref": "#/$defs/S"}, {"$defs": {"S": STRING, "unused": {}}}, {"$ref": "#/$defs/S"}, {"S": STRING}),
        ({"$ref": "#/definitions/S"}, {"definitions": {"S": STRING}}, {"$ref": "#/$defs/S"}, {"S": STRING}),
        ({"$ref": "#s"}, {"$defs": {"S": {"$anchor": "s", **STRING}}}, {"$ref": "#/$defs/S"}, {"S": STRING}),
        ({"$ref": "#/x/0"}, {"x": [STRING]}, {"$ref": "#/$defs/Schema"}, {"Schema": STRING}),
        ({"$ref": "#/$defs/yes"}, {"$defs": {"yes": True}}, {}, None),
        ({"$ref": "#/$defs/no"}, {"$defs": {"no": False}}, {"not": {}}, None),
        ({"$ref": "#/$defs/S", "description": "d"}, {"$defs": {"S": STRING}}, {**STRING, "description": "d"}, None),
        ({"$ref": "#/$defs/S", "minLength": 1}, {"$defs": {"S": STRING}}, {**STRING, "minLength": 1}, None),
        (
            {"allOf": [{"$ref": "#/$defs/S"}], "default": "x"},
            {"$defs": {"S": STRING}},
            {**STRING, "default": "x"},
            None,
        ),
        (
            {"$ref": "#/$defs/S", "description": "out"},
            {"$defs": {"S": {"$ref": "#/$defs/T", "description": "in"}, "T": STRING}},
            {**STRING, "description": "out"},
            None,
        ),
        (
            {"$ref": "#/$defs/S", "minLength": 1},
            {"$defs": {"S": {**STRING, "minLength": 2}}},
            {"minLength": 1, "allOf": [{"$ref": "#/$defs/S"}]},
            {"S": {**STRING, "minLength": 2}},
        ),
        (  # before 2019-09 nothing counts beside a reference; what it says to a reader stays
            {"$ref": "#/definitions/S", "minLength": 1, "description": "d"},
            {**DRAFT_7, "definitions": {"S": STRING}},
            {**STRING, "description": "d"},
            None,
        ),
    ],
)
def test_references_into_definitions(given: Any, definitions: Any, expected: Any, left: Any) -> None:
    result = told({**of(x=given), **definitions})
    result.pop("x", None)
    assert result == {**of(x=expected), **({"$defs": left} if left else {})}


def test_a_reference_with_company_into_a_schema_that_contains_itself() -> None:
    schema = {**of(a={"$ref": "#/$defs/N", "title": "t"}), "$defs": {"N": of(n={"$ref": "#/$defs/N", "title": "t"})}}
    both = {**of(n={"$ref": "#/$defs/N_2"}), "title": "t"}
    assert told(schema) == {**of(a={"$ref": "#/$defs/N_2"}), "$defs": {"N_2": both}}


def test_a_definition_that_is_a_reference_with_company() -> None:
    schema = {**of(x={"$ref": "#/$defs/p"}), "$defs": {"p": {"$ref": "#/$defs/q", "title": "p"}, "q": STRING}}
    assert told(schema) == {**of(x={"$ref": "#/$defs/p"}), "$defs": {"p": {**STRING, "title": "p"}}}


def test_a_reference_to_the_root() -> None:
    schema = of(next={"$ref": "#"}, k={"const": "v"})
    root = of(next={"$ref": "#/$defs/Root"}, k={"enum": ["v"]})
    assert told(schema) == {**root, "$defs": {"Root": root}}


def test_many_references_with_company_stay_small() -> None:
    """Each definition refers twice to the next with another word beside: inlined, there would be a billion."""
    definitions = {
        f"d{n}": of(a={"$ref": f"#/$defs/d{n + 1}", "title": "a"}, b={"$ref": f"#/$defs/d{n + 1}", "title": "b"})
        for n in range(12)
    }
    schema = {**of(x={"$ref": "#/$defs/d0", "title": "x"}), "$defs": {**definitions, "d12": STRING}}
    raw = json.dumps(schema).encode()
    assert len(adapted(Tool("f", parameters=raw), "gemini", PATH, "vendor").parameters or b"") < 3 * len(raw)


# ------------------------------------------------------------ old drafts


@each_row("dialect", ["gemini", "anthropic_messages"])
@each_row(
    ("draft", "given", "expected"),
    [
        (DRAFT_4, {"minimum": 1, "exclusiveMinimum": True}, {"exclusiveMinimum": 1}),
        (DRAFT_4, {"maximum": 1, "exclusiveMaximum": False}, {"maximum": 1}),
        (DRAFT_7, {"items": [STRING], "additionalItems": INTEGER}, {"prefixItems": [STRING], "items": INTEGER}),
        (DRAFT_7, {"items": STRING, "additionalItems": INTEGER}, {"items": STRING}),
        (DRAFT_7, {"dependencies": {"a": ["b"]}}, {"dependentRequired": {"a": ["b"]}}),
        (DRAFT_7, {"dependencies": {"a": STRING}}, {"dependentSchemas": {"a": STRING}}),
        (DRAFT_4, {"if": STRING, "then": INTEGER, "else": {"type": "null"}}, {}),
    ],
)
def test_old_drafts_as_2020_12_says_it(dialect: str, draft: Any, given: Any, expected: Any) -> None:
    assert told({**draft, **of(x=given)}, dialect) == of(x=expected)


def test_a_schema_that_only_names_an_old_draft_goes_to_anthropic_as_it_is() -> None:
    schema = {**DRAFT_7, **of(x=STRING, y={"items": STRING}), "definitions": {"S": STRING}}
    assert told(schema, "anthropic_messages") == schema


# ------------------------------------------------------------ Anthropic's root


@each_row(
    ("given", "expected"),
    [
        ({"properties": {"a": STRING}}, of(a=STRING)),
        ({**of(a=STRING), "type": ["object", "null"]}, of(a=STRING)),
        ({"allOf": [of(a=STRING), of(b=STRING)]}, of(a=STRING, b=STRING)),
        ({**of(a=STRING), "anyOf": [{"required": ["a"]}]}, {**of(a=STRING), "required": ["a"]}),
        ({"$ref": "#/$defs/R", "$defs": {"R": of(a=STRING)}}, of(a=STRING)),
        ({**DRAFT_7, "$ref": "#/definitions/R", "definitions": {"R": of(a=STRING)}}, of(a=STRING)),
        ({"$ref": "#/$defs/Node", "$defs": {"Node": NODE}}, {**NODE, "$defs": {"Node": NODE}}),
        (
            {"allOf": [{"$ref": "#/$defs/R"}, of(b={"const": 1})], "$defs": {"R": of(a=STRING)}},
            of(a=STRING, b={"const": 1}),
        ),
    ],
)
def test_the_root_at_anthropic_is_an_object_and_no_composition(given: Any, expected: Any) -> None:
    assert told(given, "anthropic_messages") == expected


# ------------------------------------------------------------ refused


GROUPS = {**of(a=STRING, b=STRING), "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}
ENDLESS = {**of(x={"$ref": "#/$defs/N"}), "$defs": {"N": {**of(n={"$ref": "#/$defs/N"}), "required": ["n"]}}}


@each_row(
    ("dialect", "schema", "features"),
    [
        ("anthropic_messages", GROUPS, ("anyOf at the root",)),
        ("anthropic_messages", {"oneOf": [of(a=STRING), of(b=STRING)]}, ("oneOf at the root",)),
        ("anthropic_messages", {"allOf": [{"not": of(a=STRING)}, {"not": of(b=STRING)}]}, ("allOf at the root",)),
        ("anthropic_messages", of(**{"a b": STRING, "$c": {}}), ("the property name 'a b'", "the property name '$c'")),
        ("anthropic_messages", of(**{"n" * 65: STRING}), (f"the property name {'n' * 65!r}",)),
        ("bedrock_converse", GROUPS, ("anyOf at the root",)),
        ("openai", {**of(a=STRING), "not": {"required": ["a"]}}, ("not at the root",)),
        ("gemini", ENDLESS, ("recursion through the required property /$defs/N/required/n",)),
        ("gemini", {**of(x={"$dynamicRef": "#a"}), "$defs": {"A": {"$dynamicAnchor": "a"}}}, ("$dynamicRef",)),
        ("gemini", of(x={"$ref": "file:///a"}), ("$ref",)),
        ("gemini", {"$ref": "#"}, ("$ref",)),
    ],
)
def test_refused_where_the_meaning_would_change(dialect: str, schema: Any, features: tuple[str, ...]) -> None:
    error = refused(schema, dialect)

    assert (error.status, error.code, error.param) == (400, "tool_schema_incompatible", PATH)
    assert error.features
    assert set(error.features) <= {"anyOf", "oneOf", "allOf", "not", "properties", "$ref", "$dynamicRef"}
    assert all(feature in ("properties", "$ref") or feature in " ".join(features) for feature in error.features)
    assert all(word in error.message for word in ("'f'", PATH, "vendor", *features))


def test_the_chat_door_says_what_is_incompatible() -> None:
    error = json.loads(render_error(refused(GROUPS, "anthropic_messages"), "req-1"))["error"]
    assert (error["type"], error["code"], error["param"]) == ("semantic_error", "tool_schema_incompatible", PATH)
    assert error["incompatible_features"] == ["anyOf"]


def test_what_one_provider_refuses_the_others_take() -> None:
    assert told(GROUPS, "gemini") == GROUPS
    assert told(ENDLESS, "anthropic_messages") == ENDLESS
    for schema in (GROUPS, ENDLESS):
        assert told(schema, "openai_chat") == schema


# ------------------------------------------------------------ what is kept


@pytest.mark.parametrize("size", [0, 100_000])
def test_a_schema_is_converted_once(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dialects, "_memory", Memory(1 << 20))
    once = of(x={"const": "once", "description": "x" * size})
    first = told(once)
    monkeypatch.setattr(dialects, "_convert", None)  # calling it would fail

    assert told(once) == first
    with pytest.raises(TypeError):
        told(of(x={"const": "twice"}))


def test_what_is_kept_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: Memory[Any] = Memory(10_000)
    monkeypatch.setattr(dialects, "_memory", kept)
    for number in range(50):
        told(of(x={"const": str(number)}))
    assert 0 < len(kept) < 50
    assert kept.held <= 10_000
    before = kept.held
    told(of(x={"const": "x" * 10_000}))
    assert kept.held == before
