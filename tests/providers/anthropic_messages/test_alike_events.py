"""Events that are like earlier ones are read without being decoded, and say exactly what they say decoded."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.providers.alike_streams import read_alike, said
from toolwire.framing import Frame
from toolwire.providers.alike_frames import AlikeFrames
from toolwire.providers.anthropic_messages.answer import MessagesDecoder
from toolwire.providers.decoder_context import DecoderContext

#: Texts with what a string may hold in JSON, and with what looks like an event's own members.
TEXTS = st.one_of(
    st.sampled_from(
        ["", "a", "b c", '"', "\\", '"text":"x"', '\\"text\\":\\"y', '"}}', "é", "\U0001f600", "\n", "\ud83d"]
    ),
    st.text(max_size=6),
)
FRAGMENTS = st.sampled_from(["", "{", "}", '{"a":', '"x', 'y"', "1", " ", "{}", '"text":"', '{"text":"x"}', "\\"])
INDICES = st.sampled_from([0, 0, 0, 1, 1, 2, None])
BLOCKS: list[dict[str, Any] | None] = [
    {"type": "text", "text": ""}, {"type": "text", "text": "first"}, {"type": "thinking", "thinking": ""},
    {"type": "tool_use", "id": "t1", "name": "f", "input": {}},
    {"type": "tool_use", "id": "t2", "name": "g", "input": {"a": 1}},
    {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}},
    {"type": "redacted_thinking", "data": "x"}, None,
]  # fmt: skip
#: What stands beside a delta's string, or in its event.
BESIDE: list[dict[str, Any]] = [
    {}, {}, {}, {"text": "z"}, {"citation": None}, {"signature": "s"}, {"stop_reason": None},
]  # fmt: skip
AROUND: list[dict[str, Any]] = [
    {}, {}, {}, {"usage": None}, {"usage": {"output_tokens": 3}}, {"text": "x"}, {"error": None},
]  # fmt: skip
START = {"type": "message_start", "message": {"id": "m", "model": "c", "content": [], "usage": {"input_tokens": 1}}}


@st.composite
def deltas(draw: st.DrawFn) -> dict[str, Any]:
    kind, member = draw(
        st.sampled_from(
            [("text_delta", "text")] * 3
            + [("thinking_delta", "thinking")] * 2
            + [("input_json_delta", "partial_json")] * 3
            + [("signature_delta", "signature"), (None, "text"), ("output_text_delta", "text")]
        )
    )
    said = draw(FRAGMENTS if kind == "input_json_delta" else TEXTS)
    delta = {"type": kind, **draw(st.sampled_from(BESIDE)), member: said}
    return {"type": "content_block_delta", "index": draw(INDICES), "delta": delta, **draw(st.sampled_from(AROUND))}


@st.composite
def frames(draw: st.DrawFn) -> Frame:
    kind = draw(st.sampled_from(["delta"] * 6 + ["start", "stop", "ping", "end"]))
    event: dict[str, Any]
    if kind == "delta":
        event = draw(deltas())
    elif kind == "start":
        event = {"type": "content_block_start", "index": draw(INDICES), "content_block": draw(st.sampled_from(BLOCKS))}
    elif kind == "stop":
        event = {"type": "content_block_stop", "index": draw(INDICES)}
    elif kind == "ping":
        event = {"type": "ping"}
    else:
        event = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}}
    separators = draw(st.sampled_from([(",", ":"), (", ", ": ")]))
    data = json.dumps(event, separators=separators, ensure_ascii=draw(st.booleans())).encode("utf-8", "surrogatepass")
    return Frame(draw(st.sampled_from([event["type"]] * 4 + [None, "message", "error"])), data)


@st.composite
def streams(draw: st.DrawFn) -> list[Frame]:
    """Few different frames, each several times, so that what is learnt of one is used for another."""
    few = draw(st.lists(frames(), min_size=1, max_size=5))
    start = draw(st.sampled_from([[frame(START)]] * 4 + [[]]))
    return start + draw(st.lists(st.sampled_from(few) | frames(), max_size=14))


def frame(event: dict[str, Any]) -> Frame:
    return Frame(event["type"], json.dumps(event, separators=(",", ":")).encode())


@given(streams())
def test_it_says_what_it_says_decoded(stream: list[Frame]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(AlikeFrames, "batch", lambda self, data: None)
        decoded = said(MessagesDecoder, stream)

    assert said(MessagesDecoder, stream) == decoded


@pytest.mark.parametrize(
    ("block", "kind", "member", "pieces"),
    [
        ({"type": "text", "text": ""}, "text_delta", "text", ["a", "b", '"', "d", "e"]),
        ({"type": "thinking", "thinking": ""}, "thinking_delta", "thinking", ["a", "b", "\n", "d", "e"]),
        (
            {"type": "tool_use", "id": "t", "name": "f", "input": {}},
            "input_json_delta",
            "partial_json",
            ["", '{"a":', '"b', "c", "d"],
        ),
    ],
    ids=["text", "thinking", "input"],
)
def test_most_of_a_stream_is_not_decoded(
    block: dict[str, Any], kind: str, member: str, pieces: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Block after block, of which each has another index. Else it would take longer than before."""
    read = read_alike(monkeypatch)
    decoder = MessagesDecoder(DecoderContext())
    decoder.decode(frame(START))
    for index in range(12):
        decoder.decode(frame({"type": "content_block_start", "index": index, "content_block": block}))
        for piece in pieces:
            delta = {"type": kind, member: piece}
            decoder.decode(frame({"type": "content_block_delta", "index": index, "delta": delta}))
        assert all(read[-2:])
        decoder.decode(frame({"type": "content_block_stop", "index": index}))

    assert len(decoder._alike._known) <= 8
