"""AWS event streams: every cut, both checksums, and botocore's own reader as the judge."""

from __future__ import annotations

import itertools
import struct
from typing import Any
from zlib import crc32

import pytest
from botocore.eventstream import EventStreamBuffer
from hypothesis import given
from hypothesis import strategies as st

from tests.framing.aws_frames import frame
from tests.named_rows import named
from toolwire.framing import Frame
from toolwire.framing.aws_event_stream import EXCEPTION, AwsEventStreamDecoder
from toolwire.model.errors import UpstreamError, UpstreamProtocolError, UpstreamTruncated
from toolwire.model.limits import FRAME_BYTES

STREAM = b"".join(
    (
        frame({":message-type": "event", ":event-type": "messageStart", ":content-type": "application/json"}, b"{}"),
        frame({":message-type": "event", ":event-type": "contentBlockDelta"}, '{"delta":{"text":"é\u2028"}}'.encode()),
        frame({":message-type": "exception", ":exception-type": "throttlingException"}, b'{"message":"slow down"}'),
        frame({":message-type": "error", ":error-code": "Internal", ":error-message": 'a "word"'}, b""),
    )
)
FRAMES = [
    Frame("messageStart", b"{}"),
    Frame("contentBlockDelta", '{"delta":{"text":"é\u2028"}}'.encode()),
    Frame(EXCEPTION + "throttlingException", b'{"message":"slow down"}'),
    Frame(EXCEPTION + "Internal", b'{"message":"a \\"word\\""}'),
]


def decoded(*chunks: bytes) -> list[Frame]:
    decoder = AwsEventStreamDecoder()
    frames = [found for chunk in chunks for found in decoder.feed(chunk)]
    return frames + decoder.end()


def test_whole() -> None:
    assert decoded(STREAM) == FRAMES


def test_cut_anywhere() -> None:
    for cut in range(len(STREAM) + 1):
        assert decoded(STREAM[:cut], STREAM[cut:]) == FRAMES, cut


def test_a_byte_at_a_time() -> None:
    assert decoded(*(STREAM[at : at + 1] for at in range(len(STREAM)))) == FRAMES


def boundaries() -> set[int]:
    """Where one frame ends and the next begins."""
    found, at = {0}, 0
    while at < len(STREAM):
        at += struct.unpack_from(">I", STREAM, at)[0]
        found.add(at)
    return found


def test_an_end_inside_a_frame_is_no_end() -> None:
    for cut in sorted(set(range(len(STREAM))) - boundaries()):
        with named(cut), pytest.raises(UpstreamTruncated, match="inside a frame"):
            decoded(STREAM[:cut])


def test_a_wrong_byte_is_noticed() -> None:
    """Wherever it is: in a length the frame may never become whole, which is noticed at the end."""
    for at in range(len(STREAM)):
        wrong = bytearray(STREAM)
        wrong[at] ^= 0x10
        with named(at), pytest.raises(UpstreamError):
            decoded(bytes(wrong))


@pytest.mark.parametrize(
    "headers",
    [
        b"\x05ab",  # a name that is cut
        b"\x01a\x63",  # a type that nobody knows
        b"\x01a\x07\x00\x05ab",  # a value that is cut in its text
        b"\x01a\x07\x00",  # a value without its length
        b"\x01\xff\x07\x00\x01a",  # a name that is no text
    ],
)
def test_headers_that_cannot_be_read(headers: bytes) -> None:
    lengths = struct.pack(">II", 16 + len(headers), len(headers))
    data = lengths + struct.pack(">I", crc32(lengths)) + headers
    data += struct.pack(">I", crc32(data))
    with pytest.raises(UpstreamProtocolError, match="headers"):
        decoded(data)


@pytest.mark.parametrize(("total", "headers"), [(FRAME_BYTES + 1, 0), (1 << 20, 200_000), (15, 0), (40, 30)], ids=str)
def test_impossible_lengths(total: int, headers: int) -> None:
    """They are refused before their bytes are waited for."""
    lengths = struct.pack(">II", total, headers)
    with pytest.raises(UpstreamProtocolError):
        list(AwsEventStreamDecoder().feed(lengths + struct.pack(">I", crc32(lengths))))


def test_headers_of_other_types_are_passed_over() -> None:
    values: list[tuple[int, bytes]] = [
        (0, b""), (1, b""), (2, b"\x01"), (3, b"\x00\x01"), (4, b"\x00" * 4), (5, b"\x00" * 8),
        (6, b"\x00\x02ab"), (8, b"\x00" * 8), (9, b"\x00" * 16),
    ]  # fmt: skip
    raw = b"".join(b"\x01x" + bytes([kind]) + value for kind, value in values)
    given = frame({":event-type": "metadata"}, b"{}", more=raw)
    assert decoded(given) == [Frame("metadata", b"{}")]


@given(
    st.lists(st.tuples(st.sampled_from(["messageStart", "metadata", "chunk"]), st.binary(max_size=400)), max_size=6),
    st.lists(st.integers(0, 3000), max_size=5),
)
def test_as_botocore_reads_it(events: list[tuple[str, bytes]], cuts: list[int]) -> None:
    data = b"".join(frame({":message-type": "event", ":event-type": kind}, payload) for kind, payload in events)
    places = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    judge: Any = EventStreamBuffer()
    judge.add_data(data)
    theirs = [(message.headers[":event-type"], message.payload) for message in judge]
    ours = decoded(*(data[a:b] for a, b in itertools.pairwise(places)))
    assert [(found.event, found.data) for found in ours] == theirs
