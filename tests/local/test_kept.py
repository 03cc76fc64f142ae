"""What the inspector holds of an exchange that is over: one run of bytes, from which all of it comes back."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from local.handlers import load_handlers
from local.server import FUNCTIONS, LocalServer
from local.watch.exchanges import Exchanges
from local.watch.ring import Ring
from tests.closed_port import closed_port
from tests.door_requests import question
from tests.in_turn import in_turn
from tests.local.serving import serving
from tests.local.test_inspector import event
from tests.local.test_recorder import BODIES, KEEPS, QUESTION, WEATHER, Gateway
from toolwire.conversation.restore import NOTHING_FOUND
from toolwire.doors import DOORS
from toolwire.model.errors import RequestError
from toolwire.model.http import Head, UpstreamRequest
from toolwire.shell.recording.exchange import SeenExchange
from toolwire.shell.recording.folder import can_be_replayed, record, scenario_of
from toolwire.shell.recording.replay import replay
from toolwire.shell.recording.summarize import summary
from toolwire.shell.serve import admission
from toolwire.shell.settings.configuration import load_settings

pytestmark = pytest.mark.enable_socket

#: What a request ends with, and how: its headers, and what the demo does.
ENDS: dict[str, tuple[str, dict[str, str]]] = {
    "calls": ("", {}),
    "cut": ("[demo cut]", {}),
    "refused": ("[demo error 429]", {}),
    "of two attempts": ("", {"x-toolwire-fallback": "demo/anthropic"}),
}


class Watched:
    """A gateway of which every exchange is held, and the objects that it was."""

    def __init__(self, server: LocalServer, exchanges: Exchanges, folder: Path) -> None:
        self._gateway, self.exchanges = Gateway(server.url, folder, exchanges), exchanges
        self._over = threading.Semaphore(0)
        self.seen: list[SeenExchange] = []
        exchanges.listen(self._told)

    def _told(self, seen: SeenExchange) -> None:
        if seen.over:
            self.seen.append(seen)
            self._over.release()

    def ask(self, door: str, body: dict[str, Any], **headers: str) -> tuple[SeenExchange, bytes]:
        _, answer = self._gateway.ask(door, body, **headers)
        assert self._over.acquire(timeout=60)
        return self.seen[-1], answer


@pytest.fixture
def watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    exchanges = Exchanges()
    with (
        closed_port() as port,
        serving(LocalServer(("127.0.0.1", 0), load_handlers(FUNCTIONS), exchanges)) as server,
    ):
        down = f'[providers.down]\nwire = "openai_chat"\nbase_url = "http://127.0.0.1:{port}/v1"\ncredential = "none"\n'
        settings = load_settings({"TOOLWIRE_CONFIG": "x"}, lambda place: KEEPS + down)
        monkeypatch.setattr(admission, "current_settings", lambda: settings)
        yield Watched(server, exchanges, tmp_path)


def comes_back(exchanges: Exchanges, seen: SeenExchange, folder: Path) -> SeenExchange:
    """Holds an exchange as it was against what is held of it."""
    held = exchanges.get(seen.request_id)
    assert held is not None
    assert held is not seen
    for name in ("request_id", "path", "began", "times", "ids", "targets", "error", "line", "changed", "cut", "over"):
        assert getattr(held, name) == getattr(seen, name), name
    for name in ("who", "found", "store_error", "most_attempts", "event", "is_whole", "lasted", "method"):
        assert getattr(held, name) == getattr(seen, name), name
    assert dict(held.kept) == dict(seen.kept)
    assert held.event_with_key() == seen.event_with_key()
    assert held.first_sent() == seen.first_sent()
    assert [(it.at, it.kind) for it in held.notes] == [(it.at, it.kind) for it in seen.notes]
    secret = b"Bearer tw_planted_client_key"
    assert held.without_credentials(secret) == seen.without_credentials(secret)
    if can_be_replayed(seen):
        for name, it in (("seen", seen), ("held", held)):
            record(it, folder / name)
        assert files(folder / "held") == files(folder / "seen")
        assert replay(scenario_of(held)).body == replay(scenario_of(seen)).body
    return held


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@in_turn("door, end, stream", [False, True], DOORS, ENDS)
def test_of_every_door(watched: Watched, tmp_path: Path, door: str, stream: bool, end: str) -> None:
    word, headers = ENDS[end]
    body = question(door, f"{QUESTION} {word}".strip(), WEATHER)
    model = "down/none" if headers else "demo/anthropic"
    seen, _ = watched.ask(door, {**body, "model": model, "stream": stream}, **headers)

    assert len(seen.asked) == 1 + bool(headers) or end == "refused"
    comes_back(watched.exchanges, seen, tmp_path)


def test_what_the_store_had_is_in_it(watched: Watched, tmp_path: Path) -> None:
    """Ids and state of earlier turns, and the answers that it continues from."""
    body = {**BODIES["responses"], "model": "demo/anthropic"}
    _, answer = watched.ask("responses", body)
    first = json.loads(answer)
    calls = [it for it in first["output"] if it["type"] == "function_call"]
    results = [{"type": "function_call_output", "call_id": it["call_id"], "output": "11"} for it in calls]
    seen, _ = watched.ask("responses", {**body, "previous_response_id": first["id"], "input": results})

    held = comes_back(watched.exchanges, seen, tmp_path)
    assert held.kept
    assert held.found != NOTHING_FOUND


def test_of_one_that_was_refused(watched: Watched, tmp_path: Path) -> None:
    error = RequestError("There is no such path.", status=404)
    watched.exchanges.refused("GET", "/v2", [("authorization", "Bearer tw_planted_client_key")], "r-1", error)
    comes_back(watched.exchanges, watched.seen[-1], tmp_path)


def test_a_thousand_chunks_are_no_thousand_objects() -> None:
    """What is counted is what is there: its bytes, and a few for each of them."""
    exchanges = Exchanges()
    with exchanges.watching(event(1)) as seen:
        seen.upstream_request(UpstreamRequest("POST", "http://x/", (("authorization", "secret"),), b"{}", True))
        seen.upstream_head(200, {"content-type": "text/event-stream"})
        seen.left("sent_head", Head(200, ()))
        for number in range(1000):
            seen.upstream_data(b"%04d" % number * 50)
            seen.wrote(b"%04d" % number * 50)
        seen.upstream_end(None)
    assert 400_000 < exchanges.size < 400_000 + 2000 * 20 + 1000
    held = exchanges.get("request-1")
    assert held is not None
    assert [(it.kind, it.at, getattr(it.what, "status", it.what)) for it in held.notes[1:]] == [
        (it.kind, it.at, getattr(it.what, "status", it.what)) for it in seen.notes[1:]
    ]


def test_with_no_memory_there_are_lines_alone() -> None:
    exchanges = Exchanges(most_bytes=0)
    with exchanges.watching(event(1)) as seen:
        seen.upstream_data(b"x")
        assert exchanges.get("request-1") is seen
    assert exchanges.get("request-1") is None
    assert exchanges.size == 0
    assert [line.request_id for line in exchanges.lines()] == ["request-1"]


def test_a_count_that_no_machine_holds_is_in_a_line() -> None:
    """A provider's token counts are its own."""
    exchanges = Exchanges()
    with exchanges.watching(event(1)) as seen:
        seen.line = summary(seen)
        seen.line.tokens = 2**70, 1
    assert exchanges.lines()[0].tokens == (2**70, 1)


