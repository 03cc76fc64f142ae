"""Messages requests as the neutral request, and what the door refuses."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.named_rows import each_row
from toolwire.doors.messages.request import DOOR
from toolwire.model.errors import RequestError
from toolwire.model.http import HttpRequest
from toolwire.model.request import (
    ChatRequest,
    FilePart,
    ImagePart,
    OpaquePart,
    ReasoningPart,
    ResponseFormat,
    Sampling,
    TextPart,
    ToolCallPart,
    ToolChoice,
    ToolResultPart,
)

USER = {"role": "user", "content": "hi"}
TOOL = {"name": "f", "description": "d", "input_schema": {"type": "object"}, "strict": True}
SEARCH = {"type": "web_search_20250305", "name": "web_search", "max_uses": 3}
DATA = {"type": "base64", "media_type": "image/png", "data": "AAAA"}


def parse(headers: dict[str, str] | None = None, **members: Any) -> ChatRequest:
    body = {"model": "m", "max_tokens": 10, "messages": [USER]} | members
    return DOOR.parse_request(HttpRequest("POST", "/", headers or {}, json.dumps(body, ensure_ascii=False).encode()))


def roles(request: ChatRequest) -> list[str]:
    return [message.role for message in request.messages]


@each_row(
    ("members", "expected"),
    [
        ({"stream": True}, {"stream": True, "include_usage": True}),
        ({"max_tokens": 7}, {"max_tokens": 7, "dialect_fields": ()}),
        ({"max_tokens": 0}, {"max_tokens": 0, "dialect_fields": ("max_tokens",)}),
        ({"temperature": 0.5, "top_k": 3}, {"sampling": Sampling(temperature=0.5, top_k=3)}),
        ({"top_p": 1, "stop_sequences": ["a"]}, {"sampling": Sampling(top_p=1, stop=("a",))}),
        ({"tool_choice": {"type": "auto"}, "tools": [TOOL]}, {"tool_choice": ToolChoice("auto")}),
        ({"tool_choice": {"type": "any"}, "tools": [TOOL]}, {"tool_choice": ToolChoice("required")}),
        ({"tool_choice": {"type": "none"}, "tools": [TOOL]}, {"tool_choice": ToolChoice("none")}),
        (
            {"tool_choice": {"type": "tool", "name": "f", "disable_parallel_tool_use": True}, "tools": [TOOL]},
            {"tool_choice": ToolChoice("required", ("f",), named=True), "parallel_tool_calls": False},
        ),
        (
            {"tool_choice": {"type": "auto", "disable_parallel_tool_use": False}, "tools": [TOOL]},
            {"parallel_tool_calls": None},
        ),
        (
            {"output_config": {"format": {"type": "json_schema", "schema": {"a": 1.10}}}},
            {"response_format": ResponseFormat("json_schema", "answer", b'{"a": 1.1}', strict=True)},
        ),
        (
            {"output_format": {"type": "json_schema", "schema": {}}},
            {"response_format": ResponseFormat("json_schema", "answer", b"{}", strict=True)},
        ),
        ({"metadata": {"user_id": "u"}, "speed": None, "x": 1}, {"dialect_fields": ("metadata",)}),
    ],
)
def test_fields(members: dict[str, Any], expected: dict[str, Any]) -> None:
    request = parse(**members)
    assert {name: getattr(request, name) for name in expected} == expected


@each_row(
    ("thinking", "effort", "expected"),
    [
        (None, None, None),
        ({"type": "adaptive"}, None, None),
        ({"type": "adaptive", "display": "omitted"}, "max", "max"),
        (None, "low", "low"),
        ({"type": "disabled"}, "high", "none"),
        ({"type": "between_tools"}, None, "none"),
        ({"type": "enabled", "budget_tokens": 1024}, None, "low"),
        ({"type": "enabled", "budget_tokens": 4000}, None, "low"),
        ({"type": "enabled", "budget_tokens": 10_000}, None, "medium"),
        ({"type": "enabled", "budget_tokens": 31_999}, None, "high"),
        ({"type": "enabled", "budget_tokens": 31_999}, "medium", "medium"),
    ],
)
def test_thinking_is_an_effort(thinking: Any, effort: str | None, expected: str | None) -> None:
    members = {"thinking": thinking} if thinking else {}
    members |= {"output_config": {"effort": effort}} if effort else {}
    assert parse(**members).reasoning_effort == expected


def test_headers_of_the_api_travel() -> None:
    given = {"anthropic-beta": "a,b", "anthropic-new": "1", "authorization": "Bearer k", "x-api-key": "k"}
    assert parse(given).headers == (("anthropic-beta", "a,b"), ("anthropic-new", "1"))


def test_system_text_leads_the_history() -> None:
    blocks = [{"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}, {"type": "text", "text": "b"}]
    assert parse(system="be brief").messages[0].parts == (TextPart("be brief"),)
    first, second = parse(system=blocks, messages=[USER]).messages
    assert (first.role, [part.text for part in first.parts if type(part) is TextPart]) == ("system", ["a", "b"])
    assert second.role == "user"
    assert roles(parse(system="")) == roles(parse(system=[])) == ["user"]


def test_system_messages_stand_where_they_stand() -> None:
    assert roles(parse(messages=[USER, {"role": "system", "content": "now"}, USER])) == ["user", "system", "user"]


def test_results_come_first_and_one_by_one() -> None:
    """Text in front of, between and behind results: one message of the user's, behind the results."""
    call = {"type": "tool_use", "name": "f", "input": {}}
    content = [
        {"type": "text", "text": "a"},
        {"type": "tool_result", "tool_use_id": "t1", "content": "one", "is_error": True},
        {"type": "text", "text": "b"},
        {"type": "tool_result", "tool_use_id": "t2"},
    ]
    turn = {"role": "assistant", "content": [call | {"id": "t1"}, call | {"id": "t2"}]}
    request = parse(messages=[USER, turn, {"role": "user", "content": content}])
    assert roles(request) == ["user", "assistant", "tool", "tool", "user"]
    _, _, first, second, rest = request.messages
    assert first.parts == (ToolResultPart("t1", (TextPart("one"),), is_error=True),)
    assert second.parts == (ToolResultPart("t2", ()),)
    assert rest.parts == (TextPart("a"), TextPart("b"))
    assert first.source is second.source is rest.source, "together they are the client's message"


