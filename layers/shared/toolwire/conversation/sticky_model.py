"""The model that a named conversation used last, so that a later turn need not name it.

It is one small item of the store, for conversations that the body names (`conversation_id`). It is written with the
turn's other items, and read when a turn names no model. It holds the target, not the alias: when an alias changes, the
conversation keeps its model. Pure: requests and items in, items and requests out.
"""

from __future__ import annotations

from toolwire.conversation.tool_call_ids import named_conversation
from toolwire.model.errors import RequestError
from toolwire.model.request import ChatRequest
from toolwire.model.settings import Target
from toolwire.model.source import replace
from toolwire.model.stored import Item, Key

#: The item's sort key. No call has this id, so a look-up of mappings does not find the item.
SORT = "conversation"


def sticky_key(request: ChatRequest, tenant: str) -> Key | None:
    """Where the conversation's model is kept; None for a conversation that the body does not name."""
    conversation = named_conversation(request, {}, tenant)
    return None if conversation is None else Key(conversation.partition(tenant), SORT)


def sticky_item(request: ChatRequest, tenant: str, target: Target, expires_at: int) -> Item | None:
    """The item to store after a turn; None if the body named no conversation. `expires_at` is in seconds since 1970."""
    key = sticky_key(request, tenant)
    if key is None:
        return None
    return Item(key, {"model": f"{target.provider.name}/{target.model}", "v": 1}, expires_at)


def with_sticky_model(request: ChatRequest, item: Item | None) -> ChatRequest:
    """The request with the model that the conversation used last, if it names none itself. Raises RequestError
    (`missing_required_parameter`) where none is known."""
    if request.model:
        return request
    model = item.values.get("model") if item is not None else None
    if not isinstance(model, str) or not model:
        raise RequestError(
            "`model` is required: this conversation has no earlier turn here, or it is too long ago; send a configured "
            "alias, or provider/model",
            param="model",
            code="missing_required_parameter",
        )
    return replace(request, model=model)
