"""The local server as clients meet it: over loopback, with handlers that the test injects."""

from __future__ import annotations

import http.client
import json
import queue
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from local.routes import ROUTES
from local.server import LocalServer
from toolwire.model.errors import ClientGone
from toolwire.model.http import Head
from toolwire.model.limits import BODY_BYTES
from toolwire.shell.serve.output import Answer, current_output

pytestmark = pytest.mark.enable_socket

JSON = ("content-type", "application/json")
SSE = ("content-type", "text/event-stream")
ROOT = Path(__file__).parents[2]


class Handlers:
    """Two handlers: one repeats the event, one does as the request's body says."""

    def __init__(self) -> None:
        self.seen: queue.Queue[str] = queue.Queue()
        self.go_on = threading.Event()

    def catalog(self, event: dict[str, Any], context: Any) -> Answer:
        event["remaining"] = context.get_remaining_time_in_millis()
        event["aws_request_id"] = context.aws_request_id
        yield Head(200, (JSON, ("x-bad", "a\r\nset-cookie: b"), ("bad name", "c"), ("content-length", "1")))
        yield json.dumps(event).encode()

    def chat_completions(self, event: dict[str, Any], context: Any) -> Answer:
        do = json.loads(event["body"])["do"] if (event["body"] or "").startswith("{") else "echo"
        if do == "fail early":
            raise LookupError("secret prompt")
        yield Head(204 if do == "no content" else 200, (SSE,))
        if do == "echo":
            yield (event["body"] or "").encode()
        elif do == "large":
            yield b"x" * 20_000
        elif do == "stream":
            yield b"one"
            self._wait(lambda: self.go_on.is_set())
            yield b"two"
        elif do == "fail late":
            yield b"one"
            self._wait(lambda: True)
            raise LookupError("secret prompt")
        elif do == "until gone":
            yield b"one"
            try:
                self._wait(lambda: False)
            except ClientGone:
                self.seen.put("gone")
                raise

    def _wait(self, until: Any) -> None:
        """Reads a silent upstream until told otherwise."""
        output = current_output.get()
        assert output is not None
        ours, theirs = socket.socketpair()
        with ours, theirs:
            while True:
                try:
                    output.before_block(ours, time.monotonic() + 0.02)
                except TimeoutError:
                    if until():
                        return

    def by_folder(self) -> dict[str, Any]:
        return {"catalog": self.catalog, "chat_completions": self.chat_completions}


@pytest.fixture
def handlers() -> Handlers:
    return Handlers()


@pytest.fixture
def server(handlers: Handlers) -> Iterator[LocalServer]:
    with serving(LocalServer(("127.0.0.1", 0), handlers.by_folder())) as server:
        yield server


@contextmanager
def serving(server: LocalServer) -> Iterator[LocalServer]:
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.drain(seconds=1)
        thread.join()


@pytest.fixture
def client(server: LocalServer) -> Iterator[http.client.HTTPConnection]:
    with closing(http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=10)) as client:
        yield client


def exchange(server: LocalServer, request: bytes, *, half_close: bool = False) -> bytes:
    """Sends bytes and returns all that comes back until the server ends the connection."""
    with socket.create_connection(("127.0.0.1", server.server_address[1]), timeout=10) as sock:
        sock.sendall(request)
        if half_close:
            sock.shutdown(socket.SHUT_WR)
        answer = b""
        while piece := sock.recv(1 << 16):
            answer += piece
    return answer


def post(client: http.client.HTTPConnection, do: str) -> http.client.HTTPResponse:
    client.request("POST", "/v1/chat/completions", json.dumps({"do": do}), {"content-type": "application/json"})
    return client.getresponse()


def get(client: http.client.HTTPConnection, path: str, method: str = "GET") -> tuple[http.client.HTTPResponse, bytes]:
    client.request(method, path)
    response = client.getresponse()
    return response, response.read()


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

        assert handlers.seen.get(timeout=2) == "gone"


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


