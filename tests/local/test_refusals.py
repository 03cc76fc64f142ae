"""What the local server refuses itself, and how it reads HTTP."""

from __future__ import annotations

import http.client
import json
import socket

import pytest

from local.server import LocalServer
from tests.local.serving import exchange, get
from toolwire.model.limits import BODY_BYTES

pytestmark = pytest.mark.enable_socket


class TestRefusals:
    @pytest.mark.parametrize(
        ("method", "path", "status", "code", "says"),
        [
            ("GET", "/v1", 404, "not_found", "GET /v1. The base URL of an OpenAI client ends in /v1; "),
            ("GET", "/models", 404, "not_found", "GET /models"),
            ("POST", "/v1/nowhere", 404, "not_found", "Served are /v1/chat/completions, "),
            ("POST", "/v1/mesages", 404, "not_found", "POST /v1/mesages. Did you mean '/v1/messages'? Served are"),
            ("POST", "/v1/nowhere", 404, "not_found", ", /v1beta/models/{model}:generateContent, "),
            ("GET", "/healthz", 404, "not_found", "Did you mean '/v1/health'?"),
            ("GET", "/v1/modles", 404, "not_found", "Did you mean '/v1/models'?"),
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
            ("POST", "/v1/embeddings", 404, "POST /v1/embeddings. Served are"),
            ("GET", "/v1/files", 404, "GET /v1/files. Served are"),
            ("POST", "/v1/completions", 404, "Did you mean '/v1/chat/completions'?"),
            ("GET", "/v1/chat/completions", 405, "but POST"),
            ("POST", "/responses", 404, "the base URL of an OpenAI client ends in /v1"),
            ("GET", "/v1/conversations/conv_1", 404, "Served are"),
            (
                "POST",
                "/v1beta/v1/models/demo/gemini:generateContent",
                404,
                ": the base URL of a Gemini client has no /v1beta",
            ),
            # LiteLLM and the AI SDK add only /models to their base URL.
            ("POST", "/models/demo/openai:generateContent", 404, "just /models does it end in /v1beta"),
            ("POST", "/models/messages/chat:streamGenerateContent", 404, "just /models does it end in /v1beta"),
            ("POST", "/gemini/models/demo/gemini:countTokens", 404, "just /models does it end in /v1beta"),
            ("GET", "/models/ollama/qwen3:8b", 404, "the base URL of an OpenAI client ends in /v1"),
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
        if path.split(":")[-1] in ("generateContent", "streamGenerateContent", "countTokens"):
            assert (error["error"]["code"], error["error"]["status"]) == (404, "NOT_FOUND")
        elif "messages" in path:
            assert (error["type"], error["error"]["type"]) == ("error", kind)
        elif "v1beta" in path:
            assert (error["error"]["code"], error["error"]["status"]) == (404, "NOT_FOUND")
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

    def test_what_is_refused_for_a_page_names_the_setting(self, client: http.client.HTTPConnection) -> None:
        for method, origin in (("OPTIONS", "http://localhost:3000"), ("POST", "https://example.com")):
            client.request(method, "/v1/chat/completions", headers={"origin": origin})
            message = json.loads(client.getresponse().read())["error"]["message"]
            client.close()

            assert "CORS_ORIGIN" in message

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

    @pytest.mark.parametrize(
        ("request_bytes", "says"),
        [
            (b"\x16\x03\x01\x02\x00\x01\x00", b"write http:// in its base URL"),  # before there is a line
            (b"GET http://api.example.com/ HTTP/1.1\r\nHost: api.example.com\r\n\r\n", b"this is no proxy"),
        ],
    )
    def test_who_takes_it_for_something_else_is_told(
        self, server: LocalServer, request_bytes: bytes, says: bytes
    ) -> None:
        assert says in exchange(server, request_bytes, half_close=True)

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
        monkeypatch.setattr("local.connection.IDLE_SECONDS", 0.1)
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
