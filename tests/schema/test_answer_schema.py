"""An answer's schema for providers that enforce a part of JSON Schema: what is sent is what they take."""

from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
import pytest

from tests.clients.sending import send
from tests.named_rows import each_row
from toolwire.schema.answer_schema import enforced, of_object
from toolwire.schema.strict import strict_cost
from toolwire.schema.survey import Survey
from toolwire.schema.tree import parse

TEXT: dict[str, Any] = {"type": "string"}


def of(closed: bool | None = None, /, **properties: Any) -> dict[str, Any]:
    shut = {} if closed is None else {"additionalProperties": closed}
    return {"type": "object", "properties": properties, "required": list(properties), **shut}


def told(**keywords: Any) -> str:
    return json.dumps(keywords, separators=(",", ":"))


#: The client's schema, the schema that is sent, and whether it lacks what only its descriptions say now.
SENT: list[tuple[dict[str, Any], dict[str, Any], bool]] = [
    (of(False, a=TEXT), of(False, a=TEXT), False),
    (of(a=TEXT), of(False, a=TEXT), False),
    (of(True, a=of(b=TEXT)), of(False, a=of(False, b=TEXT)), False),
    ({"$schema": "http://json-schema.org/draft-07/schema#", "$id": "x", **of(a=TEXT)}, of(False, a=TEXT), False),
    (of(a={"oneOf": [TEXT, of(b=TEXT)]}), of(False, a={"anyOf": [TEXT, of(False, b=TEXT)]}), False),
    (
        {**of(a={"$ref": "#/$defs/A"}), "$defs": {"A": of(b=TEXT)}},
        {**of(False, a={"$ref": "#/$defs/A"}), "$defs": {"A": of(False, b=TEXT)}},
        False,
    ),
    (
        of(n={"type": "integer", "minimum": 1, "maximum": 10}),
        of(False, n={"type": "integer", "description": told(minimum=1, maximum=10)}),
        True,
    ),
    (
        of(a={"type": "array", "items": TEXT, "minItems": 2, "description": "Names."}),
        of(False, a={"type": "array", "items": TEXT, "description": "Names.\n\n" + told(minItems=2)}),
        True,
    ),
    (of(a={"type": "array", "minItems": 1}), of(False, a={"type": "array", "minItems": 1}), False),
    (of(a={**TEXT, "format": "date"}), of(False, a={**TEXT, "format": "date"}), False),
    (of(a={**TEXT, "format": "phone"}), of(False, a={**TEXT, "description": told(format="phone")}), True),
    (of(a={**TEXT, "default": "x"}), of(False, a={**TEXT, "description": told(default="x")}), True),
    (of(pattern=TEXT, default=TEXT), of(False, pattern=TEXT, default=TEXT), False),  # names, no keywords
]  # fmt: skip


@each_row(("given", "sent", "is_reduced"), SENT)
def test_what_is_sent(given: dict[str, Any], sent: dict[str, Any], is_reduced: bool) -> None:
    found = enforced(json.dumps(given).encode())
    assert found is not None
    assert (json.loads(found.raw), found.is_reduced) == (sent, is_reduced)
    assert jsonschema_rs.meta.is_valid(sent)
    assert strict_cost(parse(found.raw), Survey(parse(found.raw))) is not None


def test_a_schema_that_is_as_it_should_be_keeps_its_bytes() -> None:
    raw = (
        b'{ "type":"object",  "properties": {"a": {"type": "number", "enum": [1.10]}}, "additionalProperties": false }'
    )
    found = enforced(raw)
    assert found is not None
    assert found.raw is raw


#: What no such provider can be given.
IN_WORDS: dict[str, Any] = {
    "an object of any members": of(a={"type": "object"}),
    "a map": of(a={"type": "object", "additionalProperties": TEXT}),
    "itself": {**of(a={"$ref": "#"})},
    "a condition": of(a={**TEXT, "if": {"const": "x"}, "then": {"minLength": 2}}),
    "what it is not": of(a={"not": TEXT}),
    "all of several": of(a={"allOf": [of(b=TEXT), of(c=TEXT)]}),
    "a tuple": of(a={"type": "array", "prefixItems": [TEXT]}),
    "a reference to nothing": of(a={"$ref": "#/$defs/none"}),
    "too many that may be left out": {**of(**{f"p{n}": TEXT for n in range(25)}), "required": []},
    "too many unions": of(**{f"p{n}": {"type": ["string", "null"]} for n in range(17)}),
}


def asked(schema: dict[str, Any], *, strict: bool | None = None) -> dict[str, Any]:
    said = {"name": "n", "schema": schema, **({} if strict is None else {"strict": strict})}
    return {
        "messages": [{"role": "user", "content": "x"}],
        "response_format": {"type": "json_schema", "json_schema": said},
    }


@each_row("schema", IN_WORDS.values(), ids=IN_WORDS)
def test_what_is_asked_for_in_words(schema: dict[str, Any]) -> None:
    assert enforced(json.dumps(schema).encode()) is None
    for wire, model in (
        ("anthropic_messages", "claude-sonnet-4-5"),
        ("bedrock_converse", "anthropic.claude-sonnet-4-5"),
    ):
        found = send("chat_completions", wire, model=model, **asked(schema))
        assert found.warnings == ["response_format_in_words"]
        assert not {"output_config", "outputConfig"} & found.body.keys()
        assert json.dumps(json.dumps(schema))[1:-1] in json.dumps(found.body["system"])


