"""Bodies and paths as real clients send them, over HTTP, at every door."""

from __future__ import annotations

import contextlib
import gzip
import http.client
import json
import sys
import zlib
from collections.abc import Iterator
from typing import Any

import pytest

from tests.gateway import gateway

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

pytestmark = pytest.mark.enable_socket

TURNS = [{"role": "user", "content": "Say hé."}]
DOORS: dict[str, tuple[str, dict[str, Any]]] = {
    "chat": ("/chat/completions", {"messages": TURNS}),
    "messages": ("/messages", {"messages": TURNS, "max_tokens": 99}),
    "count": ("/messages/count_tokens", {"messages": TURNS}),
    "responses": ("/responses", {"input": "Say hé."}),
    "native": ("/native/chat", {"messages": TURNS}),
}


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with gateway(tmp_path_factory.mktemp("demo")) as base:
        yield int(base.removesuffix("/v1").rpartition(":")[2])


def ask(port: int, method: str, path: str, body: bytes = b"", **headers: str) -> tuple[int, dict[str, Any]]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, path, body, {"content-type": "application/json", **named})
    with contextlib.closing(connection), connection.getresponse() as answer:
        return answer.status, json.loads(answer.read())


def body_of(door: str) -> bytes:
    return json.dumps({"model": "demo/compatible", **DOORS[door][1]}, ensure_ascii=False).encode()


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(
    ("coding", "pack"), [("gzip", gzip.compress), ("deflate", zlib.compress), ("zstd", zstd.compress)]
)
def test_a_compressed_body_is_served(port: int, door: str, coding: str, pack: Any) -> None:
    body = pack(b"\xef\xbb\xbf" + body_of(door))
    assert ask(port, "POST", f"/v1{DOORS[door][0]}", body, content_encoding=coding)[0] == 200


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(
    ("coding", "status", "says"), [("br", 415, "Content-Encoding 'br'"), ("gzip", 400, "Content-Encoding 'gzip'")]
)
def test_another_body_is_refused_by_its_header(port: int, door: str, coding: str, status: int, says: str) -> None:
    answered, error = ask(port, "POST", f"/v1{DOORS[door][0]}", body_of(door), content_encoding=coding)
    assert answered == status
    assert says in error["error"]["message"]


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("base", ["/v1/v1{}", "//v1{}", "/v1{}/", "/v1/{}"])
def test_a_path_whose_meaning_is_plain_is_served(port: int, door: str, base: str) -> None:
    assert ask(port, "POST", base.format(DOORS[door][0]), body_of(door))[0] == 200


def test_codex_is_told_how_to_compact(port: int) -> None:
    status, error = ask(port, "POST", "/v1/responses/compact", b'{"model": "demo/openai", "input": "hi"}')
    assert status == 501
    assert "give the provider a `name` other than OpenAI" in error["error"]["message"]


def test_a_model_is_found_by_its_id(port: int) -> None:
    for name in ("demo/openai", "demo%2Fopenai"):
        status, model = ask(port, "GET", f"/v1/models/{name}")
        assert (status, model["id"]) == (200, "demo/openai")
