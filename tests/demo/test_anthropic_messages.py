"""The demo as Anthropic: what its own SDK makes of the answers, and what the API refuses."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import Any

import anthropic
import httpx2
import pytest

from tests.named_rows import each_row
from toolwire.demo.anthropic_messages import answer
from toolwire.demo.server import DemoServer

pytestmark = pytest.mark.enable_socket

VERSION = {"anthropic-version": "2026-10-21"}
TOOLS: list[Any] = [
    {
        "name": "get_weather",
        "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
    {"name": "search_docs", "input_schema": {"type": "object", "properties": {}}},
]


@pytest.fixture(scope="module")
def client() -> Iterator[anthropic.Anthropic]:
    server = DemoServer(pace=0.0)
    with anthropic.Anthropic(api_key="none", base_url=f"{server.base_url}/anthropic", max_retries=0) as made:
        yield made
    server.close()


def ask(client: anthropic.Anthropic, said: str | list[Any], stream: bool, **fields: Any) -> Any:
    messages = said if isinstance(said, list) else [{"role": "user", "content": said}]
    asked: dict[str, Any] = {"model": "anthropic", "max_tokens": 2000, "messages": messages, **fields}
    if not stream:
        return client.messages.create(**asked)
    with client.messages.stream(**asked) as answered:
        return answered.get_final_message()


EITHER = pytest.mark.parametrize("stream", [True, False])


@EITHER
def test_text(client: anthropic.Anthropic, stream: bool) -> None:
    message = ask(client, "hello", stream)
    assert [block.type for block in message.content] == ["text"]
    assert message.content[0].text.startswith("This is the demo model")
    assert (message.stop_reason, message.model, message.role) == ("end_turn", "anthropic", "assistant")
    assert message.usage.input_tokens > 0
    assert message.usage.output_tokens > 1


@EITHER
def test_a_tool_loop(client: anthropic.Anthropic, stream: bool) -> None:
    history: list[Any] = [{"role": "user", "content": "Weather in Paris and London?"}]
    message = ask(client, history, stream, tools=TOOLS)
    assert message.stop_reason == "tool_use"
    assert [(block.name, block.input) for block in message.content] == [
        ("get_weather", {"city": "Paris"}),
        ("get_weather", {"city": "London"}),
    ]
    results = [{"type": "tool_result", "tool_use_id": block.id, "content": "18 degrees"} for block in message.content]
    history += [{"role": "assistant", "content": message.content}, {"role": "user", "content": results}]
    assert ask(client, history, stream, tools=TOOLS).content[0].text.count("18 degrees") == 2


@EITHER
def test_thinking_and_a_call_without_arguments(client: anthropic.Anthropic, stream: bool) -> None:
    message = ask(
        client, "[demo call search_docs]", stream, tools=TOOLS, thinking={"type": "enabled", "budget_tokens": 1024}
    )
    thought, call = message.content
    assert thought.thinking == "The user needs search_docs."
    assert thought.signature
    assert (call.name, call.input) == ("search_docs", {})


@EITHER
@pytest.mark.parametrize(
    ("choice", "called"),
    [
        ({"type": "none"}, []),
        ({"type": "auto", "disable_parallel_tool_use": True}, ["get_weather"]),
        ({"type": "any"}, ["get_weather", "get_weather"]),
        ({"type": "tool", "name": "search_docs"}, ["search_docs"]),
    ],
)
def test_tool_choice(client: anthropic.Anthropic, stream: bool, choice: Any, called: list[str]) -> None:
    message = ask(client, "Weather in Paris and London?", stream, tools=TOOLS, tool_choice=choice)
    assert [block.name for block in message.content if block.type == "tool_use"] == called


@EITHER
def test_a_stop_sequence_ends_the_text_and_is_named(client: anthropic.Anthropic, stream: bool) -> None:
    message = ask(client, "hello", stream, stop_sequences=["nowhere", " model"])
    assert message.content[0].text == "This is the demo"
    assert (message.stop_reason, message.stop_sequence) == ("stop_sequence", " model")


@EITHER
def test_limit_and_schema(client: anthropic.Anthropic, stream: bool) -> None:
    assert ask(client, "hello", stream, max_tokens=3).stop_reason == "max_tokens"
    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    output = {"format": {"type": "json_schema", "schema": schema}}
    assert json.loads(ask(client, "Describe Paris.", stream, output_config=output).content[0].text) == {"city": "Paris"}


@EITHER
@pytest.mark.parametrize(
    ("status", "kind"),
    [(400, anthropic.BadRequestError), (429, anthropic.RateLimitError), (529, anthropic.InternalServerError)],
)
def test_errors_on_demand(client: anthropic.Anthropic, stream: bool, status: int, kind: type[Exception]) -> None:
    with pytest.raises(kind) as caught:
        ask(client, f"[demo error {status}]", stream)
    assert isinstance(caught.value, anthropic.APIStatusError)
    assert caught.value.status_code == status
    assert caught.value.response.headers.get("retry-after") == (None if status == 400 else "1")


def test_a_cut_stream_ends_nowhere(client: anthropic.Anthropic) -> None:
    with pytest.raises(httpx2.RemoteProtocolError):
        ask(client, "hello [demo cut]", stream=True)


# ---------------------------------------------------------------- refusals

USER = {"role": "user", "content": "hi"}
CALL = {"type": "tool_use", "id": "t1", "name": "f", "input": {}}
USE = {"role": "assistant", "content": [CALL]}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": "ok"}
SCHEMA = {"type": "object"}


def turn(*content: Any, role: str = "user") -> dict[str, Any]:
    return {"role": role, "content": list(content)}


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"model": "claude"}, "model: claude"),
    ({"max_tokens": None}, "max_tokens"),
    ({"max_tokens": 0}, "max_tokens"),
    ({"messages": []}, "messages"),
    ({"temperature": 0.5}, "temperature"),
    ({"messages": [{"role": "tool", "content": "x"}]}, "messages.0.role"),
    ({"messages": [{"role": "user", "content": " "}]}, "non-empty"),
    ({"messages": [turn()]}, "non-empty"),
    ({"messages": [turn(text(""))]}, "non-whitespace"),
    ({"messages": [turn({"type": "file"})]}, "messages.0.content.0.type"),
    ({"messages": [turn({"type": "image", "source": {"type": "url", "url": "http://x"}})]}, "https"),
    (
        {"messages": [turn({"type": "image", "source": {"type": "base64", "media_type": "image/tiff", "data": ""}})]},
        "media_type",
    ),
    ({"messages": [turn(text("a"), role="assistant"), USER]}, "first message"),
    ({"messages": [USER, turn(text("a"), role="assistant")]}, "prefill"),
    ({"messages": [USER, USE]}, "without `tool_result`"),
    ({"messages": [USER, USE, USER]}, "immediately after"),
    ({"messages": [USER, USE, turn(text("a"), RESULT)]}, "immediately after"),
    ({"messages": [turn(RESULT)]}, "unexpected `tool_use_id`"),
    ({"messages": [USER, USE, turn(RESULT | {"content": 5})]}, "content"),
    ({"messages": [USER, turn(CALL | {"id": "a:b"}, role="assistant"), USER]}, "id"),
    ({"messages": [USER, turn(CALL | {"input": "{}"}, role="assistant"), USER]}, "input"),
    ({"messages": [USER, turn({"type": "thinking", "thinking": "x"}, role="assistant"), USER]}, "signature"),
    ({"messages": [turn(text("S"), role="system"), USER]}, "first message"),
    ({"system": [{"type": "image"}]}, "system.0.type"),
    ({"tools": [{"name": "a.b", "input_schema": SCHEMA}]}, "tools.0.name"),
    ({"tools": [{"name": "a", "input_schema": {}}]}, "input_schema"),
    ({"tools": [{"name": "a", "input_schema": SCHEMA | {"anyOf": [{}]}}]}, "top level"),
    ({"tools": [{"name": "a", "input_schema": SCHEMA}] * 2}, "unique"),
    ({"tools": [{"type": "web_search", "name": "web_search"}]}, "tools.0.type"),
    ({"messages": [USER, USE, turn(RESULT | {"content": [{"type": "tool_reference"}]})]}, "tool_name"),
    ({"tool_choice": {"type": "auto"}}, "tool_choice"),
    ({"tools": TOOLS, "tool_choice": {"type": "tool", "name": "x"}}, "'x'"),
    ({"tools": TOOLS, "tool_choice": "auto"}, "tool_choice"),
    ({"tools": TOOLS, "tool_choice": {"type": "none", "disable_parallel_tool_use": True}}, "tool_choice"),
    ({"thinking": {"type": "enabled", "budget_tokens": 2000}}, "budget_tokens"),
    ({"thinking": {"type": "on"}}, "thinking"),
    ({"tools": TOOLS, "tool_choice": {"type": "any"}, "thinking": {"type": "adaptive"}}, "forces tool use"),
    ({"output_config": {"format": {"type": "json_object"}}}, "output_config"),
]


@each_row(("members", "message"), REFUSED, ids=[json.dumps(members) for members, _ in REFUSED])
def test_what_the_api_refuses(members: dict[str, Any], message: str) -> None:
    body = {"model": "anthropic", "max_tokens": 2000, "messages": [USER], **members}
    refused = answer(json.dumps(body).encode(), VERSION, new_hex=_hex())
    shown = json.loads(refused.pieces[0])
    assert refused.status == (404 if "model" in members else 400)
    assert (shown["type"], message in shown["error"]["message"]) == ("error", True), shown


FOUND = {"type": "tool_reference", "tool_name": "get_weather"}
ACCEPTED: list[dict[str, Any]] = [
    {"thread": {"type": "create"}},
    {"messages": [USER, USE, turn(RESULT | {"content": [FOUND]})], "tools": TOOLS},
    {"tools": [{"type": "web_search_20250305", "name": "web_search", "max_uses": 1}]},
    {"tools": [{"type": "bash_20250124", "name": "bash"}, *TOOLS]},
    {"messages": [USER, turn(text("S"), role="system")]},
]


@pytest.mark.parametrize("members", ACCEPTED, ids=[json.dumps(members)[:80] for members in ACCEPTED])
def test_what_the_api_takes(members: dict[str, Any]) -> None:
    body = {"model": "anthropic", "max_tokens": 2000, "messages": [USER], **members}
    assert answer(json.dumps(body).encode(), VERSION, new_hex=_hex()).status == 200


def test_the_version_is_asked_for_and_decides_on_sampling() -> None:
    body = json.dumps({"model": "anthropic", "max_tokens": 9, "messages": [USER], "temperature": 0.5}).encode()
    statuses = [
        answer(body, {"anthropic-version": v}, new_hex=_hex()).status for v in ("2023-06-01", "2026-10-21", "x")
    ]
    assert statuses == [200, 400, 400]
    assert answer(body, {}, new_hex=_hex()).status == 400
    assert answer(b"[" * 100_000, VERSION, new_hex=_hex()).status == 400


def _hex() -> Any:
    numbers = itertools.count(1)
    return lambda: f"{next(numbers):032x}"
