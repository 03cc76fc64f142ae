"""Drives the sans-IO core in process: a request and a recorded upstream's answer in, the client's answer out."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tests.gemini_client import http_request
from toolwire.conversation import NOTHING_FOUND, Found
from toolwire.conversation.tool_call_ids import ALPHABET
from toolwire.doors import Door, load_door
from toolwire.exchange.actions import Action, Send, carried_out
from toolwire.exchange.attempt import prepare_attempt
from toolwire.exchange.exchange import Exchange
from toolwire.exchange.observer import Observer
from toolwire.exchange.prepare import read_request
from toolwire.model.errors import GatewayError
from toolwire.model.http import Head, Headers
from toolwire.model.settings import ProviderConfig, Target, Tenant
from toolwire.model.stored import Item

TIME = 1_800_000_000


def counting_ids() -> Callable[[int], str]:
    """A deterministic `new_id`: the n-th id spells n in base 62."""
    numbers = itertools.count(1)

    def new_id(length: int) -> str:
        number, digits = next(numbers), ""
        while number:
            number, digit = divmod(number, 62)
            digits = ALPHABET[digit] + digits
        return digits.rjust(length, "0")

    return new_id


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes


def open_exchange(
    body: bytes,
    *,
    door: str = "chat_completions",
    wire: str = "openai_chat",
    profile: str | None = "compatible",
    model: str = "m",
    headers: dict[str, str] | None = None,
    tenant: Tenant | None = None,
    answer_headers: Headers = (),
) -> Exchange:
    """An exchange for a request's body; raises GatewayError like the real path."""
    loaded = load_door(door)
    headers, tenant = headers or {}, tenant or Tenant()
    provider = ProviderConfig("upstream", wire, "http://127.0.0.1:1/v1", "none", profile)
    return opened(
        loaded,
        body,
        Target(provider, model),
        tenant,
        headers=headers,
        answer_headers=answer_headers,
    )


def opened(
    door: Door,
    body: bytes,
    target: Target,
    tenant: Tenant,
    *,
    headers: dict[str, str] | None = None,
    credential: str | None = None,
    request_id: str = "req-test",
    found: Found = NOTHING_FOUND,
    answer_headers: Headers = (),
    observer: Observer | None = None,
    new_id: Callable[[int], str] | None = None,
) -> Exchange:
    """An exchange with this target, whatever the request names; the clock stands still and ids are counted, from one
    on unless `new_id` goes on with those of an earlier exchange."""
    client = read_request(door, http_request(door.name, body, headers or {}), tenant)
    return Exchange(
        client,
        prepare_attempt(client, target, credential, found),
        request_id=request_id,
        now=lambda: TIME,
        new_id=new_id or counting_ids(),
        answer_headers=answer_headers,
        observer=observer,
    )


def sent(exchange: Exchange, actions: Iterable[Action], kept: list[Item] | None = None) -> list[Head | Send]:
    """What the client is sent; what is stored goes into `kept`."""

    def store(items: tuple[Item, ...]) -> None:
        if kept is not None:
            kept.extend(items)

    return list(carried_out(exchange, actions, store))


def answer(
    exchange: Exchange,
    pieces: Iterable[bytes],
    *,
    status: int = 200,
    content_type: str = "text/event-stream",
    error: GatewayError | None = None,
) -> Answer:
    """What the client gets when the upstream answers with these pieces."""
    actions = sent(exchange, exchange.receive_head(status, {"content-type": content_type}))
    for piece in pieces:
        actions += sent(exchange, exchange.receive_data(piece))
    actions += sent(exchange, exchange.receive_end(error))
    heads = [action for action in actions if isinstance(action, Head)]
    assert heads, "an answer has a head"
    assert heads == actions[:1], "one head, and first"
    body = b"".join(action.data for action in actions if isinstance(action, Send))
    return Answer(heads[0].status, dict(heads[0].headers), body)
