"""One answer says the same however it travels: streamed or not, cut anywhere, and again from the same bytes.

What openai-python gathers from our stream equals our JSON answer, ids included.
"""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.corpus.driver import answer
from tests.exchange.test_exchange import opened, told
from tests.providers.openai_chat.chat_reader import read, sdk_answer, sdk_stream
from tests.providers.openai_chat.chat_upstream import USAGE, chunk, fragment, opening, request, stream, whole

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
arguments = st.one_of(
    st.just(""),
    st.dictionaries(words, st.one_of(st.integers(), words, st.none(), st.lists(words, max_size=2)), max_size=3).map(
        lambda value: json.dumps(value)
    ),
    st.dictionaries(words, words, max_size=2).map(lambda value: json.dumps(value, ensure_ascii=False)),
)
call_ids = st.one_of(st.none(), st.just("call_same"), st.from_regex(r"\A(call_[a-z]{1,5}|toolu_[a-z]{1,5})\Z"))
calls = st.lists(st.tuples(call_ids, st.sampled_from(["time", "weather"]), arguments), max_size=4)


@st.composite
def conversations(draw: st.DrawFn) -> tuple[bytes, bytes]:
    """One answer as a host streams it, cut anywhere and interleaved, and as it says it in one document."""
    said, thought, made = draw(words), draw(words), draw(calls)
    finish = draw(st.sampled_from(["stop", "tool_calls", "length", "eos"]))
    more: dict[str, Any] = draw(st.sampled_from([{}, {"id": ""}, {"object": "x"}, {"created": None}, {"model": None}]))

    def pieces(value: str) -> list[str]:
        cuts = sorted(draw(st.lists(st.integers(0, len(value)), max_size=3)))
        return [value[a:b] for a, b in zip([0, *cuts], [*cuts, len(value)], strict=True)]

    chunks = [chunk({"role": "assistant", "content": ""}, **more)] if draw(st.booleans()) else []
    chunks += [chunk({"reasoning_content": piece}, **more) for piece in pieces(thought)]
    chunks += [chunk({"content": piece}, **more) for piece in pieces(said)]
    queues = [
        [opening(number, id, name, first) | more, *(fragment(number, piece) | more for piece in rest)]
        for number, (id, name, value) in enumerate(made)
        for first, *rest in [pieces(value)]
    ]
    # The first delta of each call in order, the others interleaved.
    chunks += [queue.pop(0) for queue in queues]
    while queues := [queue for queue in queues if queue]:
        chunks.append(draw(st.sampled_from(queues)).pop(0))
    streamed = stream(*chunks, chunk(finish=finish, **more), chunk(choices=[], usage=USAGE, **more))
    entries = [
        {"id": id, "type": "function", "function": {"name": name, "arguments": value}} for id, name, value in made
    ]
    message = {"content": said or None, "reasoning_content": thought or None, "tool_calls": entries or None}
    return streamed, whole({k: v for k, v in message.items() if v is not None}, finish, **{"object": "x", **more})


def essence(completion: dict[str, Any]) -> dict[str, Any]:
    """What a completion says, whichever way it came."""
    (choice,) = completion["choices"]
    message = choice["message"]
    return {
        "head": (completion["id"], completion["model"], completion["created"]),
        "content": message["content"] or "",
        "reasoning": message.get("reasoning_content") or "",
        "calls": [
            (call["id"], call["type"], call["function"]["name"], call["function"]["arguments"])
            for call in message.get("tool_calls") or ()
        ],
        "finish": choice["finish_reason"],
        "usage": completion["usage"],
    }


def without_comments(body: bytes) -> bytes:
    """What clients read: a warning that is found late stands in front of what it arrived with."""
    return b"\n\n".join(frame for frame in body.split(b"\n\n") if not frame.startswith(b": "))


@given(conversations(), st.lists(st.integers(0, 4000), max_size=6))
def test_streamed_equals_buffered(conversation: tuple[bytes, bytes], cuts: list[int]) -> None:
    streamed, document = conversation
    ends = sorted(min(cut, len(streamed)) for cut in cuts)
    pieces = [streamed[a:b] for a, b in zip([0, *ends], [*ends, len(streamed)], strict=True)]
    try_stream = answer(opened(request(usage=True)), pieces)
    whole = told(opened(request(usage=True)), streamed).body
    assert without_comments(try_stream.body) == without_comments(whole), "however the bytes are cut"
    said = read(try_stream.body, usage=True)
    folded = essence(sdk_stream(try_stream.body))
    assert said.error is None
    for upstream, kind in ((streamed, "text/event-stream"), (document, "application/json")):
        buffered = told(opened(request(streamed=False)), upstream, kind)
        assert essence(sdk_answer(buffered.status, buffered.headers, buffered.body)) == folded
    ignored = told(opened(request(usage=True)), document, "application/json")
    assert essence(sdk_stream(ignored.body)) == folded


@given(conversations())
def test_the_same_bytes_give_the_same_answer(conversation: tuple[bytes, bytes]) -> None:
    first, second = (told(opened(request(usage=True)), conversation[0]) for _ in range(2))
    assert first == second
