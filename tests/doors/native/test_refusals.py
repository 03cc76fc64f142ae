"""The native door's refusals: each with the path of the field, a code, what was there, and the fix."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.doors.native.test_request import CALL, SCHEMA, USER, WEATHER, parsed
from tests.named_rows import each_row
from toolwire.model.errors import RequestError

_DEEP = b'{"model":"m","messages":' + b"[" * 100_000 + b"]" * 100_000 + b"}"


@each_row(
    "raw",
    [
        b"", b" ", b"{", b"null", b"[]", b'"x"', b"5", b'{"model":"m",}', b"\xff\xfe", b'{"a":1}{"b":2}',
        b'{"model":"m","messages":[{"role":"user","content":"\xff"}]}',
        b'{"model":"m","messages":[{"role":"user","content":"x"}],"tools":[{"type":"function","function":{"name":"f",'
        b'"description":"d","parameters":{"type":"object","title":"\xff"}}}]}',
        rb'{"model":"m","messages":[{"role":"user","content":"half a pair: \ud83d."}]}',
        rb'{"model":"m","messages":[{"role":"tool","tool_call_id":"c","content":"\ud83d"}]}',
        _DEEP,
        _DEEP.replace(b'"messages"', b'"parameters"'),
    ],
)  # fmt: skip
def test_malformed_json(raw: bytes) -> None:
    with pytest.raises(RequestError) as caught:
        parsed(raw)
    assert (caught.value.status, caught.value.code) == (400, "invalid_json")
    assert ("it is empty" in caught.value.message) == (not raw.strip())


@pytest.mark.parametrize(
    ("name", "meant"), [("temprature", "temperature"), ("tool_choise", "tool_choice"), ("zz", None)]
)
def test_a_mistyped_member_is_told_the_one_that_is_near(name: str, meant: str | None) -> None:
    with pytest.raises(RequestError) as caught:
        parsed(json.dumps({"model": "m", "messages": [{"role": "user", "content": "x"}], name: 1}).encode())

    assert caught.value.param == name
    assert caught.value.message.endswith(f" Did you mean {meant!r}?" if meant else "it has here.")


def tool(**members: Any) -> dict[str, Any]:
    """The weather tool with other members; one that is None is left out."""
    function: dict[str, Any] = {**WEATHER["function"], **members}  # type: ignore[dict-item]
    return {"type": "function", "function": {name: value for name, value in function.items() if value is not None}}


def call(**function: Any) -> list[dict[str, Any]]:
    return [USER, {"role": "assistant", "content": None, "tool_calls": [{**CALL, "function": function}]}]


MISSING, TYPE, VALUE = "missing_required_parameter", "invalid_type", "invalid_value"
UNKNOWN, ELSEWHERE = "unknown_parameter", "unsupported_parameter"
_FUNCTION = "tools[0].function"
_CALLED = "messages[1].tool_calls[0].function"

#: (the request's fields, param, code, words that the message must have)
REFUSALS: list[tuple[dict[str, Any], str, str, str]] = [
    ({"model": 5}, "model", TYPE, "must be a string, not a number"),
    ({"model": ""}, "model", VALUE, "must not be empty"),
    ({"model": None}, "model", MISSING, "provider/model"),
    ({"messages": []}, "messages", VALUE, "must not be empty"),
    ({"messages": None}, "messages", TYPE, "must be an array, not null"),
    ({"messages": "hi"}, "messages", TYPE, "must be an array, not a string"),
    ({"messages": ["hi"]}, "messages[0]", TYPE, "must be an object, not a string"),
    ({"messages": [USER, None]}, "messages[1]", TYPE, "must be an object, not null"),
    ({"messages": [{"content": "x"}]}, "messages[0].role", MISSING, "is required"),
    (
        {"messages": [{"role": "robot", "content": "x"}]},
        "messages[0].role",
        VALUE,
        "'assistant', 'tool', not \"robot\"",
    ),
    ({"messages": [{"role": "function", "content": "x"}]}, "messages[0].role", VALUE, 'not "function"'),
    ({"messages": [{"role": "user"}]}, "messages[0].content", MISSING, "is required"),
    ({"messages": [{"role": "user", "content": None}]}, "messages[0].content", TYPE, "not null"),
    ({"messages": [{"role": "user", "content": []}]}, "messages[0].content", VALUE, "must not be empty"),
    ({"messages": [{"role": "user", "content": [{"type": "text"}]}]}, "messages[0].content[0].text", MISSING, ""),
    (
        {"messages": [{"role": "user", "content": [{"type": "text", "text": 5}]}]},
        "messages[0].content[0].text",
        TYPE,
        "must be a string, not a number",
    ),
    (
        {"messages": [{"role": "user", "content": [{"type": "video"}]}]},
        "messages[0].content[0].type",
        VALUE,
        "'text', 'image_url'",
    ),
    (
        {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": "https://x"}]}]},
        "messages[0].content[0].image_url",
        TYPE,
        "must be an object, not a string",
    ),
    ({"messages": [{**USER, "tool_calls": []}]}, "messages[0].tool_calls", UNKNOWN, "docs/native.md"),
    ({"messages": call(name="f", arguments="{}")}, f"{_CALLED}.arguments", TYPE, "must be an object, not a string"),
    ({"messages": call(name="f", arguments=[1])}, f"{_CALLED}.arguments", TYPE, "must be an object, not an array"),
    ({"messages": call(name="f")}, f"{_CALLED}.arguments", VALUE, "raw_arguments"),
    ({"messages": call(name="f", arguments={}, raw_arguments="{")}, f"{_CALLED}.arguments", VALUE, "raw_arguments"),
    ({"messages": call(arguments={})}, f"{_CALLED}.name", MISSING, "is required"),
    ({"messages": [USER, {"role": "tool", "content": "x"}]}, "messages[1].tool_call_id", MISSING, "is required"),
    ({"messages": [USER, {"role": "tool", "tool_call_id": "c"}]}, "messages[1].content", MISSING, "is required"),
    (
        {"messages": [USER, {"role": "tool", "tool_call_id": "c", "content": None}]},
        "messages[1].content",
        MISSING,
        "is required",
    ),
    ({"tools": {}}, "tools", TYPE, "must be an array, not an object"),
    ({"tools": [5]}, "tools[0]", TYPE, "must be an object, not a number"),
    ({"tools": [{"type": "custom", "custom": {"name": "f"}}]}, "tools[0].type", VALUE, "must be 'function'"),
    ({"tools": [tool(name="get-weather")]}, f"{_FUNCTION}.name", "invalid_tool_name", "^[a-zA-Z0-9_]{1,64}$"),
    ({"tools": [tool(name="a" * 65)]}, f"{_FUNCTION}.name", "invalid_tool_name", "must match"),
    ({"tools": [tool(name="")]}, f"{_FUNCTION}.name", "invalid_tool_name", "must match"),
    ({"tools": [tool(name="f\n")]}, f"{_FUNCTION}.name", "invalid_tool_name", "must match"),
    ({"tools": [tool(description=None)]}, f"{_FUNCTION}.description", MISSING, "is required"),
    ({"tools": [tool(description="")]}, f"{_FUNCTION}.description", VALUE, "not empty"),
    ({"tools": [tool(description=" \n")]}, f"{_FUNCTION}.description", VALUE, "not empty"),
    ({"tools": [tool(parameters=None)]}, f"{_FUNCTION}.parameters", MISSING, "is required"),
    ({"tools": [tool(parameters=[])]}, f"{_FUNCTION}.parameters", TYPE, "must be an object, not an array"),
    ({"tools": [tool(parameters={})]}, f"{_FUNCTION}.parameters.type", "invalid_function_parameters", "missing"),
    (
        {"tools": [tool(parameters={**SCHEMA, "type": "array"})]},
        f"{_FUNCTION}.parameters.type",
        "invalid_function_parameters",
        'must be "object", not "array"',
    ),
    ({"tools": [tool(strict="yes")]}, f"{_FUNCTION}.strict", TYPE, "must be a boolean, not a string"),
    ({"tools": [tool(x=1)]}, f"{_FUNCTION}.x", UNKNOWN, "no field"),
    ({"tool_choice": "maybe"}, "tool_choice", VALUE, "'auto', 'none' or 'required', not \"maybe\""),
    ({"tool_choice": 5}, "tool_choice", TYPE, "not a number"),
    ({"tool_choice": {"type": "any"}}, "tool_choice.type", VALUE, "'function', 'allowed_tools', not \"any\""),
    ({"tool_choice": {"type": "function"}}, "tool_choice.function", MISSING, "is required"),
    ({"max_tokens": 0}, "max_tokens", VALUE, "greater than or equal to 1, not 0"),
    ({"max_tokens": 1.5}, "max_tokens", TYPE, "must be an integer, not a number"),
    ({"temperature": 2.1}, "temperature", VALUE, "less than or equal to 2, not 2.1"),
    ({"temperature": "1"}, "temperature", TYPE, "must be a number, not a string"),
    ({"top_p": -0.1}, "top_p", VALUE, "greater than or equal to 0"),
    ({"frequency_penalty": 3}, "frequency_penalty", VALUE, "2"),
    ({"stop": 5}, "stop", TYPE, "must be a string, not a number"),
    ({"stop": ["a", 5]}, "stop[1]", TYPE, "must be a string, not a number"),
    ({"stream": "yes"}, "stream", TYPE, "must be a boolean, not a string"),
    ({"stream": True, "request_options": {"stream": False}}, "request_options.stream", VALUE, "opposite"),
    ({"request_options": 5}, "request_options", TYPE, "must be an object, not a number"),
    ({"request_options": {"x": 1}}, "request_options.x", UNKNOWN, "no field"),
    (
        {"request_options": {"validate_tool_arguments": "maybe"}},
        "request_options.validate_tool_arguments",
        VALUE,
        "true, false, 'off', 'annotate' or 'reject', not \"maybe\"",
    ),
    ({"request_options": {"validate_tool_arguments": 1}}, "request_options.validate_tool_arguments", VALUE, "not 1"),
    ({"request_options": {"validate_tool_arguments": 0.0}}, "request_options.validate_tool_arguments", VALUE, "not 0"),
    ({"request_options": {"schema_mode": "x"}}, "request_options.schema_mode", VALUE, "'convert', 'reject' or 'lossy'"),
    ({"response_format": {"type": "xml"}}, "response_format.type", VALUE, 'not "xml"'),
    ({"response_format": {"type": "json_schema"}}, "response_format.json_schema", VALUE, "goes with"),
    ({"reasoning_effort": "huge"}, "reasoning_effort", VALUE, 'not "huge"'),
    ({"conversation_id": ""}, "conversation_id", VALUE, "must not be empty"),
    ({"conversation_id": "x" * 257}, "conversation_id", VALUE, "256"),
    ({"n": 2}, "n", ELSEWHERE, "one request for each"),
    ({"functions": []}, "functions", ELSEWHERE, "send `tools`"),
    ({"function_call": "auto"}, "function_call", ELSEWHERE, "send `tool_choice`"),
    ({"max_completion_tokens": 5}, "max_completion_tokens", ELSEWHERE, "send `max_tokens`"),
    ({"stream_options": {}}, "stream_options", ELSEWHERE, "usage"),
    ({"anything": 1}, "anything", UNKNOWN, "no field"),
]


@each_row(("members", "param", "code", "words"), REFUSALS, ids=[f"{r[1]}-{n}" for n, r in enumerate(REFUSALS)])
def test_refused(members: dict[str, Any], param: str, code: str, words: str) -> None:
    with pytest.raises(RequestError) as caught:
        parsed(**members)
    error = caught.value
    assert (error.status, error.code, error.param) == (400, code, param)
    assert error.message.startswith(f"`{param}`")
    assert words in error.message
    assert "Input" not in error.message, "pydantic's words, which say what it calls things"


def test_no_refusal_quotes_a_prompt() -> None:
    prompts = [
        [{"role": "user", "content": {"secret": "prompt"}}],
        [{"role": "user", "content": ["secret prompt"]}],
        [{"role": "system", "content": [{"type": "text", "text": ["secret prompt"]}]}],
        [USER, {"role": "assistant", "content": 5, "refusal": {"secret": "prompt"}}],
    ]
    for messages in prompts:
        with pytest.raises(RequestError) as caught:
            parsed(messages=messages)
        assert "secret" not in caught.value.message
