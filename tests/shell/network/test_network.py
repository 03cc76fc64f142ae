"""Connections: how they are opened, when the client is told before a read blocks, deadlines, TLS."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator

import pytest

from tests.closed_port import closed_port
from tests.shell.misbehaving_upstream import MisbehavingUpstream, Send, Stall, answer, chunk
from tests.shell.upstream_client import WatchedOutput, ask, client, fetch, post, soon
from toolwire.model.errors import ClientGone, UpstreamError, UpstreamTimeout
from toolwire.model.http import Head, UpstreamRequest
from toolwire.shell.network.output import Answer, Output, deliver, is_there
from toolwire.shell.network.transfer import Phase, Timeouts, Transfer
from toolwire.shell.network.upstream import Upstream

pytestmark = pytest.mark.enable_socket

BODY = b'data: {"a":1}\n\n'
WHOLE = answer(BODY, BODY)
HEAD = WHOLE[: WHOLE.index(b"\r\n\r\n") + 4]


def test_nobody_listens(upstream: Upstream) -> None:
    with closed_port() as port:
        refused = rf"127.0.0.1:{port} could not be reached: Connection refused"
        with pytest.raises(UpstreamError, match=refused) as caught:
            fetch(upstream, UpstreamRequest("POST", f"http://127.0.0.1:{port}/", (), b"{}", True))

    assert caught.value.code == "upstream_unreachable"
    assert upstream.open_connections == 0


@pytest.fixture
def unanswering() -> Iterator[str]:
    """The URL of a listener whose queue is full: Linux drops further SYNs."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listener:
        address = listener.getsockname()
        waiting = [socket.socket() for _ in range(3)]
        for client in waiting:
            client.setblocking(False)
            client.connect_ex(address)
        yield f"http://127.0.0.1:{address[1]}"
        for client in waiting:
            client.close()


def test_a_connection_that_is_not_accepted(impatient: Upstream, unanswering: str) -> None:
    with pytest.raises(UpstreamTimeout, match=r"could not be connected to within 0.2 s"):
        fetch(impatient, post(unanswering))


def test_a_name_without_an_address(upstream: Upstream, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)

    with pytest.raises(UpstreamError, match=r"nowhere.invalid could not be reached: its name could not be resolved"):
        fetch(upstream, UpstreamRequest("POST", "http://nowhere.invalid/", (), b"{}", True))