class TestRefusals:
    @pytest.mark.parametrize(
        ("method", "path", "status", "code", "says"),
        [
            ("GET", "/v1", 404, "not_found", "/v1"),
            ("GET", "/models", 404, "not_found", "GET /models"),
            ("POST", "/v1/nowhere", 404, "not_found", "Served are /v1/chat/completions, "),
            ("POST", "/v1/models", 405, "method_not_allowed", "GET and HEAD"),
            ("DELETE", "/health", 405, "method_not_allowed", "GET"),
        ],
    )
    def test_unknown_paths_and_methods(
        self, client: http.client.HTTPConnection, method: str, path: str, status: int, code: str, says: str
    ) -> None:
        response, body = get(client, path, method)
        error = json.loads(body)

        assert response.status == status
        assert response.getheader("content-type") == "application/json"
        assert error["type"] == "error"
        assert error["error"]["type"] == ("not_found_error" if status == 404 else "invalid_request_error")
        assert error["error"]["code"] == code
        assert error["error"]["param"] is None
        assert says in error["error"]["message"]
        assert error["request_id"] == response.getheader("x-request-id")
        assert (response.getheader("allow") is not None) == (status == 405)
        assert get(client, "/health")[0].status == 200

    @pytest.mark.parametrize(
        ("method", "path", "status", "says"),
        [
            ("POST", "/messages", 404, "the base URL of an Anthropic client has no /v1"),
            ("POST", "/anthropic/v1/messages", 404, "the base URL of an Anthropic client has no /v1"),
            ("POST", "/v1/messages/batches", 404, "Served are"),
            ("GET", "/v1/messages", 405, "but POST"),
            ("POST", "/chat/completions", 404, "the base URL of an OpenAI client ends in /v1"),
            ("POST", "/openai/chat/completions", 404, "the base URL of an OpenAI client ends in /v1"),
            ("POST", "/v1/embeddings", 404, "Served are"),
            ("GET", "/v1/chat/completions", 405, "but POST"),
            ("POST", "/responses", 404, "the base URL of an OpenAI client ends in /v1"),
            ("GET", "/v1/responses/resp_1", 404, "Served are"),
            ("POST", "/native/chat", 404, "the base URL of the native API ends in /v1"),
        ],
    )
    def test_the_answer_is_in_the_form_of_the_paths_own_api(
        self, client: http.client.HTTPConnection, method: str, path: str, status: int, says: str
    ) -> None:
        response, body = get(client, path, method)
        error = json.loads(body)

        assert response.status == status
        assert says in error["error"]["message"]
        kind = "not_found_error" if status == 404 else "invalid_request_error"
        if "messages" in path:
            assert (error["type"], error["error"]["type"]) == ("error", kind)
        elif "native" not in path:
            assert error["error"].keys() == {"message", "type", "param", "code"}
            assert error["error"]["type"] == kind

    @pytest.mark.parametrize(
        ("origin", "status"),
        [
            ("https://example.com", 403),
            ("http://example.com:8080", 403),
            ("http://localhost.example.com", 403),
            ("http://127.0.0.1@example.com", 403),
            ("http://[", 403),
            ("null", 403),  # a frame of any site
            ("http://localhost:3000", 200),
            ("http://127.0.0.1:8080", 200),
            ("http://[::1]:8080", 200),
            ("vscode-webview://abc", 200),
        ],
    )
    def test_pages_of_other_sites_are_refused(
        self, client: http.client.HTTPConnection, origin: str, status: int
    ) -> None:
        client.request("POST", "/v1/chat/completions", b'{"do": "answer"}', {"origin": origin})

        assert client.getresponse().status == status

    def test_a_probe_with_head_gets_no_body(self, client: http.client.HTTPConnection) -> None:
        response, body = get(client, "/v2", "HEAD")

        assert (response.status, body) == (404, b"")
        assert get(client, "/health")[0].status == 200

    @pytest.mark.parametrize("chunked", [False, True])
    def test_a_body_too_large_is_answered_even_while_it_is_being_sent(
        self, client: http.client.HTTPConnection, chunked: bool
    ) -> None:
        body = b"x" * 5_000_000
        client.request("POST", "/v1/chat/completions", iter([body]) if chunked else body, encode_chunked=chunked)
        response = client.getresponse()
        error = json.loads(response.read())

        assert response.status == 413
        assert error["error"]["code"] == "request_too_large"
        assert str(BODY_BYTES) in error["error"]["message"]
        assert response.getheader("connection") == "close"

    def test_the_largest_body_passes(self, client: http.client.HTTPConnection) -> None:
        client.request("POST", "/v1/chat/completions", b"x" * BODY_BYTES)

        assert len(client.getresponse().read()) == BODY_BYTES

    @pytest.mark.parametrize(
        ("path", "length", "first"),
        [
            ("/v1/chat/completions", 2, b"HTTP/1.1 100 Continue\r\n\r\n"),
            ("/v1/chat/completions", BODY_BYTES + 1, b"HTTP/1.1 413 "),
            ("/v1/nowhere", 2, b"HTTP/1.1 404 "),
        ],
    )
    def test_a_client_that_asks_before_it_sends(
        self, server: LocalServer, path: str, length: int, first: bytes
    ) -> None:
        head = (
            f"POST {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Length: {length}"
        )
        with socket.create_connection(("127.0.0.1", server.server_address[1]), timeout=10) as sock:
            sock.sendall(f"{head}\r\n\r\n".encode())
            answer = sock.recv(1 << 16)
            assert answer.startswith(first)
            if b"100" in first:
                sock.sendall(b"ok")
                assert sock.recv(1 << 16).endswith(b"\r\n\r\nok")


