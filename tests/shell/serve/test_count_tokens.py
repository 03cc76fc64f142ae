"""POST /messages/count_tokens in front of upstreams that count, that cannot, and that refuse."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.shell.serve.answering_host import AnsweringHost, answering_host

pytestmark = pytest.mark.enable_socket

BODY = {"messages": [{"role": "user", "content": "How many?"}], "system": "Count."}


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AnsweringHost]:
    with answering_host(tmp_path_factory.mktemp("host")) as host:
        yield host


def count(base: str, model: str, **members: Any) -> httpx.Response:
    return httpx.post(f"{base}/messages/count_tokens", json=BODY | {"model": model} | members, timeout=20)


@pytest.mark.parametrize(
    ("wire", "document", "path"),
    [
        ("anthropic_messages", {"input_tokens": 12}, "/v1/messages/count_tokens"),
        ("gemini", {"totalTokens": 12}, "/models/m:countTokens"),
    ],
)
def test_the_providers_own_count(host: AnsweringHost, wire: str, document: Any, path: str) -> None:
    host.answers(200, document)
    got = count(host.base, host.model(wire))
    assert (got.status_code, got.json()) == (200, {"input_tokens": 12})
    assert [target for target, _ in host.asked] == [path]
    assert "Count." in json.dumps(host.asked[0][1])
    assert "max_tokens" not in host.asked[0][1]


@pytest.mark.parametrize("wire", ["anthropic_messages", "openai_chat"])
def test_an_estimate_says_that_it_is_one(host: AnsweringHost, wire: str) -> None:
    host.answers(404, {"error": "no such path"})
    model = host.model(wire)
    short, long = count(host.base, model), count(host.base, model, system="Count. " * 1000)
    assert "token_count_estimated" in short.headers["x-toolwire-warnings"]
    assert 0 < short.json()["input_tokens"] < 100
    assert 1_500 < long.json()["input_tokens"] < 2_000


def test_a_refusal_passes_as_it_is(host: AnsweringHost) -> None:
    refusal = {"type": "error", "error": {"type": "invalid_request_error", "message": "no"}, "request_id": "req_1"}
    host.answers(400, refusal)
    got = count(host.base, host.model("anthropic_messages"))
    assert (got.status_code, got.json()) == (400, refusal)


def test_the_demo_and_what_is_refused(host: AnsweringHost) -> None:
    assert count(host.base, "demo/openai").json()["input_tokens"] > 0
    assert count(host.base, "demo/anthropic").json()["input_tokens"] > 0
    unknown = count(host.base, "nobody/m")
    wrong = count(host.base, "demo/openai", messages=[])
    assert (unknown.status_code, unknown.json()["error"]["type"]) == (404, "not_found_error")
    assert (wrong.status_code, wrong.json()["error"]["details"]["param"]) == (400, "messages")
    assert wrong.headers["x-request-id"] == wrong.json()["request_id"]
