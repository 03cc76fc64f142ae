"""POST /messages/count_tokens in front of upstreams that count, that cannot, and that refuse."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.gateway import gateway

pytestmark = pytest.mark.enable_socket

BODY = {"messages": [{"role": "user", "content": "How many?"}], "system": "Count."}


@contextmanager
def counting(status: int, document: Any) -> Iterator[tuple[str, list[tuple[str, Any]]]]:
    """A host that gives this answer to everything; its address, and what it was asked."""
    asked: list[tuple[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            asked.append((self.path, json.loads(body)))
            answer = json.dumps(document).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        server.server_close()


def config(wire: str, address: str) -> str:
    return f'[providers.p]\nwire = "{wire}"\nbase_url = "{address}"\ncredential = "none"\n'


def count(base: str, model: str, **members: Any) -> httpx.Response:
    return httpx.post(f"{base}/messages/count_tokens", json=BODY | {"model": model} | members, timeout=20)


@pytest.mark.parametrize(
    ("wire", "document", "path"),
    [
        ("anthropic_messages", {"input_tokens": 12}, "/v1/messages/count_tokens"),
        ("gemini", {"totalTokens": 12}, "/models/m:countTokens"),
    ],
)
def test_the_providers_own_count(tmp_path: Path, wire: str, document: Any, path: str) -> None:
    with counting(200, document) as (address, asked), gateway(tmp_path, config(wire, address)) as base:
        got = count(base, "p/m")
    assert (got.status_code, got.json()) == (200, {"input_tokens": 12})
    assert [target for target, _ in asked] == [path]
    assert "Count." in json.dumps(asked[0][1])
    assert "max_tokens" not in asked[0][1]


@pytest.mark.parametrize("wire", ["anthropic_messages", "openai_chat"])
def test_an_estimate_says_that_it_is_one(tmp_path: Path, wire: str) -> None:
    with counting(404, {"error": "no such path"}) as (address, _), gateway(tmp_path, config(wire, address)) as base:
        short, long = count(base, "p/m"), count(base, "p/m", system="Count. " * 1000)
    assert "token_count_estimated" in short.headers["x-toolwire-warnings"]
    assert 0 < short.json()["input_tokens"] < 100
    assert 1_500 < long.json()["input_tokens"] < 2_000


def test_a_refusal_passes_as_it_is(tmp_path: Path) -> None:
    refusal = {"type": "error", "error": {"type": "invalid_request_error", "message": "no"}, "request_id": "req_1"}
    with counting(400, refusal) as (address, _), gateway(tmp_path, config("anthropic_messages", address)) as base:
        got = count(base, "p/m")
    assert (got.status_code, got.json()) == (400, refusal)


def test_the_demo_and_what_is_refused(tmp_path: Path) -> None:
    with gateway(tmp_path) as base:
        assert count(base, "demo/openai").json()["input_tokens"] > 0
        assert count(base, "demo/anthropic").json()["input_tokens"] > 0
        unknown = count(base, "nobody/m")
        wrong = count(base, "demo/openai", messages=[])
    assert (unknown.status_code, unknown.json()["error"]["type"]) == (404, "not_found_error")
    assert (wrong.status_code, wrong.json()["error"]["details"]["param"]) == (400, "messages")
    assert wrong.headers["x-request-id"] == wrong.json()["request_id"]
