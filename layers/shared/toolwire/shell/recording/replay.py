"""Replays a recorded exchange: takes the client's request and the providers' answers, and gives what the client is
sent.

It reads only a scenario's files (`scenario.py`). The clock and the ids are the recorded ones; without any, the clock
stands still and ids are counted. No credential is used, and nothing is sent. So a replay gives the same bytes every
time.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from toolwire.conversation.restore import NOTHING_FOUND
from toolwire.conversation.sticky_model import with_sticky_model
from toolwire.doors import Door, door_at, load_door
from toolwire.exchange.actions import Action, carried_out
from toolwire.exchange.attempt import prepare_attempt
from toolwire.exchange.exchange import Exchange
from toolwire.exchange.figures import Figures
from toolwire.exchange.observer import Observer
from toolwire.exchange.plan import Plan
from toolwire.exchange.prepare import ClientRequest, prepare
from toolwire.exchange.retries import Attempts, Next
from toolwire.model.errors import GatewayError
from toolwire.model.events import Batch, StreamEvent
from toolwire.model.http import Head, HttpRequest, UpstreamRequest
from toolwire.model.request import ChatRequest
from toolwire.model.settings import Retries, Target, Tenant
from toolwire.model.source import replace
from toolwire.pages.paths import NoRoute, path_of, refusal, render_error_at, resolve
from toolwire.providers.hosts import DEMO
from toolwire.shell.network.proxy_event import error_head, http_request, request_id
from toolwire.shell.recording.scenario import Context, Recording, Scenario
from toolwire.shell.settings.configuration import load_settings

#: The time of replays without a recorded one, in seconds since 1970.
_NOW = 1_700_000_000.0
#: Replaces the demo server's address, which differs each time.
_DEMO_ADDRESS = "http://demo.invalid"

#: The head of an answer without any action.
NOTHING_SENT = Head(0, ())

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Step:
    """One piece of the provider's answer, with the events and bytes that it led to. `received` is None for the answer's
    end."""

    received: bytes | None
    events: tuple[StreamEvent, ...]
    sent: bytes


@dataclass(frozen=True, slots=True)
class Replay:
    """A replayed exchange. `requests` are the bodies sent to providers; none when the client's request was refused."""

    requests: tuple[bytes, ...]
    head: Head
    steps: tuple[Step, ...]
    #: The figures for the log, and the last provider that was asked; None if the request was refused.
    figures: Figures | None = None
    target: Target | None = None

    @property
    def request(self) -> bytes | None:
        """The last request."""
        return self.requests[-1] if self.requests else None

    @property
    def body(self) -> bytes:
        """The answer's body."""
        return b"".join(step.sent for step in self.steps)


def replay(
    scenario: Scenario, split: Callable[[Recording], Iterable[bytes]] = lambda upstream: upstream.pieces
) -> Replay:
    """Runs the exchange over the recording. `split` cuts the provider's answer into pieces. Raises ValueError for a
    request that is answered without an exchange."""
    request = http_request(scenario.event)
    identity = request_id(scenario.event, None)
    path = path_of(request.path, request.parameters)
    if isinstance(resolve(request.method, path), NoRoute):
        error = refusal(request.method, path, request.headers)
        return _refused(error, identity, render_error_at(path, error, identity))
    name = door_at(request.path)
    if name is None:
        raise ValueError(f"{request.method} {request.path} is answered without an exchange: there is nothing to replay")
    door = load_door(name)
    context = scenario.context
    notes = _Notes()
    try:
        exchange = _open(door, request, identity, notes, context)
    except GatewayError as error:
        return _refused(error, identity, door.render_error(error, identity))
    steps = _Steps(exchange, notes, context.store_error if context else None)
    for answer in scenario.answers:
        if not exchange.unanswered:
            break
        if exchange.following is not None:
            found = context.found if context else NOTHING_FOUND
            exchange.begin(prepare_attempt(exchange.client, _placed(exchange.following.target), None, found))
        _answer(exchange, answer, steps, split)
    if exchange.unanswered and (not scenario.answers or scenario.answers[-1].ends != "unread"):
        steps.take(None, exchange.receive_end())  # a further attempt, of which there is no recording
    head, taken = steps.head or NOTHING_SENT, tuple(steps.taken)
    return Replay(tuple(notes.requests), head, taken, exchange.figures, exchange.attempt.target)


def _answer(
    exchange: Exchange, answer: Recording, steps: _Steps, split: Callable[[Recording], Iterable[bytes]]
) -> None:
    """Passes one answer of a provider through the exchange."""
    silences, at = answer.silences, 0
    while silences[:1] == [0]:
        silences.pop(0)
        steps.wait()
    if answer.status is not None:
        steps.take(b"", exchange.receive_head(answer.status, answer.headers))
        for piece in split(answer):
            while silences and silences[0] < at + len(piece):
                silences.pop(0)
                steps.wait()
            at += len(piece)
            steps.take(piece, exchange.receive_data(piece))
    for _ in silences:
        steps.wait()
    if answer.ends != "unread":
        steps.take(None, exchange.receive_end(answer.error))


