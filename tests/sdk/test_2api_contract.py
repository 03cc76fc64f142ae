"""The contract of the 2api reference document, by the official openai SDK on the chat door: the five tests of its
section 9 as they are written there, its client's loop (4.2), and its examples of results (8.2) and refusals (5.4, 7).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import openai
import pytest
from openai import OpenAI

from tests.gateway import gateway
from tests.sdk.talks import DEMO_MODELS

pytestmark = pytest.mark.enable_socket

#: Section 2.1, word for word.
GET_WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Get current weather for a location",
        "parameters": {
            "type": "object",
            "properties": {
                "location": {"type": "string", "description": "City name, e.g., 'Tokyo'"},
                "unit": {"type": "string", "enum": ["celsius", "fahrenheit"], "default": "celsius"},
            },
            "required": ["location"],
        },
    },
}
ASKED = [{"role": "user", "content": "[demo slow 0] What's the weather in Tokyo and London?"}]


@dataclass
class Response:
    """What the document calls the response: `tool_calls`, `content` and `finish_reason` at its top."""

    message: Any
    finish_reason: str

    @property
    def tool_calls(self) -> Any:
        return self.message.tool_calls

    @property
    def content(self) -> str | None:
        return self.message.content  # type: ignore[no-any-return]


Chat = Callable[..., Response]


@pytest.fixture(scope="module")
def sdk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenAI]:
    config = """
        [tenants.default]
        preset = "2api"
        tool_allowlist = ["get_weather", "search_db", "send_email"]
        tool_allowlist_mode = "enforce"
    """
    folder = tmp_path_factory.mktemp("contract")
    with gateway(folder, config) as base, OpenAI(api_key="sk-nobody", base_url=base, max_retries=0) as made:
        yield made


@pytest.fixture(
    params=[
        pytest.param(f"{model} {way}", marks=() if (place + at) % 2 == 0 else pytest.mark.integration)
        for place, model in enumerate(DEMO_MODELS)
        for at, way in enumerate(("whole", "streamed"))
    ]
)
def chat(request: pytest.FixtureRequest, sdk: OpenAI) -> Chat:
    """The document's `client.chat` of each provider, streamed and not: in turn in the fast run."""
    model, way = request.param.split()

    def ask(**fields: Any) -> Response:
        fields = {"model": model, **fields}
        if way == "whole":
            choice = sdk.chat.completions.create(**fields).choices[0]
            return Response(choice.message, choice.finish_reason)
        with sdk.chat.completions.stream(**fields) as stream:
            done = stream.get_final_completion().choices[0]
        return Response(done.message, done.finish_reason)

    return ask


# ---------------------------------------------------------------- section 9


def test_tool_call_has_required_fields(chat: Chat) -> None:
    """Every tool_call must have id, type, function."""
    response = chat(messages=ASKED, tools=[GET_WEATHER])
    assert response.tool_calls
    for tc in response.tool_calls:
        assert tc.id is not None
        assert tc.type == "function"
        assert tc.function.name is not None
        assert tc.function.arguments is not None


def test_tool_call_id_format(chat: Chat) -> None:
    """Tool call ID must be non-empty string."""
    response = chat(messages=ASKED, tools=[GET_WEATHER])
    assert response.tool_calls
    for tc in response.tool_calls:
        assert isinstance(tc.id, str)
        assert len(tc.id) > 0
    assert len({tc.id for tc in response.tool_calls}) == len(response.tool_calls)


def test_tool_result_matches_call(chat: Chat) -> None:
    """Tool result must reference valid tool_call_id."""
    response = chat(messages=ASKED, tools=[GET_WEATHER])
    results = [{"role": "tool", "tool_call_id": tc.id, "content": "22"} for tc in response.tool_calls]
    history = [*ASKED, response.message, *results]
    assert chat(messages=history, tools=[GET_WEATHER]).finish_reason == "stop"

    with pytest.raises(openai.BadRequestError) as caught:
        chat(messages=[*history, {"role": "tool", "tool_call_id": "call_nobody", "content": "x"}], tools=[GET_WEATHER])
    assert caught.value.code == "unknown_tool_call_id"


