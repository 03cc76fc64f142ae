"""The native API over HTTP, as its page tells a newcomer to use it: two turns with parallel calls, any provider."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from local import answer_models as models
from local import openapi
from tests.gateway import ROOT, gateway
from tests.native_client import Said, read_answer, read_stream
from toolwire.doors.native.request_models import ChatRequest, RequestOptions
from toolwire.providers.hosts import DEMO_MODELS

pytestmark = pytest.mark.enable_socket

PAGE = (ROOT / "docs" / "native.md").read_text()
LOCAL = "http://127.0.0.1:8080/v1"
CITIES = ["Paris", "New York"]

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "description": "The weather of a city.",
            "parameters": {
                "type": "object",
                "properties": {"location": {"type": "string"}},
                "required": ["location"],
            },
        },
    }
]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with gateway(tmp_path_factory.mktemp("native")) as url:
        yield url


def turn(base: str, messages: list[dict[str, Any]], model: str, *, stream: bool) -> tuple[Said, bytes]:
    body = {"model": model, "messages": messages, "tools": TOOLS, "stream": stream}
    answer = httpx.post(f"{base}/native/chat", json=body, timeout=30)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].partition(";")[0] == ("text/event-stream" if stream else "application/json")
    return (read_stream if stream else read_answer)(answer.content), answer.content


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "JSON"])
@pytest.mark.parametrize("model", DEMO_MODELS)
def test_two_turns_with_parallel_calls(base: str, model: str, stream: bool) -> None:
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "[demo slow 0] What is the weather in Paris and in New York?"},
    ]
    first, _ = turn(base, messages, f"demo/{model}", stream=stream)
    assert [json.loads(call.arguments or "null") for call in first.calls] == [{"location": city} for city in CITIES]
    assert first.finish == "tool_calls"
    assert [warning["code"] for warning in first.warnings] == ["contains_tool_calls"]
    calls = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": json.loads(call.arguments or "")},
        }
        for call in first.calls
    ]
    messages.append({"role": "assistant", "content": None, "tool_calls": calls})
    for call in reversed(first.calls):
        messages.append({"role": "tool", "tool_call_id": call.id, "content": {"temperature": 21.50}})

    second, _ = turn(base, messages, f"demo/{model}", stream=stream)

    assert (second.finish, second.calls, second.error) == ("stop", [], None)
    assert second.text
    assert second.head["conversation_id"] == first.head["conversation_id"], "the ids lead to the conversation"


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "JSON"])
@pytest.mark.parametrize("model", DEMO_MODELS)
def test_a_later_turn_of_a_named_conversation_needs_no_model(base: str, model: str, stream: bool) -> None:
    """Provider and model stick to the conversation that `conversation_id` names."""
    name = f"trip-{model}-{stream}"
    asks = [{"role": "user", "content": "[demo slow 0] What is the weather in Paris and in New York?"}]
    body: dict[str, Any] = {"messages": asks, "tools": TOOLS, "stream": stream, "conversation_id": name}
    early = httpx.post(f"{base}/native/chat", json=body, timeout=30)
    assert (early.status_code, early.json()["error"]["param"]) == (400, "model"), "nobody has named one yet"

    read = read_stream if stream else read_answer
    first = read(httpx.post(f"{base}/native/chat", json={**body, "model": f"demo/{model}"}, timeout=30).content)
    made = [
        {"id": call.id, "function": {"name": call.name, "arguments": json.loads(call.arguments or "")}}
        for call in first.calls
    ]
    results = [{"role": "tool", "tool_call_id": call.id, "content": {"degrees": 21}} for call in first.calls]
    later = {**body, "messages": [*asks, {"role": "assistant", "tool_calls": made}, *results]}

    shown = httpx.post(f"{base}/native/translate", json={"body": later}, timeout=30).json()
    second = read(httpx.post(f"{base}/native/chat", json=later, timeout=30).content)

    assert (shown["provider"], shown["model"]) == ("demo", model)
    assert (second.finish, second.error) == ("stop", None)
    assert "21" in second.text
    keys = ("model", "provider", "conversation_id")
    assert [second.head[key] for key in keys] == [first.head[key] for key in keys]
    assert second.head["conversation_id"] == name


def test_a_conversation_may_change_its_provider(base: str) -> None:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "What is the weather in Paris and in New York?"}]
    for number, model in enumerate(DEMO_MODELS):
        said, body = turn(base, messages, f"demo/{model}", stream=False)
        assert len(said.calls) == 2, f"turn {number}"
        messages.append(json.loads(body)["choices"][0]["message"])
        messages += [{"role": "tool", "tool_call_id": call.id, "content": "mild"} for call in said.calls]
        messages.append({"role": "user", "content": "And the weather in Paris and in New York tomorrow?"})


def test_a_failure_in_the_middle(base: str) -> None:
    said, _ = turn(base, [{"role": "user", "content": "Weather in Paris? [demo cut]"}], "demo/openai", stream=True)
    assert said.finish is None
    assert said.error is not None
    assert said.error["code"] == "upstream_truncated"


# ---------------------------------------------------------------- the page


def _blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def test_the_script_of_the_page(base: str, capsys: pytest.CaptureFixture[str]) -> None:
    (script,) = _blocks("py")
    assert len(script.strip().splitlines()) <= 22
    assert LOCAL in script

    exec(script.replace(LOCAL, base), {})

    assert capsys.readouterr().out.strip()


@pytest.mark.parametrize("command", _blocks("bash"), ids=["chat_completions", "check", "translate"])
def test_the_commands_of_the_page(base: str, command: str) -> None:
    words = shlex.split(command)
    url = next(word for word in words if word.startswith(LOCAL))
    answer = httpx.post(url.replace(LOCAL, base), content=words[words.index("-d") + 1], timeout=30)
    assert answer.status_code == 200, answer.text
    if url.endswith("/chat"):
        said = read_stream(answer.content)
        assert [json.loads(call.arguments or "null") for call in said.calls] == [{"location": city} for city in CITIES]
    elif url.endswith("/check"):
        found = models.ToolsCheckResponse.model_validate_json(answer.content)
        assert found.providers
        for verdict in found.providers:  # of what the page has: no `const` at Google, a type in all places at Moonshot
            assert bool(verdict.changes) == (verdict.wire == "gemini" or verdict.provider == "moonshot")
    else:
        shown = models.TranslateResponse.model_validate_json(answer.content)
        assert [warning.code for warning in shown.warnings] == ["not_supported:seed"]


def test_every_event_is_explained() -> None:
    events = models.Event.__args__[0].__args__
    wanted = {}
    for event in events:
        (name,) = event.model_fields["type"].annotation.__args__
        wanted[name] = {field for field in event.model_fields if field != "type"}
    rows = re.findall(r"^\| `([a-z_]+(?:\.[a-z]+)?)` \| (`.*?) \|", PAGE.split("## The stream")[1], re.MULTILINE)
    told = {name: set(re.findall(r"`(\w+)`", members)) for name, members in rows}
    assert told.keys() == wanted.keys()
    for name, members in told.items():
        assert members == (wanted[name] if name != "warning" else {"code", "message"}), name


def test_every_member_of_a_request_is_named() -> None:
    section = PAGE.split("## The request")[1].partition("## The answer")[0]
    assert {name for name in ChatRequest.model_fields if f"`{name}`" not in section} == set()
    assert {name for name in RequestOptions.model_fields if f"| `{name}` |" not in section} == set()


def test_the_document_is_current() -> None:
    assert openapi.PAGE.read_text("utf-8") == openapi.text(), "out of date: make openapi"