def _refused(error: GatewayError, identity: str, body: bytes) -> Replay:
    """The replay of a request that was refused, so that no provider was asked."""
    return Replay((), error_head(error, "application/json", identity), (Step(None, (), body),))


class _Notes(Observer):
    """Observes the requests to providers, and the events since the last look."""

    def __init__(self) -> None:
        self.requests: list[bytes] = []
        self.events: list[StreamEvent] = []

    def upstream_request(self, request: UpstreamRequest) -> None:
        self.requests.append(request.body)

    def batch(self, batch: Batch) -> None:
        self.events += batch.events


class _Steps:
    """Gathers the events and bytes for each piece of the provider's answer."""

    def __init__(self, exchange: Exchange, notes: _Notes, store_error: str | None) -> None:
        self._exchange, self._notes, self._store_error = exchange, notes, store_error
        self.taken: list[Step] = []
        self.head: Head | None = None

    def take(self, received: bytes | None, actions: Iterable[Action]) -> None:
        sent = b""
        for action in carried_out(self._exchange, actions, lambda items: self._store_error):  # noqa: ARG005 - one turn
            if isinstance(action, Head):
                self.head = self.head or action  # an early head may have been sent
            else:
                sent += action.data
        if received != b"" or sent or self._notes.events:
            self.taken.append(Step(received, tuple(self._notes.events), sent))
        self._notes.events.clear()

    def wait(self) -> None:
        """Sends the client a keep-alive."""
        self.head = self.head or self._exchange.early_head()
        self.taken.append(Step(b"", (), self._exchange.keep_alive()))


def client_request(scenario: Scenario) -> ClientRequest | None:
    """The client's request, read and checked; None for one that no exchange answers. Raises GatewayError for one that
    is refused."""
    request = http_request(scenario.event)
    name = door_at(request.path)
    return None if name is None else _prepared(load_door(name), request, scenario.context)[0]


def _prepared(door: Door, request: HttpRequest, context: Context | None) -> tuple[ClientRequest, Target]:
    """Raises GatewayError."""
    settings = context.settings if context else load_settings({})
    tenant = context.tenant if context else settings.tenant
    return prepare(door, request, settings, tenant, lambda it: _with_earlier_turns(door, it, tenant, context))


def _open(door: Door, request: HttpRequest, identity: str, observer: Observer, context: Context | None) -> Exchange:
    """Opens the exchange as `shell.serve` does, without keys and credentials. Raises GatewayError."""
    settings = context.settings if context else load_settings({})
    client, target = _prepared(door, request, context)
    if context and context.targets:
        target = context.targets[0]
    now, new_id = _clock(context), _ids(context)
    return Exchange(
        client,
        prepare_attempt(client, _placed(target), None, context.found if context else NOTHING_FOUND),
        request_id=identity,
        now=now,
        new_id=new_id,
        attempts=_RecordedAttempts(context) if context and context.targets else None,
        state_seconds=settings.state_ttl_days * 86_400,
        answer_headers=context.answer_headers if context else (),
        observer=observer,
    )


class _RecordedAttempts(Attempts):
    """The attempts of the recording, independent of time and chance."""

    def __init__(self, context: Context) -> None:
        retries = Retries(attempts=context.most_attempts)
        super().__init__(Plan(context.targets[0], context.targets[1:], retries), 0.0, lambda: 0.0, lambda: 0.0)
        self._left = list(context.targets[1:])

    def after(self, error: GatewayError, status: int | None) -> Next | None:  # noqa: ARG002 - it is known what followed
        """See `Attempts`."""
        if not self._left:
            return None
        self.count += 1
        return Next(self._left.pop(0), 0.0)


def _with_earlier_turns(door: Door, request: ChatRequest, tenant: Tenant, context: Context | None) -> ChatRequest:
    """The request with the model, if it names none, and the history of kept answers, as the store had them."""
    known = context is not None and context.model and not request.model
    request = replace(request, model=context.model) if known and context else with_sticky_model(request, None)
    if context is None or not tenant.keep_answers or door.named_answers(request) is None:
        return request
    return door.continued(request, context.kept)


def _clock(context: Context | None) -> Callable[[], float]:
    """The recorded times; at their end the last one again and again."""
    times = _then_last(context.times) if context and context.times else itertools.repeat(_NOW)
    return times.__next__


def _ids(context: Context | None) -> Callable[[int], str]:
    """The recorded ids; at their end counted ones."""
    recorded = iter(context.ids if context else ())
    numbers = itertools.count(1)
    return lambda length: next(recorded, "") or str(next(numbers)).rjust(length, "0")


def _then_last(values: Sequence[T]) -> Iterator[T]:
    yield from values
    yield from itertools.repeat(values[-1])


def _placed(target: Target) -> Target:
    provider = target.provider
    if provider.name != DEMO:
        return target
    return replace(target, provider=replace(provider, base_url=_DEMO_ADDRESS + provider.base_url))