def test_finish_reason_tool_calls(chat: Chat) -> None:
    """When tool_calls present, finish_reason must be 'tool_calls'."""
    response = chat(messages=ASKED, tools=[GET_WEATHER])
    assert response.tool_calls
    assert response.finish_reason == "tool_calls"


def test_arguments_is_string(chat: Chat) -> None:
    """arguments must always be string (JSON), never parsed object."""
    response = chat(messages=ASKED, tools=[GET_WEATHER])
    assert response.tool_calls
    for tc in response.tool_calls:
        assert isinstance(tc.function.arguments, str)
        assert set(json.loads(tc.function.arguments)) <= {"location", "unit"}


# ---------------------------------------------------------------- 5.2 and 5.5, what an answer with calls says


@pytest.mark.parametrize("model", DEMO_MODELS)
def test_whole_calls_are_numbered_and_say_who_executes_them(sdk: OpenAI, model: str) -> None:
    fields: Any = {"model": model, "messages": ASKED, "tools": [GET_WEATHER]}
    answer = sdk.chat.completions.create(**fields).model_dump(exclude_unset=True)
    calls = answer["choices"][0]["message"]["tool_calls"]
    assert [call["index"] for call in calls] == list(range(len(calls)))
    assert "Client must execute tools" in answer["_2api"]["warning"]

    said = sdk.chat.completions.create(**(fields | {"tool_choice": "none"})).model_dump(exclude_unset=True)
    assert "_2api" not in said


# ---------------------------------------------------------------- 4.2, the client's loop


def test_client_execution_flow(chat: Chat) -> None:
    messages: list[Any] = list(ASKED)
    response = chat(messages=messages, tools=[GET_WEATHER])
    rounds = 0
    while response.tool_calls:
        rounds += 1
        tool_results = [
            {"role": "tool", "tool_call_id": tool_call.id, "content": json.dumps({"temperature": 22})}
            for tool_call in response.tool_calls
        ]
        # Results are matched by their ids, so their order is the client's.
        messages = [*messages, response.message, *reversed(tool_results)]
        response = chat(messages=messages, tools=[GET_WEATHER])
    assert rounds == 1
    assert "22" in (response.content or "")


@pytest.mark.parametrize(
    "content",
    [
        '{"temperature": 22, "unit": "celsius", "condition": "sunny"}',
        "Email sent successfully to user@example.com",
        "Error: Database connection failed. Please try again later.",
        "Error: Tool 'delete_all_data' is not available. Permission denied.",
        "",
    ],
)
def test_result_patterns(sdk: OpenAI, content: str) -> None:
    """8.1 and 8.2: every pattern of a result's content reaches the model as it is."""
    call = {"id": "call_abc", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}
    history: Any = [
        *ASKED,
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_abc", "content": content},
    ]
    for model in DEMO_MODELS:
        answer = sdk.chat.completions.create(model=model, messages=history, tools=[GET_WEATHER])
        assert content in (answer.choices[0].message.content or "")


def test_a_retry_after_malformed_arguments(chat: Chat) -> None:
    """5.3, option 1: the call goes back as the model wrote it, with the client's error, and the model answers."""
    tool_call = {
        "id": "call_abc",
        "type": "function",
        "function": {"name": "get_weather", "arguments": '{"location": '},
    }
    error = "Error: Invalid JSON in arguments. Please retry with valid JSON."
    response = chat(
        messages=[
            *ASKED,
            {"role": "assistant", "tool_calls": [tool_call]},
            {"role": "tool", "tool_call_id": "call_abc", "content": error},
        ],
        tools=[GET_WEATHER],
    )
    assert response.finish_reason == "stop"
    assert error in (response.content or "")


# ---------------------------------------------------------------- 5.1, 5.4, 7


