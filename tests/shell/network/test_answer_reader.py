"""The reader of answers says what h11, which is another parser of the same language, says of the same bytes."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import h11
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.named_rows import each_row
from tests.shell.misbehaving_upstream import answer, chunk
from toolwire.shell.network.answer_reader import AnswerReader, NotHttpError

HEAD = answer(b"").partition(b"\r\n\r\n")[0] + b"\r\n\r\n"
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
TRAILERS = b"0\r\nx-sum: 1\r\n\r\n"


def pieces(data: bytes, size: int) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


def read(received: Iterable[bytes]) -> tuple[int, bytes, str]:
    """An answer's status, its body, and how that ended, with the end of the connection behind the last piece."""
    reader, body = AnswerReader(), b""
    try:
        for piece in received:
            reader.feed(piece)
            while data := reader.take():
                body += data
            if reader.complete:
                break
        how = "complete" if reader.complete or reader.end() else "cut"
    except NotHttpError:
        how = "refused"
    return reader.status or 0, body, how


def read_by_h11(received: Iterable[bytes]) -> tuple[int, bytes, str]:
    """The same of h11."""
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
                    return status, body, "complete"
        except h11.RemoteProtocolError:
            return status, body, "cut" if piece == b"" else "refused"
    return status, body, "cut"


def taken(received: Iterable[bytes]) -> list[bytes]:
    """What each piece brings of the body."""
    reader, brought = AnswerReader(), []
    for piece in received:
        reader.feed(piece)
        brought.append(reader.take())
    return brought


def test_what_arrives_together_is_one_piece() -> None:
    sent = HEAD + chunk(b"one") + chunk(b"two") + chunk(b"three")

    assert taken([sent, chunk(b"four") + TRAILERS]) == [b"onetwothree", b"four"]


def test_data_does_not_wait_for_the_end_of_its_chunk() -> None:
    assert taken([HEAD, b"5\r\nhel", b"lo", b"\r", b"\n0\r", b"\n\r\n"]) == [b"", b"hel", b"lo", b"", b"", b""]


ANSWERS = {
    "chunks": answer(b"a" * 20, b"b", b"\r\n", b"0\r\n\r\n"),
    "no data": answer(),
    "extensions": HEAD + b"3;a=b\r\nabc\r\n0010 \r\n0123456789abcdef\r\n" + TRAILERS,
    "a length": answer(b"3\r\nabc\r\n0\r\n\r\n", framing="length"),
    "no length": answer(framing="length"),
    "interim": CONTINUE + CONTINUE + answer(b"abc", b"def"),
    "odd spelling": HEAD.replace(b"transfer-encoding: chunked", b"Transfer-ENCODING:Chunked") + chunk(b"ab") + TRAILERS,
    "error": answer(b'{"error":{}}', status="429 Too Many Requests"),
    "no reason": answer(b"abc", framing="length").replace(b"200 OK", b"200 "),
    "no body": b"HTTP/1.1 204 No Content\r\n\r\n",
    "an older version": b"HTTP/1.0 200 OK\r\ncontent-length: 3\r\n\r\nabc",
    "values of no letters": answer(b"abc", framing="length", headers=[("x-a", ""), ("x-b", "\t")]),
    "lines without CR": HEAD.replace(b"\r\n", b"\n") + chunk(b"abc") + b"0\r\n\r\n",
    "a length beside chunks": HEAD[:-2] + b"content-length: 7\r\n\r\n" + chunk(b"abcdefgh") + TRAILERS,
}


@pytest.mark.parametrize("sent", ANSWERS.values(), ids=ANSWERS)
def test_h11_reads_the_same_at_every_split(sent: bytes) -> None:
    expected = read_by_h11([sent])

    assert expected[2] == "complete"
    assert read([sent]) == expected
    assert read(pieces(sent, 1)) == expected
    for at in range(1, len(sent)):
        assert read([sent[:at], sent[at:]]) == expected


@each_row("sent", ANSWERS.values(), ids=ANSWERS)
@each_row("size", [1, 3, 1000])
def test_an_answer_that_breaks_off_is_not_complete(sent: bytes, size: int) -> None:
    for end in range(len(sent)):
        found = read(pieces(sent[:end], size))
        assert found == read_by_h11([sent[:end]])
        assert found[2] == "cut"


@pytest.mark.parametrize("size", [1, 1000])
def test_the_connections_end_ends_an_answer_that_says_no_length(size: int) -> None:
    sent = answer(b"abc", framing="eof")

    assert read(pieces(sent, size)) == read_by_h11([sent]) == (200, b"abc", "complete")


