"""Whatever a client or a Responses host sends: a legal request or a reason, a legal stream or an error."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.corpus.driver import answer, open_exchange
from tests.providers.anthropic_messages.test_any import histories
from tests.providers.openai_chat.test_any_answer import judge, twisted
from tests.providers.openai_chat.test_any_request import DOCUMENT
from tests.providers.openai_responses.responses_upstream import (
    MODEL,
    WIRE,
    added,
    arguments,
    call,
    completed,
    created,
    done,
    event,
    fragment,
    incomplete,
    item,
    message,
    part,
    reasoning,
    request,
    summary,
    text,
    whole,
)
from toolwire.demo.answer import RefusedError
from toolwire.demo.openai_responses_request import read_request
from toolwire.model.errors import RequestError

# ---------------------------------------------------------------- requests

#: The other wire's document, with an address that is one.
CARRIED = json.loads(json.dumps(DOCUMENT).replace('"u"', '"https://example.com/x.png"'))


def check(document: Any) -> None:
    """The request is refused, or one that the API takes, by the demo's independent reading of it."""
    try:
        exchange = open_exchange(json.dumps(document).encode(), wire=WIRE, profile="openai", model=MODEL)
    except RequestError:
        return
    sent = json.loads(exchange.upstream_request.body)
    assert (sent["model"], sent["store"]) == (MODEL, False)
    try:
        read_request(sent, models=(MODEL,))
    except RefusedError as refused:
        # What text a client calls an image's address is its own affair, and so is what it calls a schema.
        assert refused.param is not None, refused.message  # noqa: PT017
        assert refused.param.endswith(("image_url", "text.format")), (refused.message, sent)  # noqa: PT017


@given(twisted(CARRIED))
def test_any_request(document: Any) -> None:
    check(document)


@given(histories())
def test_any_history(messages: list[Any]) -> None:
    check({"model": "m", "messages": messages})


def test_the_document_is_carried_as_it_stands() -> None:
    exchange = open_exchange(json.dumps(CARRIED).encode(), wire=WIRE, profile="openai", model=MODEL)
    sent = json.loads(exchange.upstream_request.body)
    read_request(sent, models=(MODEL,))
    assert [one["type"] for one in sent["input"]] == [
        "message", "function_call", "custom_tool_call", "custom_tool_call_output", "function_call_output",
    ]  # fmt: skip


# ---------------------------------------------------------------- answers

WEATHER = call("fc_1", "call_a", "weather", '{"a":1}')
EVENTS = [
    created(), event("in_progress", response={}), added(0, "message", "m"), added(1, "reasoning", "rs_1"),
    added(2, "function_call", "fc_1", call_id="call_a", name="weather"), added(0, "web_search_call", "ws_1"),
    part("added", 0, "m", ""),
    text(0, "m", "x"), text(0, "m", "y", 1), event("refusal.delta", output_index=0, item_id="m", delta="no"),
    summary(1, "rs_1", "hm"), summary(1, "rs_1", "hm", 1), fragment(2, "fc_1", '{"a"'), fragment(2, "fc_1", ":1}"),
    arguments(2, "fc_1", '{"a":1}'),
    part("done", 0, "m", "x"), event("output_text.done", output_index=0, item_id="m", content_index=0, text="xy"),
    done(0, message("m", "x")), done(1, reasoning("rs_1", "hm", encrypted_content="g")), done(2, WEATHER),
    done(0, item("web_search_call", "ws_1")),
    event("output_text.annotation.added", output_index=0), completed(message("m", "x"), WEATHER), completed(),
    incomplete("max_output_tokens", WEATHER),
]  # fmt: skip

answers = st.lists(st.sampled_from(EVENTS).flatmap(twisted), max_size=9)


def frames(events: list[Any]) -> bytes:
    return b"".join(b"data: %b\n\n" % json.dumps(event).encode() for event in events)


def exchange(*, streamed: bool = True) -> Any:
    return open_exchange(request(streamed=streamed, stream_options=None), wire=WIRE, profile="openai")


@given(answers, st.booleans())
def test_any_events(events: list[Any], first: bool) -> None:
    upstream = frames([created()] * first + events)
    judge(answer(exchange(), [upstream]), usage=False)
    buffered = answer(exchange(streamed=False), [upstream])
    assert buffered.headers["content-type"] == "application/json"
    assert b"internal_error" not in buffered.body


@given(answers, st.binary(max_size=3), st.integers(0, 3000), st.integers(0, 40))
def test_any_bytes(events: list[Any], inserted: bytes, at: int, dropped: int) -> None:
    upstream = frames([created(), *events, completed()])
    judge(answer(exchange(), [upstream[:at], inserted, upstream[at + dropped :]]), usage=False)


OUTPUT = [
    reasoning("rs_1", "hm"),
    message("m", "x"),
    WEATHER,
    item("news", "n"),
]


@given(twisted(json.loads(whole(*OUTPUT))))
def test_any_document(document: Any) -> None:
    body = json.dumps(document).encode()
    judge(answer(exchange(), [body], content_type="application/json"), usage=False)
    shown = answer(exchange(streamed=False), [body], content_type="application/json")
    assert b"internal_error" not in shown.body
    if shown.status == 200:
        (choice,) = json.loads(shown.body)["choices"]
        assert choice["finish_reason"] != "stop" or not choice["message"].get("tool_calls")


@given(answers)
def test_any_events_in_the_lane(events: list[Any]) -> None:
    """A client of the same API gets an ending, or an error."""
    asked = open_exchange(
        json.dumps({"model": "p/m", "input": "hi", "stream": True}).encode(), door="responses", wire=WIRE
    )
    shown = answer(asked, [frames([created(), *events, completed()])])
    if shown.headers["content-type"] == "application/json":
        assert shown.status >= 400
        return
    told = [json.loads(line[6:]) for line in shown.body.split(b"\n") if line.startswith(b"data: ")]
    endings = [e["type"] for e in told if e["type"] in ("response.completed", "response.incomplete", "response.failed")]
    assert len(endings) == 1 or told[-1]["type"] == "error"
    assert "internal_error" not in json.dumps(told[-1])
