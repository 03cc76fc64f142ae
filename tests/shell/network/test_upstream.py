"""The upstream client against a server that misbehaves."""

from __future__ import annotations

import itertools
import socket
import threading
from collections.abc import Generator
from typing import cast

import pytest

from tests.shell.misbehaving_upstream import (
    Close,
    Flood,
    Framing,
    MisbehavingUpstream,
    Reset,
    Send,
    Stall,
    Step,
    answer,
    chunk,
    cut,
)
from tests.shell.upstream_client import IMPATIENT, PATIENT, ask, client, fetch, post, soon
from toolwire.model.errors import (
    GatewayError,
    InternalError,
    UpstreamError,
    UpstreamProtocolError,
    UpstreamTimeout,
    UpstreamTruncated,
)
from toolwire.model.http import UpstreamRequest
from toolwire.shell.network.transfer import Timeouts
from toolwire.shell.network.upstream import Upstream

pytestmark = pytest.mark.enable_socket

BODY = b'data: {"a":1}\n\n'
WHOLE = answer(BODY, BODY)
HEAD = WHOLE[: WHOLE.index(b"\r\n\r\n") + 4]


# What a request looks like


def test_the_request_arrives_as_it_was_built(server: MisbehavingUpstream, upstream: Upstream) -> None:
    fetch(upstream, post(server.url, body=b'{"x": 1.10}'))

    (received,) = server.requests
    assert received.head[0] == "POST /v1/chat/completions?x=1 HTTP/1.1"
    assert received.headers == {
        "content-type": "application/json",
        "authorization": "Bearer sk-secret",
        "host": f"127.0.0.1:{server.port}",
        "accept-encoding": "identity",
        "content-length": "11",
    }
    assert received.body == b'{"x": 1.10}'


def test_a_get_has_no_body(server: MisbehavingUpstream, upstream: Upstream) -> None:
    fetch(upstream, UpstreamRequest("GET", f"{server.url}/v1/models", (), b"", False))

    assert "content-length" not in server.requests[0].headers


def test_an_ipv6_host_keeps_its_brackets(
    server: MisbehavingUpstream, upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = (socket.AF_INET, socket.SOCK_STREAM, 0, "", ("127.0.0.1", server.port))
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [here])

    fetch(upstream, post("http://[2001:db8::1]:8080"))

    assert server.requests[0].headers["host"] == "[2001:db8::1]:8080"


def test_a_large_body_is_sent_whole(server: MisbehavingUpstream) -> None:
    body = b"x" * (6 << 20)

    with client(Timeouts()) as upstream:
        fetch(upstream, post(server.url, body=body))

    assert server.requests[0].body == body


# Answers that are as they should be


@pytest.mark.parametrize(
    "script",
    [
        pytest.param([Send(answer(BODY, BODY))], id="chunked"),
        pytest.param([Send(answer(BODY, BODY), pieces=10_000)], id="byte by byte"),
        pytest.param([Send(answer(BODY, BODY, framing="length"))], id="content-length"),
        pytest.param([Send(answer(BODY, BODY, framing="eof")), Close()], id="until the end of the connection"),
        pytest.param([Send(b"HTTP/1.1 100 Continue\r\n\r\n" + WHOLE)], id="100 Continue first"),
        pytest.param([Send(b"HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n" * 2 + WHOLE)], id="early hints first"),
        pytest.param([Send(WHOLE[:-2] + b"x-checksum: 1\r\n\r\n")], id="trailers"),
        pytest.param([Send(HEAD + b"1e;ext=1\r\n" + BODY * 2 + b"\r\n0\r\n\r\n")], id="chunk extension"),
    ],
)
def test_a_whole_answer(server: MisbehavingUpstream, upstream: Upstream, script: list[Step]) -> None:
    server.script(script)

    assert ask(upstream, server) == BODY * 2


@pytest.mark.parametrize("status", ["400 Bad Request", "401 Unauthorized", "429 Too Many", "503 Busy", "307 Moved"])
def test_an_error_status_is_an_answer(server: MisbehavingUpstream, upstream: Upstream, status: str) -> None:
    headers = [("Retry-After", "7"), ("Location", "http://elsewhere.invalid/"), ("X-A", "1"), ("x-a", "2")]
    server.script([Send(answer(b'{"error":{}}', status=status, framing="length", headers=headers))])

    with upstream.send(post(server.url), expires=soon()) as response:
        assert response.status == int(status[:3])
        assert response.headers["retry-after"] == "7"
        assert response.headers["x-a"] == "1, 2"
        assert response.read(1000) == b'{"error":{}}'
    assert len(server.requests) == 1


def test_answers_that_were_read_whole_share_a_connection(server: MisbehavingUpstream, upstream: Upstream) -> None:
    for _ in range(3):
        ask(upstream, server)

    assert [request.connection for request in server.requests] == [1, 1, 1]
    assert upstream.open_connections == 1


