"""The values that all attempts at one request share: the client, the conversation, the clock, the figures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from toolwire.conversation.tool_call_ids import TOKEN_CHARS, Conversation, find_conversation, opening_token
from toolwire.doors import Door
from toolwire.exchange.figures import Figures
from toolwire.exchange.prepare import ClientRequest
from toolwire.model.settings import Target
from toolwire.model.warnings import Warnings
from toolwire.providers import load_provider, profile_of


@dataclass(frozen=True, slots=True)
class RequestContext:
    """One request, which is one turn of a conversation. `now` gives the time, in seconds since 1970. `expires_at`,
    likewise: until then the store keeps the turn's items. `new_id(n)` gives n random characters for an id."""

    client: ClientRequest
    conversation: Conversation
    figures: Figures
    request_id: str
    now: Callable[[], float]
    new_id: Callable[[int], str]
    expires_at: int


def request_context(
    client: ClientRequest,
    target: Target,
    *,
    request_id: str,
    now: Callable[[], float],
    new_id: Callable[[int], str],
    state_seconds: int,
) -> RequestContext:
    """The context of a request whose first attempt is at this target. The store keeps the turn's items for
    `state_seconds`."""
    conversation = conversation_of(client, target, new_id)
    figures = Figures(client.request.stream, client.door.dialect, warnings=Warnings(client.warnings))
    return RequestContext(client, conversation, figures, request_id, now, new_id, int(now()) + state_seconds)


def keeps_ids(door: Door, target: Target) -> bool:
    """Whether a client of this door sees the provider's own ids: it speaks the same API, and the ids lead to no state
    beyond the API's documented fields."""
    lanes = load_provider(target.provider.wire).lanes
    return door.dialect in lanes and not profile_of(target).yields_state


def conversation_of(client: ClientRequest, target: Target, new_id: Callable[[int], str]) -> Conversation:
    """The conversation of a request to this target. It is the one that the client names; else that of the newest minted
    id in the history; else, where the client sees the provider's own ids, one derived from the conversation's opening;
    else a new one."""
    if (named := client.named) is not None:
        return named
    request, tenant = client.request, client.tenant.name
    by_opening = keeps_ids(client.door, target) and profile_of(target).documented_ids
    return find_conversation(request, lambda: opening_token(request, tenant) if by_opening else new_id(TOKEN_CHARS))