def test_blocks() -> None:
    blocks = [
        {"type": "thinking", "thinking": "hm", "signature": "S"},
        {"type": "thinking", "thinking": "", "signature": ""},
        {"type": "redacted_thinking", "data": "R"},
        {"type": "text", "text": "t", "citations": [1]},
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}},
        {"type": "tool_use", "id": "t1", "name": "f", "input": {"n": 1}, "caller": {"type": "direct"}},
    ]
    parts = parse(messages=[USER, {"role": "assistant", "content": blocks}]).messages[1].parts
    assert parts == (
        ReasoningPart("hm", "S"),
        ReasoningPart(""),
        OpaquePart("redacted_thinking", "anthropic_messages", json.dumps(blocks[2]).encode()),
        TextPart("t", extra=(("citations", b"[1]"),)),
        OpaquePart("server_tool_use", "anthropic_messages", json.dumps(blocks[4]).encode()),
        ToolCallPart("t1", "f", '{"n": 1}', extra=(("caller", b'{"type": "direct"}'),)),
    )


@each_row(
    ("block", "part"),
    [
        ({"type": "image", "source": DATA}, ImagePart(data="AAAA", media_type="image/png")),
        ({"type": "image", "source": {"type": "url", "url": "https://x/y"}}, ImagePart(url="https://x/y")),
        (
            {"type": "document", "title": "T", "source": {"type": "text", "media_type": "text/plain", "data": "D"}},
            FilePart("text/plain", "T", content=(TextPart("D"),)),
        ),
        (
            {
                "type": "document",
                "context": "C",
                "source": {
                    "type": "content",
                    "content": [{"type": "text", "text": "D"}, {"type": "image", "source": DATA}],
                },
            },
            FilePart(
                "text/plain", context="C", content=(TextPart("D"), ImagePart(data="AAAA", media_type="image/png"))
            ),
        ),
        (
            {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "AAAA"}},
            FilePart("application/pdf", data="AAAA"),
        ),
        (
            {"type": "document", "source": {"type": "url", "url": "https://x/y"}},
            FilePart("application/pdf", url="https://x/y"),
        ),
        (
            {"type": "document", "source": {"type": "file", "file_id": "f1"}},
            FilePart(file_id="f1", dialect="anthropic_messages"),
        ),
        (
            {"type": "image", "source": {"type": "file", "file_id": "f1"}},
            FilePart("image/*", file_id="f1", dialect="anthropic_messages"),
        ),
        (
            {"type": "search_result", "source": "https://x", "title": "T", "content": [{"type": "text", "text": "D"}]},
            FilePart("text/plain", "T", context="https://x", content=(TextPart("D"),)),
        ),
        (
            {"type": "image", "source": DATA | {"media_type": "image/jpg"}},
            ImagePart(data="AAAA", media_type="image/jpeg"),
        ),
    ],
)
def test_content_others_understand(block: dict[str, Any], part: Any) -> None:
    result = {"type": "tool_result", "tool_use_id": "t1", "content": [block]}
    call = {"type": "tool_use", "id": "t1", "name": "f", "input": {}}
    messages = [{"role": "user", "content": [block]}, {"role": "assistant", "content": [call]}]
    first, _, second = parse(messages=[*messages, {"role": "user", "content": [result]}]).messages
    assert first.parts == (part,)
    assert second.parts == (ToolResultPart("t1", (part,)),)


