"""The buffer, the clock and the poll of an answer, over real socket pairs and a clock that the test turns."""

from __future__ import annotations

import math
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest

from toolwire.model.errors import ClientGone, InternalError
from toolwire.model.http import Head
from toolwire.shell.network.output import (
    DOCUMENT_COMMIT_SECONDS,
    FLUSH_BYTES,
    Answer,
    Output,
    bound_sends,
    chunk,
    current_output,
    deliver,
    is_there,
    stack_of,
)

HEAD = Head(200, (("content-type", "text/event-stream"),))
PING = b": ping\n\n"


class Clock:
    """A clock that stands still until it is turned."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@dataclass
class PlainCarrier:
    """Frames an answer so that a test can read it: `<200>`, the data, `<end>`."""

    connection: socket.socket | None
    reaches_client: bool = True
    lengths: list[int | None] = field(default_factory=list)

    def connect(self) -> socket.socket:
        raise OSError("nowhere to connect to")

    def listen(self) -> bool:
        assert self.connection is not None
        return is_there(self.connection)

    def head(self, head: Head, length: int | None) -> bytes:
        self.lengths.append(length)
        return b"<%d>" % head.status

    def frame(self, data: bytes) -> bytes:
        return data

    def end(self, failure: BaseException | None) -> bytes:
        return b"<end>" if failure is None else b"<" + type(failure).__name__.encode() + b">"


@dataclass
class Scene:
    """An output between a client and an upstream, all of it held by the test."""

    client: socket.socket
    upstream: socket.socket
    reads_upstream: socket.socket
    carrier: PlainCarrier
    clock: Clock
    output: Output

    def received(self) -> bytes:
        """What has reached the client so far."""
        data = b""
        self.client.setblocking(False)
        try:
            while piece := self.client.recv(1 << 16):
                data += piece
        except BlockingIOError:
            pass
        return data

    def wait(self, seconds: float = 1000.0) -> None:
        self.output.before_block(self.reads_upstream, self.clock.now + seconds)


@pytest.fixture
def scene() -> Iterator[Scene]:
    client, ours = socket.socketpair()
    upstream, reads_upstream = socket.socketpair()
    clock = Clock()
    carrier = PlainCarrier(ours)
    with client, ours, upstream, reads_upstream:
        yield Scene(client, upstream, reads_upstream, carrier, clock, Output(carrier, clock=clock))


class TestBuffer:
    def test_nothing_leaves_before_a_flush(self, scene: Scene) -> None:
        scene.output.start(HEAD)
        scene.output.write(b"a")

        assert scene.received() == b""
        assert scene.output.head_sent
        assert not scene.output.begun

    def test_what_came_together_leaves_together(self, scene: Scene) -> None:
        scene.output.start(HEAD)
        scene.output.write(b"a")
        scene.output.write(b"b")
        scene.output.flush()

        assert scene.received() == b"<200>ab"
        assert scene.output.begun

    def test_a_full_buffer_leaves_by_itself(self, scene: Scene) -> None:
        scene.output.start(HEAD)
        scene.output.write(b"x" * (FLUSH_BYTES - 1))
        assert scene.received() == b""
        scene.output.write(b"y")

        assert scene.received() == b"<200>" + b"x" * (FLUSH_BYTES - 1) + b"y"

    def test_empty_pieces_send_nothing(self, scene: Scene) -> None:
        scene.output.start(HEAD)
        scene.output.flush()
        scene.output.write(b"")
        scene.output.flush()

        assert scene.received() == b"<200>"

    def test_an_answer_known_as_a_whole_has_its_length(self, scene: Scene) -> None:
        scene.output.start(HEAD)
        scene.output.write(b"four")
        scene.output.finish()

        assert scene.received() == b"<200>four<end>"
        assert scene.carrier.lengths == [4]

    def test_an_answer_that_had_begun_has_none(self, scene: Scene) -> None:
        scene.output.start(HEAD)
        scene.output.flush()
        scene.output.write(b"rest")
        scene.output.finish()

        assert scene.received() == b"<200>rest<end>"
        assert scene.carrier.lengths == [None]

    def test_a_failure_never_looks_complete(self, scene: Scene) -> None:
        scene.output.start(HEAD)
        scene.output.write(b"part")
        scene.output.finish(KeyError())

        assert scene.received() == b"<200>part<KeyError>"
        assert scene.carrier.lengths == [None]

    def test_an_answer_without_a_head_ends_without_a_byte(self, scene: Scene) -> None:
        scene.output.finish()

        assert scene.received() == b""

    def test_a_head_comes_once_and_first(self, scene: Scene) -> None:
        with pytest.raises(RuntimeError):
            scene.output.write(b"body")
        scene.output.start(HEAD)
        with pytest.raises(RuntimeError):
            scene.output.start(HEAD)


class TestBeforeBlock:
    def test_flushes_then_returns_when_the_upstream_has_data(self, scene: Scene) -> None:
        scene.output.start(HEAD)
        scene.output.write(b"a")
        scene.upstream.sendall(b"next")
        scene.wait()

        assert scene.received() == b"<200>a"

    def test_returns_when_the_upstream_has_ended(self, scene: Scene) -> None:
        scene.upstream.close()

        scene.wait()

    def test_wakes_when_data_comes(self, scene: Scene) -> None:
        threading.Timer(0.05, scene.upstream.sendall, [b"late"]).start()
        scene.wait()

        assert scene.reads_upstream.recv(10) == b"late"

    @pytest.mark.parametrize("readable", [False, True])
    def test_a_deadline_that_has_passed_is_a_timeout_even_with_data(self, scene: Scene, readable: bool) -> None:
        if readable:
            scene.upstream.sendall(b"endless")

        with pytest.raises(TimeoutError):
            scene.wait(0)

    def test_wakes_at_the_deadline(self, scene: Scene) -> None:
        output = Output(scene.carrier)
        started = time.monotonic()

        with pytest.raises(TimeoutError):
            output.before_block(scene.reads_upstream, started + 0.05)

        assert 0.05 <= time.monotonic() - started < 10

    def test_a_gone_client_wins_over_data(self, scene: Scene) -> None:
        scene.upstream.sendall(b"data")
        scene.client.close()

        with pytest.raises(ClientGone):
            scene.wait()

    def test_wakes_when_the_client_goes(self, scene: Scene) -> None:
        threading.Timer(0.05, scene.client.close).start()

        with pytest.raises(ClientGone):
            scene.wait()

    def test_a_clients_next_request_is_left_alone(self, scene: Scene) -> None:
        scene.client.sendall(b"GET /next")
        threading.Timer(0.05, scene.upstream.sendall, [b"late"]).start()
        scene.wait()

        assert scene.carrier.connection is not None
        assert scene.carrier.connection.recv(100) == b"GET /next"

    def test_a_middleman_that_stops_sending_is_not_the_client_leaving(self, scene: Scene) -> None:
        scene.carrier.reaches_client = False
        output = Output(scene.carrier, clock=scene.clock)
        scene.client.shutdown(socket.SHUT_WR)
        scene.upstream.sendall(b"data")

        output.before_block(scene.reads_upstream, scene.clock.now + 1)

    def test_a_client_that_is_gone_stays_gone(self, scene: Scene) -> None:
        scene.output.start(HEAD)
        scene.client.close()
        for _ in range(2):
            with pytest.raises(ClientGone):
                scene.wait()
        with pytest.raises(ClientGone):
            scene.output.write(b"x" * FLUSH_BYTES)

    def test_a_connection_that_does_not_open_is_a_client_gone(self, scene: Scene) -> None:
        scene.carrier.connection = None
        scene.output.start(HEAD)

        with pytest.raises(ClientGone):
            scene.output.flush()


class TestKeepAlive:
    """Each moment: seconds on the clock, what the client has received once the upstream had data there."""

    @pytest.fixture
    def at(self, scene: Scene) -> Callable[[float], bytes]:
        """Turns the clock to so many seconds after the start; returns what one wait then sends."""
        start = scene.clock.now
        scene.upstream.sendall(b"data")

        def turn(seconds: float) -> bytes:
            scene.clock.now = start + seconds
            scene.wait()
            return scene.received()

        return turn

    def test_ten_seconds_after_the_last_byte(self, scene: Scene, at: Callable[[float], bytes]) -> None:
        scene.output.on_silence(HEAD, lambda: PING)
        scene.output.start(HEAD)

        assert at(4) == b"<200>"
        assert at(13.9) == b""
        assert at(14) == PING
        assert at(23.9) == b""
        scene.output.write(b"x")
        assert at(23.95) == b"x"
        assert at(33.9) == b""
        assert at(33.95) == PING

    def test_what_is_buffered_is_no_silence(self, scene: Scene, at: Callable[[float], bytes]) -> None:
        scene.output.on_silence(HEAD, lambda: PING)
        scene.output.start(HEAD)
        scene.output.write(b"x")

        assert at(60) == b"<200>x"

    def test_an_early_head_after_fifteen_seconds(self, scene: Scene, at: Callable[[float], bytes]) -> None:
        scene.output.on_silence(HEAD, lambda: PING)

        assert at(14.9) == b""
        assert at(15) == b"<200>" + PING
        assert scene.output.head_sent
        assert at(25) == PING

    def test_without_consent_silence_stays_silent(self, scene: Scene, at: Callable[[float], bytes]) -> None:
        scene.output.start(HEAD)

        assert at(0) == b"<200>"
        assert at(500) == b""

    def test_nothing_to_say_is_asked_again_later(self, scene: Scene, at: Callable[[float], bytes]) -> None:
        asked = []

        def nothing() -> bytes:
            asked.append(scene.clock.now)
            return b""

        scene.output.on_silence(HEAD, nothing)
        scene.output.start(HEAD)
        at(0)
        at(10)
        at(19)
        at(20)

        assert asked == [110.0, 120.0]

    def test_a_document_waits_longer_for_its_head(self, scene: Scene, at: Callable[[float], bytes]) -> None:
        scene.output.on_silence(HEAD, lambda: b" ", DOCUMENT_COMMIT_SECONDS)
        assert at(239.9) == b""
        assert at(240) == b"<200> "
        assert at(249.9) == b""
        assert at(250) == b" "
        assert DOCUMENT_COMMIT_SECONDS < 300  # when API Gateway ends a silent response

    def test_an_answer_ends_when_its_process_stops(self, scene: Scene) -> None:
        stops_at = [math.inf]
        scene.output.stops_at = lambda: stops_at[0]
        with pytest.raises(TimeoutError):
            scene.output.before_block(scene.reads_upstream, scene.clock.now)
        stops_at[0] = scene.clock.now

        with pytest.raises(InternalError) as caught:
            scene.output.before_block(scene.reads_upstream, math.inf)

        assert (caught.value.code, caught.value.status) == ("gateway_stopping", 503)

    def test_the_poll_wakes_for_it(self, scene: Scene) -> None:
        output = Output(scene.carrier, keep_alive_seconds=0.05, first_commit_seconds=0.1)
        output.on_silence(HEAD, lambda: PING)

        with pytest.raises(TimeoutError):
            output.before_block(scene.reads_upstream, time.monotonic() + 0.3)

        received = scene.received()
        assert received.startswith(b"<200>" + PING)  # a busy machine may be late for the others
        assert received in [b"<200>" + PING * times for times in range(1, 6)]


class TestDeliver:
    def test_head_and_body(self, scene: Scene) -> None:
        def answer() -> Answer:
            assert current_output.get() is scene.output
            yield HEAD
            yield b"a"

        deliver(answer(), scene.output)
        scene.output.finish()

        assert scene.received() == b"<200>a<end>"
        assert current_output.get() is None

    def test_a_client_gone_while_sending_is_told_where_the_handler_stands(self, scene: Scene) -> None:
        seen = []

        def answer() -> Answer:
            yield HEAD
            try:
                while True:
                    yield b"x" * FLUSH_BYTES
            except ClientGone:
                seen.append("told")
            finally:
                seen.append("ended")

        scene.client.close()
        with pytest.raises(ClientGone):
            deliver(answer(), scene.output)

        assert seen == ["told", "ended"]

    def test_a_client_gone_while_waiting_leaves_the_handler(self, scene: Scene) -> None:
        def answer() -> Answer:
            yield HEAD
            scene.wait()
            yield b"never"

        scene.client.close()
        with pytest.raises(ClientGone):
            deliver(answer(), scene.output)

    def test_a_handler_that_goes_on_after_the_client_went_is_closed(self, scene: Scene) -> None:
        seen = []

        def answer() -> Answer:
            yield HEAD
            try:
                yield b"x" * FLUSH_BYTES
            except ClientGone:
                try:
                    yield b"more"
                finally:
                    seen.append("closed")

        scene.client.close()
        with pytest.raises(ClientGone):
            deliver(answer(), scene.output)

        assert seen == ["closed"]

    def test_a_failure_comes_through_and_the_context_is_restored(self, scene: Scene) -> None:
        def answer() -> Answer:
            yield HEAD
            raise KeyError("secret")

        with pytest.raises(KeyError) as failure:
            deliver(answer(), scene.output)

        assert current_output.get() is None
        assert any("in answer" in line for line in stack_of(failure.value))
        assert "secret" not in "".join(stack_of(failure.value))


@pytest.mark.enable_socket
def test_a_client_that_takes_nothing_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolwire.shell.network.output.SEND_SECONDS", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.create_connection(listener.getsockname()) as client:
        ours, _ = listener.accept()
        with ours:
            bound_sends(ours)
            client.setblocking(False)
            output = Output(PlainCarrier(ours))
            output.start(HEAD)
            started = time.monotonic()
            with pytest.raises(ClientGone):
                output.write(b"x" * (32 << 20))

            assert 0.1 <= time.monotonic() - started < 10


def test_a_chunk_has_its_size_in_hexadecimal() -> None:
    assert chunk(b"x" * 26) == b"1a\r\n" + b"x" * 26 + b"\r\n"
