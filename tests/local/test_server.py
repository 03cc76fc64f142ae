"""The local server as clients meet it: over loopback, with handlers that the test injects."""

from __future__ import annotations

import http.client
import json
import signal
import socket
import threading
from collections.abc import Callable
from contextlib import closing, suppress
from threading import Thread

import pytest

from local import server as server_module
from local.server import LocalServer
from tests.local.serving import Handlers, exchange, get, post, serving

pytestmark = pytest.mark.enable_socket


class TestEvents:
    def test_the_event_is_api_gateways(self, client: http.client.HTTPConnection) -> None:
        client.putrequest("GET", "/v1/models?limit=10&tag=a&tag=b")
        client.putheader("X-Twice", "1")
        client.putheader("X-Twice", "2")
        client.endheaders()
        event = json.loads(client.getresponse().read())

        assert event["httpMethod"] == "GET"
        assert event["path"] == event["resource"] == "/models"
        assert event["requestContext"]["path"] == "/v1/models"
        assert event["requestContext"]["identity"]["sourceIp"] == "127.0.0.1"
        assert event["requestContext"]["requestId"] == event["aws_request_id"]
        assert event["headers"]["X-Twice"] == "2"
        assert event["multiValueHeaders"]["X-Twice"] == ["1", "2"]
        assert event["queryStringParameters"] == {"limit": "10", "tag": "b"}
        assert event["multiValueQueryStringParameters"]["tag"] == ["a", "b"]
        assert (event["body"], event["isBase64Encoded"]) == (None, False)
        assert 500_000 < event["remaining"] <= 600_000

    @pytest.mark.parametrize("path", ["/health", "/v1/health", "/v1/models"])
    def test_paths_with_and_without_the_stage(self, client: http.client.HTTPConnection, path: str) -> None:
        response, body = get(client, path)

        assert response.status == 200
        assert json.loads(body)["resource"] == path.removeprefix("/v1")

    def test_a_body_that_is_no_text_comes_in_base64(self, client: http.client.HTTPConnection) -> None:
        client.request("POST", "/v1/chat/completions", b"\xff\xfe")

        assert client.getresponse().read() == b"//4="

    def test_a_chunked_body_is_put_together(self, client: http.client.HTTPConnection) -> None:
        client.request("POST", "/v1/chat/completions", iter([b"caf\xc3", b"\xa9"]), encode_chunked=True)

        assert client.getresponse().read() == "café".encode()


class TestAnswers:
    def test_a_whole_answer_has_its_length_and_keeps_the_connection(self, client: http.client.HTTPConnection) -> None:
        for _ in range(3):
            response, body = get(client, "/v1/models")
            sock = client.sock

            assert response.getheader("content-length") == str(len(body))
            assert response.getheader("transfer-encoding") is None
            assert response.getheader("date")
            assert client.sock is sock

    def test_headers_cannot_smuggle_lines(self, client: http.client.HTTPConnection) -> None:
        response, _ = get(client, "/v1/models")

        assert response.getheader("x-bad") == "a  set-cookie: b"
        assert response.getheader("set-cookie") is None
        assert response.getheader("bad name") is None

    def test_head_is_answered_like_get_without_the_body(self, client: http.client.HTTPConnection) -> None:
        response, body = get(client, "/v1/models", "HEAD")

        assert (response.status, body) == (200, b"")
        assert int(response.getheader("content-length") or 0) > 100
        assert get(client, "/v1/models")[0].status == 200

    def test_a_stream_arrives_in_pieces(self, client: http.client.HTTPConnection, handlers: Handlers) -> None:
        response = post(client, "stream")

        assert response.getheader("transfer-encoding") == "chunked"
        assert response.read1() == b"one"
        handlers.go_on.set()
        assert response.read() == b"two"
        assert get(client, "/v1/models")[0].status == 200

    def test_an_answer_too_large_for_the_buffer_is_chunked(self, client: http.client.HTTPConnection) -> None:
        response = post(client, "large")

        assert response.getheader("transfer-encoding") == "chunked"
        assert response.read() == b"x" * 20_000

    def test_an_answer_without_content_has_no_length(self, client: http.client.HTTPConnection) -> None:
        response = post(client, "no content")

        assert (response.status, response.read(), response.getheader("content-length")) == (204, b"", None)

    def test_http_1_0_gets_its_stream_until_the_connection_ends(self, server: LocalServer, handlers: Handlers) -> None:
        handlers.go_on.set()
        body = b'{"do": "stream"}'
        head = b"POST /v1/chat/completions HTTP/1.0\r\nConnection: keep-alive\r\nContent-Length: %d\r\n\r\n" % len(body)
        answer = exchange(server, head + body)

        assert answer.endswith(b"\r\n\r\nonetwo")
        assert b"transfer-encoding" not in answer

    def test_http_1_0_may_keep_the_connection(self, server: LocalServer) -> None:
        request = b"GET /health HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"
        answer = exchange(server, request + b"GET /health HTTP/1.0\r\n\r\n")

        assert answer.count(b"HTTP/1.1 200") == 2
        assert answer.count(b"connection: keep-alive") == 1

    def test_streams_run_side_by_side(self, server: LocalServer, handlers: Handlers) -> None:
        clients = [http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=10) for _ in range(4)]
        responses = [post(client, "stream") for client in clients]
        assert [response.read1() for response in responses] == [b"one"] * 4
        handlers.go_on.set()
        assert [response.read() for response in responses] == [b"two"] * 4
        for client in clients:
            client.close()

    def test_a_client_that_closes_is_noticed(self, client: http.client.HTTPConnection, handlers: Handlers) -> None:
        response = post(client, "until gone")
        assert response.read1() == b"one"
        response.close()
        client.close()

        assert handlers.seen.get(timeout=20) == "gone"


