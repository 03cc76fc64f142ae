"""Whole answers of Chat Completions hosts, and hosts that stream unasked or do not stream when asked."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.named_rows import each_row
from tests.providers.openai_chat.chat_reader import sdk_answer
from tests.providers.openai_chat.chat_upstream import (
    CALLS,
    ROLE,
    STOP,
    TOTAL,
    USAGE,
    ask,
    opening,
    seen,
    stream,
    text,
    whole,
)

PARIS = '{"city":"Paris"}'
WEATHER, CLOCK = ("weather", PARIS), ("time", "{}")
CALL_A = {"id": "call_a", "type": "function", "function": {"name": "weather", "arguments": PARIS}}


@pytest.mark.parametrize(
    "body",
    [
        whole({"content": "hi", "refusal": None, "annotations": [1.10]}),
        whole({"content": None, "tool_calls": [CALL_A]}, "tool_calls", service_tier="default"),
        whole({"content": None, "tool_calls": [CALL_A]}, "length"),
        whole({"content": "hi", "reasoning_content": "hm"}),
        whole({"content": "hi"}).replace(b'"created"', b'"x": 1.10, "created"'),
    ],
)
def test_json_that_needs_no_repair_is_shown_byte_for_byte(body: bytes) -> None:
    answer = ask(body, streamed=False)
    assert (answer.status, answer.headers["content-type"], answer.body) == (200, "application/json", body)


@each_row(
    ("body", "calls", "finish"),
    [
        (whole({"content": None, "tool_calls": [CALL_A]}, "stop"), [WEATHER], "tool_calls"),
        (whole({"content": None, "tool_calls": [CALL_A]}, None), [WEATHER], "tool_calls"),
        (whole({"content": None, "tool_calls": [CALL_A]}, "end_turn"), [WEATHER], "tool_calls"),
        (whole({"content": None, "tool_calls": [CALL_A]}, "function_call"), [WEATHER], "tool_calls"),
        (whole({"content": "x", "tool_calls": []}, "tool_calls"), [], "stop"),
        (whole({"content": "x"}, "eos"), [], "stop"),
        (whole({"content": "x"}, "model_length"), [], "length"),
        (whole({"content": None, "tool_calls": [CALL_A, CALL_A | {"id": None}]}), [WEATHER, WEATHER], "tool_calls"),
        (whole({"content": None, "tool_calls": [CALL_A, CALL_A]}), [WEATHER, WEATHER], "tool_calls"),
        (
            whole({"tool_calls": [{"function": {"name": "weather", "arguments": {"city": "Paris"}}}]}),
            [("weather", '{"city": "Paris"}')],
            "tool_calls",
        ),
        (
            whole({"tool_calls": [{**CALL_A, "function": {"name": "time", "arguments": ""}}]}),
            [CLOCK],
            "tool_calls",
        ),
        (
            whole({"tool_calls": [{**CALL_A, "function": {"name": "weather", "arguments": '{"c'}}]}, "length"),
            [("weather", '{"c')],
            "length",
        ),
        (whole({"content": "x"}, id="", model=None, object="x", created=None), [], "stop"),
        (whole({"content": "x"}, usage=None), [], "stop"),
    ],
)  # fmt: skip
def test_json_repaired(body: bytes, calls: list[tuple[str, str]], finish: str) -> None:
    answer = ask(body, streamed=False)
    completion = sdk_answer(answer.status, answer.headers, answer.body)
    assert completion == json.loads(answer.body)
    message = completion["choices"][0]["message"]
    shown = message.get("tool_calls") or []
    assert [(call["function"]["name"], call["function"]["arguments"]) for call in shown] == calls
    assert len({call["id"] for call in shown}) == len(calls)
    assert all(call["type"] == "function" and call["id"] for call in shown)
    assert completion["choices"][0]["finish_reason"] == finish
    assert completion["id"]
    assert completion["model"]
    assert isinstance(completion["created"], int)
    assert completion["object"] == "chat.completion"
    assert message["role"] == "assistant"
    assert calls or message["content"] == "x"


def _with(**members: Any) -> bytes:
    """A sound answer with these members; an ellipsis takes one out."""
    document = json.loads(whole({"content": "x"})) | members
    return json.dumps({name: value for name, value in document.items() if value is not ...}).encode()


def _choice(**members: Any) -> bytes:
    choice = json.loads(whole({"content": "x"}))["choices"][0] | members
    return _with(choices=[{name: value for name, value in choice.items() if value is not ...}])


MESSAGES: list[Any] = [{"content": "x"}, {"role": None, "content": "x"}, {"role": "assistant", "content": ["x"]}]
USAGES: list[Any] = [
    ..., None, {}, "", 5, {"prompt_tokens": 1}, {"completion_tokens": 5.0},
    {"prompt_tokens": 1, "completion_tokens": 5, "total_tokens": 7},
]  # fmt: skip
NO_ERRORS: list[Any] = [{}, "", False]
TWO_CHOICES = [{"index": 1, "message": {"content": "y"}}, *json.loads(whole({"content": "x"}))["choices"]]


@each_row(
    "body",
    [
        *(_with(**{name: value}) for name in ("id", "object", "created", "model") for value in (..., None, "", 1.5)),
        *(_choice(index=value) for value in (..., None, "0", 0.0)),
        *(_choice(finish_reason=value) for value in (..., None, "", "weird")),
        *(_choice(message=value) for value in MESSAGES),
        _choice(message=..., delta={"role": "assistant", "content": "x"}),
        *(_with(usage=value) for value in USAGES),
        *(_with(error=value) for value in NO_ERRORS),
        _with(choices=TWO_CHOICES),
    ],
)
def test_one_defect_of_a_document(body: bytes) -> None:
    completion = json.loads(ask(body, streamed=False).body)
    (choice,) = completion["choices"]
    assert (choice["index"], choice["finish_reason"]) == (0, "stop")
    assert (choice["message"]["role"], choice["message"]["content"]) == ("assistant", "x")
    assert completion["object"] == "chat.completion"
    assert all(isinstance(completion[name], str) and completion[name] for name in ("id", "model"))
    assert isinstance(completion["created"], int)
    assert "error" not in completion
    usage = completion["usage"]
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]


@each_row("kind", ["application/json", "application/json; charset=utf-8", "text/event-stream", ""])
@each_row("id", ["call_a", "call_b"])
def test_a_host_that_ignores_stream(kind: str, id: str) -> None:
    message = {"content": "x", "reasoning_content": "hm", "tool_calls": [CALL_A, CALL_A | {"id": id}]}
    said = seen(whole(message, "tool_calls"), content_type=kind)
    assert (said.content, said.reasoning, said.asked, said.usage) == ("x", "hm", [WEATHER, WEATHER], USAGE)


@each_row("kind", ["text/event-stream", "TEXT/EVENT-STREAM", "text/plain", "application/json", ""])
@each_row("before", [b"", b": hello\n\n", b"\xef\xbb\xbf", b"\n"])
def test_a_stream_of_another_type(kind: str, before: bytes) -> None:
    upstream = before + stream(ROLE, text("x"), STOP, TOTAL)
    assert seen(upstream, content_type=kind or "x/y").content == "x"
    assert seen([upstream[at : at + 1] for at in range(len(upstream))], content_type=kind or "x/y").content == "x"


@each_row("kind", ["text/event-stream", "application/json", "text/plain"])
@each_row("after", [b"", b"data: [DONE]\n\n", b'data: {"cost":1}\n\n'])
def test_a_host_that_streams_unasked(kind: str, after: bytes) -> None:
    """An answer to a request without `stream` is one JSON document, whatever the host sent."""
    upstream = stream(ROLE, text("x"), opening(0, "call_a", "time", "{}"), CALLS, TOTAL) + after
    answer = ask(upstream, streamed=False, content_type=kind)
    assert answer.body == ask(upstream.rstrip(b"\n"), streamed=False, content_type=kind).body
    assert answer.headers["content-type"] == "application/json"
    message = sdk_answer(answer.status, answer.headers, answer.body)["choices"][0]["message"]
    assert message["content"] == "x"
    assert [call["id"] for call in message["tool_calls"]] == ["call_a"]
