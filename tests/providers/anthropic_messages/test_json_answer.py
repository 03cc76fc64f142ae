"""JSON Messages answers, and answers in the other mode than was asked for."""

from __future__ import annotations

from typing import Any

from tests.named_rows import each_row
from tests.providers.anthropic_messages.messages_upstream import (
    CALLS,
    HELLO,
    TURN,
    ask,
    call,
    end,
    fragment,
    start,
    stream,
    told,
    whole,
)
from tests.providers.openai_chat.chat_reader import read
from toolwire.providers.anthropic_messages.answer import MessagesDecoder
from toolwire.providers.decoder_context import DecoderContext

EXACT = b'{"id": 12345678901234567890, "f": 1.10, "s": "\\u00e9\\/"}'


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def use(id: str, name: str, **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": name, "input": given}


ANSWERS: dict[str, tuple[bytes, str | None, list[tuple[str, str]], str]] = {
    "text": (whole([text("Hello")]), "Hello", [], "stop"),
    "texts around a call": (
        whole([text("A"), use("a", "weather", city="Paris"), text("B")], "tool_use"),
        "AB", [("weather", '{"city": "Paris"}')], "tool_calls",
    ),
    "parallel calls": (
        whole([use("a", "weather", city="Paris"), use("b", "time")], "tool_use"),
        None, [("weather", '{"city": "Paris"}'), ("time", "{}")], "tool_calls",
    ),
    "the output limit": (whole([text("Hel")], "max_tokens"), "Hel", [], "length"),
    "a refusal without words": (whole([], "refusal"), "", [], "content_filter"),
    "nothing more to say": (whole([], "end_turn"), "", [], "stop"),
    "no reason": (whole([text("Hello")], None), "Hello", [], "stop"),
    "what only the API knows": (
        whole([{"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}, text("Hi")]),
        "Hi", [], "stop",
    ),
}  # fmt: skip


@each_row("name", ANSWERS)
def test_a_client_hears_what_was_said(name: str) -> None:
    body, content, calls, finish = ANSWERS[name]
    choice = told(body)["choices"][0]
    functions = [call["function"] for call in choice["message"].get("tool_calls", ())]
    said = [(function["name"], function["arguments"]) for function in functions]
    assert (choice["message"]["content"], said, choice["finish_reason"]) == (content, calls, finish)


def test_arguments_stay_what_they_are() -> None:
    body = whole([use("a", "weather", here=0)], "tool_use").replace(b'{"here": 0}', EXACT)
    (call_told,) = told(body)["choices"][0]["message"]["tool_calls"]
    assert call_told["function"]["arguments"] == EXACT.decode()
    assert call_told["id"].startswith("call_")


def test_thinking_and_usage() -> None:
    usage = {"input_tokens": 7, "cache_creation_input_tokens": 2, "cache_read_input_tokens": 1, "output_tokens": 5}
    usage["output_tokens_details"] = {"thinking_tokens": 3}  # type: ignore[assignment]
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "EqQB"}
    completion = told(whole([thought, text("Hi")], usage=usage))
    assert completion["choices"][0]["message"]["reasoning_content"] == "Hm."
    assert completion["usage"] == {
        "prompt_tokens": 10,
        "completion_tokens": 5,
        "total_tokens": 15,
        "prompt_tokens_details": {"cached_tokens": 1, "cache_write_tokens": 2},
        "completion_tokens_details": {"reasoning_tokens": 3},
    }


def test_an_answer_as_the_api_writes_it_keeps_its_bytes() -> None:
    for name, (body, *_) in ANSWERS.items():
        assert (MessagesDecoder(DecoderContext()).decode_json(body).source is not None) == (name != "no reason"), name


def test_a_host_that_ignores_stream() -> None:
    body = whole([text("Hi"), use("a", "weather", city="Paris")], "tool_use")
    said = read(ask(body, content_type="application/json").body, usage=True)
    assert (said.content, said.asked) == ("Hi", [("weather", '{"city": "Paris"}')])


def test_a_host_that_streams_unasked() -> None:
    body = stream(start(), call(0, "a", "weather"), fragment(0, '{"a":1}'), end(0), *CALLS)
    choice = told(body, content_type="text/event-stream")["choices"][0]
    assert choice["message"]["tool_calls"][0]["function"]["arguments"] == '{"a":1}'
    assert told(stream(*HELLO, *TURN), content_type="text/event-stream")["choices"][0]["message"]["content"] == "Hello"
