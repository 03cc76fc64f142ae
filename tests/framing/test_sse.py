"""Server-sent events: every way the same bytes can arrive gives the same frames."""

from __future__ import annotations

from collections import deque
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.named_rows import each_row
from toolwire.framing import Frame, sse
from toolwire.framing.sse import SseDecoder, encode_comment, encode_data, encode_event
from toolwire.model.errors import UpstreamProtocolError


def decode(*chunks: bytes) -> list[Frame]:
    decoder = SseDecoder()
    return [frame for chunk in chunks for frame in decoder.feed(chunk)] + decoder.end()


def data(*payloads: bytes) -> list[Frame]:
    return [Frame(None, payload) for payload in payloads]


CASES: dict[str, tuple[bytes, list[Frame]]] = {
    "nothing": (b"", []),
    "one": (b'data: {"a":1}\n\n', data(b'{"a":1}')),
    "two and the end": (b"data: 1\n\ndata: 2\n\ndata: [DONE]\n\n", data(b"1", b"2", b"[DONE]")),
    "named": (b"event: ping\ndata: {}\n\n", [Frame("ping", b"{}")]),
    "named after its data": (b"data: {}\nevent:ping\n\n", [Frame("ping", b"{}")]),
    "a name without data is forgotten": (b"event: ping\n\ndata: 1\n\n", data(b"1")),
    "a name holds for one frame": (b"event: a\ndata: 1\n\ndata: 2\n\n", [Frame("a", b"1"), Frame(None, b"2")]),
    "no space": (b"data:1\n\n", data(b"1")),
    "one space goes, others stay": (b"data:   1 \n\n", data(b"  1 ")),
    "several lines": (b"data: {\ndata:  1\ndata: }\n\n", data(b"{\n 1\n}")),
    "empty data": (b"data:\n\ndata: \n\ndata\n\n", data(b"", b"", b"")),
    "empty lines of data": (b"data\ndata: x\ndata:\n\n", data(b"\nx\n")),
    "comments": (b": OPENROUTER PROCESSING\n\n:\n\ndata: 1\n: inside\n\n", data(b"1")),
    "fields without use": (b"id: 7\nretry: 10\nfoo: bar\ndata: 1\ndatum: 2\n\n", data(b"1")),
    "blank lines": (b"\n\n\ndata: 1\n\n\n\n\ndata: 2\n\n", data(b"1", b"2")),
    "CRLF": (b"data: 1\r\n\r\ndata: 2\r\ndata: 3\r\n\r\n", data(b"1", b"2\n3")),
    "CR": (b"data: 1\r\rdata: 2\rdata: 3\r\r", data(b"1", b"2\n3")),
    "mixed": (b"data: 1\r\n\ndata: 2\n\r\ndata: 3\r\n\rdata: 4\r\r\n", data(b"1", b"2", b"3", b"4")),
    "line separators of Unicode are text": (
        'data: {"a":"x\u2028y\u2029z\u0085"}\n\n'.encode(),
        data('{"a":"x\u2028y\u2029z\u0085"}'.encode()),
    ),
    "line separators of ASCII are text": (b"data: a\x0bb\x0cc\x1cd\x1ee\n\n", data(b"a\x0bb\x0cc\x1cd\x1ee")),
    "UTF-8": ("data: ü€😀\n\n".encode(), data("ü€😀".encode())),
    "byte order mark": (b"\xef\xbb\xbfdata: 1\n\n", data(b"1")),
    "byte order mark later is text": (b"data: \xef\xbb\xbf1\n\n\xef\xbb\xbfdata: 2\n\n", data(b"\xef\xbb\xbf1")),
    "byte order mark alone": (b"\xef\xbb\xbf", []),
    "byte order mark and an unfinished line": (b"\xef\xbb\xbfdata: 1", data(b"1")),
    "no last blank line": (b"data: 1\n\ndata: 2\n", data(b"1", b"2")),
    "no last line end": (b"data: 1\n\nevent: e\ndata: 2", [Frame(None, b"1"), Frame("e", b"2")]),
    "no blank lines between JSON": (
        b'data: {"a":1}\ndata: {\ndata: }\ndata: [DONE]\n',
        data(b'{"a":1}', b"{\n}", b"[DONE]"),
    ),
    "an empty line of data behind JSON": (b"data: {}\ndata:\n\n", data(b"{}\n")),
    "bare JSON behind a space": (b' {"error":1}\n', data(b' {"error":1}')),
    "bare error": (b'data: 1\n\n{"error":{"code":500}}', data(b"1", b'{"error":{"code":500}}')),
    "bare error in an array": (b'[{"error":{}}]\n', data(b'[{"error":{}}]')),
    "bare error over lines": (b'{\n  "error": {\n    "id": 1\n  }\n}\n', data(b'{\n  "error": {\n    "id": 1\n  }\n}')),
    "bare error with a name": (b'event: error\n{"error":1}\n\n', [Frame("error", b'{"error":1}')]),
    "bare error behind an unfinished frame": (b'data: 1\n{"error":1}\n\n', data(b"1", b'{"error":1}')),
    "a document a line": (b'{"a":1}\n{"a":"}\\n{"}\r\n{"a":3}', data(b'{"a":1}', b'{"a":"}\\n{"}', b'{"a":3}')),
    "a document a line, of which one has half a character": (
        b'{"a":"\\ud83d"}\n{"a":"\\ude00"}\n',
        data(b'{"a":"\\ud83d"}', b'{"a":"\\ude00"}'),
    ),
    "documents over several lines": (b'{\n"a":1\n}\n{\n"a":2\n}\n', data(b'{\n"a":1\n}', b'{\n"a":2\n}')),
    "bare error before data": (b'{"error":1}\ndata: [DONE]\n\n', data(b'{"error":1}', b"[DONE]")),
}
by_case = each_row(("stream", "frames"), CASES.values(), ids=CASES)


