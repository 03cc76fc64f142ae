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

from tests.door_requests import posted, question
from tests.gateway import gateway
from toolwire.doors import DOORS

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

pytestmark = pytest.mark.enable_socket

MODEL = "demo/compatible"
#: Who asks -> the path and the body.
REQUESTS = {door: posted(door, {"model": MODEL, **question(door, "Say hé.")}) for door in DOORS}
REQUESTS["count"] = (
    "/messages/count_tokens",
    json.dumps({"model": MODEL, "messages": [{"role": "user", "content": "Say hé."}]}, ensure_ascii=False).encode(),
)


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


@pytest.mark.parametrize("who", REQUESTS)
@pytest.mark.parametrize(
    ("coding", "pack"), [("gzip", gzip.compress), ("deflate", zlib.compress), ("zstd", zstd.compress)]
)
def test_a_compressed_body_is_served(port: int, who: str, coding: str, pack: Any) -> None:
    path, body = REQUESTS[who]
    packed = pack(b"\xef\xbb\xbf" + body)
    assert ask(port, "POST", f"/v1{path}", packed, content_encoding=coding)[0] == 200


@pytest.mark.parametrize("who", REQUESTS)
@pytest.mark.parametrize(
    ("coding", "status", "says"), [("br", 415, "Content-Encoding 'br'"), ("gzip", 400, "Content-Encoding 'gzip'")]
)
def test_another_body_is_refused_by_its_header(port: int, who: str, coding: str, status: int, says: str) -> None:
    path, body = REQUESTS[who]
    answered, error = ask(port, "POST", f"/v1{path}", body, content_encoding=coding)
    assert answered == status
    assert says in error["error"]["message"]


@pytest.mark.parametrize("who", REQUESTS)
@pytest.mark.parametrize("base", ["/v1/v1{}", "//v1{}", "/v1{}/", "/v1/{}"])
def test_a_path_whose_meaning_is_plain_is_served(port: int, who: str, base: str) -> None:
    path, body = REQUESTS[who]
    assert ask(port, "POST", base.format(path), body)[0] == 200


def test_codex_is_told_how_to_compact(port: int) -> None:
    status, error = ask(port, "POST", "/v1/responses/compact", b'{"model": "demo/openai", "input": "hi"}')
    assert status == 501
    assert "give the provider a `name` other than OpenAI" in error["error"]["message"]


def test_a_model_is_found_by_its_id(port: int) -> None:
    for name in ("demo/openai", "demo%2Fopenai"):
        status, model = ask(port, "GET", f"/v1/models/{name}")
        assert (status, model["id"]) == (200, "demo/openai")