def test_read_refuses_more_than_its_limit(server: MisbehavingUpstream, upstream: Upstream) -> None:
    server.script([Send(answer(b"123456"))], [Send(answer(b"12345"))], [Flood(HEAD + chunk(b"x" * 1000))])

    for limit, expected in [(5, None), (5, b"12345"), (100, None)]:
        with upstream.send(post(server.url), expires=soon()) as response:
            if expected is None:
                with pytest.raises(UpstreamProtocolError, match=f"more than {limit} bytes"):
                    response.read(limit)
            else:
                assert response.read(limit) == expected
    assert upstream.open_connections == 0
    assert server.wait_for_open(0)


# Answers that are not: the right error, and the next request works


MISBEHAVIOURS: list[tuple[str, list[Step], type[GatewayError], str]] = [
    ("closes at once", [Close()], UpstreamTruncated, "before its answer was complete"),
    ("resets at once", [Reset()], UpstreamTruncated, "before its answer was complete"),
    *(
        (f"closes after {at} bytes", cut(WHOLE, at, Close()), UpstreamTruncated, "complete")
        for at in range(1, len(WHOLE), 7)
    ),
    *(
        (f"resets after {at} bytes", cut(WHOLE, at, Reset()), UpstreamTruncated, "complete")
        for at in range(1, len(WHOLE), 7)
    ),
    ("closes early, by length", [Send(answer(BODY, framing="length")[:-1]), Close()], UpstreamTruncated, "complete"),
    ("is silent", [Stall()], UpstreamTimeout, "did not begin to answer within 0.2 s"),
    ("stalls in the head", [Send(WHOLE[:30]), Stall()], UpstreamTimeout, "did not begin to answer within 0.2 s"),
    ("drips its head", [Send(WHOLE, pieces=40, pause=0.02)], UpstreamTimeout, "did not begin to answer within 0.2 s"),
    ("only says 100", [Send(b"HTTP/1.1 100 Continue\r\n\r\n"), Stall()], UpstreamTimeout, "did not begin to answer"),
    ("stalls after the head", [Send(HEAD), Stall()], UpstreamTimeout, "sent nothing more for 0.2 s"),
    ("stalls in the body", [Send(WHOLE[:-9]), Stall()], UpstreamTimeout, "sent nothing more for 0.2 s"),
    ("is no HTTP server", [Send(b"220 mail.example.com ESMTP\r\n\r\n"), Stall()], UpstreamProtocolError, "not HTTP"),
    ("sends bytes", [Send(b"\x16\x03\x01\r\n\r\n"), Stall()], UpstreamProtocolError, "not HTTP"),
    ("sends a bad chunk size", [Send(HEAD + b"zz\r\nabc\r\n"), Stall()], UpstreamProtocolError, "not HTTP"),
    ("sends a long chunk", [Send(HEAD + b"3\r\nabcdef\r\n"), Stall()], UpstreamProtocolError, "not HTTP"),
    ("sends an endless head", [Flood(HEAD[:-2] + b"x" * 200_000)], UpstreamProtocolError, "not HTTP"),
]


@pytest.mark.parametrize(("script", "error", "message"), [pytest.param(*row[1:], id=row[0]) for row in MISBEHAVIOURS])
def test_a_misbehaving_upstream(
    server: MisbehavingUpstream, script: list[Step], error: type[GatewayError], message: str
) -> None:
    server.script(script)

    with client(IMPATIENT if error is UpstreamTimeout else PATIENT) as upstream:
        with pytest.raises(error, match=message) as caught:
            ask(upstream, server)

        assert "secret" not in repr(caught.value)
        assert upstream.open_connections == 0
        assert server.wait_for_open(0)
        assert ask(upstream, server) == b""
        assert len(server.requests) == 2


@pytest.mark.parametrize("url", ["ftp://127.0.0.1/", "127.0.0.1/v1", "", "http://", "file:///etc/passwd"])
def test_only_http(upstream: Upstream, url: str) -> None:
    with pytest.raises(UpstreamError, match="no http or https URL"):
        fetch(upstream, UpstreamRequest("POST", url, (), b"{}", True))


@pytest.mark.parametrize(
    ("url", "value"),
    [
        ("http://127.0.0.1:1/", "Bearer sk-secret\n"),
        ("http://127.0.0.1:1/", "Bearer sk-secret…"),
        ("http://127.0.0.1:1/sk-secret x", "Bearer a"),
        ("http://127.0.0.1:99999999999999999999x/sk-secret", "Bearer a"),
        ("http://exämple/sk-secret", "Bearer a"),
    ],
)
def test_what_http_does_not_allow_is_not_quoted(
    server: MisbehavingUpstream, upstream: Upstream, url: str, value: str
) -> None:
    url = url.replace("127.0.0.1:1/", f"127.0.0.1:{server.port}/")

    with pytest.raises(InternalError, match="Look for a line break") as caught:
        fetch(upstream, UpstreamRequest("POST", url, (("authorization", value),), b"{}", True))

    assert "sk-secret" not in str(caught.value)
    assert caught.value.__suppress_context__
    assert server.requests == []