@pytest.mark.parametrize(
    "body",
    [
        b"x\r\nabc\r\n",
        b"-3\r\nabc\r\n",
        b"3xyz\r\n",
        b"3\r\nabcd\r\n",
        b"3\r\nabc3\r\nabc\r\n",
        b"\r\n3\r\n",
        b"ffffffffffffffffff\r\n",
    ],
)
@pytest.mark.parametrize("size", [1, 1000])
def test_what_is_no_chunked_coding_is_refused_behind_what_was_good(body: bytes, size: int) -> None:
    status, good, end = read(pieces(HEAD + chunk(b"good") + body, size))

    assert (status, good[:4], end) == (200, b"good", "refused")
    assert len(good) <= len(b"goodabc")


@pytest.mark.parametrize(
    "head",
    [
        b"220 mail.example.com ESMTP\r\n",
        b"\x16\x03\x01\r\n",
        b"HTTP/1.1 2x0 OK\r\n",
        b"HTTP/7.3 200 OK\r\n",
        b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nna me: a\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nx-a: a\x00b\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: gzip\r\n\r\n",
    ],
)
@pytest.mark.parametrize("size", [1, 1000])
def test_what_is_no_head_is_refused(head: bytes, size: int) -> None:
    assert read(pieces(head, size))[1:] == (b"", "refused")


def overruns(fed: list[bytes]) -> bool:
    reader = AnswerReader()
    for piece in fed:
        reader.feed(piece)
        reader.take()
    return reader.overrun


@each_row("sent", ANSWERS.values(), ids=ANSWERS)
@each_row("more", [b"H", b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nx", b"\x00"])
@each_row("size", [1, 7, 1000])
def test_an_answer_that_goes_on_behind_its_end_is_noticed(sent: bytes, more: bytes, size: int) -> None:
    assert not overruns(pieces(sent, size))
    assert overruns([*pieces(sent, size), more])
    assert overruns(pieces(sent + more, size))


@pytest.mark.parametrize("sent", ANSWERS.values(), ids=ANSWERS)
def test_what_comes_behind_an_answer_is_no_part_of_it(sent: bytes) -> None:
    reader = AnswerReader()
    reader.feed(sent + b"HTTP/1.1 500 Oh\r\nx-other: 1\r\ncontent-length: 5\r\n\r\nother")

    status, body, _ = read([sent])
    assert (reader.status, reader.take(), reader.complete) == (status, body, True)
    assert "x-other" not in reader.headers


def test_an_answer_that_the_connections_end_ends_has_no_other() -> None:
    assert not overruns([answer(b"abc", framing="eof"), b"more"])


@pytest.mark.parametrize(
    ("sent", "keeps_open"),
    [
        (answer(b"abc"), True),
        (answer(b"abc", framing="length"), True),
        (answer(b"abc", headers=[("Connection", "close")]), False),
        (answer(b"abc", framing="eof"), False),
        (ANSWERS["an older version"], False),
        (ANSWERS["an older version"].replace(b"OK\r\n", b"OK\r\nconnection: keep-alive\r\n"), True),
    ],
)
def test_a_host_says_whether_its_connection_is_kept(sent: bytes, keeps_open: bool) -> None:
    reader = AnswerReader()
    reader.feed(sent)

    assert reader.keeps_open == keeps_open


def test_fields_are_joined_and_trailers_are_none() -> None:
    reader = AnswerReader()
    sent = answer(b"abc", headers=[("X-A", "1"), ("x-a", "2"), ("x-b", "E")])
    reader.feed(sent.replace(b"E", b"\xe9")[:-2] + b"x-c: 3\r\n\r\n")

    assert reader.headers == {"x-a": "1, 2", "x-b": "é", "transfer-encoding": "chunked"}
    assert reader.complete


def test_interim_heads_may_be_many() -> None:
    assert taken([CONTINUE * 3000, CONTINUE * 3000 + answer(b"one", b"two")]) == [b"", b"onetwo"]


ENDLESS = {
    "a line of the head": [b"HTTP/1.1 200 OK\r\nx-a: ", *[b"x" * 40_000] * 3],
    "heads": [b"HTTP/1.1 200 OK\r\n", *[b"x-a: 1\r\n" * 5_000] * 3],
    "a chunk's size": [HEAD, b"1;a=", *[b"x" * 40_000] * 3],
    "zeroes": [HEAD, *[b"0" * 40_000] * 3],
    "trailers": [HEAD + chunk(b"abc") + b"0\r\n", *[b"x-a: 1\r\n" * 5_000] * 3],
}


@pytest.mark.parametrize("sent", ENDLESS.values(), ids=ENDLESS)
def test_what_has_no_end_is_not_kept(sent: list[bytes]) -> None:
    assert read(sent[:-1])[2] == "cut"
    assert read(sent)[2] == "refused"


@given(parts=st.lists(st.binary(min_size=1, max_size=40), max_size=8), cuts=st.lists(st.integers(0, 600), max_size=6))
def test_any_body_survives_any_split(parts: list[bytes], cuts: list[int]) -> None:
    sent = answer(*parts)
    places = sorted({0, len(sent), *(cut for cut in cuts if cut < len(sent))})
    received = [sent[start:end] for start, end in pairwise(places)]

    assert read(received) == (200, b"".join(parts), "complete")
