"""A host that is down is named in the error, in every API's words: the provider as it is configured, its address and
its port. Whoever set it up looks for that name."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from local.handlers import load_handlers
from local.server import FUNCTIONS, LocalServer
from local.watch.exchanges import Exchanges
from tests.door_requests import posted
from tests.local.serving import serving
from tests.local.test_recorder import BODIES, Gateway
from tests.shell.misbehaving_upstream import Close, MisbehavingUpstream, Send, Step
from toolwire.doors import DOORS
from toolwire.shell.network import breaker
from toolwire.shell.settings.current import current_settings

pytestmark = pytest.mark.enable_socket


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MisbehavingUpstream]:
    """What "acme" leads to; at "down" nobody listens."""
    breaker._breaker.cache_clear()
    with MisbehavingUpstream() as upstream:
        config = tmp_path / "toolwire.toml"
        config.write_text(
            f'[providers.acme]\nwire = "anthropic_messages"\nbase_url = "{upstream.url}/v1"\n'
            f'[providers.down]\nwire = "anthropic_messages"\nbase_url = "http://127.0.0.1:9/v1"\n'
        )
        monkeypatch.setenv("TOOLWIRE_CONFIG", str(config))
        current_settings.forget()
        yield upstream
    current_settings.forget()


@pytest.fixture
def gateway(host: MisbehavingUpstream, tmp_path: Path) -> Iterator[Gateway]:
    with serving(LocalServer(("127.0.0.1", 0), load_handlers(FUNCTIONS))) as server:
        yield Gateway(server.url, tmp_path, Exchanges())


REACHED_NOT = "The provider 'down' at 127.0.0.1:9 could not be reached: Connection refused."


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("door", DOORS)
def test_by_every_door(gateway: Gateway, door: str, stream: bool) -> None:
    _, answer = gateway.ask(door, {**BODIES[door], "model": "down/some", "stream": stream})
    assert json.loads(answer)["error"]["message"] == REACHED_NOT


def test_by_questions_too(gateway: Gateway) -> None:
    """How many tokens a request has."""
    _, content = posted("messages", {**BODIES["messages"], "model": "down/some"})
    asked = {name: it for name, it in json.loads(content).items() if name not in ("max_tokens", "stream")}
    _, answer = gateway.post("/messages/count_tokens", json.dumps(asked).encode())
    assert json.loads(answer)["error"]["message"] == REACHED_NOT


@pytest.mark.parametrize(
    ("does", "says"),
    [
        ([Send(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{}"), Close()], "closed the connection before"),
        ([Send(b"SSH-2.0-OpenSSH_9.2\r\n\r\n"), Close()], "sent what is not HTTP."),
    ],
)
def test_so_is_one_that_fails_otherwise(
    gateway: Gateway, host: MisbehavingUpstream, does: list[Step], says: str
) -> None:
    host.script(does, does)
    _, answer = gateway.ask("chat_completions", {**BODIES["chat_completions"], "model": "acme/some"})
    address = host.url.removeprefix("http://")
    assert f"The provider 'acme' at {address} {says}" in json.loads(answer)["error"]["message"]