def test_changes_are_told_in_their_order() -> None:
    exchanges = Exchanges()
    with exchanges.watching(event(1)):
        with exchanges.watching(event(2)):
            version, lines = exchanges.changes(0, 0)
            assert [(line.request_id, line.outcome) for line in lines] == [
                ("request-1", "running"),
                ("request-2", "running"),
            ]
        version, lines = exchanges.changes(version, 0)
        assert [line.request_id for line in lines] == ["request-2"]
    assert lines[0].seconds is not None
    version, lines = exchanges.changes(version, 0)
    assert [line.request_id for line in lines] == ["request-1"]
    assert exchanges.changes(version, 0) == (version, [])
    assert [line.request_id for line in exchanges.lines()] == ["request-2", "request-1"]


class TestRing:
    def test_what_comes_takes_the_place_of_what_came_first(self) -> None:
        ring = Ring(10)
        places = {}
        for number, text in enumerate([b"abcd", b"efg", b"hi", b"jklm", b"0123456789", b"n"]):
            places[ring.put(text)] = text
            there = {place: text for place, text in places.items() if place >= ring.oldest}
            assert {place: ring.get(place, len(text)) for place, text in there.items()} == there
            assert text in there.values(), number
            assert ring.used <= 10
        assert list(there.values()) == [b"n"]
