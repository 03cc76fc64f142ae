"""The events of an exchange are read from its bytes when somebody looks: the same ones, at the same bytes, as live."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest

from local.event import LocalContext
from local.handlers import Handler, load_handlers
from local.inspector import exchange as view
from local.resend import ask_again
from local.server import FUNCTIONS
from local.watch import reading as reading_module
from local.watch.exchanges import Exchanges
from local.watch.reading import read
from tests.door_requests import posted, question
from tests.gemini_client import event_members
from tests.in_turn import in_turn
from tests.local.test_recorder import BODIES, QUESTION, WEATHER
from toolwire.doors import DOORS
from toolwire.exchange.observer import Observer
from toolwire.model.events import Batch, StreamEvent
from toolwire.model.http import Head, UpstreamRequest
from toolwire.pages.paths import Route, resolve
from toolwire.shell.network import breaker
from toolwire.shell.recording import exchange as watched
from toolwire.shell.recording.exchange import SeenExchange

pytestmark = pytest.mark.enable_socket

MODELS = ["openai", "compatible", "responses", "anthropic", "gemini", "bedrock", "bedrock-claude"]
SCRIPTS = ["", "[demo error 429]", "[demo cut]", "[demo length]", "[demo interleave]", "[demo text]", "[demo calls 9]"]


class Live(Observer):
    """The events as they come, by how many notes there were."""

    def __init__(self) -> None:
        self.seen: SeenExchange | None = None
        self.found: list[tuple[int, tuple[StreamEvent, ...]]] = []

    def batch(self, batch: Batch) -> None:
        assert self.seen is not None
        if batch.events:
            self.found.append((len(self.seen.notes), batch.events))


@pytest.fixture(scope="module")
def handlers() -> dict[str, Handler]:
    return load_handlers(FUNCTIONS)


@pytest.fixture
def live(monkeypatch: pytest.MonkeyPatch) -> Live:
    live = Live()
    monkeypatch.setattr(watched, "call_lines", lambda request_id, request: live)
    breaker._breaker.cache_clear()
    return live


def event_of(door: str, body: dict[str, Any], **headers: str) -> tuple[dict[str, Any], Route]:
    path, _, _ = f"/v1{posted(door, body)[0]}".partition("?")
    route = resolve("POST", path)
    assert isinstance(route, Route)
    event = {
        "resource": route.resource,
        "path": path.removeprefix("/v1"),
        "httpMethod": "POST",
        "headers": {"content-type": "application/json", **headers},
        "isBase64Encoded": False,
        "requestContext": {"requestId": "r-1", "path": path},
        **event_members(door, json.dumps(body).encode()),
    }
    return event, route


def asked(handlers: dict[str, Handler], live: Live, door: str, body: dict[str, Any], **headers: str) -> SeenExchange:
    event, route = event_of(door, body, **headers)
    exchanges = Exchanges()

    def begun(seen: SeenExchange) -> None:
        live.seen = seen

    exchanges.listen(begun)
    return ask_again(event, handlers[route.function], exchanges)


def as_live(seen: SeenExchange, live: Live) -> None:
    """Holds what is read of an exchange against what was seen, event for event and note for note."""
    reading = read(seen)
    assert reading.failed == ""
    assert list(reading.events) == [event for _, events in live.found for event in events]
    by_note: dict[int, list[StreamEvent]] = {}
    for count, events in live.found:
        by_note.setdefault(count - 1, []).extend(events)
    last = max(by_note, default=0)
    found = {number: list(it.events) for number, it in enumerate(reading.moments) if it.events}
    assert {at: it for at, it in found.items() if at < last} == {at: it for at, it in by_note.items() if at < last}


@in_turn("door, model, stream", [False, True], DOORS, MODELS)
def test_of_every_door_and_wire(handlers: dict[str, Handler], live: Live, door: str, model: str, stream: bool) -> None:
    body = BODIES[door]
    seen = asked(handlers, live, door, {**body, "model": f"demo/{model}", "stream": stream})

    assert live.found
    as_live(seen, live)


@in_turn("script, model, stream", [False, True], SCRIPTS, MODELS)
def test_of_what_went_wrong(handlers: dict[str, Handler], live: Live, script: str, model: str, stream: bool) -> None:
    body = question("messages", f"{QUESTION} {script}".strip(), WEATHER)
    as_live(asked(handlers, live, "messages", {**body, "model": f"demo/{model}", "stream": stream}), live)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("fallback", ["vllm/other, demo/anthropic", "vllm/other"])
def test_of_several_attempts(handlers: dict[str, Handler], live: Live, fallback: str, stream: bool) -> None:
    body = BODIES["chat_completions"]
    headers = {"x-toolwire-fallback": fallback}
    as_live(
        asked(handlers, live, "chat_completions", {**body, "model": "lmstudio/some", "stream": stream}, **headers), live
    )


@pytest.mark.parametrize("model", MODELS)
def test_of_one_that_still_runs(handlers: dict[str, Handler], live: Live, model: str) -> None:
    """What is read of its first notes is what all of it begins with: a page that looks again takes nothing back."""
    body = question("chat_completions", f"{QUESTION} [demo calls 3] [demo slow 5]", WEATHER)
    event, route = event_of("chat_completions", {**body, "model": f"demo/{model}", "stream": True})
    sizes = []
    with Exchanges().watching(event) as seen:
        live.seen = seen
        for item in handlers[route.function](event, LocalContext("test", "r-1", 60.0)):
            if isinstance(item, Head):
                seen.left("sent_head", item)
            else:
                seen.wrote(item)
            reading = read(seen)
            assert reading.failed == ""
            so_far = [event for _, events in live.found for event in events]
            assert list(reading.events) == so_far
            sizes.append(len(so_far))
    assert sizes[-1] > sizes[0]
    assert all(before <= after for before, after in pairwise(sizes))


def test_nothing_is_kept_or_called_for_each_token() -> None:
    """A burst of tokens is one note of what came and one of what left, whatever is in it."""
    seen = SeenExchange(event_of("chat_completions", {})[0], lambda seen: None)
    assert not seen.follows_tokens
    before = seen.size
    seen.upstream_data(b"data: {}\n\n" * 1000)
    assert len(seen.notes) == 1
    assert seen.size - before < 11_000


@pytest.mark.parametrize("pieces", [40, 400])
def test_a_long_stream_makes_no_endless_page(handlers: dict[str, Handler], live: Live, pieces: int) -> None:
    """However its bytes came: what is beyond is in the event folder, and the page says that there is more."""
    body = BODIES["messages"]
    seen = asked(handlers, live, "messages", {**body, "model": "demo/openai", "stream": True})
    rows, is_all = view.timeline(read(seen))
    assert is_all
    assert sum(row.texts for row in rows) < view.MOST_TEXTS

    burst = b'data: {"choices": []}\n\n' * 20_000
    size = len(burst) // pieces
    for at in range(0, len(burst), size):
        seen.upstream_data(burst[at : at + size])
    seen.upstream_end(None)
    rows, is_all = view.timeline(read(seen))
    assert not is_all
    assert sum(row.texts for row in rows) < view.MOST_TEXTS + 20_000 // pieces + 10


@pytest.mark.parametrize("error", [TypeError, RecursionError, KeyError])
def test_a_bug_of_the_gateways_hides_no_bytes(
    handlers: dict[str, Handler], live: Live, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    body = BODIES["chat_completions"]
    seen = asked(handlers, live, "chat_completions", {**body, "model": "demo/openai", "stream": True})

    def fails(scenario: object) -> None:
        raise error("of the prompt")

    monkeypatch.setattr(reading_module, "replay", fails)
    reading = read(seen)
    assert (reading.failed, list(reading.events)) == (error.__name__, [])
    assert any("get_weather" in text for row in view.timeline(reading)[0] for text in row.received)


def test_a_credential_that_an_answer_repeats_is_in_no_cell(handlers: dict[str, Handler], live: Live) -> None:
    """Not in what came, not in the events, not in what was sent."""
    planted = "sk-planted-credential"
    script = f'[demo call get_weather {{"location": "{planted}"}}]'
    body = question("chat_completions", f"{QUESTION} {script}", WEATHER)
    seen = asked(handlers, live, "chat_completions", {**body, "model": "demo/compatible", "stream": True})
    seen.upstream_request(UpstreamRequest("POST", "http://x/", (("authorization", f"Bearer {planted}"),), b"", False))
    rows, _ = view.timeline(read(seen))

    cells = [text for row in rows for column in (row.received, row.events, row.sent) for text in column]
    assert any("get_weather" in text for text in cells)
    assert not [text for text in cells if planted in text]
