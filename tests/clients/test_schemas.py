"""Tools as MCP servers and SDKs declare them: every provider gets the tool, in words that it takes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.clients.sending import send
from tests.named_rows import each_row

USER = {"role": "user", "content": "x"}
DOORS = ("chat_completions", "messages", "responses")
WIRES = ("openai_chat", "openai_responses", "anthropic_messages", "gemini", "bedrock_converse")
LANES = {("chat_completions", "openai_chat"), ("messages", "anthropic_messages"), ("responses", "openai_responses")}
PAIRS = [(door, wire) for door in DOORS for wire in WIRES]
TEXT = {"type": "string"}


def asked(door: str, schema: Any, **fields: Any) -> dict[str, Any]:
    """A request with one tool of this schema."""
    if door == "responses":
        return {"input": [USER], "tools": [{"type": "function", "name": "f", "parameters": schema}], **fields}
    if door == "messages":
        return {"max_tokens": 64, "messages": [USER], "tools": [{"name": "f", "input_schema": schema}], **fields}
    return {
        "messages": [USER],
        "tools": [{"type": "function", "function": {"name": "f", "parameters": schema}}],
        **fields,
    }


BROKEN = [
    {"type": "object", "properties": {"q": TEXT}, "required": None},
    {"type": "object", "properties": {"q": TEXT}, "required": {}},
    {"type": "object", "properties": {"q": TEXT}, "required": ["q", "q"]},
    {"type": "object", "properties": {"q": {"type": "array", "items": [TEXT]}}},
    {"type": "object", "properties": None},
]


@each_row("schema", BROKEN)
@each_row(("door", "wire"), PAIRS)
def test_one_empty_value_for_everything(door: str, wire: str, schema: Any) -> None:
    found = send(door, wire, **asked(door, schema))
    sent = found.tools["f"]
    if (door, wire) in LANES:
        assert sent == schema
        return
    names = (sent or {}).get("required", [])
    assert isinstance(names, list)
    assert len(set(names)) == len(names)
    assert "null" not in json.dumps(sent or {})
    assert (sent or {}).get("properties", {}).keys() == (schema["properties"] or {}).keys()
    assert found.warnings == []


@each_row(("door", "wire"), PAIRS)
def test_a_required_name_that_is_no_property(door: str, wire: str) -> None:
    schema = {"type": "object", "properties": {"q": TEXT}, "required": ["q", "ghost"]}
    sent = send(door, wire, **asked(door, schema)).tools["f"]
    assert sent["properties"].keys() == {"q"}
    assert "q" in sent["required"]


COMBINED = [
    {"type": "object", "properties": {"q": TEXT, "id": TEXT}, "anyOf": [{"required": ["q"]}, {"required": ["id"]}]},
    {"oneOf": [
        {"type": "object", "properties": {"kind": {"const": "q"}, "q": TEXT}, "required": ["kind", "q"]},
        {"type": "object", "properties": {"kind": {"const": "id"}, "id": TEXT}, "required": ["kind", "id"]},
    ]},
    {"type": "object", "anyOf": [{"$ref": "#/$defs/Q"}, {"$ref": "#/$defs/I"}],
     "$defs": {"Q": {"properties": {"q": TEXT}, "required": ["q"]}, "I": {"allOf": [{"properties": {"id": TEXT}}]}}},
]  # fmt: skip


@each_row("schema", COMBINED)
@each_row(
    ("door", "wire", "profile"),
    [
        ("chat_completions", "anthropic_messages", None),
        ("responses", "anthropic_messages", None),
        ("chat_completions", "bedrock_converse", None),
        ("messages", "openai_chat", "openai"),
        ("messages", "openai_responses", "openai"),
    ],
)
def test_a_combination_at_the_root(door: str, wire: str, profile: str | None, schema: Any) -> None:
    found = send(door, wire, profile=profile, **asked(door, schema))
    sent = found.tools["f"]
    assert sent["type"] == "object"
    assert not {"anyOf", "oneOf", "allOf"} & sent.keys()
    assert sent["properties"].keys() >= {"q", "id"}
    assert sent.get("required", []) == (["kind"] if "kind" in sent["properties"] else [])
    assert "must also match" in json.dumps(found.body)
    (warning,) = found.warnings
    assert warning.startswith("tool_schema_reduced:")


@each_row("schema", [{"type": "object"}, {}, {"properties": {"q": TEXT}}, {"type": None}])
@each_row(
    ("door", "wire"),
    [("messages", "openai_chat"), ("messages", "openai_responses"), ("chat_completions", "openai_responses"),
     ("responses", "openai_chat")],
)  # fmt: skip
def test_openai_gets_an_object_with_properties(door: str, wire: str, schema: Any) -> None:
    found = send(door, wire, **asked(door, schema))
    sent = found.tools["f"]
    assert sent == {"type": "object", "properties": schema.get("properties", {})}
    assert found.warnings == []


@pytest.mark.parametrize("door", DOORS)
def test_pointers_into_any_place(door: str) -> None:
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": "https://s.example/tool.json",
        "type": "object",
        "properties": {
            "slash": {"$ref": "#/definitions/a~1b"},
            "space": {"$ref": "https://s.example/tool.json#/definitions/c%20d"},
            "inner": {"$ref": "#/properties/outer/properties/when"},
            "outer": {"type": "object", "properties": {"when": {"type": "string", "enum": ["now"]}}},
            "many": {"type": "array", "items": {"$ref": "#/properties/outer"}},
        },
        "definitions": {"a/b": {"type": "integer", "maximum": 3}, "c d": {"type": "boolean"}},
    }
    sent = send(door, "gemini", **asked(door, schema)).tools["f"]

    def meant(node: dict[str, Any]) -> dict[str, Any]:
        reference = node.get("$ref")
        return node if reference is None else meant(sent["$defs"][reference.removeprefix("#/$defs/")])

    properties = {name: meant(node) for name, node in sent["properties"].items()}
    assert properties["slash"] == {"type": "integer", "maximum": 3}
    assert properties["space"] == {"type": "boolean"}
    assert properties["inner"] == {"type": "string", "enum": ["now"]}
    assert meant(properties["many"]["items"])["properties"].keys() == {"when"}


@pytest.mark.parametrize("model", ["gemini-2.5-flash", "gemini-3-pro-preview"])
def test_a_result_that_is_a_schema_stays_text(model: str) -> None:
    """Gemini 3 follows `$ref` in a result's object, and refuses one that leads nowhere."""
    result = '{"properties": {"c": {"$ref": "#/$defs/C"}}}'
    call = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    messages = [
        USER,
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": result},
    ]
    body = send(
        "chat_completions",
        "gemini",
        model=model,
        **asked("chat_completions", {"type": "object"}) | {"messages": messages},
    ).body
    (response,) = [
        part["functionResponse"]["response"]
        for content in body["contents"]
        for part in content["parts"]
        if "functionResponse" in part
    ]
    assert result in response.values()
    assert '"$ref":' not in json.dumps(response)
