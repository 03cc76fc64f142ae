"""Joined chunks say what the chunks said: h11 reads the answer before and after."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import h11
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.shell.misbehaving_upstream import answer, chunk
from toolwire.shell.network.chunk_joiner import ChunkJoiner

HEAD = answer(b"").partition(b"\r\n\r\n")[0] + b"\r\n\r\n"
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
TRAILERS = b"0\r\nx-sum: 1\r\n\r\n"


def pieces(data: bytes, size: int) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


def joined(received: Iterable[bytes]) -> list[bytes]:
    joiner = ChunkJoiner()
    return [joiner.feed(piece) for piece in received]


def read(received: Iterable[bytes]) -> tuple[int, bytes, str]:
    """What h11 reads of an answer: its status, its body, and how that ended."""
    client = h11.Connection(h11.CLIENT)
    client.send(h11.Request(method="GET", target="/", headers=[("host", "h")]))
    client.send(h11.EndOfMessage())
    status, body = 0, b""
    for piece in [*filter(None, received), b""]:  # to h11 an empty piece is the connection's end
        client.receive_data(piece)
        try:
            while (event := client.next_event()) is not h11.NEED_DATA:
                if isinstance(event, h11.Response):
                    status = event.status_code
                elif isinstance(event, h11.Data):
                    body += bytes(event.data)
                elif isinstance(event, h11.EndOfMessage):
                    return status, body, f"complete {list(event.headers)}"
        except h11.RemoteProtocolError as error:
            return status, body, "cut" if "incomplete" in str(error) else "refused"
    return status, body, "cut"


def test_what_arrives_together_leaves_as_one_chunk() -> None:
    sent = HEAD + chunk(b"one") + chunk(b"two") + chunk(b"three")

    assert joined([sent, chunk(b"four") + TRAILERS]) == [HEAD + chunk(b"onetwothree"), chunk(b"four") + TRAILERS]


def test_data_does_not_wait_for_the_end_of_its_chunk() -> None:
    assert joined([HEAD, b"5\r\nhel", b"lo", b"\r", b"\n0\r", b"\n\r\n"]) == [
        HEAD, chunk(b"hel"), chunk(b"lo"), b"", b"", b"0\r\n\r\n",
    ]  # fmt: skip


ANSWERS = {
    "chunks": answer(b"a" * 20, b"b", b"\r\n", b"0\r\n\r\n"),
    "no data": answer(),
    "extensions": HEAD + b"3;a=b\r\nabc\r\n0010 \r\n0123456789abcdef\r\n" + TRAILERS,
    "a length": answer(b"3\r\nabc\r\n0\r\n\r\n", framing="length"),
    "interim": CONTINUE + CONTINUE + answer(b"abc", b"def"),
    "odd spelling": HEAD.replace(b"transfer-encoding: chunked", b"Transfer-ENCODING:Chunked") + chunk(b"ab") + TRAILERS,
    "error": answer(b'{"error":{}}', status="429 Too Many Requests"),
}


@pytest.mark.parametrize("sent", ANSWERS.values(), ids=ANSWERS)
def test_h11_reads_the_same_at_every_split(sent: bytes) -> None:
    expected = read([sent])

    assert expected[2].startswith("complete")
    assert read(joined([sent])) == expected
    assert read(joined(pieces(sent, 1))) == expected
    for at in range(1, len(sent)):
        assert read(joined([sent[:at], sent[at:]])) == expected


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_a_body_that_breaks_off_is_not_complete(size: int) -> None:
    sent = answer(b"one", b"two")
    for end in range(len(HEAD), len(sent)):
        status, body, how = read(joined(pieces(sent[:end], size)))
        assert (status, body) == read([sent[:end]])[:2]
        assert how in ("cut", "refused")


@pytest.mark.parametrize(
    "body",
    [
        b"x\r\nabc\r\n",
        b"-3\r\nabc\r\n",
        b"3xyz\r\n",
        b"3\r\nabcd\r\n",
        b"3\r\nabc3\r\nabc\r\n",
        b"3\nabc\n0\n\n0\r\n\r\n",
        b"\r\n3\r\n",
    ],
)
@pytest.mark.parametrize("size", [1, 1000])
def test_what_is_no_chunked_coding_is_refused_behind_what_was_good(body: bytes, size: int) -> None:
    status, good, end = read(joined(pieces(HEAD + chunk(b"good") + body, size)))

    assert (status, good[:4], end) == (200, b"good", "refused")
    assert len(good) <= len(b"goodabc")


def test_the_next_answer_is_read_anew() -> None:
    joiner = ChunkJoiner()
    whole = answer(b"one", b"two")
    for expected in (HEAD + chunk(b"onetwo") + b"0\r\n\r\n",) * 2:
        assert joiner.feed(whole) == expected
        joiner.expect_head()

    assert joiner.feed(answer(b"abc", framing="length")) == answer(b"abc", framing="length")


def overruns(fed: list[bytes]) -> bool:
    joiner = ChunkJoiner()
    for piece in fed:
        joiner.feed(piece)
    return joiner.overrun


@pytest.mark.parametrize("sent", ANSWERS.values(), ids=ANSWERS)
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_an_answer_that_goes_on_behind_its_end_is_noticed(sent: bytes, size: int) -> None:
    assert not overruns(pieces(sent, size))
    assert overruns([*pieces(sent, size), b"H"])
    assert overruns(pieces(sent + b"H", size))


def test_an_answer_that_the_connections_end_ends_has_no_other() -> None:
    assert not overruns([answer(b"abc", framing="eof"), b"more"])


def test_interim_heads_may_be_many() -> None:
    whole = answer(b"one", b"two")

    assert ChunkJoiner().feed(CONTINUE * 3000 + whole) == CONTINUE * 3000 + HEAD + chunk(b"onetwo") + b"0\r\n\r\n"


def test_lines_without_an_end_are_not_kept() -> None:
    assert sum(map(len, joined([b"x" * 70_000] * 4))) == 280_000
    assert b"".join(joined([HEAD] + [b"1" * 70_000] * 3)).startswith(HEAD + b"!\r\n")


@given(parts=st.lists(st.binary(min_size=1, max_size=40), max_size=8), cuts=st.lists(st.integers(0, 600), max_size=6))
def test_any_body_survives_any_split(parts: list[bytes], cuts: list[int]) -> None:
    sent = answer(*parts)
    places = sorted({0, len(sent), *(cut for cut in cuts if cut < len(sent))})
    received = [sent[start:end] for start, end in pairwise(places)]

    assert read(joined(received)) == (200, b"".join(parts), "complete []")
