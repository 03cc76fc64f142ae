"""The chat door's requests: what is accepted, and what it becomes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.named_rows import each_row
from tests.reference import SHARED, needs
from toolwire.doors.chat_completions.request import parse_request
from toolwire.model.request import (
    ChatRequest,
    FilePart,
    ImagePart,
    OpaquePart,
    ReasoningPart,
    RefusalPart,
    ResponseFormat,
    Sampling,
    TextPart,
    Tool,
    ToolCallPart,
    ToolChoice,
    ToolResultPart,
)
from toolwire.policy import ToolRules, check_request
from toolwire.rewrite.history import check_results

USER = {"role": "user", "content": "hi"}
WEATHER = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object", "properties": {}}}}
CUSTOM = {"type": "custom", "custom": {"name": "patch", "format": {"type": "text"}}}
CALL = {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Paris"}'}}


def body(*messages: Any, **fields: Any) -> bytes:
    return json.dumps({"model": "m", "messages": list(messages) or [USER], **fields}).encode()


def served(raw: bytes) -> ChatRequest:
    """The request after everything that may refuse it before a provider is known."""
    request = parse_request(raw)
    check_request(request, ToolRules())
    check_results(request)
    return request


# ---------------------------------------------------------------- what fields become


@each_row(
    ("fields", "attribute", "expected"),
    [
        ({}, "stream", False),
        ({"stream": True}, "stream", True),
        ({"stream": None}, "stream", False),
        ({"stream": True, "stream_options": {"include_usage": True}}, "include_usage", True),
        ({"stream": True, "stream_options": {"include_usage": False}}, "include_usage", False),
        ({"stream": True, "stream_options": {"include_obfuscation": False}}, "include_usage", False),
        ({"stream": True, "stream_options": None}, "include_usage", False),
        ({"stream_options": None}, "include_usage", False),
        ({"max_tokens": 5}, "max_tokens", 5),
        ({"max_completion_tokens": 7}, "max_tokens", 7),
        ({"max_tokens": None}, "max_tokens", None),
        ({"n": 1}, "stream", False),
        ({"n": None}, "stream", False),
        ({"parallel_tool_calls": False, "tools": [WEATHER]}, "parallel_tool_calls", False),
        ({"parallel_tool_calls": None}, "parallel_tool_calls", None),
        ({"temperature": 0}, "sampling", Sampling(temperature=0)),
        ({"temperature": 2, "top_p": 1}, "sampling", Sampling(temperature=2, top_p=1)),
        ({"frequency_penalty": -2, "presence_penalty": 2.0}, "sampling", Sampling(None, None, None, None, -2, 2)),
        ({"seed": 2**63 - 1}, "sampling", Sampling(seed=2**63 - 1)),
        ({"stop": "END"}, "sampling", Sampling(stop=("END",))),
        ({"stop": ["a", "b"]}, "sampling", Sampling(stop=("a", "b"))),
        ({"stop": []}, "sampling", Sampling(stop=())),
        ({"stop": None}, "sampling", Sampling()),
        ({"reasoning_effort": "minimal"}, "reasoning_effort", "minimal"),
        ({"reasoning_effort": "max"}, "reasoning_effort", "max"),
        ({"reasoning_effort": None}, "reasoning_effort", None),
        ({"response_format": {"type": "text"}}, "response_format", ResponseFormat("text")),
        ({"response_format": {"type": "json_object"}}, "response_format", ResponseFormat("json_object")),
        (
            {"response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": {"a": 1}}}},
            "response_format",
            ResponseFormat("json_schema", "n", b'{"a": 1}'),
        ),
        ({"tools": []}, "tools", ()),
        ({"tools": None}, "tools", ()),
        ({"tool_choice": None}, "tool_choice", None),
        ({"tool_choice": "none"}, "tool_choice", ToolChoice("none")),
        ({"tool_choice": "auto", "tools": []}, "tool_choice", ToolChoice("auto")),
        ({"tool_choice": "required", "tools": [WEATHER]}, "tool_choice", ToolChoice("required")),
        (
            {"tool_choice": {"type": "function", "function": {"name": "weather"}}, "tools": [WEATHER]},
            "tool_choice",
            ToolChoice("required", ("weather",), named=True),
        ),
        (
            {"tool_choice": {"type": "custom", "custom": {"name": "patch"}}, "tools": [CUSTOM]},
            "tool_choice",
            ToolChoice("required", ("patch",), named=True),
        ),
        (
            {
                "tool_choice": {
                    "type": "allowed_tools",
                    "allowed_tools": {
                        "mode": "auto",
                        "tools": [
                            {"type": "function", "function": {"name": "weather"}},
                            {"type": "custom", "custom": {"name": "patch"}},
                        ],
                    },
                },
                "tools": [WEATHER, CUSTOM],
            },
            "tool_choice",
            ToolChoice("auto", ("weather", "patch")),
        ),
        ({"logit_bias": {"1": 2}, "user": "u", "audio": None}, "dialect_fields", ("logit_bias", "user")),
        ({"functions": [{"name": "f"}], "function_call": "auto"}, "tools", (Tool("f"),)),
        ({"functions": [{"name": "f"}], "function_call": "auto"}, "tool_choice", ToolChoice("auto")),
        ({"anything": {"at": ["all"]}}, "dialect_fields", ()),
    ],
)
def test_fields(fields: dict[str, Any], attribute: str, expected: object) -> None:
    assert getattr(served(body(**fields)), attribute) == expected


@each_row(
    ("message", "parts"),
    [
        ({"role": "system", "content": "S"}, (TextPart("S"),)),
        ({"role": "developer", "content": [{"type": "text", "text": "D"}]}, (TextPart("D"),)),
        ({"role": "user", "content": ""}, (TextPart(""),)),
        ({"role": "user", "content": "hi", "name": "bob"}, (TextPart("hi"),)),
        (
            {"role": "user", "content": [{"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}]},
            (TextPart("a", (("cache_control", b'{"type": "ephemeral"}'),)),),
        ),
        (
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://x/y.png"}}]},
            (ImagePart(url="https://x/y.png"),),
        ),
        (
            {
                "role": "user",
                "content": [
                    {"type": "image_url", "image_url": {"url": "data:image/webp;base64,AAAA", "detail": "original"}}
                ],
            },
            (ImagePart(data="AAAA", media_type="image/webp", detail="original"),),
        ),
        (  # no base64: it stays the URL it was
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/svg+xml,<svg/>"}}]},
            (ImagePart(url="data:image/svg+xml,<svg/>"),),
        ),
        (
            {"role": "user", "content": [{"type": "file", "file": {"file_id": "f"}}]},
            (FilePart(file_id="f", dialect="openai_chat"),),
        ),
        (
            {
                "role": "user",
                "content": [
                    {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,AA"}}
                ],
            },
            (FilePart("application/pdf", "a.pdf", data="AA"),),
        ),
        (  # a host's own kind of file
            {"role": "user", "content": [{"type": "file", "file": "f"}]},
            (OpaquePart("file", "openai_chat", b'{"type": "file", "file": "f"}'),),
        ),
        (  # an image is one, whatever it is called
            {"role": "user", "content": [{"type": "file", "file": {"file_data": "data:image/jpg;base64,AA"}}]},
            (ImagePart(data="AA", media_type="image/jpeg"),),
        ),
        (
            {"role": "user", "content": [{"type": "input_audio", "input_audio": {"data": "AA", "format": "wav"}}]},
            (FilePart("audio/wav", data="AA"),),
        ),
        ({"role": "assistant", "content": "A"}, (TextPart("A"),)),
        ({"role": "assistant", "content": None}, ()),
        ({"role": "assistant", "content": None, "refusal": "no"}, (RefusalPart("no"),)),
        ({"role": "assistant", "content": [{"type": "refusal", "refusal": "no"}]}, (RefusalPart("no"),)),
        (
            {"role": "assistant", "content": "A", "reasoning_content": "R"},
            (ReasoningPart("R"), TextPart("A")),
        ),
        ({"role": "assistant", "content": "A", "tool_calls": []}, (TextPart("A"),)),
        ({"role": "assistant", "content": "A", "tool_calls": None, "refusal": None}, (TextPart("A"),)),
        (
            {"role": "assistant", "tool_calls": [CALL]},
            (ToolCallPart("call_1", "weather", '{"city": "Paris"}'),),
        ),
        (
            {"role": "assistant", "content": "", "tool_calls": [{**CALL, "index": 0}]},
            (ToolCallPart("call_1", "weather", '{"city": "Paris"}'),),
        ),
        (  # arguments may be anything a model wrote, also nothing
            {"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": '{"a'}}]},
            (ToolCallPart("a", "f", '{"a'),),
        ),
        (
            {"role": "assistant", "tool_calls": [{"id": "a", "type": "custom", "custom": {"name": "p", "input": ""}}]},
            (ToolCallPart("a", "p", "", "custom"),),
        ),
        (
            {"role": "assistant", "tool_calls": [{**CALL, "extra_content": {"google": 1}}]},
            (ToolCallPart("call_1", "weather", '{"city": "Paris"}', extra=(("extra_content", b'{"google": 1}'),)),),
        ),
        (
            {"role": "function", "name": "f", "content": None},
            (OpaquePart("function_message", "openai_chat", b'{"role": "function", "name": "f", "content": null}'),),
        ),
    ],
)
def test_messages(message: dict[str, Any], parts: tuple[Any, ...]) -> None:
    assert parse_request(body(message)).messages[0].parts == parts


@pytest.mark.parametrize("content", ["", "sunny", [{"type": "text", "text": "sunny"}]])
def test_tool_results(content: Any) -> None:
    request = served(
        body(USER, {"role": "assistant", "tool_calls": [CALL]}, {"role": "tool", "tool_call_id": "call_1",
                                                                 "content": content, "name": "weather"})
    )  # fmt: skip
    text = content if isinstance(content, str) else "sunny"
    assert request.messages[2].parts == (ToolResultPart("call_1", (TextPart(text),), name="weather"),)


@pytest.mark.parametrize(
    ("tool", "expected"),
    [
        ({"type": "function", "function": {"name": "ping"}}, Tool("ping")),
        ({"type": "function", "function": {"name": "ping", "parameters": None, "strict": None}}, Tool("ping")),
        ({"type": "function", "function": {"name": "ping", "parameters": {}}}, Tool("ping", parameters=b"{}")),
        (
            {
                "type": "function",
                "cache_control": 1,
                "function": {"name": "n", "description": "d", "strict": True, "parameters": {"x": 1}, "more": 2},
            },
            Tool("n", "d", b'{"x": 1}', True, extra=(("cache_control", b"1"), ("function.more", b"2"))),
        ),
        ({"type": "web_search", "filters": {}}, Tool("web_search", kind="opaque")),
        (CUSTOM, Tool("patch", kind="custom", extra=(("custom", b'{"name": "patch", "format": {"type": "text"}}'),))),
    ],
)
def test_tools(tool: dict[str, Any], expected: Tool) -> None:
    assert served(body(tools=[tool])).tools == (expected,)


def test_schema_text_is_kept_byte_for_byte() -> None:
    schema = b'{"type":"object", "properties":{"a":{"maximum":1.10,"minimum":1e3,"const":1234567890123456789}}}'
    raw = b'{"model":"m","messages":[{"role":"user","content":"x"}],"tools":[{"type":"function","function":{"name":"f",'
    assert parse_request(raw + b'"parameters":' + schema + b"}}]}").tools[0].parameters == schema


def test_a_repeated_member_counts_once() -> None:
    assert parse_request(b'{"model":"a","model":"b","messages":[{"role":"user","content":"x"}]}').model == "b"


# ---------------------------------------------------------------- real clients

CAPTURES = sorted(path.name for path in (SHARED / "clients" / "captures").glob("*chat_completions.json"))


@needs("CLIENTS.md")
@each_row("name", CAPTURES or ["none"])
def test_what_real_clients_send(name: str) -> None:
    shape = json.loads((SHARED / "clients" / "captures" / name).read_text())["body_shape"]

    request = served(json.dumps(shape).encode())

    assert len(request.messages) == len(shape["messages"])
    assert [tool.name for tool in request.tools] == [tool["function"]["name"] for tool in shape.get("tools", ())]
    assert request.fields is not None
    assert [field for field, _ in request.fields.members] == list(shape)
