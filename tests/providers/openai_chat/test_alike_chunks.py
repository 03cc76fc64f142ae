"""Chunks that are like earlier ones are read without being decoded, and say exactly what they say decoded."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.providers.alike_streams import read_alike, said
from toolwire.framing import Frame
from toolwire.model.events import TextDelta
from toolwire.providers.alike_frames import AlikeFrames
from toolwire.providers.decoder_context import DecoderContext
from toolwire.providers.openai_chat.answer import ChatDecoder

#: Texts with what a string may hold in JSON, and with what looks like a chunk's own members.
TEXTS = st.one_of(
    st.sampled_from(
        ["", "a", "b c", '"', "\\", '"content":"x"', '\\"content\\":\\"y', '"}}]}', "é", "\U0001f600", "\n", "\ud83d"]
    ),
    st.text(max_size=6),
)
FRAGMENTS = st.sampled_from(
    ["", "{", "}", '{"a":', '"x', 'y"', "1", " ", "{}", '"arguments":"', '{"content":"x"}', "\\"]
)
AROUND: list[dict[str, Any]] = [
    {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m"},
    {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m", "content": "x", "usage": None},
    {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": '"content":"x"'},
    {"id": "1", "model": "m"},
    {"id": "2", "object": "chat.completion.chunk", "created": 1, "model": "m"},
]
BESIDE: list[dict[str, Any]] = [
    {}, {"role": "assistant"}, {"refusal": None}, {"reasoning_content": "r"}, {"name": "content", "content": "first"},
    {"reasoning_details": [{"type": "reasoning.text", "text": "t"}]},
    {"function_call": {"name": "f", "arguments": "{}"}},
]  # fmt: skip
#: What stands behind the choices: padding that differs in each chunk, and what only looks like it.
BEHIND: list[dict[str, Any]] = [
    {}, {"usage": None}, {"obfuscation": ""}, {"obfuscation": "aB3"}, {"usage": None, "obfuscation": "x" * 9},
    {"obfuscation": "~ "}, {"obfuscation": '"'}, {"obfuscation": "\\"}, {"obfuscation": "é"}, {"obfuscation": 5},
    {"obfuscation": "a", "usage": {"prompt_tokens": 1, "completion_tokens": 1}}, {"obfuscation": "a", "model": "n"},
    {"x": {"obfuscation": "a"}}, {"error": {"obfuscation": "a"}}, {"obfuscation": "a", "x": {"content": "b"}},
]  # fmt: skip


@st.composite
def chunks(draw: st.DrawFn) -> bytes:
    delta: dict[str, Any] = dict(draw(st.sampled_from(BESIDE)))
    kind = draw(st.sampled_from(["text", "text", "call", "call", "start", "nothing"]))
    if kind == "text":
        delta["content"] = draw(TEXTS)
    elif kind != "nothing":
        call: dict[str, Any] = {"index": draw(st.integers(-1, 2)), "function": {"arguments": draw(FRAGMENTS)}}
        if kind == "start":
            call |= {"id": draw(st.sampled_from(["c1", "c2", ""])), "type": "function"}
            call["function"]["name"] = draw(st.sampled_from(["f", "g", None]))
        delta["tool_calls"] = [call]
    choice: dict[str, Any] = {"index": draw(st.sampled_from([0, 0, 0, 1])), "delta": delta}
    choice["finish_reason"] = draw(st.sampled_from([None] * 8 + ["stop", "tool_calls", ""]))
    choices = [choice] * draw(st.sampled_from([1, 1, 1, 1, 2]))
    whole = {**draw(st.sampled_from(AROUND)), "choices": choices, **draw(st.sampled_from(BEHIND))}
    separators = draw(st.sampled_from([(",", ":"), (", ", ": ")]))
    return json.dumps(whole, separators=separators, ensure_ascii=draw(st.booleans())).encode("utf-8", "surrogatepass")


@st.composite
def streams(draw: st.DrawFn) -> list[bytes]:
    """Few different chunks, each several times, so that what is learnt of one is used for another."""
    few = draw(st.lists(chunks(), min_size=1, max_size=4))
    return draw(st.lists(st.sampled_from(few) | chunks(), max_size=14))


@given(streams())
def test_it_says_what_it_says_decoded(stream: list[bytes]) -> None:
    frames = [Frame(None, data) for data in stream]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(AlikeFrames, "batch", lambda self, data: None)
        decoded = said(ChatDecoder, frames)

    assert said(ChatDecoder, frames) == decoded


def chunk(delta: dict[str, Any], **members: Any) -> bytes:
    around = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m"} | members
    choices = [{"index": 0, "delta": delta, "finish_reason": None}]
    return json.dumps(around | {"choices": choices}, separators=(",", ":")).encode()


def call(index: int, arguments: str) -> dict[str, Any]:
    return {"tool_calls": [{"index": index, "function": {"arguments": arguments}}]}


def opening(index: int) -> dict[str, Any]:
    entry = {"index": index, "id": f"c{index}", "type": "function", "function": {"name": "f", "arguments": ""}}
    return {"tool_calls": [entry]}


@pytest.mark.parametrize(
    ("begin", "deltas"),
    [
        ([{"role": "assistant", "content": "a"}], [{"content": text} for text in "bcde"]),
        ([{"role": "assistant", "content": "a"}], [{"role": "assistant", "content": text} for text in "bcde"]),
        ([{"role": "assistant"}, opening(0)], [call(0, text) for text in ('{"a":', '"b', "c", "d")]),
        (
            [{"role": "assistant"}, opening(0), opening(1)],
            [call(number % 2, text) for number, text in enumerate(('{"a":', '{"a":', '"b', '"c', "d", "e"))],
        ),
    ],
    ids=["text", "a role in each", "arguments", "two calls in turn"],
)
@pytest.mark.parametrize(
    "members", [{}, {"object": None, "x_host": {"content": "z"}}], ids=["as it is", "written anew"]
)
def test_most_of_a_stream_is_not_decoded(
    begin: list[dict[str, Any]], deltas: list[dict[str, Any]], members: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else it would take longer than before."""
    read = read_alike(monkeypatch)
    decoder = ChatDecoder(DecoderContext())
    for delta in [*begin, *deltas]:
        decoder.decode(Frame(None, chunk(delta, **members)))

    assert all(read[-2:])


def test_padding_that_differs_in_each_chunk_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """OpenAI's own chunks have it. It goes on as it came."""
    read = read_alike(monkeypatch)
    decoder = ChatDecoder(DecoderContext())
    stream = [chunk({"role": "assistant", "content": "a"}, obfuscation="Q")]
    for text, padding in zip(("b", '"', '","obfuscation":"', "e", "f"), ("8j", "", "kfT3", "p" * 20, "0"), strict=True):
        start = chunk({"content": text})
        stream.append(start[:-1] + b',"usage":null,"obfuscation":"' + padding.encode() + b'"}')
    for data in stream:
        decoder.decode(Frame(None, data))

    *_, first, second, third, last = read
    for batch, data, text in zip(
        (first, second, third, last), stream[2:], ('"', '","obfuscation":"', "e", "f"), strict=True
    ):
        assert batch is not None
        assert batch.events == (TextDelta(0, text),)
        assert batch.source is not None
        assert batch.source.raw == data


def test_a_chunk_that_changes_each_time_is_soon_left_alone() -> None:
    """A host with another member in each chunk costs a few attempts, not one for each."""
    decoder = ChatDecoder(DecoderContext())
    for number in range(20):
        decoder.decode(Frame(None, chunk({"content": "x"}, nonce=number)))

    assert len(decoder._alike._known) <= 4
