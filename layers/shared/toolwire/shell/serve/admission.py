"""Who may ask, and a client's request up to its exchange: all IO before a provider is asked.

The order is the order of trust: our own loop, the key and what it may do, then what the body says. What can be refused
is refused before anything is sent upstream.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from toolwire.conversation.tool_call_ids import ALPHABET
from toolwire.doors import Door
from toolwire.exchange.attempt import prepare_attempt
from toolwire.exchange.exchange import Exchange
from toolwire.exchange.prepare import check_loop, prepare
from toolwire.exchange.routing import check_door
from toolwire.model.http import Headers, HttpRequest
from toolwire.model.settings import Settings, Target, Tenant
from toolwire.providers.hosts import DEMO
from toolwire.shell.access.credentials import credential
from toolwire.shell.access.keys import authenticate
from toolwire.shell.access.rates import admit, charge
from toolwire.shell.serve import observe
from toolwire.shell.serve.watch import watched_clock, watched_ids
from toolwire.shell.settings.configuration import current_settings
from toolwire.shell.store.sticky import with_known_model
from toolwire.shell.store.turns import recall


@dataclass(frozen=True, slots=True)
class Admitted:
    """Who asks, and under which configuration. `rate_headers` say what the tenant may still ask for."""

    settings: Settings
    tenant: Tenant
    rate_headers: Headers


def admit_client(door: Door, request: HttpRequest, record: observe.RequestRecord) -> Admitted:
    """Lets a request in, before its body is looked at. Raises RequestError and SettingsError."""
    check_loop(request.headers)
    settings = current_settings()
    tenant = authenticate(request, settings, door.key_places)
    record.tenant = tenant.name
    check_door(tenant, door.name)
    return Admitted(settings, tenant, admit(tenant, door, settings, time.time()))


def open_exchange(door: Door, request: HttpRequest, record: observe.RequestRecord) -> Exchange:
    """The exchange for a client's request. Raises GatewayError and SettingsError."""
    admitted = admit_client(door, request, record)
    if (watch := observe.current_watch.get()) is not None:
        watch.admitted(admitted)
    settings, tenant = admitted.settings, admitted.tenant
    client, target = prepare(door, request, settings, tenant, partial(with_known_model, record=record))
    record.target = target
    found_credential = credential(target.provider)
    found = recall(client.request, record)
    attempt = prepare_attempt(client, _listening(target), found_credential, found)
    now: Callable[[], float] = time.time
    new_id: Callable[[int], str] = _new_id
    if watch is not None:
        watch.prepared(client, target, found)
        now, new_id = watched_clock(watch), watched_ids(watch, _new_id)
    exchange = Exchange(
        client,
        attempt,
        request_id=record.request_id,
        now=now,
        new_id=new_id,
        state_seconds=settings.state_ttl_days * 86_400,
        answer_headers=admitted.rate_headers,
        observer=watch or observe.call_lines(record.request_id),
    )
    record.figures = exchange.figures
    record.charge = lambda calls: charge(tenant, calls, settings, time.time())
    return exchange


def _listening(target: Target) -> Target:
    """The target with, for the demo, the address at which its server listens."""
    provider = target.provider
    if provider.name != DEMO:
        return target
    from toolwire.demo.server import demo_base_url  # only who asks for the demo starts its server

    return replace(target, provider=replace(provider, base_url=demo_base_url() + provider.base_url))


def _new_id(length: int) -> str:
    """Random characters for an id: the base62 digits of one number of the operating system's generator."""
    number, digits = secrets.randbelow(62**length), []
    for _ in range(length):
        number, digit = divmod(number, 62)
        digits.append(ALPHABET[digit])
    return "".join(digits)
