"""Whatever comes from Google, a Chat client can read what we make of it, or is told that it failed; whatever a Chat
client sends is refused with a reason or is a request that Google's API takes. Never a bug of ours."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.corpus.driver import Answer, answer, open_exchange
from tests.providers.gemini.gemini_upstream import USAGE, call, chunk, piece, stream, text, thought
from tests.providers.openai_chat.chat_upstream import request
from tests.providers.openai_chat.test_any_answer import judge, twisted
from tests.providers.openai_chat.test_any_request import DOCUMENT
from toolwire.demo.answer import RefusedError
from toolwire.demo.gemini_request import read_request
from toolwire.model.errors import RequestError

CHUNKS = [
    chunk(text("x")), chunk(text(""), finish="STOP", usage=USAGE), chunk(thought("hm", thoughtSignature="c2ln")),
    chunk(call("weather", {"city": "Paris"}, id="g-1", thoughtSignature_="c2ln"), text("y"), call("time")),
    chunk(call("weather", willContinue=True)),
    chunk(call(partialArgs=[piece("$.city", stringValue="Pa", willContinue=True)], willContinue=True)),
    chunk(call(partialArgs=[piece("$.a[0].b", numberValue=1)])), chunk(call()),
    chunk({"executableCode": {"code": "x"}}),
    chunk(finish="MAX_TOKENS"), chunk(text("z"), finish="MALFORMED_FUNCTION_CALL"), chunk(finish="SAFETY"),
    {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": USAGE},
    {"error": {"code": 503, "message": "busy", "status": "UNAVAILABLE", "details": [{"retryDelay": "1s"}]}},
]  # fmt: skip

answers = st.lists(st.sampled_from(CHUNKS).flatmap(twisted), max_size=8)


def asked(pieces: list[bytes], *, streamed: bool = True, json_answer: bool = False) -> Answer:
    exchange = open_exchange(request(streamed=streamed, usage=streamed), wire="gemini", profile=None)
    return answer(exchange, pieces, content_type="application/json" if json_answer else "text/event-stream")


@given(answers)
def test_any_chunks(chunks: list[Any]) -> None:
    upstream = stream(*(json.dumps(item).encode() for item in chunks))
    whole = asked([upstream])
    judge(whole, usage=True)
    assert asked([upstream[at : at + 1] for at in range(len(upstream))]) == whole
    buffered = asked([upstream], streamed=False)
    assert buffered.headers["content-type"] == "application/json"
    assert b"internal_error" not in buffered.body


@given(answers, st.binary(max_size=3), st.integers(0, 3000), st.integers(0, 40))
def test_any_bytes(chunks: list[Any], inserted: bytes, at: int, dropped: int) -> None:
    upstream = stream(CHUNKS[0], *(json.dumps(item).encode() for item in chunks))
    judge(asked([upstream[:at], inserted, upstream[at + dropped :]]), usage=True)


@given(answers, st.booleans())
def test_any_document(documents: list[Any], is_array: bool) -> None:
    body = json.dumps(documents if is_array else documents[:1]).encode()
    judge(asked([body if is_array else body[1:-1]], json_answer=True), usage=True)


# ---------------------------------------------------------------- requests

#: The document of Chat's own test without what only OpenAI's models take, so that most of them get through.
CHAT: dict[str, Any] = json.loads(json.dumps(DOCUMENT).replace('"u"', '"data:image/png;base64,aGk="'))
CHAT["tools"] = CHAT["tools"][:1]
CHAT["response_format"]["json_schema"]["schema"] = {"type": "object"}


@given(twisted(CHAT), st.sampled_from(["gemini-2.5-flash", "gemini-3-flash", "tuned"]))
def test_any_request(document: Any, model: str) -> None:
    try:
        exchange = open_exchange(json.dumps(document).encode(), wire="gemini", profile=None, model=model)
    except RequestError:
        return
    assert_taken(exchange.upstream_request.body)


TURNS = st.lists(
    st.one_of(
        st.sampled_from([{"role": role, "content": words} for role in ("user", "system") for words in ("a", "")]),
        st.just({"role": "assistant", "content": "b"}),
        st.lists(st.sampled_from(["1", "2", "3"]), min_size=1, max_size=3).map(
            lambda ids: {
                "role": "assistant",
                "tool_calls": [
                    {"id": id, "type": "function", "function": {"name": "f", "arguments": ""}} for id in ids
                ],
            }
        ),
        st.sampled_from([{"role": "tool", "tool_call_id": id, "content": "c"} for id in "123"]),
    ),
    max_size=8,
)


@given(TURNS)
def test_any_history(turns: list[Any]) -> None:
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "go"}, *turns]}).encode()
    try:
        exchange = open_exchange(body, wire="gemini", profile=None, model="gemini-3-flash")
    except RequestError as refused:
        if refused.code in ("unknown_tool_call_id", "duplicate_tool_result"):
            return
        raise
    assert_taken(exchange.upstream_request.body)
    contents = json.loads(exchange.upstream_request.body)["contents"]
    calls = sum(len(turn.get("tool_calls", ())) for turn in turns)
    parts = [part for content in contents for part in content["parts"]]
    assert sum("functionCall" in part for part in parts) == sum("functionResponse" in part for part in parts) == calls


def assert_taken(body: bytes) -> None:
    """The demo's reader of Google's requests, which shares no line with our writer, takes it. It refuses a history
    that begins with a call, as Google does: nothing may be put before it."""
    try:
        read_request(json.loads(body))
    except RefusedError as refused:
        begins = json.loads(body)["contents"][0]["role"]
        if begins != "model" or "after a user turn" not in refused.message:
            raise