@by_case
def test_whole(stream: bytes, frames: list[Frame]) -> None:
    assert decode(stream) == frames


@by_case
def test_every_split(stream: bytes, frames: list[Frame]) -> None:
    for at in range(len(stream) + 1):
        assert decode(stream[:at], stream[at:]) == frames, f"cut at {at}"


@by_case
def test_byte_at_a_time(stream: bytes, frames: list[Frame]) -> None:
    assert decode(*(stream[at : at + 1] for at in range(len(stream)))) == frames


@by_case
def test_empty_chunks_change_nothing(stream: bytes, frames: list[Frame]) -> None:
    assert decode(b"", *(piece for at in range(len(stream)) for piece in (stream[at : at + 1], b""))) == frames


@pytest.mark.parametrize("end", [b"\n\n", b"\r\n\r\n", b"\r\r", b"\n\r", b"\n\r\n", b"\r\n\n"])
def test_a_frame_is_out_with_the_byte_that_completes_it(end: bytes) -> None:
    decoder = SseDecoder()

    # The LF of a last CRLF is not waited for: the CR has ended the line already.
    before, last = (end[:-2], end[-2:-1]) if end.endswith(b"\r\n") else (end[:-1], end[-1:])
    assert decoder.feed(b"data: 1" + before) == []
    assert decoder.feed(last) == data(b"1")


def test_end_says_everything_once() -> None:
    decoder = SseDecoder()
    decoder.feed(b"data: 1")

    assert decoder.end() == data(b"1")
    assert decoder.end() == []


@pytest.fixture
def small_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "FRAME_BYTES", 100)


@pytest.mark.usefixtures("small_frames")
@pytest.mark.parametrize(
    "piece", [b"x", b"\ndata: yy", b"\ndata", b"\ndata:"], ids=["line", "lines", "no colon", "no value"]
)
def test_an_endless_frame_is_refused(piece: bytes) -> None:
    decoder = SseDecoder()
    decoder.feed(b"data: ")

    with pytest.raises(UpstreamProtocolError, match="more than 100 bytes"):
        deque(map(decoder.feed, [piece] * 102))


@pytest.mark.usefixtures("small_frames")
def test_the_size_is_a_frames_not_the_streams() -> None:
    frame = b": comment\ndata: " + b"x" * 90 + b"\n\n"

    assert decode(*[frame] * 50) == data(b"x" * 90) * 50
    assert decode(frame * 50) == data(b"x" * 90) * 50


LINES = st.sampled_from(
    [b"data: ", b"data:", b"data", b'data: {"a":1}', b"event: e", b": c", b"{", b'{"e":1}', b"[", b"}", b"id: 1", b"",
     "data: é\u2028😀".encode(), b"\xef\xbb\xbf", b"data: \xff"]
)  # fmt: skip
ENDS = st.sampled_from([b"\n", b"\r", b"\r\n"])
STREAMS = st.lists(st.tuples(LINES, ENDS).map(b"".join), max_size=12).map(b"".join)


@given(STREAMS, st.lists(st.integers(0, 200), max_size=8))
def test_any_split_is_the_whole(stream: bytes, cuts: list[int]) -> None:
    at = [0, *sorted(min(cut, len(stream)) for cut in cuts), len(stream)]

    assert decode(*(stream[start:end] for start, end in pairwise(at))) == decode(stream)


@given(STREAMS, st.binary(max_size=20))
def test_no_bytes_are_an_accident(stream: bytes, noise: bytes) -> None:
    for frame in decode(noise, stream, noise):
        assert isinstance(frame.data, bytes)


def with_lf(payload: bytes) -> bytes:
    return payload.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


PAYLOADS = st.one_of(
    st.binary(max_size=60),
    st.lists(st.sampled_from([b"\n", b"\r", b"\r\n", b" ", b"{", b"data: ", b": x", "\u2028".encode()])).map(b"".join),
)


@given(st.lists(PAYLOADS, max_size=5))
def test_what_is_encoded_is_decoded(payloads: list[bytes]) -> None:
    stream = b"".join(encode_data(payload) + encode_comment(b"keep-alive") for payload in payloads)

    assert decode(stream) == data(*map(with_lf, payloads))


@given(PAYLOADS)
def test_a_named_frame_keeps_its_name(payload: bytes) -> None:
    assert decode(encode_event(b"message_stop", payload)) == [Frame("message_stop", with_lf(payload))]


def test_the_usual_frame_is_written_as_openai_does() -> None:
    assert encode_data(b'{"a":1}') == b'data: {"a":1}\n\n'
    assert encode_event(b"ping", b"{}") == b"event: ping\ndata: {}\n\n"
    assert encode_comment(b"keep-alive") == b": keep-alive\n\n"
