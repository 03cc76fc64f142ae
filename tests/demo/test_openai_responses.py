"""The demo as OpenAI's Responses: what its own SDK makes of the answers, and what the API refuses."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import Any

import openai
import pytest

from tests.named_rows import each_row
from toolwire.demo.openai_responses import answer
from toolwire.demo.server import DemoServer

pytestmark = pytest.mark.enable_socket

TOOLS: list[Any] = [
    {
        "type": "function",
        "name": "get_weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
        "strict": False,
    },
    {"type": "function", "name": "search_docs", "parameters": {"type": "object", "properties": {}}, "strict": False},
    {"type": "custom", "name": "patch_file"},
    {"type": "web_search"},
]


@pytest.fixture(scope="module")
def client() -> Iterator[openai.OpenAI]:
    server = DemoServer(pace=0.0)
    with openai.OpenAI(api_key="none", base_url=f"{server.base_url}/openai/v1", max_retries=0) as made:
        yield made
    server.close()


def ask(client: openai.OpenAI, said: Any, stream: bool, **fields: Any) -> Any:
    asked: dict[str, Any] = {"model": "responses", "input": said, "store": False, **fields}
    if not stream:
        return client.responses.create(**asked)
    with client.responses.stream(**asked) as answered:
        for event in answered:
            last = event
    return last.response


EITHER = pytest.mark.parametrize("stream", [True, False])


@EITHER
def test_text(client: openai.OpenAI, stream: bool) -> None:
    response = ask(client, "hello", stream)
    assert response.output_text.startswith("This is the demo model")
    assert (response.status, response.model, response.store) == ("completed", "responses", False)
    assert response.usage.total_tokens == response.usage.input_tokens + response.usage.output_tokens > 1


@EITHER
@pytest.mark.parametrize("manner", ["", " [demo interleave]"])
def test_a_tool_loop(client: openai.OpenAI, stream: bool, manner: str) -> None:
    history: list[Any] = [{"role": "user", "content": f"Weather in Paris and London?{manner}"}]
    response = ask(client, history, stream, tools=TOOLS, reasoning={"effort": "low", "summary": "auto"})
    thought, *calls = response.output
    assert thought.summary[0].text == "The user needs get_weather."
    assert thought.encrypted_content
    assert [(call.type, call.name, json.loads(call.arguments)) for call in calls] == [
        ("function_call", "get_weather", {"city": "Paris"}),
        ("function_call", "get_weather", {"city": "London"}),
    ]
    history += [item.to_dict() for item in response.output]
    history += [{"type": "function_call_output", "call_id": call.call_id, "output": "18 degrees"} for call in calls]
    assert ask(client, history, stream, tools=TOOLS).output_text.count("18 degrees") == 2


@EITHER
def test_a_custom_tool_and_a_call_without_arguments(client: openai.OpenAI, stream: bool) -> None:
    (patch,) = ask(client, '[demo call patch_file "Patch the file."]', stream, tools=TOOLS).output
    assert (patch.type, patch.input) == ("custom_tool_call", "Patch the file.")
    (search,) = ask(client, "[demo call search_docs]", stream, tools=TOOLS).output
    assert (search.type, search.arguments) == ("function_call", "{}")


@EITHER
@pytest.mark.parametrize(
    ("choice", "called"),
    [
        ("none", []),
        ("required", ["get_weather", "get_weather"]),
        ({"type": "function", "name": "search_docs"}, ["search_docs"]),
        ({"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "search_docs"}]}, []),
        (
            {
                "type": "allowed_tools",
                "mode": "required",
                "tools": [{"type": "mcp", "server_label": "a"}, {"type": "function", "name": "search_docs"}],
            },
            ["search_docs"],
        ),
    ],
)
def test_tool_choice(client: openai.OpenAI, stream: bool, choice: Any, called: list[str]) -> None:
    response = ask(client, "Weather in Paris and London?", stream, tools=TOOLS, tool_choice=choice)
    assert [item.name for item in response.output if item.type == "function_call"] == called


@EITHER
def test_limit_and_schema(client: openai.OpenAI, stream: bool) -> None:
    cut = ask(client, "hello", stream, max_output_tokens=16)
    assert (cut.status, cut.incomplete_details.reason) == ("incomplete", "max_output_tokens")
    assert cut.output[0].status == "incomplete"
    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    shape = {"format": {"type": "json_schema", "name": "a", "schema": schema}}
    assert json.loads(ask(client, "Describe Paris.", stream, text=shape).output_text) == {"city": "Paris"}


@EITHER
@pytest.mark.parametrize(
    ("status", "kind"),
    [(400, openai.BadRequestError), (429, openai.RateLimitError), (503, openai.InternalServerError)],
)
def test_errors_on_demand(client: openai.OpenAI, stream: bool, status: int, kind: type[Exception]) -> None:
    with pytest.raises(kind) as caught:
        ask(client, f"[demo error {status}]", stream)
    assert isinstance(caught.value, openai.APIStatusError)
    assert caught.value.status_code == status
    assert caught.value.response.headers.get("retry-after") == (None if status == 400 else "1")


def test_a_cut_stream_ends_nowhere(client: openai.OpenAI) -> None:
    with pytest.raises(openai.APIConnectionError):
        ask(client, "hello [demo cut]", stream=True)


# ---------------------------------------------------------------- refusals

USER = {"role": "user", "content": "hi"}
CALL = {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "c1", "output": "ok"}
FUNCTION = {"type": "function", "name": "f"}
BAD_STRICT = {**FUNCTION, "strict": True, "parameters": {"type": "object", "properties": {}}}

REFUSED: list[tuple[dict[str, Any], str | None]] = [
    ({"model": "gpt"}, None),
    ({"model": None}, "model"),
    ({"messages": []}, "messages"),
    ({"input": None}, "input"),
    ({"input": []}, "input"),
    ({"input": ["x"]}, "input[0]"),
    ({"input": [{"role": "tool", "content": "x"}]}, "input[0].role"),
    ({"input": [{"role": "user", "content": 5}]}, "input[0].content"),
    ({"input": [{"role": "user", "content": [{"type": "text", "text": "x"}]}]}, "input[0].content[0].type"),
    ({"input": [{"role": "user", "content": [{"type": "input_text"}]}]}, "input[0].content[0].text"),
    (
        {"input": [{"role": "user", "content": [{"type": "input_image", "image_url": "x"}]}]},
        "input[0].content[0].image_url",
    ),
    ({"input": [{"role": "assistant", "content": [{"type": "input_text", "text": "x"}]}]}, "input[0].content[0].type"),
    ({"input": [USER, CALL]}, "input"),
    ({"input": [USER, OUTPUT]}, "input"),
    ({"input": [USER, CALL, OUTPUT, OUTPUT]}, "input"),
    ({"input": [USER, CALL, OUTPUT | {"type": "custom_tool_call_output"}]}, "input"),
    ({"input": [USER, CALL | {"call_id": "x" * 65}]}, "input[1].call_id"),
    ({"input": [USER, CALL | {"arguments": {}}]}, "input[1].arguments"),
    ({"input": [USER, CALL, OUTPUT | {"output": None}]}, "input[2].output"),
    ({"input": [{"type": "reasoning", "encrypted_content": "gAAAAdemo"}, USER]}, "input[0].summary"),
    ({"input": [{"type": "reasoning", "summary": [], "encrypted_content": "x"}, USER]}, "input[0].encrypted_content"),
    ({"input": [{"type": "news"}]}, "input[0].type"),
    ({"input": [{"type": "item_reference"}]}, "input[0].id"),
    ({"tools": {}}, "tools"),
    ({"tools": [FUNCTION] * 129}, "tools"),
    ({"tools": [{"type": "function", "function": {"name": "f"}}]}, "tools[0].name"),
    ({"tools": [{"type": "function", "name": "a.b"}]}, "tools[0].name"),
    ({"tools": [{"type": "news"}]}, "tools[0].type"),
    ({"tools": [FUNCTION | {"parameters": {"type": "array"}}]}, "tools[0].parameters"),
    ({"tools": [BAD_STRICT]}, "tools[0].parameters"),
    ({"tool_choice": "required"}, "tool_choice"),
    ({"tools": [FUNCTION], "tool_choice": {"type": "function", "function": {"name": "f"}}}, "tool_choice"),
    ({"tools": [FUNCTION], "tool_choice": {"type": "custom", "name": "f"}}, "tool_choice"),
    ({"max_output_tokens": 15}, "max_output_tokens"),
    ({"reasoning": {"effort": "much"}}, "reasoning.effort"),
    ({"text": {"format": {"type": "json_schema", "json_schema": {}}}}, "text.format"),
]


@each_row(("members", "param"), REFUSED, ids=[json.dumps(members)[:60] for members, _ in REFUSED])
def test_what_the_api_refuses(members: dict[str, Any], param: str | None) -> None:
    refused = said({"input": [USER], **members})
    shown = json.loads(refused.pieces[0])["error"]
    assert refused.status == (404 if members.get("model") else 400)
    assert shown["param"] == param, shown


def said(members: dict[str, Any]) -> Any:
    numbers = itertools.count(1)
    body = json.dumps({"model": "responses", **members}).encode()
    return answer(body, now=1_700_000_000, new_hex=lambda: f"{next(numbers):032x}")


REFERENCE = {"type": "item_reference", "id": "fc_1"}
ACCEPTED: list[dict[str, Any]] = [
    {"input": [USER, REFERENCE, OUTPUT]},
    {"input": [USER, {"id": "fc_1"}, OUTPUT]},
    {"input": [USER, {"type": None, "id": "fc_1"}, OUTPUT]},
    {"input": [OUTPUT], "previous_response_id": "resp_1"},
    {"input": [OUTPUT], "conversation": "conv_1"},
    {"input": [USER, OUTPUT | {"call_id": None}]},
    {"input": [USER], "tools": [{"type": "web_search"}]},
]


@pytest.mark.parametrize("members", ACCEPTED, ids=[json.dumps(members)[:80] for members in ACCEPTED])
def test_what_the_api_takes(members: dict[str, Any]) -> None:
    assert said(members).status == 200


def test_what_is_no_request() -> None:
    for body in (b"[" * 100_000, b"[]", b"x"):
        assert answer(body, now=0, new_hex=lambda: "0" * 32).status == 400
    assert said({"input": "hi"}).status == 200


FOUND = {"type": "function", "name": "list_rows", "parameters": {"type": "object", "properties": {}}, "strict": False,
         "defer_loading": True}  # fmt: skip
SEARCH = {"type": "tool_search", "execution": "client", "description": "Finds tools.",
          "parameters": {"type": "object", "properties": {"query": {"type": "string"}}}}  # fmt: skip
ASKED = '[demo call tool_search {"query": "rows"}] >> [demo call mcp__db__list_rows {}]'


@pytest.mark.parametrize("stream", [True, False])
def test_a_search_and_what_it_has_found(client: openai.OpenAI, stream: bool) -> None:
    """As Codex has it: the search's arguments are an object, what is found stands in a namespace and can be called."""
    said: list[Any] = [{"role": "user", "content": ASKED}]
    namespace = {"type": "namespace", "name": "mcp__db__", "description": "D", "tools": [FOUND]}
    (search,) = ask(client, said, stream, tools=[SEARCH, namespace]).output
    assert (search.type, search.execution, search.arguments) == ("tool_search_call", "client", {"query": "rows"})

    output = {"type": "tool_search_output", "call_id": search.call_id, "execution": "client", "status": "completed",
              "tools": [namespace]}  # fmt: skip
    said += [search.model_dump(exclude_none=True), output]
    (call,) = ask(client, said, stream, tools=[SEARCH]).output
    assert (call.type, call.namespace, call.name) == ("function_call", "mcp__db__", "list_rows")


@pytest.mark.parametrize(
    ("items", "param"),
    [
        ([{"type": "tool_search_call", "call_id": "c", "arguments": "{}"}], "input[0].arguments"),
        ([{"type": "tool_search_call", "call_id": "c", "arguments": {}}], "input"),
        ([{"type": "tool_search_output", "call_id": "c"}], "input[0].tools"),
        ([{"type": "tool_search_output", "call_id": "c", "tools": []}], "input"),
    ],
)
def test_a_search_that_is_none(client: openai.OpenAI, items: list[Any], param: str) -> None:
    with pytest.raises(openai.BadRequestError) as refused:
        ask(client, items, False, tools=[SEARCH])
    assert refused.value.param == param


def test_a_deferred_tool_waits_for_the_search(client: openai.OpenAI) -> None:
    answered = ask(client, "[demo call list_rows {}]", False, tools=[SEARCH, FOUND])
    assert [item.type for item in answered.output] == ["message"]