@pytest.mark.parametrize(
    "choice", [None, "auto", "none", "required", {"type": "function", "function": {"name": "get_weather"}}]
)
def test_tool_choice(chat: Chat, choice: Any) -> None:
    said = {} if choice is None else {"tool_choice": choice}
    response = chat(messages=ASKED, tools=[GET_WEATHER], **said)
    assert bool(response.tool_calls) == (choice != "none")
    assert response.finish_reason == ("tool_calls" if choice != "none" else "stop")


def test_required_without_a_call_is_an_error(sdk: OpenAI) -> None:
    """5.1: `[demo text]` makes the demo model disobey."""
    words: Any = [{"role": "user", "content": "[demo slow 0] [demo text] hello"}]
    fields: Any = {"model": "demo/compatible", "messages": words, "tools": [GET_WEATHER], "tool_choice": "required"}
    with pytest.raises(openai.APIStatusError) as caught:
        sdk.chat.completions.create(**fields)
    assert (caught.value.status_code, caught.value.code) == (502, "tool_choice_not_honored")

    said: list[Any] = []
    stream = sdk.chat.completions.create(**fields, stream=True)
    with pytest.raises(openai.APIError) as broken:
        said.extend(chunk.choices[0] for chunk in stream)
    assert broken.value.code == "tool_choice_not_honored"
    assert "".join(choice.delta.content or "" for choice in said), "what was said stays"
    assert all(choice.finish_reason is None for choice in said)


@pytest.mark.parametrize(
    ("function", "code"),
    [
        ({"name": "delete_all_data"}, "tool_not_allowed"),
        ({"name": "x" * 65}, "invalid_tool_name"),
        ({"name": "get_weather", "description": "x" * 1025}, "tool_description_too_long"),
        (
            {
                "name": "get_weather",
                "parameters": json.loads('{"type":"object","properties":{"a":' * 6 + "{}" + "}}" * 6),
            },
            "tool_schema_too_complex",
        ),
    ],
)
def test_limits_of_the_document(sdk: OpenAI, function: dict[str, Any], code: str) -> None:
    ask: Any = {"messages": ASKED, "tools": [{"type": "function", "function": function}]}
    with pytest.raises(openai.BadRequestError) as caught:
        sdk.chat.completions.create(model="demo/openai", **ask)
    assert caught.value.code == code


def test_schema_incompatible(sdk: OpenAI) -> None:
    """5.4: the error's members."""
    parameters = {"type": "object", "oneOf": [{"required": ["a"]}, {"required": ["b"]}]}
    tool: Any = {"type": "function", "function": {"name": "search_db", "parameters": parameters}}
    with pytest.raises(openai.BadRequestError) as caught:
        sdk.chat.completions.create(model="demo/anthropic", messages=ASKED, tools=[tool])
    body: Any = caught.value.body
    assert (body["code"], body["type"]) == ("tool_schema_incompatible", "semantic_error")
    assert body["incompatible_features"] == ["oneOf"]
    assert "'search_db'" in body["message"]


def test_validate_tool_arguments(sdk: OpenAI) -> None:
    """7.3: valid calls pass under validation; an option that means nothing is refused."""
    fields: Any = {"model": "demo/openai", "messages": ASKED, "tools": [GET_WEATHER]}
    headers = {"x-toolwire-validate-tool-arguments": "true"}
    assert sdk.chat.completions.create(**fields, extra_headers=headers).choices[0].message.tool_calls

    body: dict[str, Any] = {"request_options": {"validate_tool_arguments": True}}
    assert sdk.chat.completions.create(**fields, extra_body=body).choices[0].message.tool_calls
    for wrong in ({"validate_tool_arguments": "maybe"}, {"validate": True}, [True]):
        with pytest.raises(openai.BadRequestError) as refused:
            sdk.chat.completions.create(**fields, extra_body={"request_options": wrong})
        assert refused.value.code == "invalid_option"
        assert (refused.value.param or "").startswith("request_options")

    with pytest.raises(openai.BadRequestError) as caught:
        sdk.chat.completions.create(**fields, extra_headers={"x-toolwire-validate-tool-arguments": "maybe"})
    assert caught.value.code == "invalid_option"
