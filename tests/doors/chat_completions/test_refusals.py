"""The chat door's refusals: each with the path of the field, a code, and the fix."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.doors.chat_completions.test_request import CALL, USER, WEATHER, body, served
from tests.named_rows import each_row
from toolwire.model.errors import RequestError

_DEEP = b'{"model":"m","messages":' + b"[" * 100_000 + b"]" * 100_000 + b"}"


@each_row(
    "raw",
    [
        b"", b" ", b"{", b"null", b"[]", b'"x"', b"{'model': 1}", b'{"model":"m",}', b"\xff\xfe", b'{"a":1}{"b":2}',
        b'{"model":"m","messages":[{"role":"user","content":"\xff"}]}',
        b'{"model":"m","messages":[{"role":"user","content":"x"}],"user":"\xff"}',
        b'{"mod\xffel":"m"}',
        b'{"model":"\xff","messages":[]}',
        rb'{"model":"m","messages":[{"role":"user","content":"half a pair: \ud83d."}]}',
        rb'{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"\ud83d"}]}]}',
        rb'{"model":"m","messages":[{"role":"assistant","tool_calls":[{"id":"\ud83d","function":{}}]}]}',
        rb'{"model":"m","messages":[{"role":"user","content":"x"}],"user":"\ud83d","tools":[{"type":"\ud83d"}]}',
        _DEEP,
        _DEEP.replace(b'"messages"', b'"anything"'),
    ],
)  # fmt: skip
def test_malformed_json(raw: bytes) -> None:
    with pytest.raises(RequestError) as caught:
        served(raw)
    assert (caught.value.status, caught.value.code) == (400, "invalid_json")
    assert ("it is empty" in caught.value.message) == (not raw.strip())


MISSING, TYPE, VALUE = "missing_required_parameter", "invalid_type", "invalid_value"

#: (the request's fields, param, code)
REFUSALS: list[tuple[dict[str, Any], str, str]] = [
    ({"model": ""}, "model", MISSING),
    ({"model": None}, "model", MISSING),
    ({"model": 5}, "model", TYPE),
    ({"messages": []}, "messages", MISSING),
    ({"messages": None}, "messages", MISSING),
    ({"messages": "hi"}, "messages", TYPE),
    ({"messages": {"role": "user"}}, "messages", TYPE),
    ({"messages": ["hi"]}, "messages[0]", TYPE),
    ({"messages": [USER, None]}, "messages[1]", TYPE),
    ({"messages": [{"content": "x"}]}, "messages[0].role", MISSING),
    ({"messages": [{"role": None, "content": "x"}]}, "messages[0].role", TYPE),
    ({"messages": [{"role": "robot", "content": "x"}]}, "messages[0].role", VALUE),
    ({"messages": [{"role": "user"}]}, "messages[0].content", MISSING),
    ({"messages": [{"role": "user", "content": 5}]}, "messages[0].content", TYPE),
    ({"messages": [{"role": "user", "content": {"text": "x"}}]}, "messages[0].content", TYPE),
    ({"messages": [{"role": "user", "content": [{"type": "text", "text": 5}]}]}, "messages[0].content[0].text", TYPE),
    (
        {"messages": [{"role": "user", "content": [{"type": "image_url"}]}]},
        "messages[0].content[0].image_url",
        MISSING,
    ),
    (
        {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": None}}]}]},
        "messages[0].content[0].image_url.url",
        TYPE,
    ),
    ({"messages": [{"role": "user", "content": "x", "name": 5}]}, "messages[0].name", TYPE),
    ({"messages": [{"role": "user", "content": "x", "tool_calls": [CALL]}]}, "messages[0].tool_calls", VALUE),
    ({"messages": [USER, {"role": "assistant", "tool_calls": "x"}]}, "messages[1].tool_calls", TYPE),
    ({"messages": [USER, {"role": "assistant", "tool_calls": [5]}]}, "messages[1].tool_calls[0]", TYPE),
    (
        {"messages": [USER, {"role": "assistant", "tool_calls": [CALL, {**CALL, "id": ""}]}]},
        "messages[1].tool_calls[1].id",
        MISSING,
    ),
    (
        {"messages": [USER, {"role": "assistant", "tool_calls": [{**CALL, "id": 7}]}]},
        "messages[1].tool_calls[0].id",
        TYPE,
    ),
    (
        {"messages": [USER, {"role": "assistant", "tool_calls": [{"id": "a", "type": "function"}]}]},
        "messages[1].tool_calls[0]",
        VALUE,
    ),
    (
        {"messages": [USER, {"role": "assistant", "tool_calls": [{**CALL, "type": "mcp"}]}]},
        "messages[1].tool_calls[0]",
        VALUE,
    ),
    (
        {"messages": [USER, {"role": "assistant", "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "f", "arguments": {"city": "Paris"}}}]}]},
        "messages[1].tool_calls[0].function.arguments",
        TYPE,
    ),
    (
        {"messages": [USER, {"role": "assistant", "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": 5, "arguments": "{}"}}]}]},
        "messages[1].tool_calls[0].function.name",
        TYPE,
    ),
    (
        {"messages": [USER, {"role": "assistant", "tool_calls": [CALL]}, {"role": "tool", "content": "x"}]},
        "messages[2].tool_call_id",
        MISSING,
    ),
    (
        {"messages": [USER, {"role": "assistant", "tool_calls": [CALL]}, {"role": "tool", "tool_call_id": "call_1"}]},
        "messages[2].content",
        MISSING,
    ),
    (
        {"messages": [USER, {"role": "tool", "tool_call_id": "call_9", "content": "x"}]},
        "messages[1].tool_call_id",
        "unknown_tool_call_id",
    ),
    (
        {"messages": [USER, {"role": "assistant", "tool_calls": [CALL]},
                      {"role": "tool", "tool_call_id": "call_1", "content": "x"},
                      {"role": "tool", "tool_call_id": "call_1", "content": "x"}]},
        "messages[3].tool_call_id",
        "duplicate_tool_result",
    ),
    ({"n": 2}, "n", "unsupported_parameter"),
    ({"n": 0}, "n", "unsupported_parameter"),
    ({"n": "1"}, "n", TYPE),
    ({"stream": "yes"}, "stream", TYPE),
    ({"stream_options": {"include_usage": True}}, "stream_options", VALUE),
    ({"stream": False, "stream_options": {}}, "stream_options", VALUE),
    ({"stream": True, "stream_options": []}, "stream_options", TYPE),
    ({"stream": True, "stream_options": {"include_usage": "yes"}}, "stream_options.include_usage", TYPE),
    ({"max_tokens": 0}, "max_tokens", VALUE),
    ({"max_completion_tokens": -1}, "max_completion_tokens", VALUE),
    ({"max_tokens": "5"}, "max_tokens", TYPE),
    ({"temperature": 2.5}, "temperature", VALUE),
    ({"temperature": -0.1}, "temperature", VALUE),
    ({"temperature": "hot"}, "temperature", TYPE),
    ({"top_p": 1.1}, "top_p", VALUE),
    ({"frequency_penalty": 3}, "frequency_penalty", VALUE),
    ({"presence_penalty": -3}, "presence_penalty", VALUE),
    ({"seed": "x"}, "seed", TYPE),
    ({"stop": 5}, "stop", TYPE),
    ({"stop": ["a", 5]}, "stop[1]", TYPE),
    ({"reasoning_effort": 5}, "reasoning_effort", TYPE),
    ({"response_format": "json"}, "response_format", TYPE),
    ({"response_format": {"type": "yaml"}}, "response_format.type", VALUE),
    ({"response_format": {"type": "json_schema"}}, "response_format.json_schema", MISSING),
    ({"response_format": {"type": "json_schema", "json_schema": {}}}, "response_format.json_schema.name", MISSING),
    ({"parallel_tool_calls": "no"}, "parallel_tool_calls", TYPE),
    ({"tools": {}}, "tools", TYPE),
    ({"tools": ["weather"]}, "tools[0]", TYPE),
    ({"tools": [WEATHER, {"type": "function"}]}, "tools[1].function", MISSING),
    ({"tools": [{"type": "custom", "function": {"name": "f"}}]}, "tools[0].custom", MISSING),
    ({"tools": [{"type": "function", "function": {}}]}, "tools[0].function.name", MISSING),
    ({"tools": [{"type": "function", "function": {"name": 5}}]}, "tools[0].function.name", TYPE),
    ({"tools": [{"type": "function", "function": {"name": ""}}]}, "tools[0].function.name", "invalid_tool_name"),
    ({"tools": [{"type": "custom", "custom": {"name": "x" * 129}}]}, "tools[0].custom.name", "invalid_tool_name"),
    ({"tools": [WEATHER, WEATHER]}, "tools[1].function.name", "duplicate_tool_name"),
    (
        {"tools": [{"type": "function", "function": {"name": "f", "parameters": "x"}}]},
        "tools[0].function.parameters",
        "invalid_function_parameters",
    ),
    (
        {"tools": [{"type": "function", "function": {"name": "f", "parameters": [1]}}]},
        "tools[0].function.parameters",
        "invalid_function_parameters",
    ),
    (
        {"tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "array"}}}]},
        "tools[0].function.parameters.type",
        "invalid_function_parameters",
    ),
    (
        {"tools": [{"type": "function", "function": {"name": f"f{n}"}} for n in range(513)]},
        "tools",
        "too_many_tools",
    ),
    ({"tool_choice": "some", "tools": [WEATHER]}, "tool_choice", VALUE),
    ({"tool_choice": 5, "tools": [WEATHER]}, "tool_choice", TYPE),
    ({"tool_choice": {"type": "function"}, "tools": [WEATHER]}, "tool_choice", VALUE),
    ({"tool_choice": {"type": "widget", "name": "weather"}, "tools": [WEATHER]}, "tool_choice", VALUE),
    ({"tool_choice": {"type": "function", "function": {}}, "tools": [WEATHER]}, "tool_choice.function.name", MISSING),
    ({"tool_choice": "required"}, "tool_choice", "tool_choice_without_tools"),
    ({"tool_choice": "required", "tools": []}, "tool_choice", "tool_choice_without_tools"),
    (
        {"tool_choice": {"type": "function", "function": {"name": "other"}}, "tools": [WEATHER]},
        "tool_choice",
        "unknown_tool_choice",
    ),
    (
        {"tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "none", "tools": []}}, "tools": [WEATHER]},
        "tool_choice",
        VALUE,
    ),
    (
        {"tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": []}}, "tools": [WEATHER]},
        "tool_choice",
        VALUE,
    ),
]  # fmt: skip


@each_row(("fields", "param", "code"), REFUSALS, ids=lambda value: str(value)[:60])
def test_refusals_name_the_field_and_the_rule(fields: dict[str, Any], param: str, code: str) -> None:
    with pytest.raises(RequestError) as caught:
        served(json.dumps({"model": "m", "messages": [USER], **fields}).encode())

    error = caught.value
    assert (error.param, error.code, error.status, error.retry) == (param, code, 400, False)
    assert len(error.message) < 500


def test_a_refusal_shows_no_prompt() -> None:
    with pytest.raises(RequestError) as caught:
        served(
            body({"role": "user", "content": [{"type": "text", "text": "SECRET", "x": 1}, {"type": "text", "text": 5}]})
        )
    assert "SECRET" not in caught.value.message
