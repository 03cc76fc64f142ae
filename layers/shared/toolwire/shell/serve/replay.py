"""Replays a recorded exchange: a client's request, what the provider answered, and so what the client is sent.

A scenario is a folder:

    event.json              the client's request, as API Gateway's proxy event (also for `sam local invoke -e`)
    expected.request.json   the body of the request to the provider
    upstream.json           the provider's answer: status, headers, the file with its body, and how it ended
    upstream.sse            that body as it came; upstream.body.json if it is no stream
    expected.json           the answer to the client: status and headers
    expected.sse            that answer's body; expected.body.json if it is no stream

Only files are read here: the clock stands still, ids are counted, no credential is used, and nothing is sent. So a
replay gives the same bytes every time.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from toolwire.doors import Door, door_at, load_door
from toolwire.exchange.actions import Action, carried_out
from toolwire.exchange.attempt import prepare_attempt
from toolwire.exchange.exchange import Exchange
from toolwire.exchange.observer import Observer
from toolwire.exchange.prepare import prepare
from toolwire.model.errors import GatewayError, UpstreamTruncated
from toolwire.model.events import Batch, StreamEvent
from toolwire.model.http import Head, HttpRequest
from toolwire.model.settings import Target
from toolwire.pages.paths import NoRoute, path_of, refusal, render_error_at, resolve
from toolwire.providers.hosts import DEMO
from toolwire.shell.serve.proxy_event import error_head, http_request, request_id
from toolwire.shell.settings.configuration import load_settings

_AFTER_FRAME = re.compile(rb"(?<=\n\n)|(?<=\r\n\r\n)")
#: When every replay takes place, in seconds since 1970.
_NOW = 1_700_000_000.0
#: Stands for the demo server's address, which is another one each time.
_DEMO_ADDRESS = "http://demo.invalid"


@dataclass(frozen=True, slots=True)
class Recording:
    """What the provider answered."""

    status: int
    headers: dict[str, str]
    body: bytes
    ends: Literal["complete", "cut"]

    @property
    def pieces(self) -> list[bytes]:
        """The body frame by frame, each with the blank line behind it; a body that is no stream is one piece."""
        if "text/event-stream" not in self.headers.get("content-type", ""):
            return [self.body]
        return [frame for frame in _AFTER_FRAME.split(self.body) if frame]


@dataclass(frozen=True, slots=True)
class Scenario:
    """A recorded exchange."""

    event: dict[str, Any]
    upstream: Recording


@dataclass(frozen=True, slots=True)
class Step:
    """One piece of the provider's answer, and what came of it. `received` is None for the answer's end."""

    received: bytes | None
    events: tuple[StreamEvent, ...]
    sent: bytes


@dataclass(frozen=True, slots=True)
class Replay:
    """A replayed exchange. `request` is the body sent to the provider; None when the client's request was refused."""

    request: bytes | None
    head: Head
    steps: tuple[Step, ...]

    @property
    def body(self) -> bytes:
        return b"".join(step.sent for step in self.steps)


def load_scenario(folder: Path) -> Scenario:
    """Reads a scenario's folder. Raises OSError, ValueError or KeyError when it is none."""
    event = json.loads((folder / "event.json").read_text("utf-8"))
    upstream = json.loads((folder / "upstream.json").read_text("utf-8"))
    body = (folder / upstream["body"]).read_bytes()
    return Scenario(event, Recording(upstream["status"], upstream["headers"], body, upstream["ends"]))


def replay(
    scenario: Scenario, split: Callable[[Recording], Iterable[bytes]] = lambda upstream: upstream.pieces
) -> Replay:
    """Runs the exchange over the recording. `split` cuts the provider's answer into the pieces that arrive. Raises
    ValueError for a request that is answered without an exchange."""
    request = http_request(scenario.event)
    identity = request_id(scenario.event, None)
    path = path_of(request.path, request.parameters)
    if isinstance(resolve(request.method, path), NoRoute):
        error = refusal(request.method, path)
        return _refused(error, identity, render_error_at(path, error, identity))
    name = door_at(request.path)
    if name is None:
        raise ValueError(f"{request.method} {request.path} is answered without an exchange: there is nothing to replay")
    door = load_door(name)
    try:
        notes = _Notes()
        exchange = _open(door, request, identity, notes)
    except GatewayError as error:
        return _refused(error, identity, door.render_error(error, identity))
    upstream = scenario.upstream
    steps = _Steps(exchange, notes)
    steps.take(b"", exchange.receive_head(upstream.status, upstream.headers))
    for piece in split(upstream):
        steps.take(piece, exchange.receive_data(piece))
    cut = UpstreamTruncated("the upstream closed the connection before the end of its answer")
    steps.take(None, exchange.receive_end(cut if upstream.ends == "cut" else None))
    assert steps.head is not None, "an exchange that is over has sent its head"
    return Replay(exchange.upstream_request.body, steps.head, tuple(steps.taken))


def _refused(error: GatewayError, identity: str, body: bytes) -> Replay:
    """The replay of a request that is answered with an error, for which no provider is asked."""
    return Replay(None, error_head(error, "application/json", identity), (Step(None, (), body),))


class _Notes(Observer):
    """The events since they were last looked at."""

    def __init__(self) -> None:
        self.events: list[StreamEvent] = []

    def batch(self, batch: Batch) -> None:
        self.events += batch.events


class _Steps:
    """Gathers what each piece of the provider's answer leads to."""

    def __init__(self, exchange: Exchange, notes: _Notes) -> None:
        self._exchange, self._notes = exchange, notes
        self.taken: list[Step] = []
        self.head: Head | None = None

    def take(self, received: bytes | None, actions: Iterable[Action]) -> None:
        sent = b""
        for action in carried_out(self._exchange, actions, lambda items: None):  # noqa: ARG005 - a replay has one turn
            if isinstance(action, Head):
                self.head = action
            else:
                sent += action.data
        if received != b"" or sent or self._notes.events:
            self.taken.append(Step(received, tuple(self._notes.events), sent))
        self._notes.events.clear()


def _open(door: Door, request: HttpRequest, identity: str, observer: Observer) -> Exchange:
    """The exchange as `shell.serve` opens it, without keys and credentials. Raises GatewayError."""
    settings = load_settings({})
    client, target = prepare(door, request, settings, settings.tenant)
    numbers = itertools.count(1)
    return Exchange(
        client,
        prepare_attempt(client, _placed(target), None),
        request_id=identity,
        now=lambda: _NOW,
        new_id=lambda length: str(next(numbers)).rjust(length, "0"),
        observer=observer,
    )


def _placed(target: Target) -> Target:
    provider = target.provider
    if provider.name != DEMO:
        return target
    return replace(target, provider=replace(provider, base_url=_DEMO_ADDRESS + provider.base_url))
