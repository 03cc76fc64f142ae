"""The demo over its loopback socket: pacing, faults, and what an HTTP client sees."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from toolwire.demo.server import DemoServer, demo_base_url

pytestmark = pytest.mark.enable_socket


@pytest.fixture(scope="module")
def server() -> Iterator[DemoServer]:
    server = DemoServer(pace=0.0)
    yield server
    server.close()


@pytest.fixture
def connection(server: DemoServer) -> Iterator[http.client.HTTPConnection]:
    connection = http.client.HTTPConnection(server.base_url.removeprefix("http://"), timeout=5)
    yield connection
    connection.close()


Post = Callable[..., http.client.HTTPResponse]


@pytest.fixture
def post(connection: http.client.HTTPConnection) -> Iterator[Post]:
    with ExitStack() as answers:

        def send(text: str, host: str = "openai", **fields: Any) -> http.client.HTTPResponse:
            body = {"model": host, "messages": [{"role": "user", "content": text}], **fields}
            connection.request("POST", f"/{host}/v1/chat/completions", json.dumps(body))
            return answers.enter_context(connection.getresponse())

        yield send


def test_a_stream_ends_properly(post: Post) -> None:
    response = post("hello", stream=True)

    body = response.read()
    assert response.getheader("content-type") == "text/event-stream; charset=utf-8"
    assert body.startswith(b"data: {")
    assert body.endswith(b"data: [DONE]\n\n")


@pytest.mark.parametrize("flavour", ["openai", "compatible"])
def test_both_hosts_answer_json(post: Post, flavour: str) -> None:
    response = post("hello", flavour)

    assert (response.status, json.loads(response.read())["model"]) == (200, flavour)


def test_pieces_arrive_apart_when_paced(post: Post) -> None:
    response = post("hi [demo slow 30]", stream=True, max_tokens=2)

    arrivals = [time.monotonic() for line in response if line.startswith(b"data: ")]
    assert len(arrivals) == 5
    assert arrivals[-1] - arrivals[0] > 0.08


def test_a_cut_stream_has_no_end(post: Post) -> None:
    response = post("hello [demo cut]", stream=True)

    with pytest.raises(http.client.IncompleteRead) as cut:
        response.read()
    assert b"[DONE]" not in cut.value.partial


def test_a_cut_answer_is_shorter_than_it_said(post: Post) -> None:
    response = post("hello [demo cut]")

    with pytest.raises(http.client.IncompleteRead):
        response.read()


def test_an_error_on_demand(post: Post) -> None:
    response = post("[demo error 429]", stream=True)

    assert (response.status, response.getheader("retry-after")) == (429, "1")


def test_an_unknown_path_and_a_connection_that_is_kept(connection: http.client.HTTPConnection) -> None:
    for path, status in [("/nowhere", 404), ("/openai/v1/chat/completions", 400), ("/nowhere", 404)]:
        connection.request("POST", path, "{}")
        response = connection.getresponse()
        response.read()
        assert response.status == status
    assert connection.sock is not None


def test_a_bug_of_the_demo_is_a_500(post: Post, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolwire.demo.openai_chat.answer", lambda *_, **__: 1 / 0)

    response = post("hello")
    assert (response.status, json.loads(response.read())["error"]["type"]) == (500, "server_error")


def test_a_body_without_a_length_is_refused(connection: http.client.HTTPConnection) -> None:
    connection.request("POST", "/openai/v1/chat/completions", headers={"content-length": "-1"})

    with connection.getresponse() as response:
        assert response.status == 413


def test_one_server_a_process() -> None:
    assert demo_base_url() == demo_base_url()
    assert demo_base_url().startswith("http://127.0.0.1:")
