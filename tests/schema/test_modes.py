"""`schema_mode`: what cannot be said is refused (reject), or left out with a warning (convert, lossy)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.corpus.driver import open_exchange
from tests.named_rows import each_row
from tests.schema.provider_schemas import DIALECTS, adapted
from toolwire.model.errors import RequestError
from toolwire.model.request import Tool
from toolwire.schema.dialects import Adapted
from toolwire.schema.lossy import names_alone

PATH = "tools[3].function.parameters"
PLAIN = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}


def told(schema: Any, dialect: str, mode: Any) -> Adapted:
    return adapted(Tool("f", parameters=json.dumps(schema).encode()), dialect, PATH, "vendor", mode)


def cuts(schema: Any, dialect: str) -> tuple[Any, list[str]]:
    """The schema that is sent, and where it was cut."""
    result = told(schema, dialect, "lossy")
    codes = [warning.partition(f":{PATH}") for warning in result.warnings]
    assert all(code == "tool_schema_reduced" for code, _, _ in codes)
    return json.loads(result.parameters or b"null"), [where for _, _, where in codes]


# ------------------------------------------------------------ what needs nothing


@each_row("mode", [None, "convert", "reject", "lossy"])
@each_row("dialect", [*DIALECTS, "openai_chat"])
def test_a_schema_that_fits_goes_as_it_is(dialect: str, mode: Any) -> None:
    raw = json.dumps(PLAIN).encode()
    assert adapted(Tool("f", parameters=raw), dialect, PATH, "vendor", mode) == Adapted(raw, None)


@pytest.mark.parametrize("schema", [{"type": "object"}, {"type": "object", "properties": {}}])
def test_a_tool_without_parameters_is_no_conversion(schema: dict[str, Any]) -> None:
    assert told(schema, "gemini", "reject").parameters is None


# ------------------------------------------------------------ reject

CONVERTED = [
    ("gemini", {"type": "object", "properties": {"a": {"const": "x"}}}),
    ("gemini", {"properties": {"a": {"type": "integer", "exclusiveMinimum": 0}}}),
    ("anthropic_messages", {"properties": {"a": {"type": "string"}}}),
    ("openai_responses", {"properties": {"a": {"type": "array"}}}),
    (
        "anthropic_messages",
        {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": {"a": {"items": [{}]}}},
    ),
]  # fmt: skip


@pytest.mark.parametrize(("dialect", "schema"), CONVERTED)
def test_every_mode_converts_where_nothing_is_lost(dialect: str, schema: dict[str, Any]) -> None:
    first, *others = [told(schema, dialect, mode) for mode in ("reject", "convert", "lossy")]
    assert first.parameters != json.dumps(schema).encode()
    assert first.warnings == ()
    assert others == [first, first]


# ------------------------------------------------------------ what is left out

LOOP = {"$ref": "#/$defs/n"}
NODE = {"type": "object", "properties": {"next": LOOP, "v": {"type": "string"}}, "required": ["next", "v"]}

REDUCED = [
    (
        "anthropic_messages",
        {"type": "object", "properties": {"a": {"type": "string"}}, "anyOf": [{"required": ["a"]}, {}]},
        ["/anyOf"],
        {"type": "object", "properties": {"a": {"type": "string"}}},
    ),
    (
        "anthropic_messages",
        {
            "type": "object",
            "oneOf": [
                {"properties": {"a": {"type": "string"}, "b": {"type": "string"}}, "required": ["a"]},
                {"$ref": "#/$defs/other"},
            ],
            "$defs": {"other": {"properties": {"b": {"type": "integer"}}}},
        },
        ["/oneOf"],
        {
            "type": "object",
            "properties": {"a": {"type": "string"}, "b": {"anyOf": [{"type": "string"}, {"type": "integer"}]}},
        },
    ),
    (
        "anthropic_messages",
        {
            "type": "object",
            "properties": {"version": {"type": "string"}},
            "allOf": [
                {"if": {"required": ["version"]}, "then": {"properties": {"from": {}}}},
                {"if": {"required": ["to"]}, "then": {"required": ["from"]}},
            ],
        },
        ["/allOf"],
        {
            "type": "object",
            "properties": {"version": {"type": "string"}, "from": {}},
            "if": {"required": ["to"]},
            "then": {"required": ["from"]},
        },
    ),
    (
        "gemini",
        {"type": "object", "properties": {"n": LOOP}, "$defs": {"n": NODE}},
        ["/$defs/n/required/next"],
        {
            "type": "object",
            "properties": {"n": LOOP},
            "$defs": {"n": {**NODE, "required": ["v"]}},
        },
    ),
    (
        "gemini",
        {
            "type": "object",
            "properties": {"a": {"$dynamicRef": "#x", "type": "object"}},
            "$defs": {"x": {"$dynamicAnchor": "x"}},
        },
        ["/properties/a/$dynamicRef"],
        {"type": "object", "properties": {"a": {"type": "object"}}},
    ),
]  # fmt: skip


@pytest.mark.parametrize(("dialect", "schema", "where", "sent"), REDUCED)
def test_what_is_left_out_and_where(dialect: str, schema: Any, where: list[str], sent: Any) -> None:
    with pytest.raises(RequestError) as caught:
        told(schema, dialect, "reject")
    assert caught.value.code == "tool_schema_incompatible"

    assert cuts(schema, dialect) == (sent, where)
    assert told(schema, dialect, "convert") == told(schema, dialect, "lossy")


def test_what_lossy_sends_is_what_the_provider_takes() -> None:
    for dialect, schema, _, _ in REDUCED:
        reduced, _ = cuts(schema, dialect)
        assert told(reduced, dialect, "reject").warnings == ()


def test_a_schema_of_which_nothing_else_is_left_keeps_its_parameters() -> None:
    """Two hundred merged definitions of two hundred are too many; the names and what is said of them stay."""
    schema = {
        "type": "object",
        "properties": {"n": {**LOOP, "description": "The first."}, "odd": True},
        "anyOf": [{"properties": {"m": {"type": "string", "title": "M", "pattern": "x"}}}],
        "$defs": {"n": {"type": "array", "minItems": 1, "items": LOOP}},
    }
    assert names_alone(schema) == {
        "type": "object",
        "properties": {"n": {"description": "The first."}, "odd": {}, "m": {"title": "M"}},
    }


def test_many_cuts_are_one_warning() -> None:
    many = {"type": "object", "properties": {f"p{number}": {"type": "file"} for number in range(17)}}
    assert cuts(many, "anthropic_messages")[1] == [""]


def test_a_large_schema_that_contains_itself_everywhere_is_reduced() -> None:
    """As long a ring as references may make."""
    ring = {
        f"d{n}": {"type": "object", "properties": {"n": {"$ref": f"#/$defs/d{n + 1}"}}, "required": ["n"]}
        for n in range(90)
    } | {"d90": {"type": "object", "properties": {"n": {"$ref": "#/$defs/d0"}}, "required": ["n"]}}
    schema = {"type": "object", "properties": {"n": {"$ref": "#/$defs/d0"}}, "$defs": ring}
    sent, where = cuts(schema, "gemini")
    assert where == [""]
    assert not any(node["required"] for node in sent["$defs"].values())


def test_what_does_not_fit_into_a_header_is_replaced() -> None:
    schema = {"type": "object", "properties": {"größe, x\r\n": {"type": "file"}}}
    (warning,) = told(schema, "openai_chat", "lossy").warnings
    assert warning == f"tool_schema_reduced:{PATH}/properties/gr__e__x__/type"


def test_the_cache_keeps_the_modes_apart() -> None:
    dialect, schema, where, sent = REDUCED[0]
    for _ in range(2):
        assert cuts(schema, dialect) == (sent, where)
        with pytest.raises(RequestError):
            told(schema, dialect, "reject")


# ------------------------------------------------------------ over the whole path


def opened(mode: str, model: str = "claude-opus-4-8", **fields: Any) -> Any:
    body = {"model": "p/m", "messages": [{"role": "user", "content": "x"}], **fields}
    headers = {"x-toolwire-schema-mode": mode}
    return open_exchange(json.dumps(body).encode(), wire="anthropic_messages", model=model, headers=headers)


COMBINED = {"type": "object", "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}
TOOLS = [{"type": "function", "function": {"name": "f", "parameters": COMBINED}}]


def test_the_header_that_takes_no_loss() -> None:
    with pytest.raises(RequestError, match="anyOf"):
        opened("reject", tools=TOOLS)


@pytest.mark.parametrize("mode", ["convert", "lossy"])
def test_the_header_reaches_the_writer(mode: str) -> None:
    exchange = opened(mode, tools=TOOLS)
    assert exchange.figures.warnings == ["tool_schema_reduced:tools[0].function.parameters/anyOf"]
    (tool,) = json.loads(exchange.upstream_request.body)["tools"]
    assert tool["input_schema"] == {"type": "object"}
    assert tool["description"] == (
        'The arguments must also match this JSON Schema: {"anyOf":[{"required":["a"]},{"required":["b"]}]}'
    )
    assert not [name for name, _ in exchange.upstream_request.headers if name.startswith("x-toolwire")]


def test_a_forced_choice_gives_way_to_reasoning_only_under_lossy() -> None:
    forced = {"tools": [{"type": "function", "function": {"name": "f"}}], "tool_choice": "required"}
    with pytest.raises(RequestError) as caught:
        opened("convert", "claude-opus-5-5", **forced)
    assert caught.value.code == "tool_choice_conflicts_with_reasoning"

    exchange = opened("lossy", "claude-opus-5-5", **forced)
    assert exchange.figures.warnings == ["tool_choice_changed"]
    assert json.loads(exchange.upstream_request.body)["tool_choice"] == {"type": "auto"}
