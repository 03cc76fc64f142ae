"""The demo's Chat Completions wire: what is refused, and how a turn is written in both flavours."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from openai.lib.streaming.chat import ChatCompletionStreamState
from openai.types.chat import ChatCompletion, ChatCompletionChunk

from tests.named_rows import each_row
from toolwire.demo.answer import Answer
from toolwire.demo.openai_chat import Flavour, answer

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {"type": "object", "properties": {"location": {"type": "string"}}, "required": ["location"]},
    },
}
TIME = {"type": "function", "function": {"name": "get_time"}}
PATCH = {"type": "custom", "custom": {"name": "apply_patch"}}
TWO_CITIES = "Weather in Paris and New York?"
FLAVOURS: list[Flavour] = ["openai", "compatible"]


def counting() -> Callable[[], str]:
    numbers = iter(range(1, 1000))
    return lambda: f"{next(numbers):032x}"


def ask(flavour: Flavour, text: str = "hello", **fields: Any) -> Answer:
    body = {"model": flavour, "messages": [{"role": "user", "content": text}], **fields}
    return answer(json.dumps(body).encode(), flavour, now=1_700_000_000, new_hex=counting())


def chunks_of(said: Answer) -> list[dict[str, Any]]:
    assert said.stream
    assert said.pieces[-1] == b"data: [DONE]\n\n"
    return [json.loads(piece.removeprefix(b"data: ")) for piece in said.pieces[:-1]]


def deltas_of(said: Answer) -> list[dict[str, Any]]:
    return [chunk["choices"][0]["delta"] for chunk in chunks_of(said) if chunk["choices"]]


def said_by(call: Any) -> tuple[str, str]:
    return call.function.name, call.function.arguments


CALL = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
USER = {"role": "user", "content": "hi"}
ASSISTANT = {"role": "assistant", "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": "call_1", "content": "1"}

REFUSED: list[tuple[str, dict[str, Any], int, str | None]] = [
    ("unknown model", {"model": "gpt"}, 404, None),
    ("no model", {"model": None}, 400, "model"),
    ("no messages", {"messages": None}, 400, "messages"),
    ("empty messages", {"messages": []}, 400, "messages"),
    ("role", {"messages": [{"role": "robot"}]}, 400, "messages.[0].role"),
    ("no content", {"messages": [{"role": "user"}]}, 400, "messages.[0].content"),
    ("content of a wrong type", {"messages": [{"role": "user", "content": 3}]}, 400, "messages.[0].content"),
    (
        "image in a tool result",
        {"messages": [USER, ASSISTANT, RESULT | {"content": [{"type": "image_url"}]}]},
        400,
        "messages.[2].content.[0].type",
    ),
    ("result without call", {"messages": [USER, RESULT]}, 400, "messages.[1].role"),
    ("call without result", {"messages": [USER, ASSISTANT, USER]}, 400, "messages.[2].role"),
    ("call without result at the end", {"messages": [USER, ASSISTANT]}, 400, "messages.[2].role"),
    ("two results", {"messages": [USER, ASSISTANT, RESULT, RESULT]}, 400, "messages.[3].role"),
    (
        "arguments as an object",
        {
            "messages": [
                USER,
                {"role": "assistant", "tool_calls": [CALL | {"function": {"name": "f", "arguments": {}}}]},
            ]
        },
        400,
        "messages.[1].tool_calls.[0].function.arguments",
    ),
    ("stream_options", {"stream_options": {"include_usage": True}}, 400, "stream_options"),
    ("two choices", {"n": 2}, 400, "n"),
    ("empty tools", {"tools": []}, 400, "tools"),
    ("tool type", {"tools": [{"type": "web_search"}]}, 400, "tools.[0].type"),
    ("tool name", {"tools": [{"type": "function", "function": {"name": "a b"}}]}, 400, "tools.[0].function.name"),
    ("choice without tools", {"tool_choice": "auto"}, 400, "tool_choice"),
    ("unknown choice", {"tools": [TIME], "tool_choice": "any"}, 400, "tool_choice"),
    (
        "choice of another tool",
        {"tools": [TIME], "tool_choice": {"type": "function", "function": {"name": "x"}}},
        400,
        "tool_choice",
    ),
    ("limit", {"max_tokens": 0}, 400, "max_tokens"),
]


@each_row(("fields", "status", "param"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_refused_as_the_api_does(fields: dict[str, Any], status: int, param: str | None) -> None:
    said = ask("openai", **fields)

    assert (said.status, json.loads(said.pieces[0])["error"]["param"]) == (status, param)


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"tools": [TIME] * 129}, "tools"),
        ({"parallel_tool_calls": False}, "parallel_tool_calls"),
        (
            {
                "messages": [
                    USER,
                    {**ASSISTANT, "tool_calls": [CALL | {"id": "x" * 41}]},
                    RESULT | {"tool_call_id": "x" * 41},
                ]
            },
            "messages.[1].tool_calls.[0].id",
        ),
    ],
    ids=["129 tools", "parallel without tools", "long id"],
)
def test_only_openai_has_these_limits(fields: dict[str, Any], param: str) -> None:
    refused = ask("openai", **fields)

    assert (refused.status, json.loads(refused.pieces[0])["error"]["param"]) == (400, param)
    assert ask("compatible", **fields).status == 200


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"\xff"])
def test_a_body_that_is_no_request(body: bytes) -> None:
    assert answer(body, "openai", now=0, new_hex=counting()).status == 400


@each_row(("status", "retry_after"), [(429, "1"), (503, "1"), (529, "1"), (500, None), (401, None), (418, None)])
@each_row("flavour", FLAVOURS)
def test_an_error_on_demand(flavour: Flavour, status: int, retry_after: str | None) -> None:
    said = ask(flavour, f"[demo error {status}]", stream=True)

    error = json.loads(said.pieces[0])["error"]
    assert (said.status, said.stream, dict(said.headers).get("retry-after")) == (status, False, retry_after)
    assert error["message"]
    assert set(error) == ({"message", "type", "param", "code"} if flavour == "openai" else {"message", "type", "code"})


def test_openai_opens_a_call_once_and_streams_its_arguments() -> None:
    deltas = deltas_of(ask("openai", "Weather in Oslo", tools=[WEATHER], stream=True))

    opening = {"id": f"call_{2:024x}", "type": "function", "function": {"name": "get_weather", "arguments": ""}}
    assert deltas[0] == {"role": "assistant", "content": None, "refusal": None}
    assert deltas[1] == {"tool_calls": [{"index": 0, **opening}]}
    fragments = [delta["tool_calls"][0] for delta in deltas[2:-1]]
    assert all(set(fragment) == {"index", "function"} for fragment in fragments)
    assert "".join(fragment["function"]["arguments"] for fragment in fragments) == '{"location":"Oslo"}'
    assert len(fragments) > 2
    assert deltas[-1] == {}


def test_calls_come_one_after_the_other_or_interleaved_on_demand() -> None:
    def order(text: str) -> list[int]:
        deltas = deltas_of(ask("openai", text, tools=[WEATHER], stream=True))
        return [delta["tool_calls"][0]["index"] for delta in deltas if "tool_calls" in delta]

    assert order(TWO_CITIES) == sorted(order(TWO_CITIES))
    assert order(TWO_CITIES + " [demo interleave]")[:6] == [0, 1, 0, 1, 0, 1]


def test_compatible_writes_a_call_in_one_chunk_with_its_own_habits() -> None:
    chunks = chunks_of(ask("compatible", TWO_CITIES, tools=[WEATHER, TIME], stream=True))

    calls = [chunk["choices"][0]["delta"] for chunk in chunks if "tool_calls" in chunk["choices"][0]["delta"]]
    assert [call["tool_calls"][0]["function"]["arguments"] for call in calls] == [
        '{"location":"Paris"}',
        '{"location":"New York"}',
    ]
    assert all(call["tool_calls"][0]["id"].startswith("chatcmpl-tool-") for call in calls)
    assert all(chunk["choices"][0]["delta"]["role"] == "assistant" for chunk in chunks)
    assert chunks[0]["choices"][0]["delta"]["reasoning_content"]
    assert chunks[-1]["choices"][0]["finish_reason"] == "tool_calls"
    assert chunks[-1]["usage"]["completion_tokens_details"]["reasoning_tokens"] > 0
    assert all("service_tier" not in chunk for chunk in chunks)


def test_openai_shows_usage_last_and_only_when_asked() -> None:
    asked = chunks_of(ask("openai", stream=True, stream_options={"include_usage": True}))
    unasked = chunks_of(ask("openai", stream=True))

    assert asked[-1]["choices"] == []
    assert [chunk["usage"] for chunk in asked[:-1]] == [None] * (len(asked) - 1)
    assert asked[-1]["usage"]["total_tokens"] > 0
    assert all("usage" not in chunk for chunk in unasked)


def test_a_named_choice_finishes_with_stop_on_openai() -> None:
    choice = {"type": "function", "function": {"name": "get_time"}}

    reasons = [
        json.loads(ask(flavour, tools=[TIME], tool_choice=choice).pieces[0])["choices"][0]["finish_reason"]
        for flavour in FLAVOURS
    ]

    assert reasons == ["stop", "tool_calls"]


@each_row("flavour", FLAVOURS)
@each_row(
    ("text", "fields"),
    [
        ("hello", {}),
        (TWO_CITIES, {"tools": [WEATHER]}),
        (TWO_CITIES + "[demo interleave]", {"tools": [WEATHER]}),
        ("What time is it?", {"tools": [WEATHER, TIME]}),
        ("Weather in Oslo [demo length]", {"tools": [WEATHER]}),
        ("one two three", {"max_completion_tokens": 5}),
        ("hi", {"response_format": {"type": "json_object"}}),
    ],
)
def test_the_sdk_folds_the_stream_to_the_json_answer(flavour: Flavour, text: str, fields: dict[str, Any]) -> None:
    whole = ChatCompletion.model_validate(json.loads(ask(flavour, text, **fields).pieces[0]), strict=True)
    usage = {"stream_options": {"include_usage": True}}
    state: Any = ChatCompletionStreamState()
    for chunk in chunks_of(ask(flavour, text, stream=True, **usage, **fields)):
        if flavour == "compatible" and chunk["choices"][0]["finish_reason"] is None:
            del chunk["choices"][0]["delta"]["role"]  # the SDK's helper would join them
        state.handle_chunk(ChatCompletionChunk.model_validate(chunk, strict=True))
    folded = state.current_completion_snapshot

    message, streamed = whole.choices[0].message, folded.choices[0].message
    assert (streamed.content or None) == message.content
    assert [said_by(call) for call in streamed.tool_calls or []] == [said_by(call) for call in message.tool_calls or []]
    assert folded.choices[0].finish_reason == whole.choices[0].finish_reason
    assert folded.usage == whole.usage
    assert whole.usage is not None
    assert whole.usage.total_tokens == whole.usage.prompt_tokens + whole.usage.completion_tokens


def test_a_custom_tool_is_called_with_text() -> None:
    whole = json.loads(ask("openai", '[demo call apply_patch "apply the patch"]', tools=[PATCH]).pieces[0])["choices"][
        0
    ]["message"]["tool_calls"]
    deltas = deltas_of(ask("openai", '[demo call apply_patch "apply the patch"]', tools=[PATCH], stream=True))

    assert whole[0]["custom"] == {"name": "apply_patch", "input": "apply the patch"}
    pieces = [delta["tool_calls"][0]["custom"]["input"] for delta in deltas if "tool_calls" in delta]
    assert "".join(pieces) == "apply the patch"


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_a_cut_on_demand_breaks_the_last_piece_of_the_call(flavour: Flavour) -> None:
    said = ask(flavour, "Weather in Oslo [demo cut]", tools=[WEATHER], stream=True)

    assert said.cut is not None
    assert b'"tool_calls"' in said.pieces[said.cut]
    assert all(b'"tool_calls":[' not in piece for piece in said.pieces[said.cut + 1 :])
    assert ask(flavour, "Weather [demo cut]").cut == 0


def test_files_right_behind_results_belong_to_them() -> None:
    """A tool message holds only text, so that is where they stand."""
    weather = {"type": "text", "text": "of get_weather:"}
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
    for content, finish in (([weather, image], "stop"), ([weather], "tool_calls")):
        messages = [USER, ASSISTANT, RESULT, {"role": "user", "content": content}]
        said = json.loads(ask("openai", messages=messages, tools=[WEATHER]).pieces[0])
        assert said["choices"][0]["finish_reason"] == finish


def test_the_turn_after_the_results_quotes_them() -> None:
    messages = [USER, ASSISTANT, RESULT | {"content": [{"type": "text", "text": "18 degrees"}]}]

    whole = json.loads(ask("openai", messages=messages, tools=[TIME]).pieces[0])

    assert whole["choices"][0]["message"]["content"] == "The tool answered: 18 degrees"