@pytest.mark.parametrize(
    "block",
    [
        {"type": "image", "source": {"type": "from_the_future"}},
        {"type": "document", "source": {"type": "from_the_future", "data": "AAAA"}},
        {"type": "document", "source": {"type": "content", "content": [{"type": "from_the_future"}]}},
        {"type": "container_upload", "file_id": "f1"},
        {"type": "from_the_future", "text": 7, "id": []},
    ],
)
def test_content_only_this_api_understands(block: dict[str, Any]) -> None:
    (message,) = parse(messages=[{"role": "user", "content": [block]}]).messages
    assert message.parts == (OpaquePart(block["type"], "anthropic_messages", json.dumps(block).encode()),)


def test_arguments_keep_every_digit() -> None:
    raw = b'{"id": 7381920465519283747, "f": 1.10, "u": "\\u00e9"}'
    body = (
        b'{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"x"},{"role":"assistant","content":'
        b'[{"type":"tool_use","id":"t","name":"f","input":%b}]}]}'
    )
    (call,) = DOOR.parse_request(HttpRequest("POST", "/", {}, body % raw)).messages[1].tool_calls
    assert call.arguments.encode() == raw


def test_tools() -> None:
    function, service = parse(tools=[TOOL | {"cache_control": {"type": "ephemeral"}}, SEARCH]).tools
    assert (function.name, function.description, function.parameters) == ("f", "d", b'{"type": "object"}')
    assert (function.strict, function.extra) == (True, (("cache_control", b'{"type": "ephemeral"}'),))
    assert (service.name, service.kind) == ("web_search", "opaque")


def test_to_count_needs_no_output_limit() -> None:
    body = json.dumps({"model": "m", "messages": [USER], "stream": True}).encode()
    to_count, to_answer = (HttpRequest("POST", f"/messages{end}", {}, body) for end in ("/count_tokens", ""))
    assert not DOOR.parse_request(to_count).stream
    assert DOOR.count_renderer(to_answer) is None
    with pytest.raises(RequestError):
        DOOR.parse_request(to_answer)


def block(**members: Any) -> dict[str, Any]:
    return {"messages": [{"role": members.pop("role", "user"), "content": [members]}]}


@each_row(
    ("members", "param", "said"),
    [
        ({"model": None}, "model", "is required"),
        ({"max_tokens": None}, "max_tokens", "is required"),
        ({"max_tokens": -1}, "max_tokens", "not -1"),
        ({"max_tokens": "9"}, "max_tokens", "must be an integer, not a string"),
        ({"messages": []}, "messages", "at least one"),
        ({"messages": [{"role": "tool", "content": "x"}]}, "messages[0].role", "not 'tool'"),
        ({"messages": [{"role": "user"}]}, "messages[0].content", "is required"),
        ({"messages": [{"role": "user", "content": 7}]}, "messages[0].content", "must be a string or an array"),
        (block(text="x"), "messages[0].content[0].type", "is required"),
        (block(type="text"), "messages[0].content[0].text", "is required"),
        (block(type="tool_use", id="t", name="f", input={}), "messages[0].content[0].type", "role assistant"),
        (block(role="assistant", type="tool_result", tool_use_id="t"), "messages[0].content[0].type", "role user"),
        (block(role="assistant", type="tool_use", id="", name="f", input={}), "messages[0].content[0].id", "empty"),
        (block(type="tool_result", tool_use_id=""), "messages[0].content[0].tool_use_id", "empty"),
        ({"tools": [{"input_schema": {}}]}, "tools[0].name", "is required"),
        ({"tools": [{"name": "f"}]}, "tools[0].input_schema", "is required"),
        ({"tools": [{"name": "f", "input_schema": 1}]}, "tools[0].input_schema", "JSON Schema object"),
        ({"tools": [{"name": "f", "input_schema": {"type": "array"}}]}, "tools[0].input_schema.type", '"array"'),
        ({"tool_choice": {"type": "tool"}}, "tool_choice.name", "is required"),
        ({"output_config": {"format": {"type": "text"}}}, "output_config.format", "json_schema"),
        ({"temperature": 1.5}, "temperature", "between 0 and 1"),
    ],
)
def test_refusals_name_the_place_and_the_fix(members: dict[str, Any], param: str, said: str) -> None:
    with pytest.raises(RequestError) as caught:
        parse(**members)
    assert (caught.value.status, caught.value.param) == (400, param)
    assert said in caught.value.message


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'{"model":"\xff"}', b"[" * 100_000])
def test_what_is_no_json_object(body: bytes) -> None:
    with pytest.raises(RequestError) as caught:
        DOOR.parse_request(HttpRequest("POST", "/", {}, body))
    assert caught.value.code == "invalid_json"
