"""The model that a named conversation used last, so that a later turn need not name it.

One small item of the store for a conversation whose client named it in the body (`conversation_id`), written with what
the turn leaves behind and read when a turn names no model. It holds the target, not the alias: an alias that is given
another meaning does not move a conversation. Pure: requests and items in, items and requests out.
"""

from __future__ import annotations

from dataclasses import replace

from toolwire.conversation import partition_of
from toolwire.conversation.tool_call_ids import find_conversation
from toolwire.model.errors import RequestError
from toolwire.model.request import ChatRequest
from toolwire.model.settings import Target
from toolwire.model.stored import Item, Key

#: The item's sort key. It is no call's id, so a look-up of mappings does not find it.
SORT = "conversation"


def sticky_key(request: ChatRequest, tenant: str) -> Key | None:
    """Where the conversation's model is kept; None for a conversation that the body does not name."""
    if request.conversation_id is None:
        return None
    conversation = find_conversation(request, {}, tenant, _no_id)
    return Key(partition_of(tenant, conversation.token), SORT)


def sticky_item(request: ChatRequest, tenant: str, target: Target, expires_at: int) -> Item | None:
    """What a turn leaves; None where nothing is to be kept. `expires_at` is in seconds since 1970."""
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


def _no_id(length: int) -> str:
    raise AssertionError(f"a named conversation needs no new id of {length} characters")
