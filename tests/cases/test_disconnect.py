"""A client that hangs up must not be paid for: over HTTP, with the local server and an upstream that never ends."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.gateway import gateway
from tests.shell.misbehaving_upstream import MisbehavingUpstream, Send, Stall, answer

pytestmark = pytest.mark.enable_socket

#: Seconds within which the upstream's connection has to be closed.
WITHIN = 2.0

HEAD = answer(framing="eof")
CHUNK = (
    b'data: {"id":"r","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"content":"a"}}]}\n\n'
)
WHOLE = json.dumps(
    {
        "id": "r",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "Well."}, "finish_reason": "stop"}],
    }
).encode()


@pytest.fixture
def upstream() -> Iterator[MisbehavingUpstream]:
    with MisbehavingUpstream() as server:
        yield server


@pytest.fixture
def base(upstream: MisbehavingUpstream, tmp_path: Path) -> Iterator[str]:
    config = f'[providers.host]\nwire = "openai_chat"\nbase_url = "{upstream.url}/v1"\ncredential = "none"\n'
    with gateway(tmp_path, config) as url:
        yield url


def ask(base: str, *, stream: bool) -> http.client.HTTPConnection:
    """A connection on which the request has been sent."""
    url = urlsplit(base)
    connection = http.client.HTTPConnection(url.hostname or "", url.port, timeout=10)
    body = {"model": "host/m", "stream": stream, "messages": [{"role": "user", "content": "Go."}]}
    connection.request("POST", f"{url.path}/chat/completions", json.dumps(body), {"content-type": "application/json"})
    return connection


def check_healthy(base: str, upstream: MisbehavingUpstream) -> None:
    """The next request is served; nothing but it has arrived since the one that was given up."""
    json_type = (("content-type", "application/json"),)
    upstream.script([Send(answer(WHOLE, framing="length", headers=json_type))])
    connection = ask(base, stream=False)
    response = connection.getresponse()
    assert (response.status, json.loads(response.read())["choices"][0]["message"]["content"]) == (200, "Well.")
    connection.close()
    assert len(upstream.requests) == 2


def test_client_leaves_in_the_middle(base: str, upstream: MisbehavingUpstream) -> None:
    upstream.script([Send(HEAD), Send(CHUNK * 500, pieces=500, pause=0.05)])
    connection = ask(base, stream=True)
    response = connection.getresponse()
    assert response.read(10)
    response.close()
    connection.close()
    assert upstream.wait_for_open(0, WITHIN)
    check_healthy(base, upstream)


@pytest.mark.parametrize("begun", [b"", HEAD], ids=["nothing", "the head only"])
def test_client_leaves_before_the_first_byte(base: str, upstream: MisbehavingUpstream, begun: bytes) -> None:
    upstream.script([Send(begun), Stall()])
    connection = ask(base, stream=True)
    assert upstream.wait_for_requests(1)
    connection.close()
    assert upstream.wait_for_open(0, WITHIN)
    check_healthy(base, upstream)
