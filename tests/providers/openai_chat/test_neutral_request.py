"""Requests of clients that speak another dialect, written as Chat Completions from the neutral form."""

from __future__ import annotations

import json
from typing import Any

import pytest

from toolwire.model.errors import RequestError
from toolwire.model.request import (
    ChatRequest,
    ImagePart,
    Message,
    OpaquePart,
    Part,
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
from toolwire.model.settings import ProviderConfig, Target
from toolwire.model.source import replace
from toolwire.providers.openai_chat.request import PROVIDER
from toolwire.providers.profiles import PROFILES

USER = Message("user", (TextPart("hi"),))
CALL = ToolCallPart("call_1", "weather", '{"n": 1.10}')


def build(request: ChatRequest, profile: str = "openai") -> tuple[bytes, list[str]]:
    target = Target(ProviderConfig("host", "openai_chat", "https://host.example/v1/", "none", profile), "its/model")
    upstream, warnings = PROVIDER.build_request(request, target, PROFILES[profile], "secret")
    assert upstream.url == "https://host.example/v1/chat/completions"
    assert dict(upstream.headers)["authorization"] == "Bearer secret"
    return upstream.body, list(warnings)


def written(request: ChatRequest, profile: str = "openai") -> dict[str, Any]:
    document: dict[str, Any] = json.loads(build(request, profile)[0])
    return document


def messages(*given: Message, profile: str = "openai") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = written(ChatRequest("m", given), profile)["messages"]
    return found


def test_a_plain_request_is_plain() -> None:
    assert build(ChatRequest("m", (USER,)))[0] == b'{"model":"its/model","messages":[{"role":"user","content":"hi"}]}'


ANSWER = b'{"type":"object","properties":{"a":{"const":1.10}},"required":["a"],"additionalProperties":false}'
CLOSED = b'{"type":"object","properties":{},"additionalProperties":false,"maximum":1.10}'


def test_every_field() -> None:
    request = ChatRequest(
        "m",
        (USER,),
        tools=(Tool("weather", "d", CLOSED, True), Tool("ping")),
        tool_choice=ToolChoice("required"),
        parallel_tool_calls=False,
        stream=True,
        max_tokens=5,
        sampling=Sampling(0.5, 0.9, None, 7, 1.0, -1.0, ("a", "b")),
        response_format=ResponseFormat("json_schema", "n", ANSWER, True, "d"),
        reasoning_effort="low",
    )
    body, warnings = build(request)
    assert b'"parameters":' + CLOSED in body
    assert b'"schema":' + ANSWER in body
    assert json.loads(body) == {
        "model": "its/model",
        "messages": [{"role": "user", "content": "hi"}],
        "tools": [
            {"type": "function", "function": {"name": "weather", "description": "d", "strict": True,
                                              "parameters": json.loads(CLOSED)}},
            {"type": "function", "function": {"name": "ping"}},
        ],
        "tool_choice": "required",
        "parallel_tool_calls": False,
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_completion_tokens": 5,
        "temperature": 0.5, "top_p": 0.9, "seed": 7, "frequency_penalty": 1.0, "presence_penalty": -1.0,
        "stop": ["a", "b"],
        "response_format": {"type": "json_schema", "json_schema": {"name": "n", "description": "d",
                                                                   "schema": json.loads(ANSWER), "strict": True}},
        "reasoning_effort": "low",
    }  # fmt: skip
    assert warnings == []
    mistral = written(request, "mistral")
    assert "stream_options" not in mistral
    assert (mistral["max_tokens"], mistral["random_seed"]) == (5, 7)


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        (ToolChoice("none"), "none"),
        (ToolChoice("required", ("ping",), named=True), {"type": "function", "function": {"name": "ping"}}),
        (ToolChoice("required", ("patch",), named=True), {"type": "custom", "custom": {"name": "patch"}}),
        (
            ToolChoice("auto", ("ping", "patch")),
            {
                "type": "allowed_tools",
                "allowed_tools": {
                    "mode": "auto",
                    "tools": [
                        {"type": "function", "function": {"name": "ping"}},
                        {"type": "custom", "custom": {"name": "patch"}},
                    ],
                },
            },
        ),
    ],
)
def test_tool_choice(choice: ToolChoice, expected: Any) -> None:
    tools = (Tool("ping"), Tool("patch", kind="custom"))
    assert written(ChatRequest("m", (USER,), tools=tools, tool_choice=choice))["tool_choice"] == expected


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ((TextPart("a"), TextPart("b")), {"content": "ab"}),
        ((CALL,), {"content": None, "tool_calls": [
            {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": '{"n": 1.10}'}}]}),
        ((TextPart("a"), replace(CALL, arguments="")), {"content": "a", "tool_calls": [
            {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": ""}}]}),
        ((ToolCallPart("call_1", "patch", "*** x", "custom"),), {"content": None, "tool_calls": [
            {"id": "call_1", "type": "custom", "custom": {"name": "patch", "input": "*** x"}}]}),
        ((RefusalPart("no"),), {"refusal": "no"}),
        ((ReasoningPart("hm", "signature"), TextPart("a")), {"content": "a"}),
    ],
)  # fmt: skip
def test_assistant_messages(parts: tuple[Part, ...], expected: dict[str, Any]) -> None:
    assert messages(USER, Message("assistant", parts))[1] == {"role": "assistant", **expected}


@pytest.mark.parametrize("parts", [(), (TextPart(""),), (ReasoningPart("hm"),), (ReasoningPart("", "signature"),)])
def test_a_turn_that_says_nothing_is_left_out(parts: tuple[Part, ...]) -> None:
    assert [message["role"] for message in messages(USER, Message("assistant", parts), USER)] == ["user", "user"]


def test_several_runs_of_reasoning_go_back_as_one() -> None:
    parts = (ReasoningPart("h"), TextPart("a"), ReasoningPart("m"))
    assert messages(USER, Message("assistant", parts), profile="deepseek")[1] == {
        "role": "assistant",
        "content": "a",
        "reasoning_content": "hm",
    }


@pytest.mark.parametrize(
    ("image", "url"),
    [
        (ImagePart(url="https://x/y.png"), {"url": "https://x/y.png"}),
        (ImagePart(data="AA==", media_type="image/webp"), {"url": "data:image/webp;base64,AA=="}),
        (ImagePart(data="AA==", detail="low"), {"url": "data:image/png;base64,AA==", "detail": "low"}),
    ],
)
def test_images(image: ImagePart, url: dict[str, str]) -> None:
    assert messages(Message("user", (TextPart("see"), image)))[0]["content"] == [
        {"type": "text", "text": "see"},
        {"type": "image_url", "image_url": url},
    ]


@pytest.mark.parametrize(
    ("texts", "is_error", "expected"),
    [
        (["boom"], True, "Error: boom"),
        (["Error: boom"], True, "Error: boom"),
        (["boom", "!"], True, "Error: boom\n!"),
        ([], True, "Error: "),
        ([], False, ""),
        (["fine"], False, "fine"),
    ],
)
def test_tool_results(texts: list[str], is_error: bool, expected: str) -> None:
    result = ToolResultPart("call_1", tuple(TextPart(text) for text in texts), is_error, "weather")
    found = messages(USER, Message("assistant", (CALL,)), Message("tool", (result,)))
    assert found[2] == {"role": "tool", "tool_call_id": "call_1", "content": expected, "name": "weather"}


def test_what_only_another_dialect_knows_is_refused() -> None:
    with pytest.raises(RequestError) as caught:
        build(ChatRequest("m", (Message("user", (OpaquePart("document", "anthropic_messages", b"{}"),)),)))
    assert caught.value.code == "unsupported_content"


SEARCH = Tool("web_search", kind="opaque")


def test_a_service_of_another_host_is_left_out() -> None:
    body, warnings = build(ChatRequest("m", (USER,), tools=(SEARCH,), tool_choice=ToolChoice("auto")))
    assert json.loads(body).keys().isdisjoint({"tools", "tool_choice"})
    assert warnings == ["not_supported:server_tools"]


@pytest.mark.parametrize("tools", [(SEARCH,), (SEARCH, Tool("f"))])
def test_a_service_of_another_host_cannot_be_forced(tools: tuple[Tool, ...]) -> None:
    choice = ToolChoice("required", ("web_search",), named=True)
    with pytest.raises(RequestError) as caught:
        build(ChatRequest("m", (USER,), tools=tools, tool_choice=choice))
    assert caught.value.code == "unsupported_tool"