# Deadlines


def test_the_total_ends_an_upstream_that_never_stops(server: MisbehavingUpstream) -> None:
    server.script([Send(HEAD), Flood(chunk(BODY * 1000))])
    questions = itertools.count()

    with client(Timeouts(), now=lambda: float(next(questions))) as upstream:
        with pytest.raises(UpstreamTimeout, match="did not finish within the time this request has"):
            fetch(upstream, post(server.url), expires=100.0)

        assert 100 <= next(questions) < 110
        assert server.wait_for_open(0)


def test_the_total_ends_a_silence(server: MisbehavingUpstream, upstream: Upstream) -> None:
    server.script([Send(HEAD), Stall()])

    with pytest.raises(UpstreamTimeout, match="did not finish within the time this request has"):
        fetch(upstream, post(server.url), expires=soon(0.05))


def test_a_json_answer_may_take_longer_than_the_first_byte_of_a_stream(server: MisbehavingUpstream) -> None:
    made = threading.Event()
    threading.Timer(0.2, made.set).start()
    server.script([Stall(made), Send(answer(BODY, framing="length"))])

    with client(Timeouts(first_byte=0.1)) as upstream:
        assert fetch(upstream, post(server.url, stream=False)) == BODY


# Pooled connections that had died


@pytest.mark.parametrize("framing", ["chunked", "length"])
def test_what_comes_behind_an_answer_is_nobodys(
    framing: Framing, server: MisbehavingUpstream, upstream: Upstream
) -> None:
    server.script([Send(answer(BODY, framing=framing) + answer(b"somebody else's", framing=framing))])

    assert ask(upstream, server) == BODY
    assert ask(upstream, server) == b""
    assert [request.connection for request in server.requests] == [1, 2]


def test_a_connection_closed_while_idle_is_not_used(server: MisbehavingUpstream, upstream: Upstream) -> None:
    ask(upstream, server)
    server.close_idle()

    ask(upstream, server)

    assert [request.connection for request in server.requests] == [1, 2]


@pytest.mark.parametrize("how", [Close(), Reset()])
def test_a_pooled_connection_that_dies_unanswered_is_retried_once(
    server: MisbehavingUpstream, upstream: Upstream, how: Step
) -> None:
    server.script([Send(answer())], [how], [Send(WHOLE)])
    ask(upstream, server)

    assert ask(upstream, server) == BODY * 2

    assert [request.connection for request in server.requests] == [1, 1, 2]


def test_the_retry_takes_a_new_connection_and_is_the_last(server: MisbehavingUpstream, upstream: Upstream) -> None:
    server.script([Send(WHOLE)], [Send(WHOLE)], [Close()], [Close()])
    with (
        upstream.send(post(server.url), expires=soon()) as first,
        upstream.send(post(server.url), expires=soon()) as second,
    ):
        assert b"".join(first.chunks()) == b"".join(second.chunks())
    assert upstream.open_connections == 2

    with pytest.raises(UpstreamTruncated):
        ask(upstream, server)

    assert len(server.requests) == 4
    assert server.requests[-1].connection == 3


@pytest.mark.parametrize("at", [1, 20, len(HEAD), len(HEAD) + 5])
def test_no_retry_after_a_byte(server: MisbehavingUpstream, upstream: Upstream, at: int) -> None:
    server.script([Send(WHOLE)], cut(WHOLE, at, Reset()))
    ask(upstream, server)

    with pytest.raises(UpstreamTruncated):
        ask(upstream, server)

    assert len(server.requests) == 2


@pytest.mark.parametrize("stop", ["close the chunks", "close the response", "leave the block", "raise"])
def test_a_reader_that_stops_closes_the_connection(server: MisbehavingUpstream, upstream: Upstream, stop: str) -> None:
    server.script([Send(HEAD + chunk(BODY)), Stall()])

    try:
        with upstream.send(post(server.url), expires=soon()) as response:
            chunks = response.chunks()
            next(chunks)
            if stop == "close the chunks":
                cast("Generator[bytes]", chunks).close()
                assert server.wait_for_open(0)
            elif stop == "close the response":
                response.close()
                assert server.wait_for_open(0)
            elif stop == "raise":
                raise KeyError
    except KeyError:
        pass

    assert server.wait_for_open(0)
    assert upstream.open_connections == 0


def test_a_body_that_nobody_reads_is_not_left_open(server: MisbehavingUpstream, upstream: Upstream) -> None:
    with upstream.send(post(server.url), expires=soon()):
        pass

    assert server.wait_for_open(0)
    ask(upstream, server)


def test_many_threads(server: MisbehavingUpstream, upstream: Upstream) -> None:
    bodies: list[bytes] = []

    def work() -> None:
        for _ in range(20):
            bodies.append(ask(upstream, server))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert bodies == [b""] * 160
    assert server.connections <= 8
    assert server.wait_for_open(upstream.open_connections)