def test_every_wire_that_enforces_it_has_it_so() -> None:
    given, sent, _ = SENT[6]
    claude = send("chat_completions", "anthropic_messages", model="claude-sonnet-4-5", **asked(given))
    assert claude.body["output_config"]["format"]["schema"] == sent
    bedrock = send("chat_completions", "bedrock_converse", model="anthropic.claude-sonnet-4-5", **asked(given))
    assert json.loads(bedrock.body["outputConfig"]["textFormat"]["structure"]["jsonSchema"]["schema"]) == sent
    assert claude.warnings == bedrock.warnings == ["answer_schema_reduced"]
    assert send("chat_completions", "gemini", **asked(given)).body["generationConfig"]["responseJsonSchema"] == given


@pytest.mark.parametrize(("schema", "strict"), [(of(False, a=TEXT), True), (of(a=TEXT), False)])
def test_openai_is_asked_to_be_strict_where_the_schema_is(schema: dict[str, Any], strict: bool) -> None:
    """Anthropic has no word for it: its clients' schemas are always enforced, and may have what OpenAI refuses."""
    members: dict[str, Any] = {"max_tokens": 9, "messages": [{"role": "user", "content": "x"}]}
    members["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
    chat = send("messages", "openai_chat", profile="openai", **members)
    assert chat.body["response_format"]["json_schema"]["strict"] is strict
    responses = send("messages", "openai_responses", **members)
    assert responses.body["text"]["format"]["strict"] is strict
    assert ("strict_turned_off" in chat.warnings, "strict_turned_off" in responses.warnings) == (not strict, not strict)
    other = send("messages", "openai_chat", profile="compatible", **members)
    assert other.body["response_format"]["json_schema"]["strict"] is True


# ---------------------------------------------------------------- an object at the root

NODE = {**of(v=TEXT), "properties": {"v": TEXT, "kids": {"type": "array", "items": {"$ref": "#/$defs/Node"}}}}
RECURSIVE = {"$ref": "#/$defs/Node", "$defs": {"Node": NODE}}

#: The client's schema, and the schema that OpenAI's hosts are sent; None: it is asked for in words.
ROOTS: dict[str, tuple[dict[str, Any], dict[str, Any] | None]] = {
    "an object": (of(a=TEXT), of(a=TEXT)),
    "properties alone": ({"properties": {"a": TEXT}}, {"type": "object", "properties": {"a": TEXT}}),
    "a model that contains itself": (RECURSIVE, {**NODE, "$defs": {"Node": NODE}}),
    "a reference": ({"$ref": "#/$defs/A", "$defs": {"A": of(a=TEXT)}}, of(a=TEXT)),
    "a list": ({"type": "array", "items": of(a=TEXT)}, None),
    "a reference to a list": ({"$ref": "#/$defs/A", "$defs": {"A": {"type": "array", "items": TEXT}}}, None),
    "an enum": ({"type": "string", "enum": ["a", "b"]}, None),
    "a number": ({"type": "integer"}, None),
    "one of several": ({"anyOf": [of(a=TEXT), of(b=TEXT)]}, None),
    "an object of one of several": ({**of(a=TEXT), "anyOf": [{"required": ["a"]}]}, None),
    "an object or null": ({**of(a=TEXT), "type": ["object", "null"]}, None),
    "anything": ({}, None),
    "a reference to nothing": ({"$ref": "#/$defs/none"}, None),
}


@each_row(
    ("door", "wire"),
    [("chat_completions", "openai_responses"), ("gemini", "openai_responses"), ("gemini", "openai_chat")],
)
@each_row(("given", "expected"), ROOTS.values(), ids=ROOTS)
def test_an_object_at_the_root(door: str, wire: str, given: dict[str, Any], expected: dict[str, Any] | None) -> None:
    config = {"responseMimeType": "application/json", "responseJsonSchema": given}
    members = (
        asked(given)
        if door == "chat_completions"
        else {"contents": [{"parts": [{"text": "x"}]}], "generationConfig": config}
    )
    found = send(door, wire, profile="openai", model="gpt-4.1", **members)
    told = found.body.get("text", {}).get("format") or found.body.get("response_format", {}).get("json_schema")
    assert (told and told["schema"]) == expected
    assert ("response_format_in_words" in found.warnings) == (expected is None)
    if expected is None:
        assert ("one JSON object" if of_object(json.dumps(given).encode()) else "one JSON value") in json.dumps(
            found.body
        )
    else:
        assert not told["strict"], "their properties may be left out"


def test_an_array_in_words_is_no_json_object() -> None:
    """DeepSeek takes no schema; asked for a JSON object, its model could not answer with a list."""
    config = {"responseMimeType": "application/json", "responseJsonSchema": {"type": "array", "items": TEXT}}
    contents = [{"parts": [{"text": "x"}]}]
    found = send("gemini", "openai_chat", profile="deepseek", contents=contents, generationConfig=config)
    assert "response_format" not in found.body
    config["responseJsonSchema"] = of(a=TEXT)
    found = send("gemini", "openai_chat", profile="deepseek", contents=contents, generationConfig=config)
    assert found.body["response_format"] == {"type": "json_object"}
