"""Admits a client's request and opens its exchange: all IO before a provider is asked.

It checks in this order: a loop of our own, the key and its tenant's rights and rates, then the body. All that can be
refused is refused before anything is sent upstream.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from toolwire.conversation.tool_call_ids import TOKEN_CHARS
from toolwire.doors import Door
from toolwire.exchange.exchange import Exchange
from toolwire.exchange.plan import plan_for
from toolwire.exchange.prepare import ClientRequest, check_loop, prepare
from toolwire.exchange.routing import check_door
from toolwire.model.admitted import Admitted
from toolwire.model.errors import RequestError
from toolwire.model.http import HttpRequest
from toolwire.model.request import ChatRequest
from toolwire.model.settings import Settings, Tenant
from toolwire.shell.access.concurrency import slots
from toolwire.shell.access.keys import authenticate
from toolwire.shell.access.rates import admit, charge
from toolwire.shell.random_text import new_id
from toolwire.shell.serve.attempts import Preparation
from toolwire.shell.serve.call_quality import QUALITIES
from toolwire.shell.settings.current import current_settings
from toolwire.shell.store.ids_and_state import recall
from toolwire.shell.store.kept_answers import with_kept_history
from toolwire.shell.store.sticky_model import with_known_model
from toolwire.shell.telemetry import observe
from toolwire.shell.telemetry.log import logger
from toolwire.shell.telemetry.request_record import RequestRecord, short
from toolwire.shell.telemetry.watch import Watch, watched_clock, watched_ids


def admit_client(door: Door, request: HttpRequest, record: RequestRecord) -> Admitted:
    """Admits a request, before its body is read. Raises RequestError and SettingsError."""
    check_loop(request.headers)
    settings = current_settings()
    tenant = authenticate(request, settings, door.key_places)
    record.tenant = tenant.name
    check_door(tenant, door.name)
    return Admitted(settings, tenant, admit(tenant, door, settings, time.time()))


def open_exchange(
    door: Door,
    request: HttpRequest,
    seconds: float,
    record: RequestRecord,
    event: dict[str, Any] | None = None,
) -> tuple[Exchange, Preparation]:
    """Opens the exchange for a client's request. Returns it with the preparation of its further attempts. The answer
    must be there in `seconds`. `event`: as it came, for a recording. Raises GatewayError and SettingsError."""
    admitted = admit_client(door, request, record)
    watch = _watch(admitted, seconds, event)
    settings, tenant = admitted.settings, admitted.tenant
    client, target = prepare(door, request, settings, tenant, partial(with_earlier_turns, door, tenant, record))
    record.target = target
    ids = _Ids()
    plan = plan_for(client, target, settings, ids.token, QUALITIES.shares() if settings.by_quality else None)
    if plan.unknown:
        client = _without_fallbacks(client, plan.unknown, record)
    preparation = Preparation(client, plan, seconds, settings, record)
    _take_slot(tenant, settings, seconds, record)
    record.held.append(preparation.give_back)
    found = recall(client, record)
    attempt = preparation.first(found)
    now: Callable[[], float] = time.time
    next_id: Callable[[int], str] = ids.new
    if watch is not None:
        watch.prepared(client, plan, found)
        now, next_id = watched_clock(watch), watched_ids(watch, ids.new)
    exchange = Exchange(
        client,
        attempt,
        request_id=record.request_id,
        now=now,
        new_id=next_id,
        attempts=preparation.attempts,
        state_seconds=settings.state_ttl_days * 86_400,
        answer_headers=admitted.rate_headers,
        observer=watch or observe.call_lines(record.request_id, client.request),
    )
    record.figures = exchange.figures
    record.charge = lambda calls: charge(tenant, calls, settings, time.time())
    return exchange, preparation


def _watch(admitted: Admitted, seconds: float, event: dict[str, Any] | None) -> Watch | None:
    """What watches the request, if anything does; for a tenant that has its exchanges recorded, a recording."""
    if event is not None and admitted.tenant.record and admitted.settings.recordings_bucket:
        from toolwire.shell.recording.bucket import begin  # for few tenants

        begin(event, admitted, seconds)
    watch = observe.current_watch.get()
    if watch is not None:
        watch.admitted(admitted)
    return watch


def _take_slot(tenant: Tenant, settings: Settings, seconds: float, record: RequestRecord) -> None:
    """Takes one of the tenant's slots until the request is over. Raises RequestError (429)."""
    most = tenant.concurrent_requests
    if most is None:
        return
    slot = slots(settings.rates_table).take(f"tenant#{tenant.name}", most, seconds)
    if slot is None:
        raise RequestError(
            f"{most} requests at once are allowed for this key's tenant, and are under way.",
            status=429,
            code="too_many_concurrent_requests",
            retry=None,
            retry_after="1",
        )
    record.held.append(slot)


def _without_fallbacks(client: ClientRequest, unknown: tuple[str, ...], record: RequestRecord) -> ClientRequest:
    """The request, with a warning of fallback models that name no target. The log names them, for the maker of the
    key."""
    names = ", ".join(short(name) or "" for name in unknown)
    logger().warning(
        "fallback models of a key lead nowhere", request_id=record.request_id, tenant=client.tenant.name, models=names
    )
    return replace(client, warnings=(*client.warnings, "fallback_unknown"))


def with_earlier_turns(door: Door, tenant: Tenant, record: RequestRecord, request: ChatRequest) -> ChatRequest:
    """The request with its model, if it names none, and the history of kept answers, as the store has them. Raises
    RequestError and InternalError."""
    return with_kept_history(door, with_known_model(request, record), tenant, record)


class _Ids:
    """Makes the random characters for the ids of one request. The choice of an endpoint needs a new conversation's
    token before the exchange does, which then gets the same token."""

    def __init__(self) -> None:
        self._token: str | None = None

    def token(self) -> str:
        """The token of the request's new conversation."""
        self._token = new_id(TOKEN_CHARS)
        return self._token

    def new(self, length: int) -> str:
        """This many random characters."""
        if self._token is not None and length == TOKEN_CHARS:
            token, self._token = self._token, None
            return token
        return new_id(length)
