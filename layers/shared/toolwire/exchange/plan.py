"""The plan of a request: the targets to ask, in order, until one answers.

    the model's own        each of its provider's endpoints (other keys or regions), a conversation's own one first
    fallback models        of the header `x-toolwire-fallback`, else of the model, else of the tenant

If a model is configured with `order = "quality"`, the models of its plan are ordered by how fit their tool calls have
been (`call_quality.py`).

A conversation keeps its endpoint as long as that answers: the account has the prompt cache, and an account refuses
another account's state.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from toolwire.exchange.call_quality import ModelKey, in_order, is_ordered
from toolwire.exchange.prepare import ClientRequest, target_of
from toolwire.exchange.request_context import conversation_of
from toolwire.exchange.routing import check_model, may_use
from toolwire.model.errors import RequestError
from toolwire.model.settings import ProviderConfig, Retries, Settings, Target

#: The header that names fallback models, divided by commas; "off": none.
FALLBACK_HEADER = "x-toolwire-fallback"

#: The most fallback models of one request, and the most attempts.
MOST_FALLBACKS, MOST_ATTEMPTS = 8, 10


@dataclass(frozen=True, slots=True)
class Plan:
    """The targets of one request, and how often they may be asked. `more`: the targets after the first. `unknown`:
    fallback models in the tenant's settings that name no target."""

    first: Target
    more: tuple[Target, ...] = ()
    retries: Retries = field(default_factory=Retries)
    unknown: tuple[str, ...] = ()

    @property
    def targets(self) -> tuple[Target, ...]:
        """All targets, in order."""
        return (self.first, *self.more)

    @property
    def most(self) -> int:
        """The most attempts: as configured, else one for each target."""
        return min(self.retries.attempts or len(self.more) + 1, MOST_ATTEMPTS)


def plan_for(
    client: ClientRequest,
    target: Target,
    settings: Settings,
    new_token: Callable[[], str],
    quality: Mapping[ModelKey, float] | None,
) -> Plan:
    """The plan of a request whose model leads to `target`. A conversation's token chooses its endpoint, on each of its
    turns: `new_token` gives the token that a new conversation will have. `quality`: the share of fit calls of each
    model that can be judged. Raises RequestError if the client names a fallback model that leads nowhere or that it may
    not use."""
    own = _own(client, target, settings, new_token)
    unknown: list[str] = []
    fallbacks = tuple(_fallbacks(client, target, settings, unknown))
    targets = tuple(dict.fromkeys((*own, *fallbacks)))
    if quality and FALLBACK_HEADER not in client.http.headers and is_ordered(client.request.model, target, settings):
        targets = in_order(targets, quality)
    return Plan(targets[0], targets[1:], settings.retries, tuple(unknown))


def _own(client: ClientRequest, target: Target, settings: Settings, new_token: Callable[[], str]) -> tuple[Target, ...]:
    """The target at each endpoint of its provider, the conversation's own endpoint first."""
    endpoints = settings.endpoints.get(target.provider.name)
    if endpoints is None:
        return (target,)
    token = conversation_of(client, target, lambda _: "").token
    place = _place_of(token or _first_call(client) or new_token())
    # What was found out about the model's wire holds at every endpoint.
    return tuple(
        replace(target, provider=replace(endpoint, wire=target.provider.wire))
        for endpoint in _from_place(endpoints, place)
    )


def _from_place(endpoints: tuple[ProviderConfig, ...], place: float) -> Iterator[ProviderConfig]:
    """All endpoints, beginning with the one at this place on the line from 0 to 1, which they share by their
    weights."""
    at, first = place * sum(endpoint.weight for endpoint in endpoints), 0
    while first < len(endpoints) - 1 and at >= endpoints[first].weight:
        at -= endpoints[first].weight
        first += 1
    yield from endpoints[first:]
    yield from endpoints[:first]


def _first_call(client: ClientRequest) -> str | None:
    """The id of the history's first call. It stands for the conversation where the ids are the provider's own."""
    return next((call.id for message in client.request.messages for call in message.tool_calls), None)


def _place_of(token: str) -> float:
    """A conversation's place, from 0 up to 1: the same on every turn."""
    return int.from_bytes(hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()[:6], "big") / (1 << 48)


def _fallbacks(client: ClientRequest, target: Target, settings: Settings, unknown: list[str]) -> Iterator[Target]:
    named = client.http.headers.get(FALLBACK_HEADER)
    if named is not None:
        yield from _named_fallbacks(client, named, settings)
        return
    model, full = client.request.model, f"{target.provider.name}/{target.model}"
    for name in settings.fallbacks.get(model) or settings.fallbacks.get(full) or client.tenant.fallback:
        try:
            fallback = target_of(name, client.door.dialect, settings)
        except RequestError:  # the configuration was checked, but a key's settings may be older
            unknown.append(name)
            continue
        if may_use(client.tenant, name, fallback):
            yield fallback


def _named_fallbacks(client: ClientRequest, named: str, settings: Settings) -> Iterator[Target]:
    """The targets of the header. Raises RequestError."""
    names = [name for part in named.split(",") if (name := part.strip())]
    if [name.lower() for name in names] == ["off"]:
        return
    if len(names) > MOST_FALLBACKS:
        message = f"the header `{FALLBACK_HEADER}` names {len(names)} models; write {MOST_FALLBACKS} at most"
        raise RequestError(message, code="invalid_option", param=FALLBACK_HEADER)
    for name in names:
        try:
            target = target_of(name, client.door.dialect, settings)
            check_model(client.tenant, name, target)
        except RequestError as error:
            raise RequestError(error.message, code=error.code, status=error.status, param=FALLBACK_HEADER) from None
        yield target
