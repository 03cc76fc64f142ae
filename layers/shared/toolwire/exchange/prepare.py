"""Checks a client's request and finds its target. Every entry of the gateway takes these steps, so that each checks the
same things in the same order:

    check_loop(headers)                        the request is not one that the gateway sent itself
    prepare(door, http, settings, tenant)      the tenant's door; the body; its model; options, tools and tool_choice;
                                               the model's target; whether the tenant may use it
    prepare_attempt(client, target, ...)       for each target: the history, and what its provider takes

The shell does the IO between them: it looks up the key before `prepare`, and the credential and the state of earlier
turns before an attempt. Only the third step depends on the target, so another attempt begins there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from toolwire.conversation import Conversation
from toolwire.conversation.sticky_model import with_sticky_model
from toolwire.conversation.tool_call_ids import named_conversation
from toolwire.doors import Door
from toolwire.exchange.call_quality import is_ordered
from toolwire.exchange.routing import check_door, check_model, route
from toolwire.model.errors import RequestError
from toolwire.model.http import HttpRequest
from toolwire.model.request import ChatRequest
from toolwire.model.settings import Settings, Target, Tenant
from toolwire.policy.checked_request import checked_request
from toolwire.policy.rules import ToolRules, with_rules
from toolwire.providers.wire_choice import wire_for
from toolwire.wire.json import whole_characters

#: Every request that we send has this header, so that one that comes back to us is recognised.
HOP_HEADER = "x-toolwire-hop"

#: Warning: a text of the request was cut within a character, as our own answers may have been; no provider takes it.
_HALF_REPLACED = "half_character_replaced"


@dataclass(frozen=True, slots=True)
class ClientRequest:
    """A client's request that was read and checked. `warnings`: the codes of warnings about it."""

    door: Door
    http: HttpRequest
    tenant: Tenant
    request: ChatRequest
    rules: ToolRules
    warnings: tuple[str, ...]

    @property
    def named(self) -> Conversation | None:
        """The conversation that the client names, if it names one."""
        return named_conversation(self.request, self.http.headers, self.tenant.name, self.door.conversation_headers)


def check_loop(headers: dict[str, str]) -> None:
    """Raises RequestError (508) for a request that we have sent ourselves. Names of headers in lower case."""
    if HOP_HEADER in headers:
        message = "This request comes from this gateway: a provider's base URL leads back to it."
        raise RequestError(message, status=508, code="loop_detected")


def without_earlier_turns(request: ChatRequest) -> ChatRequest:
    """The request with its model, for entries that have no store to look up the model of earlier turns."""
    return with_sticky_model(request, None)


def with_whole_characters(http: HttpRequest) -> tuple[HttpRequest, tuple[str, ...]]:
    """The request with U+FFFD for each half of a character in its body, and the code of the warning about them."""
    body = whole_characters(http.body)
    return (http, ()) if body is http.body else (replace(http, body=body), (_HALF_REPLACED,))


def read_request(
    door: Door,
    http: HttpRequest,
    tenant: Tenant,
    with_model: Callable[[ChatRequest], ChatRequest] = without_earlier_turns,
) -> ClientRequest:
    """Reads the request, and checks all that does not depend on its target. `with_model` adds the model to a request
    that names none. Raises RequestError."""
    check_door(tenant, door.name)
    readable, halves = with_whole_characters(http)
    request = with_model(door.parse_request(readable))
    checked = checked_request(door.name, request, http.headers, tenant)
    return ClientRequest(door, http, tenant, checked.request, checked.rules, (*halves, *checked.warnings))


def prepare(
    door: Door,
    http: HttpRequest,
    settings: Settings,
    tenant: Tenant,
    with_model: Callable[[ChatRequest], ChatRequest] = without_earlier_turns,
) -> tuple[ClientRequest, Target]:
    """Reads and checks the request (`read_request`), and finds its target. The demo provider's address is still a path
    in it. Raises RequestError."""
    client = read_request(door, http, tenant, with_model)
    target = target_of(client.request.model, door.dialect, settings)
    check_model(tenant, client.request.model, target)
    if client.rules.validate_tool_arguments == "off" and is_ordered(client.request.model, target, settings):
        client = _judged(client)
    return client, target


def _judged(client: ClientRequest) -> ClientRequest:
    """The request with validation of arguments switched on, since the order of its models depends on the faults
    found."""
    rules = replace(client.rules, validate_tool_arguments="annotate")
    return replace(client, rules=rules, request=with_rules(client.request, rules))


def target_of(model: str, dialect: str, settings: Settings) -> Target:
    """The target of a model for a door of this dialect. Raises RequestError for an unknown model."""
    return wire_for(route(model, settings), dialect)