class TestReading:
    """Bytes of HTTP, and what is none."""

    @pytest.mark.parametrize(
        ("request_bytes", "status"),
        [
            (b"nonsense\r\n\r\n", 400),
            (b"GET /health\r\n\r\n", 400),
            (b"GET /health HTTP/2.0\r\n\r\n", 505),
            (b"CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n", 400),
            (b"\x16\x03\x01\x02\x00\x01\x00 a b\n\n", 400),  # somebody speaks TLS
            (b"G\xff /health HTTP/1.1\r\n\r\n", 400),
            (b"GET /health HTTP/1.1\r\n\r\n", 400),
            (b"GET /health HTTP/1.1\r\nHost: x\r\nno colon\r\n\r\n", 400),
            (b"GET /health HTTP/1.1\r\nHost: x\r\nspace : x\r\n\r\n", 400),
            (b"GET /health HTTP/1.1\r\n folded: x\r\n\r\n", 400),
            (b"GET /health HTTP/1.1\r\nHost: x\r\n: empty\r\n\r\n", 400),
            (b"GET /health HTTP/1.1\r\nHost: x\r\na: b\rc: d\r\n\r\n", 400),
            (b"GET /health HTTP/1.1\r\nHost: x\r\na: b\0\r\n\r\n", 400),
            (b"GET /health HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", 400),
            (b"GET /health HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx", 400),
            (b"POST /health HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
            (b"POST /health HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501),
            (b"POST /health HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nz\r\n", 400),
            (b"POST /health HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n", 400),
            (b"GET /" + b"x" * 20_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", 431),
            (b"GET /health HTTP/1.1\r\nHost: x\r\na: " + b"x" * 20_000 + b"\r\n\r\n", 431),
            (b"GET /" + b"x" * 200_000, 431),
            (b"GET /health HTTP/1.1\r\n" + b"a: " + b"x" * 9_000 + b"\r\n" + b"b: x\r\n" * 20_000 + b"\r\n", 431),
        ],
    )
    def test_what_is_no_http(self, server: LocalServer, request_bytes: bytes, status: int) -> None:
        answer = exchange(server, request_bytes, half_close=True)

        assert answer.startswith(b"HTTP/1.1 %d " % status)
        assert b"connection: close\r\n" in answer
        assert json.loads(answer.partition(b"\r\n\r\n")[2])["error"]["message"]

    @pytest.mark.parametrize("cut", [b"", b"GET /hea", b"\r\n"])
    def test_a_client_that_leaves_early_gets_no_answer(self, server: LocalServer, cut: bytes) -> None:
        assert exchange(server, cut, half_close=True) == b""

    @pytest.mark.parametrize(
        ("sent", "answer"),
        [
            (b"", b""),
            (b"GET /health HTTP/1.1\r\nHo", b"HTTP/1.1 400 "),
            (b"POST /health HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc", b"HTTP/1.1 400 "),
        ],
    )
    def test_a_client_that_stalls_is_not_waited_for(
        self, server: LocalServer, monkeypatch: pytest.MonkeyPatch, sent: bytes, answer: bytes
    ) -> None:
        monkeypatch.setattr("local.server.IDLE_SECONDS", 0.1)
        monkeypatch.setattr("local.http.LINGER_SECONDS", 0.1)

        assert exchange(server, sent)[: len(answer)] == answer

    def test_trailers_extensions_and_bare_newlines_are_read_over(self, server: LocalServer) -> None:
        request = (
            b"\r\nPOST /v1/chat/completions HTTP/1.1\nHost: x\nConnection: close\nTransfer-Encoding: Chunked\n\n"
            b"2;name=value\r\nab\r\n1\r\nc\r\n0\r\nX-Trailer: 1\r\n\r\n"
        )

        assert exchange(server, request).endswith(b"\r\n\r\nabc")

    def test_a_folded_header_is_one_line(self, server: LocalServer) -> None:
        """RFC 9112 5.2: obsolete, to be refused or read with a space for the fold."""
        answer = exchange(server, b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\na: b\r\n  c\r\n\r\n")

        assert json.loads(answer.partition(b"\r\n\r\n")[2])["headers"]["a"] == "b c"

    def test_requests_that_were_sent_ahead_are_answered_in_turn(self, server: LocalServer) -> None:
        body = b'{"do": "echo", "n": %d}'
        request = b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 22\r\n\r\n" + body
        last = b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        answer = exchange(server, b"".join([request % 1, request % 2, request % 3, last]))

        assert answer.count(b"HTTP/1.1 200") == 4
        assert [answer.index(body % number) for number in (1, 2, 3)] == sorted(
            answer.index(body % number) for number in (1, 2, 3)
        )


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


APP = """
from toolwire.model.http import Head
import sys
assert not {"boto3", "httpx", "pydantic", "http.server"} & set(sys.modules), "heavy imports"
def handler(event, context):
    yield Head(200, ())
    yield b"ready"
"""


@contextmanager
def program(functions: Path, *arguments: str, **env: str) -> Iterator[subprocess.Popen[str]]:
    """`python -m local.server`, in front of other functions."""
    code = (
        "import sys, pathlib, local.server as server;"
        "server.FUNCTIONS = pathlib.Path(sys.argv[1]);"
        "sys.exit(server.main(sys.argv[2:]))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(functions), *arguments],
        env={"PYTHONPATH": f"{ROOT / 'layers' / 'shared'}:{ROOT}", **env},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


class TestProgram:
    @pytest.fixture
    def functions(self, tmp_path: Path) -> Path:
        for folder in {folder for methods in ROUTES.values() for folder in methods.values()}:
            (tmp_path / folder).mkdir()
            (tmp_path / folder / "app.py").write_text(APP)
        return tmp_path

    @pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
    def test_it_says_where_it_is_serves_and_stops(self, functions: Path, stop: signal.Signals) -> None:
        with program(functions, "--port", "0", OPENAI_API_KEY="sk-secret") as process:
            assert process.stdout is not None
            banner = "".join(iter(process.stdout.readline, "Ctrl-C stops it.\n"))
            url = banner.split()[3]
            host, _, port = url.removeprefix("http://").removesuffix("/v1").rpartition(":")
            with closing(http.client.HTTPConnection(host, int(port), timeout=10)) as client:
                assert get(client, "/health")[1] == b"ready"
                process.send_signal(stop)
                rest, errors = process.communicate(timeout=10)

        assert process.returncode == 0
        assert "stopped" in rest
        assert errors == ""
        assert "demo/openai, demo/responses, demo/compatible" in banner
        assert "openai" in next(line for line in banner.splitlines() if line.startswith("  with key"))
        assert "sk-secret" not in banner

    def test_a_proxy_that_cannot_be_used_is_said_in_one_line(self) -> None:
        with program(ROOT / "functions", "--port", "0", HTTPS_PROXY="socks5://user:secret@127.0.0.1:1") as process:
            out, errors = process.communicate(timeout=20)

        assert process.returncode == 1
        assert errors == "toolwire: HTTPS_PROXY must be an http:// URL.\n"
        assert out == ""

    @pytest.mark.parametrize(
        ("arguments", "says"),
        [
            (["--port", "0", "--config", "/nowhere.toml"], "/nowhere.toml"),
            (["--port", "1", "--host", "192.0.2.1"], "cannot listen at 192.0.2.1:1"),
            (["--port", "99999"], "cannot listen at 127.0.0.1:99999: bind(): port must be 0-65535."),
        ],
    )
    def test_what_is_wrong_is_said_in_one_line(self, functions: Path, arguments: list[str], says: str) -> None:
        with program(functions, *arguments) as process:
            out, errors = process.communicate(timeout=10)

        assert process.returncode == 1
        assert says in errors
        assert errors.count("\n") == 1
        assert out == ""
