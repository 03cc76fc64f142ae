"""Shows what the store of this process has of one conversation."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

from toolwire.conversation import partition_of
from toolwire.conversation.tool_call_ids import named_conversation
from toolwire.model.errors import RequestError
from toolwire.model.http import CONVERSATION_HEADER
from toolwire.model.request import ChatRequest
from toolwire.model.stored import NAME, Item
from toolwire.shell.store.current import current_store
from toolwire.shell.store.store import Store, StoreError

#: The seconds that the store may take.
_SECONDS = 20.0

#: The attributes of an item that are shown. Its state is not.
_TOLD = ("provider", "provider_call_id", "tool_name", "model", "conversation")


def look_up(store: Store, tenant: str, id: str) -> list[dict[str, Any]]:
    """The items of a tenant's conversation: each with its partition, its sort key, its call, the number of bytes of its
    state, and its expiry (seconds since 1970). `id`: the value of `x-conversation-id`. Raises StoreError."""
    return [_told(item) for item in _items(store, tenant, id)]


def forget(store: Store, tenant: str, id: str) -> int:
    """Deletes the items of a tenant's conversation. Returns how many there were. Raises StoreError."""
    items = _items(store, tenant, id)
    store.delete([item.key for item in items], deadline=time.monotonic() + _SECONDS)
    return len(items)


def as_json(asked: Mapping[str, str], *, forgets: bool = False) -> bytes:
    """`look_up`, or `forget`, in the store of this process. Raises RequestError."""
    tenant, id = asked.get("tenant", "default"), asked.get("id", "")
    try:
        if forgets:
            return json.dumps({"items": [], "forgotten": forget(current_store(), tenant, id)}).encode()
        return json.dumps({"items": look_up(current_store(), tenant, id), "forgotten": 0}).encode()
    except StoreError as error:
        raise RequestError(f"The store does not answer: {error}", status=503) from None


def _items(store: Store, tenant: str, id: str) -> list[Item]:
    """The items of the conversation, in the partitions of its name and its ids."""
    found = named_conversation(ChatRequest("", ()), {CONVERSATION_HEADER: id}, tenant)
    if found is None:
        return []
    deadline = time.monotonic() + _SECONDS
    places = [found.partition(tenant), partition_of(tenant, found.token)]
    items = [item for place in dict.fromkeys(places) for item in store.everything(place, deadline=deadline)]
    leads = (item.values["conversation"] for item in items if item.key.sort == NAME)
    more = {partition_of(tenant, str(name)) for name in leads} - set(places)
    return items + [item for place in sorted(more) for item in store.everything(place, deadline=deadline)]


def _told(item: Item) -> dict[str, Any]:
    said = {name: item.values[name] for name in _TOLD if item.values.get(name) not in (None, "")}
    state = item.values.get("data")
    size = {"state_bytes": len(state)} if isinstance(state, bytes) else {}
    place = {"partition": item.key.partition, "item": item.key.sort}
    return place | said | size | {"expires_at": item.expires_at}