def test_the_second_address_is_tried(
    server: MisbehavingUpstream, upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    def two(*_: object, **__: object) -> list[tuple[object, ...]]:
        kind = (socket.AF_INET, socket.SOCK_STREAM, 0, "")
        return [(*kind, ("127.0.0.1", refusing)), (*kind, ("127.0.0.1", server.port))]

    with closed_port() as refusing:
        monkeypatch.setattr(socket, "getaddrinfo", two)
        ask(upstream, server)

    assert len(server.requests) == 1


def test_an_upstream_that_takes_no_request(impatient: Upstream) -> None:
    # Accepted by the kernel, read by nobody: its buffers fill.
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        with pytest.raises(UpstreamTimeout, match=r"did not take the request within 0.2 s"):
            fetch(impatient, UpstreamRequest("POST", url, (), b"x" * (16 << 20), True))
    assert impatient.open_connections == 0


@pytest.mark.parametrize(
    ("streams", "expires", "questions", "timed_out"),
    [
        # (clock, phase, deadline)
        (True, 1000.0, [(0.0, "connect", 5.0), (3.0, "connect", 5.0)], "could not be connected to within 5 s"),
        (True, 1000.0, [(4.0, "connect", 9.0), (6.0, "send", 36.0)], "did not take the request within 30 s"),
        (
            True,
            1000.0,
            [(1.0, "first_byte", 121.0), (9.0, "first_byte", 121.0)],
            "did not begin to answer within 120 s",
        ),
        (True, 1000.0, [(1.0, "first_byte", 121.0), (9.0, "idle", 249.0)], "sent nothing more for 240 s"),
        (True, 1000.0, [(9.0, "idle", 249.0), (10.0, "idle", 250.0)], "sent nothing more for 240 s"),
        (True, 100.0, [(9.0, "idle", 100.0)], "did not finish within the time this request has"),
        (True, 3.0, [(0.0, "connect", 3.0)], "did not finish within the time this request has"),
        (False, 600.0, [(0.0, "first_byte", 600.0)], "did not finish within the time this request has"),
    ],
)
def test_deadlines(streams: bool, expires: float, questions: list[tuple[float, Phase, float]], timed_out: str) -> None:
    clock = 0.0
    transfer = Transfer(Timeouts(), expires, lambda: clock, streams=streams)

    for moment, phase, deadline in questions:
        clock = moment
        assert transfer.until(phase) == deadline
    assert transfer.timed_out.startswith(timed_out)


# The client's side


def test_the_output_waits_only_when_nothing_is_there(
    server: MisbehavingUpstream, upstream: Upstream, output: WatchedOutput
) -> None:
    more = threading.Event()
    server.script([Send(HEAD + chunk(b"1") + chunk(b"2") + chunk(b"3")), Stall(more), Send(WHOLE[len(HEAD) :])])

    with upstream.send(post(server.url), expires=soon()) as response:
        chunks = response.chunks()
        waits_for_head = output.waits
        assert next(chunks) == b"123"
        assert output.waits == waits_for_head
        threading.Timer(0.05, more.set).start()
        assert next(chunks) == BODY * 2
        assert output.waits == waits_for_head + 1
        assert list(chunks) == []
    assert output.waits == waits_for_head + 1


def test_data_that_has_arrived_is_read_without_waiting(
    server: MisbehavingUpstream, upstream: Upstream, output: WatchedOutput
) -> None:
    sent = HEAD + b"".join(chunk(b"x" * 60_000) for _ in range(3)) + b"0\r\n\r\n"
    server.script([Send(sent)])

    with upstream.send(post(server.url), expires=soon()) as response:
        waits_for_head = output.waits
        time.sleep(0.3)  # all of it is in our socket's buffer now
        assert len(response.read(1 << 20)) == 180_000
    assert output.waits <= waits_for_head + 1


def test_client_gone_closes_the_upstream(
    server: MisbehavingUpstream, upstream: Upstream, output: WatchedOutput
) -> None:
    server.script([Send(HEAD + chunk(BODY)), Stall()])

    with upstream.send(post(server.url), expires=soon()) as response:
        chunks = response.chunks()
        assert next(chunks) == BODY
        output.gone = True
        with pytest.raises(ClientGone):
            next(chunks)
        assert upstream.open_connections == 0
        assert server.wait_for_open(0)


def test_client_gone_before_the_answer(server: MisbehavingUpstream, upstream: Upstream, output: WatchedOutput) -> None:
    output.gone = True
    server.script([Stall()])

    with pytest.raises(ClientGone):
        ask(upstream, server)

    assert upstream.open_connections == 0
    assert server.wait_for_open(0)


class Line:
    """A carrier to a client at the other end of a socket pair, without HTTP around the body."""

    reaches_client = True

    def __init__(self) -> None:
        self.client, end = socket.socketpair()
        self.connection: socket.socket | None = end

    def connect(self) -> socket.socket:
        raise AssertionError("it is connected")

    def listen(self) -> bool:
        assert self.connection is not None
        return is_there(self.connection)

    def head(self, head: Head, length: int | None) -> bytes:
        return b"%d\n" % head.status

    def frame(self, data: bytes) -> bytes:
        return data

    def end(self, failure: BaseException | None) -> bytes:
        return b""


def test_with_a_real_output(server: MisbehavingUpstream) -> None:
    """What has arrived leaves before the wait, a silence is kept alive, and a client that hangs up ends it."""
    server.script([Send(HEAD + chunk(b"1") + chunk(b"2")), Stall()])
    line = Line()
    output = Output(line, keep_alive_seconds=0.05)
    output.on_silence(Head(200, ()), lambda: b": keep-alive\n\n")

    def handler() -> Answer:
        with client(Timeouts()) as upstream, upstream.send(post(server.url), expires=soon()) as response:
            yield Head(200, ())
            yield from response.chunks()

    def hang_up() -> None:
        while not received.endswith(b": keep-alive\n\n: keep-alive\n\n"):
            received.extend(line.client.recv(100))
        line.client.close()

    received = bytearray()
    reader = threading.Thread(target=hang_up)
    reader.start()
    with pytest.raises(ClientGone):
        deliver(handler(), output)
    reader.join()
    assert line.connection is not None
    line.connection.close()

    assert received == b"200\n12: keep-alive\n\n: keep-alive\n\n"
    assert server.wait_for_open(0)


def test_a_client_is_kept_company_while_its_host_is_being_connected_to(upstream: Upstream, unanswering: str) -> None:
    assert left_after_a_keep_alive(upstream, unanswering, b"{}") == b"200\n: keep-alive\n\n"


def test_a_client_is_kept_company_while_its_host_takes_the_request(upstream: Upstream) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:  # the kernel accepts, nobody reads: buffers fill
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"

        assert left_after_a_keep_alive(upstream, url, b"x" * (16 << 20)) == b"200\n: keep-alive\n\n"


def left_after_a_keep_alive(upstream: Upstream, url: str, body: bytes) -> bytes:
    """What a client gets that hangs up at the first keep-alive. Nothing is left open then."""
    line = Line()
    output = Output(line, keep_alive_seconds=0.05, first_commit_seconds=0.05)
    output.on_silence(Head(200, ()), lambda: b": keep-alive\n\n")

    def handler() -> Answer:
        yield fetch(upstream, post(url, body=body))

    def hang_up() -> None:
        while not received.endswith(b"\n\n"):
            received.extend(line.client.recv(100))
        line.client.close()

    received = bytearray()
    reader = threading.Thread(target=hang_up)
    reader.start()
    with pytest.raises(ClientGone):
        deliver(handler(), output)
    reader.join()
    assert line.connection is not None
    line.connection.close()
    assert upstream.open_connections == 0
    return bytes(received)
