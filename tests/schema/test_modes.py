"""`schema_mode`: what is converted may be refused (reject), and what cannot be said may be left out (lossy)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.corpus.driver import open_exchange
from toolwire.model.errors import RequestError
from toolwire.model.request import Tool
from toolwire.schema.dialects import DIALECTS, Adapted, adapted

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


@pytest.mark.parametrize("mode", [None, "convert", "reject", "lossy"])
@pytest.mark.parametrize("dialect", [*DIALECTS, "openai_chat"])
def test_a_schema_that_fits_goes_as_it_is(dialect: str, mode: Any) -> None:
    raw = json.dumps(PLAIN).encode()
    assert adapted(Tool("f", parameters=raw), dialect, PATH, "vendor", mode) == Adapted(raw, None)


@pytest.mark.parametrize("schema", [{"type": "object"}, {"type": "object", "properties": {}}])
def test_a_tool_without_parameters_is_no_conversion(schema: dict[str, Any]) -> None:
    assert told(schema, "gemini", "reject").parameters is None


# ------------------------------------------------------------ reject

CONVERTED = [
    ("gemini", {"type": "object", "properties": {"a": {"const": "x"}}}, ("const",)),
    ("gemini", {"properties": {"a": {"type": "integer", "exclusiveMinimum": 0}}}, ("exclusiveMinimum",)),
    ("anthropic_messages", {"properties": {"a": {"type": "string"}}}, ("type",)),
    (
        "anthropic_messages",
        {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": {"a": {"items": [{}]}}},
        ("$schema", "items"),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("dialect", "schema", "features"), CONVERTED)
def test_reject_allows_no_conversion(dialect: str, schema: dict[str, Any], features: tuple[str, ...]) -> None:
    assert told(schema, dialect, "convert").parameters != json.dumps(schema).encode()

    with pytest.raises(RequestError, match="schema_mode `reject`") as caught:
        told(schema, dialect, "reject")
    error = caught.value
    assert (error.code, error.param, error.features) == ("tool_schema_incompatible", PATH, features)


# ------------------------------------------------------------ lossy

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
        {"type": "object", "properties": {"a": {}, "b c": {}}, "required": ["b c", "a"], "additionalProperties": False},
        ["/properties/b_c"],
        {"type": "object", "properties": {"a": {}}, "required": ["a"]},
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
def test_lossy_leaves_out_and_says_where(dialect: str, schema: Any, where: list[str], sent: Any) -> None:
    with pytest.raises(RequestError) as caught:
        told(schema, dialect, "convert")
    assert caught.value.code == "tool_schema_incompatible"

    assert cuts(schema, dialect) == (sent, where)


def test_what_lossy_sends_is_what_the_provider_takes() -> None:
    for dialect, schema, _, _ in REDUCED:
        reduced, _ = cuts(schema, dialect)
        assert told(reduced, dialect, "reject").warnings == ()


def test_lossy_converts_like_convert_where_nothing_is_lost() -> None:
    for dialect, schema, _ in CONVERTED:
        assert told(schema, dialect, "lossy") == told(schema, dialect, "convert")


def test_a_schema_of_which_nothing_is_left_is_an_object() -> None:
    leaf = {"type": "object", "properties": {"x": {"type": "string"}}}
    schema = {
        "type": "object",
        "properties": {"n": LOOP},
        "$defs": {"n": {"type": "array", "minItems": 1, "items": LOOP}},
    }
    sent, where = cuts({**schema, "title": "t", "examples": [leaf]}, "gemini")
    assert sent == {"type": "object"}
    assert where == [""]


def test_many_cuts_are_one_warning() -> None:
    many = {"type": "object", "properties": {f"p {number}": {} for number in range(17)}}
    assert cuts(many, "anthropic_messages") == ({"type": "object", "properties": {}, "required": []}, [""])


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
    schema = {"type": "object", "properties": {"größe, x\r\n": {}}}
    (warning,) = told(schema, "anthropic_messages", "lossy").warnings
    assert warning == f"tool_schema_reduced:{PATH}/properties/gr__e__x__"


def test_the_cache_keeps_the_modes_apart() -> None:
    dialect, schema, where, sent = REDUCED[0]
    for _ in range(2):
        assert cuts(schema, dialect) == (sent, where)
        with pytest.raises(RequestError):
            told(schema, dialect, None)


# ------------------------------------------------------------ over the whole path


def opened(mode: str, model: str = "claude-opus-4-8", **fields: Any) -> Any:
    body = {"model": "p/m", "messages": [{"role": "user", "content": "x"}], **fields}
    headers = {"x-toolwire-schema-mode": mode}
    return open_exchange(json.dumps(body).encode(), wire="anthropic_messages", model=model, headers=headers)


COMBINED = {"type": "object", "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}
TOOLS = [{"type": "function", "function": {"name": "f", "parameters": COMBINED}}]


@pytest.mark.parametrize("mode", ["convert", "reject"])
def test_the_header_that_takes_no_loss(mode: str) -> None:
    with pytest.raises(RequestError, match="anyOf"):
        opened(mode, tools=TOOLS)


def test_the_header_reaches_the_writer() -> None:
    exchange = opened("lossy", tools=TOOLS)
    assert exchange.figures.warnings == ["tool_schema_reduced:tools[0].function.parameters/anyOf"]
    (tool,) = json.loads(exchange.upstream_request.body)["tools"]
    assert tool["input_schema"] == {"type": "object"}
    assert not [name for name, _ in exchange.upstream_request.headers if name.startswith("x-toolwire")]


def test_a_forced_choice_gives_way_to_reasoning_only_under_lossy() -> None:
    forced = {"tools": [{"type": "function", "function": {"name": "f"}}], "tool_choice": "required"}
    with pytest.raises(RequestError) as caught:
        opened("convert", "claude-opus-5-5", **forced)
    assert caught.value.code == "tool_choice_conflicts_with_reasoning"

    exchange = opened("lossy", "claude-opus-5-5", **forced)
    assert exchange.figures.warnings == ["tool_choice_changed"]
    assert json.loads(exchange.upstream_request.body)["tool_choice"] == {"type": "auto"}
