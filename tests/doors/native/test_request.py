"""What the native door makes of a request: neutral parts, arguments and schemas as the text that they are."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.named_rows import each_row
from toolwire.doors.native.request import DOOR
from toolwire.model.http import HttpRequest
from toolwire.model.request import (
    ChatRequest,
    ImagePart,
    Message,
    OpaquePart,
    ReasoningPart,
    RefusalPart,
    RequestOptions,
    ResponseFormat,
    Sampling,
    TextPart,
    ToolCallPart,
    ToolChoice,
    ToolResultPart,
)

USER = {"role": "user", "content": "hi"}
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}
WEATHER = {
    "type": "function",
    "function": {"name": "get_weather", "description": "Weather of a city.", "parameters": SCHEMA},
}
CALL = {"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": {"city": "Bern"}}}


def parsed(raw: bytes | None = None, /, **members: Any) -> ChatRequest:
    """The neutral request for a body."""
    body = raw if raw is not None else json.dumps({"model": "m", "messages": [USER], **members}).encode()
    return DOOR.parse_request(HttpRequest("POST", "/", {}, body))


def message(raw: str) -> Message:
    """The neutral form of the second message."""
    body = '{"model":"m","messages":[{"role":"user","content":"hi"},' + raw + "]}"
    return parsed(body.encode()).messages[1]


def test_digits_are_kept() -> None:
    text = '{"id": 9007199254740993123, "ratio": 1.10, "e": 1E2}'
    call = '{"id":"call_1","type":"function","function":{"name":"f","arguments":' + text + "}}"

    assert message('{"role":"assistant","content":null,"tool_calls":[' + call + "]}").parts == (
        ToolCallPart("call_1", "f", text),
    )
    (part,) = message('{"role":"tool","tool_call_id":"call_1","content":' + text + "}").parts
    assert part == ToolResultPart("call_1", (TextPart(text),))


def test_schemas_are_kept() -> None:
    schema = '{"type": "object", "properties": {"n": {"type": "number", "multipleOf": 0.10, "maximum": 1e400}}}'
    tool = '{"type":"function","function":{"name":"f","description":"d","parameters":' + schema + ',"strict":true}}'
    shape = '{"type":"json_schema","json_schema":{"name":"s","schema":' + schema + "}}"
    body = '{"model":"m","messages":[{"role":"user","content":"hi"}],"tools":[%s],"response_format":%s}'

    request = parsed((body % (tool, shape)).encode())

    (made,) = request.tools
    assert (made.name, made.description, made.parameters, made.strict) == ("f", "d", schema.encode(), True)
    assert request.response_format == ResponseFormat("json_schema", "s", schema.encode())


PARTS: list[tuple[str, tuple[Any, ...]]] = [
    ('{"role":"system","content":"Be brief."}', (TextPart("Be brief."),)),
    ('{"role":"user","content":[{"type":"text","text":"a"}]}', (TextPart("a"),)),
    (
        '{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://x/y.png","detail":"low"}}]}',
        (ImagePart(url="https://x/y.png", detail="low"),),
    ),
    (
        '{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]}',
        (ImagePart(data="AAAA", media_type="image/png"),),
    ),
    ('{"role":"assistant","content":"a","content_signature":"s"}', (TextPart("a", signature="s"),)),
    ('{"role":"assistant","content":null,"refusal":"no"}', (RefusalPart("no"),)),
    ('{"role":"assistant","content":"a","reasoning_content":"r"}', (ReasoningPart("r"), TextPart("a"))),
    (
        '{"role":"assistant","content":"a","reasoning_content":"r",'
        '"reasoning_parts":[{"text":"r","signature":"s"},{"text":""}]}',
        (ReasoningPart("r", "s"), ReasoningPart(""), TextPart("a")),
    ),
    (
        '{"role":"assistant","content":null,"opaque_parts":[{"kind":"k","dialect":"d","data":{"n":1.0}}]}',
        (OpaquePart("k", "d", b'{"n":1.0}'),),
    ),
    (
        '{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"call_1","type":"function","signature":"s",'
        '"function":{"name":"f","arguments":null,"raw_arguments":"{\\"a"}}]}',
        (ToolCallPart("call_1", "f", '{"a', signature="s"),),
    ),
    ('{"role":"tool","tool_call_id":"c","content":""}', (ToolResultPart("c", (TextPart(""),)),)),
    ('{"role":"tool","tool_call_id":"c","content":"a\\n"}', (ToolResultPart("c", (TextPart("a\n"),)),)),
    ('{"role":"tool","tool_call_id":"c","content":1.10}', (ToolResultPart("c", (TextPart("1.10"),)),)),
    ('{"role":"tool","tool_call_id":"c","content":[1, 2]}', (ToolResultPart("c", (TextPart("[1, 2]"),)),)),
    ('{"role":"tool","tool_call_id":"c","content":[]}', (ToolResultPart("c", (TextPart("[]"),)),)),
    (
        '{"role":"tool","tool_call_id":"c","name":"f","is_error":true,"content":{"a":1}}',
        (ToolResultPart("c", (TextPart('{"a":1}'),), is_error=True, name="f"),),
    ),
    (
        '{"role":"tool","tool_call_id":"c","content":[{"type":"text","text":"a"},'
        '{"type":"image_url","image_url":{"url":"https://x/y.png"}}]}',
        (ToolResultPart("c", (TextPart("a"), ImagePart(url="https://x/y.png"))),),
    ),
    (
        '{"role":"tool","tool_call_id":"c","content":[{"type":"text","text":"a","n":1.0}]}',
        (ToolResultPart("c", (TextPart('[{"type":"text","text":"a","n":1.0}]'),)),),
    ),
]


@each_row(("raw", "expected"), PARTS)
def test_messages(raw: str, expected: tuple[Any, ...]) -> None:
    made = message(raw)
    assert made.role == json.loads(raw)["role"]
    assert made.parts == expected


CHOICES: list[tuple[Any, ToolChoice | None]] = [
    (None, None),
    ("auto", ToolChoice("auto")),
    ("none", ToolChoice("none")),
    ("required", ToolChoice("required")),
    ({"type": "function", "function": {"name": "f"}}, ToolChoice("required", ("f",), named=True)),
    (
        {
            "type": "allowed_tools",
            "allowed_tools": {"mode": "auto", "tools": [{"type": "function", "function": {"name": "f"}}]},
        },
        ToolChoice("auto", ("f",)),
    ),
]


@pytest.mark.parametrize(("given", "expected"), CHOICES)
def test_tool_choice(given: Any, expected: ToolChoice | None) -> None:
    assert parsed(tool_choice=given).tool_choice == expected


OPTIONS: list[tuple[dict[str, Any], RequestOptions]] = [
    ({}, RequestOptions()),
    ({"validate_tool_arguments": True}, RequestOptions(validate_tool_arguments="reject")),
    ({"validate_tool_arguments": False}, RequestOptions(validate_tool_arguments="off")),
    ({"validate_tool_arguments": "annotate"}, RequestOptions(validate_tool_arguments="annotate")),
    ({"schema_mode": "lossy", "recover_text_calls": False}, RequestOptions(None, "lossy", False)),
]


@pytest.mark.parametrize(("given", "expected"), OPTIONS)
def test_request_options(given: dict[str, Any], expected: RequestOptions) -> None:
    assert parsed(request_options=given).options == expected


@pytest.mark.parametrize(
    ("members", "streams"),
    [
        ({}, False),
        ({"stream": True}, True),
        ({"request_options": {"stream": True}}, True),
        ({"stream": True, "request_options": {"stream": True}}, True),
        ({"stream": False, "request_options": {"validate_tool_arguments": True}}, False),
    ],
)
def test_stream_may_be_asked_for_in_two_places(members: dict[str, Any], streams: bool) -> None:
    assert parsed(**members).stream is streams


def test_settings() -> None:
    request = parsed(
        max_tokens=5,
        temperature=1,
        top_p=0.5,
        seed=7,
        frequency_penalty=-1,
        presence_penalty=1.5,
        stop="x",
        parallel_tool_calls=False,
        reasoning_effort="low",
        tools=[WEATHER],
    )
    assert (request.max_tokens, request.parallel_tool_calls, request.reasoning_effort) == (5, False, "low")
    assert request.sampling == Sampling(1.0, 0.5, None, 7, -1.0, 1.5, ("x",))
    assert parsed(stop=["x", "y"]).sampling.stop == ("x", "y")
    assert request.include_usage


def test_the_model_may_be_left_out_in_a_named_conversation_only() -> None:
    request = parsed(model=None, conversation_id="c1")
    assert (request.model, request.conversation_id) == ("", "c1")
