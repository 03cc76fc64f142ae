"""What a request was made of goes when the request is over. Objects that refer to each other would stay until Python
looks for such circles, some hundred requests later, and each has a body of up to some megabytes with it."""

from __future__ import annotations

import gc
import http.client
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.cold_start import MODELS, configure
from bench.script import Script
from bench.wires import WIRES
from local.handlers import load_handlers
from local.server import FUNCTIONS, LocalServer
from local.watch.exchanges import Exchanges
from tests.door_requests import posted
from tests.in_turn import in_turn
from tests.local.serving import serving
from tests.local.test_recorder import BODIES
from tests.shell.misbehaving_upstream import MisbehavingUpstream, Send, answer
from toolwire.doors import DOORS
from toolwire.shell.settings.current import current_settings

pytestmark = pytest.mark.enable_socket

_REQUESTS = 5


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MisbehavingUpstream]:
    """A host of each wire, which the gateway's configuration leads to."""
    with MisbehavingUpstream() as upstream:
        monkeypatch.setenv("TOOLWIRE_CONFIG", configure(tmp_path, f"{upstream.url}/v1"))
        current_settings.forget()
        yield upstream
    current_settings.forget()


@in_turn("door, provider, stream, watched", [False, True], DOORS, WIRES, [False, True])
def test_nothing_of_a_request_refers_to_itself(
    host: MisbehavingUpstream, door: str, provider: str, stream: bool, watched: bool
) -> None:
    path, asked = posted(door, {**BODIES[door], "model": MODELS[provider], "stream": stream})
    wire = WIRES[provider]
    parts = [event for _, event in wire.events(Script("tools", 3))] if stream else [wire.whole()]
    media_type = "text/event-stream" if stream else "application/json"
    said = answer(*parts, headers=[("content-type", media_type)])
    exchanges = Exchanges(most_bytes=1) if watched else None

    with serving(LocalServer(("127.0.0.1", 0), load_handlers(FUNCTIONS), exchanges)) as server:
        client = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=20)

        def ask() -> None:
            for _ in range(_REQUESTS):
                host.script([Send(said)])
                client.request("POST", f"/v1{path}", asked, {"content-type": "application/json"})
                assert client.getresponse().read().count(b"read_file")

        ask()  # what the first request makes, and keeps
        left = _garbage_of(ask)
        client.close()

    # One of each may still be at work when it is looked.
    assert {name: count for name, count in left.items() if count >= _REQUESTS - 1} == {}


def _garbage_of(work: object) -> Counter[str]:
    """The package's own objects that only a search for circles finds, after some work."""
    assert callable(work)
    gc.disable()
    gc.freeze()  # what is there already is not searched: it takes a second in a large run
    try:
        work()
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        return Counter(_name(kept) for kept in gc.garbage if _name(kept).startswith(("toolwire.", "local.")))
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


def _name(kept: object) -> str:
    return f"{type(kept).__module__}.{type(kept).__qualname__}"
