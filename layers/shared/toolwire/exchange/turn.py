"""What all attempts to answer one request have in common."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from toolwire.conversation.tool_call_ids import Conversation
from toolwire.exchange.figures import Figures
from toolwire.exchange.prepare import ClientRequest


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of a conversation. `now` is in seconds since 1970, as is `expires_at`, until when the store keeps what
    the turn leaves there; `new_id` gives so many random characters for an id."""

    client: ClientRequest
    conversation: Conversation
    figures: Figures
    request_id: str
    now: Callable[[], float]
    new_id: Callable[[int], str]
    expires_at: int
