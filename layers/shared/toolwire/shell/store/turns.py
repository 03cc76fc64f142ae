"""What earlier turns of a conversation have left in the store, read before the upstream is asked; and what this turn
leaves there, written before the client hears that it is over.

A store that fails costs fidelity, never the turn: its error's code goes into the request's log line and metrics, and
the answer carries a warning.
"""

from __future__ import annotations

import time

from toolwire.conversation import NOTHING_FOUND, Found, wanted
from toolwire.model.request import ChatRequest
from toolwire.model.stored import STATE_PREFIX, Item
from toolwire.shell.serve import observe
from toolwire.shell.store.current import current_store
from toolwire.shell.store.store import READ_SECONDS, WARM_SECONDS, WRITE_SECONDS, StoreError


def recall(request: ChatRequest, record: observe.RequestRecord) -> Found:
    """What the store has of the conversations in the request's history. Without an id of ours nothing is read."""
    lookup = wanted(request, record.tenant or "")
    if not lookup.partitions:
        return NOTHING_FOUND
    store, began = current_store(), time.monotonic()
    store.warm(wait=WARM_SECONDS)
    deadline = time.monotonic() + READ_SECONDS
    items: list[Item] = []
    try:
        for partition in lookup.partitions:
            items += store.mappings(partition, deadline=deadline)
        without = {STATE_PREFIX + item.key.sort for item in items if not item.values.get("has_state")}
        if states := [key for key in lookup.states if key.sort not in without]:
            items += store.get(states, deadline=deadline)
    except StoreError as error:
        record.store_failed("read", error)
        return Found.of(items, available=False)
    finally:
        record.store_read_ms = observe.milliseconds(time.monotonic() - began)
    return Found.of(items)


def remember(items: tuple[Item, ...], record: observe.RequestRecord) -> str | None:
    """Writes what the turn leaves. Returns an error's code where not all of it could be written."""
    began = time.monotonic()
    try:
        current_store().put(items, deadline=began + WRITE_SECONDS)
    except StoreError as error:
        record.store_failed("write", error)
        return error.code
    finally:
        record.store_write_ms = observe.milliseconds(time.monotonic() - began)
    return None
