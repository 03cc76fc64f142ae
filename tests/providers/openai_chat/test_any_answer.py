"""Whatever a host sends, a strict client can read what we make of it, or is told that it failed: never our bug."""

from __future__ import annotations

import copy
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.corpus.driver import Answer, answer, open_exchange
from tests.providers.openai_chat.chat_reader import read
from tests.providers.openai_chat.chat_upstream import (
    CALLS,
    ROLE,
    STOP,
    TOTAL,
    USAGE,
    chunk,
    fragment,
    opening,
    request,
    stream,
    text,
    whole,
)

CHUNKS = [
    ROLE, text("x"), chunk({"reasoning_content": "hm"}), chunk({"refusal": "no"}), opening(0, "call_a", "weather"),
    opening(1, "call_b", "time", "{}"), opening(None, "call_c", "time", '{"a":1}'), fragment(0, '{"a"'),
    fragment(0, ":1}"),
    fragment(1, "}{"), chunk({"tool_calls": [{"index": 0}, {"index": 1, "function": {"arguments": "{}"}}]}), STOP,
    CALLS, TOTAL, chunk(finish="length"), chunk(finish="stop", usage=USAGE), chunk({"function_call": {"name": "f"}}),
]  # fmt: skip

values = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-2, 2**70),
        st.floats(allow_nan=False),
        st.sampled_from(["", "x", "call_a", "assistant", "stop", "tool_calls", "{}", "\ud83d", "\u2028"]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2),
        st.dictionaries(st.sampled_from(["index", "id", "function", "name", "arguments", "text", "type"]), inner),
    ),
    max_leaves=4,
)


def places(node: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of every value within a document."""
    inner = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    return [path] * bool(path) + [place for key, value in inner for place in places(value, (*path, key))]


@st.composite
def twisted(draw: st.DrawFn, document: Any) -> Any:
    """The document with a few values replaced or removed."""
    document = copy.deepcopy(document)
    for _ in range(draw(st.sampled_from([0, 0, 1, 1, 2, 3]))):
        if not (where := places(document)):
            break
        *way, last = draw(st.sampled_from(where))
        node = document
        for key in way:
            node = node[key]
        if draw(st.booleans()):
            del node[last]
        else:
            node[last] = draw(values)
    return document


answers = st.lists(st.sampled_from(CHUNKS).flatmap(twisted), max_size=8)


def judge(result: Answer, *, usage: bool) -> None:
    """An answer is a stream in order, or an error with a status."""
    if result.headers["content-type"] == "application/json":
        assert result.status >= 400
        assert json.loads(result.body)["error"]["message"]
        assert json.loads(result.body)["error"].get("code") != "internal_error"
        return
    said = read(result.body, usage=usage and b'"error"' not in result.body)
    assert said.error is None or said.error.get("code") != "internal_error"


@given(answers, st.booleans(), st.booleans())
def test_any_chunks(chunks: list[Any], done: bool, usage: bool) -> None:
    upstream = stream(*chunks, done=done)
    judge(answer(open_exchange(request(usage=usage)), [upstream]), usage=usage)
    buffered = answer(open_exchange(request(streamed=False)), [upstream])
    assert buffered.headers["content-type"] == "application/json"
    assert b"internal_error" not in buffered.body


@given(answers, st.binary(max_size=3), st.integers(0, 3000), st.integers(0, 40))
def test_any_bytes(chunks: list[Any], inserted: bytes, at: int, dropped: int) -> None:
    upstream = stream(ROLE, *chunks)
    judge(answer(open_exchange(request()), [upstream[:at], inserted, upstream[at + dropped :]]), usage=False)


MESSAGE = {
    "content": "x",
    "reasoning_content": "hm",
    "refusal": None,
    "tool_calls": [
        {"id": f"call_{number}", "type": "function", "function": {"name": "time", "arguments": "{}"}}
        for number in range(2)
    ],
}


@given(twisted(json.loads(whole(MESSAGE, "tool_calls"))), st.booleans())
def test_any_document(document: Any, usage: bool) -> None:
    body = json.dumps(document).encode()
    judge(answer(open_exchange(request(usage=usage)), [body], content_type="application/json"), usage=usage)
    shown = answer(open_exchange(request(streamed=False)), [body], content_type="application/json")
    assert b"internal_error" not in shown.body
    if shown.status == 200:
        completion = json.loads(shown.body)
        (choice,) = completion["choices"]
        entries = choice["message"].get("tool_calls") or []
        assert all(isinstance(entry["function"]["arguments"], str) for entry in entries)
        assert len({entry["id"] for entry in entries}) == len(entries)
        assert (choice["finish_reason"] == "tool_calls") == bool(entries) or choice["finish_reason"] not in ("stop",)
