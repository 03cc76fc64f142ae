"""Whatever a client or a Messages host sends: a legal request or a reason, a legal stream or an error."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from tests.corpus.driver import answer, open_exchange
from tests.providers.anthropic_messages.messages_upstream import (
    CALLS,
    MODEL,
    PING,
    STOP,
    WIRE,
    begin,
    call,
    delta,
    end,
    finish,
    fragment,
    request,
    signature,
    start,
    stream,
    text,
    thinking,
    whole,
)
from tests.providers.anthropic_messages.test_request import judge as judge_types
from tests.providers.openai_chat.test_any_answer import judge, twisted
from tests.providers.openai_chat.test_any_request import DOCUMENT
from toolwire.demo.answer import RefusedError
from toolwire.demo.anthropic_messages_request import read_request
from toolwire.model.errors import RequestError

MODELS = [MODEL, "claude-3-5-haiku-latest", "claude-opus-4-8", "claude-sonnet-5-5", "claude-opus-5-5", "other"]

# ---------------------------------------------------------------- requests

#: The other wire's document, with an address that is one, and the tools and settings that can be carried.
CARRIED = DOCUMENT | {
    "messages": json.loads(json.dumps(DOCUMENT["messages"]).replace('"u"', '"https://example.com/x.png"')),
    "tools": DOCUMENT["tools"][:1],  # type: ignore[index]
    "reasoning_effort": "high",
    "temperature": 0.5,
}

_contents = st.sampled_from(["", " ", "x", [{"type": "text", "text": ""}], [{"type": "text", "text": "y"}] * 2])
_arguments = st.sampled_from(["", "{}", '{"a":1}', "[", "5"])
_ids = st.sampled_from(["a", "b", "c:1", "x" * 70])


@st.composite
def histories(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Messages of every role in any order; a result answers a call that has none yet."""
    messages: list[dict[str, Any]] = []
    waiting: list[str] = []
    for role in draw(
        st.lists(st.sampled_from(["system", "user", "assistant", "assistant", "tool", "tool"]), min_size=1)
    ):
        message = {"role": role, "content": draw(_contents)}
        if role == "assistant":
            ids = draw(st.lists(_ids, max_size=3, unique=True))
            functions = [{"name": "fs.read", "arguments": draw(_arguments)} for _ in ids]
            calls = [{"id": id, "type": "function", "function": f} for id, f in zip(ids, functions, strict=True)]
            message["tool_calls"] = calls
            waiting += ids
        elif role == "tool":
            if not waiting:
                continue
            message["tool_call_id"] = waiting.pop(draw(st.integers(0, len(waiting) - 1)))
        messages.append(message)
    return messages or [{"role": "user", "content": "x"}]


def check(document: Any, model: str) -> None:
    """The request is refused, or one that the API takes: by the demo's independent reading of it, and the SDK's."""
    try:
        exchange = open_exchange(json.dumps(document).encode(), wire=WIRE, profile=None, model=model)
    except RequestError:
        return
    sent = json.loads(exchange.upstream_request.body)
    judge_types(sent)
    assert sent["model"] == model
    try:
        read_request(sent, dict(exchange.upstream_request.headers), model=model)
    except RefusedError as refused:
        # Newer families take a forced choice beside thinking; and how a conversation ends is the client's affair.
        allowed = ("forces tool use", "prefill")
        assert any(word in refused.message for word in allowed), (refused.message, sent)  # noqa: PT017


@given(twisted(CARRIED), st.sampled_from(MODELS))
def test_any_request(document: Any, model: str) -> None:
    check(document, model)


@given(histories(), st.sampled_from(MODELS))
def test_any_history(messages: list[Any], model: str) -> None:
    check({"model": "m", "messages": messages}, model)


# ---------------------------------------------------------------- answers

EVENTS = [
    start(), start(id="msg_2"), begin(0, "text"), begin(1, "text", text="x"), begin(0, "thinking"), begin(3, "news"),
    begin(2, "redacted_thinking", data="x"), begin(1, "server_tool_use", id="s", name="web_search", input={}),
    call(0, "toolu_a", "weather"), call(1, "toolu_b", "time", {"a": 1}), text(0, "x"), thinking(0, "hm"),
    signature(0, "Eq"), fragment(0, '{"a"'), fragment(0, ":1}"), fragment(1, "{}"), delta(0, "citations_delta"), end(0),
    end(1), end(2), PING, finish("end_turn"), finish("tool_use"), finish("max_tokens"), finish(None),
    finish("refusal", stop_details={"type": "refusal", "explanation": "no"}), STOP,
]  # fmt: skip

answers = st.lists(st.sampled_from(EVENTS).flatmap(twisted), max_size=9)


def frames(events: list[Any]) -> bytes:
    """The events as SSE; one that has lost its type, or is none, comes without a name."""
    return b"".join(
        stream(event) if isinstance(event.get("type"), str) and "\n" not in event["type"] else unnamed(event)
        for event in events
    )


def unnamed(event: Any) -> bytes:
    return b"data: %b\n\n" % json.dumps(event).encode()


@given(answers, st.booleans())
@example(events=[{"type": ["\ud83d"]}], first=False)
@example(events=[{"type": "news", "x": "\ud83d"}], first=True)
def test_any_events(events: list[Any], first: bool) -> None:
    upstream = frames([start()] * first + events)
    judge(answer(open_exchange(request(), wire=WIRE, profile=None), [upstream]), usage=True)
    buffered = answer(open_exchange(request(streamed=False), wire=WIRE, profile=None), [upstream])
    assert buffered.headers["content-type"] == "application/json"
    assert b"internal_error" not in buffered.body


@given(answers, st.binary(max_size=3), st.integers(0, 3000), st.integers(0, 40))
def test_any_bytes(events: list[Any], inserted: bytes, at: int, dropped: int) -> None:
    upstream = frames([start(), *events, *CALLS])
    exchange = open_exchange(request(), wire=WIRE, profile=None)
    judge(answer(exchange, [upstream[:at], inserted, upstream[at + dropped :]]), usage=True)


CONTENT = [
    {"type": "thinking", "thinking": "hm", "signature": "Eq"},
    {"type": "text", "text": "x"},
    {"type": "tool_use", "id": "toolu_a", "name": "weather", "input": {"a": 1}},
    {"type": "tool_use", "id": "toolu_b", "name": "time", "input": {}},
    {"type": "news", "input": {}},
]


@given(twisted(json.loads(whole(CONTENT, "tool_use"))))
def test_any_document(document: Any) -> None:
    body = json.dumps(document).encode()
    exchange = open_exchange(request(), wire=WIRE, profile=None)
    judge(answer(exchange, [body], content_type="application/json"), usage=True)
    exchange = open_exchange(request(streamed=False), wire=WIRE, profile=None)
    shown = answer(exchange, [body], content_type="application/json")
    assert b"internal_error" not in shown.body
    if shown.status == 200:
        (choice,) = json.loads(shown.body)["choices"]
        entries = choice["message"].get("tool_calls") or []
        assert all(isinstance(entry["function"]["arguments"], str) for entry in entries)
        assert choice["finish_reason"] != "stop" or not entries


def test_the_document_is_carried_as_it_stands() -> None:
    exchange = open_exchange(json.dumps(CARRIED).encode(), wire=WIRE, profile=None, model=MODEL)
    assert json.loads(exchange.upstream_request.body)["messages"][0]["content"][0] == {"type": "text", "text": "x"}
