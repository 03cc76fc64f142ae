"""Everything that is decided about a request before a provider is asked.

The order is the order of trust: our own loop, the key and what it may do, then what the body says. What can be refused
is refused before anything is sent upstream.
"""

from __future__ import annotations

import secrets
import time
from dataclasses import replace

from toolwire.conversation.sticky_model import sticky_item
from toolwire.conversation.tool_call_ids import ALPHABET
from toolwire.doors import Door
from toolwire.exchange.exchange import Exchange
from toolwire.exchange.routing import check_door, check_tenant, route
from toolwire.model.errors import RequestError
from toolwire.model.http import HttpRequest
from toolwire.model.settings import Settings, Target
from toolwire.policy.checked_request import checked
from toolwire.providers.hosts import DEMO
from toolwire.providers.wire_choice import wire_for
from toolwire.shell.access.credentials import credential
from toolwire.shell.access.keys import authenticate
from toolwire.shell.access.rates import admit, charge
from toolwire.shell.serve import observe
from toolwire.shell.settings.configuration import current_settings
from toolwire.shell.store.sticky import with_known_model
from toolwire.shell.store.turns import recall

#: Carried by every request that we send, so that one that comes back to us is recognised.
HOP_HEADER = "x-toolwire-hop"


def open_exchange(door: Door, request: HttpRequest, record: observe.RequestRecord) -> Exchange:
    """The exchange for a client's request. Raises GatewayError and SettingsError."""
    if HOP_HEADER in request.headers:
        message = "This request comes from this gateway: a provider's base URL leads back to it."
        raise RequestError(message, status=508, code="loop_detected")
    settings = current_settings()
    tenant = authenticate(request.headers, settings)
    record.tenant = tenant.name
    check_door(tenant, door.name)
    rates = admit(tenant, door.name, settings, time.time())
    chat = with_known_model(door.parse_request(request.body, request.headers), record)
    record.requested_model, record.tools = chat.model, len(chat.tools)
    lawful = checked(door.name, chat, request.headers, tenant)
    target = target_of(chat.model, door.dialect, settings)
    check_tenant(tenant, door.name, chat.model, target)
    record.target = target
    lifetime = settings.state_ttl_days * 86_400
    sticky = sticky_item(chat, tenant.name, target, int(time.time()) + lifetime)
    exchange = Exchange(
        door=door,
        checked=lawful,
        target=_listening(target),
        tenant=tenant,
        headers=request.headers,
        credential=credential(target.provider),
        request_id=record.request_id,
        now=time.time,
        new_id=_new_id,
        found=recall(chat, record),
        state_seconds=lifetime,
        leaves=() if sticky is None else (sticky,),
        answer_headers=() if rates is None else rates.headers(door.name),
    )
    record.figures = exchange.figures
    record.charge = lambda calls: charge(tenant, calls, settings, time.time())
    exchange.observe = observe.call_lines(record.request_id)
    return exchange


def target_of(model: str, dialect: str, settings: Settings) -> Target:
    """Where a door of this dialect reaches the model. The demo's address is still a path. Raises RequestError for a
    model that leads nowhere."""
    return wire_for(route(model, settings), dialect)


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