class TestFailures:
    def test_before_the_first_byte_it_is_a_500(
        self, client: http.client.HTTPConnection, capfd: pytest.CaptureFixture[str]
    ) -> None:
        response = post(client, "fail early")
        error = json.loads(response.read())

        assert response.status == 500
        assert error["error"]["code"] == "internal_error"
        assert error["request_id"] == response.getheader("x-request-id")
        assert get(client, "/v1/models")[0].status == 200
        logged = capfd.readouterr().err
        assert "LookupError" in logged
        assert error["request_id"] in logged
        assert "secret" not in logged

    def test_after_it_the_body_never_looks_complete(self, client: http.client.HTTPConnection) -> None:
        with pytest.raises(http.client.IncompleteRead):
            post(client, "fail late").read()
        client.close()

        assert get(client, "/v1/models")[0].status == 200


class TestStopping:
    def test_idle_connections_end_and_streams_go_on(self, handlers: Handlers) -> None:
        server = LocalServer(("127.0.0.1", 0), handlers.by_folder())
        port = server.server_address[1]
        idle, busy = (http.client.HTTPConnection("127.0.0.1", port, timeout=10) for _ in range(2))
        with closing(idle), closing(busy):
            with serving(server):
                get(idle, "/health")
                response = post(busy, "stream")
                assert response.read1() == b"one"
                threading.Timer(0.1, handlers.go_on.set).start()
            assert response.read() == b"two"
            assert idle.sock is not None
            assert idle.sock.recv(1) == b""
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection(("127.0.0.1", port), timeout=1)

    def test_a_signal_that_interrupts_the_start_of_a_thread_hangs_up_on_nobody(
        self, handlers: Handlers, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The thread that accepts may still be in `Thread.start` when the answer is under way already."""
        server = LocalServer(("127.0.0.1", 0), handlers.by_folder())
        begun = threading.Event()

        def start_and_be_interrupted(thread: threading.Thread, start: Callable[..., None] = Thread.start) -> None:
            start(thread)
            assert begun.wait(10)
            raise KeyboardInterrupt

        def serve() -> None:
            with suppress(KeyboardInterrupt):
                server.serve_forever(poll_interval=0.02)
            server.drain(seconds=5)

        accepting = Thread(target=serve, daemon=True)
        accepting.start()
        monkeypatch.setattr(Thread, "start", start_and_be_interrupted)
        with closing(http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=10)) as client:
            response = post(client, "stream")
            assert response.read1() == b"one"
            begun.set()
            accepting.join(0.2)  # it drains
            handlers.go_on.set()
            assert response.read() == b"two"
        accepting.join(10)
        assert server.under_way == 0

    def test_a_second_interrupt_may_come_while_the_main_thread_gets_a_lock(
        self, handlers: Handlers, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """An exception raised there leaves the lock in nobody's hands."""
        server = LocalServer(("127.0.0.1", 0), handlers.by_folder())
        monkeypatch.setattr(server_module, "STOP_SECONDS", 1.0)
        before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
        get_lock = server._changed._acquire_restore  # type: ignore[attr-defined]

        def interrupted(state: object) -> None:
            signal.raise_signal(signal.SIGINT)
            get_lock(state)

        monkeypatch.setattr(server._changed, "_acquire_restore", interrupted)
        ours, theirs = socket.socketpair()
        with ours, theirs:
            server.mark(ours, busy=True)
            try:
                status = server_module._stop(server)
            finally:
                for number, handler in before.items():
                    signal.signal(number, handler)
        assert status == 130
        assert "stopped at once, with 1 under way" in capsys.readouterr().out

    def test_a_connection_without_a_thread_is_ended(self, handlers: Handlers, monkeypatch: pytest.MonkeyPatch) -> None:
        with serving(LocalServer(("127.0.0.1", 0), handlers.by_folder())) as server:

            def no_thread_left(_: threading.Thread) -> None:
                raise RuntimeError("can't start new thread")

            with monkeypatch.context() as failing:
                failing.setattr(Thread, "start", no_thread_left)
                assert exchange(server, b"GET /health HTTP/1.1\r\nhost: h\r\n\r\n") == b""
            assert exchange(server, b"GET /health HTTP/1.0\r\nhost: h\r\n\r\n").startswith(b"HTTP/1.1 200")
            assert server.under_way == 0
