"""Reads the items of a conversation's earlier turns before the upstream is asked, and writes those of this turn before
the client is sent its end.

A failure of the store never ends a turn: its code goes into the request's log line and metrics, and the answer has a
warning.
"""

from __future__ import annotations

import time

from toolwire.conversation import NOTHING_FOUND, Found, name_in, partition_of, wanted
from toolwire.exchange.prepare import ClientRequest
from toolwire.model.stored import STATE_PREFIX, Item, Key
from toolwire.shell.store.current import current_store
from toolwire.shell.store.store import READ_SECONDS, WARM_SECONDS, WRITE_SECONDS, StoreError
from toolwire.shell.telemetry.request_record import RequestRecord, milliseconds


def recall(client: ClientRequest, record: RequestRecord) -> Found:
    """What the store has of the conversations in the request's history. Without a minted id nothing is read."""
    tenant = client.tenant.name
    lookup = wanted(client.request, tenant, client.named)
    if not lookup.partitions:
        return NOTHING_FOUND
    store, began = current_store(), time.monotonic()
    store.warm(wait=WARM_SECONDS)
    deadline = time.monotonic() + READ_SECONDS
    items: list[Item] = []
    moved: dict[str, str] = {}  # the partition of a token -> that of the conversation's name
    try:
        for partition in lookup.partitions:
            found = store.mappings(partition, deadline=deadline)
            if (name := name_in(found)) is not None:
                moved[partition] = partition_of(tenant, name)
                found += store.mappings(moved[partition], deadline=deadline)
            items += found
        without = {STATE_PREFIX + item.key.sort for item in items if not item.values.get("has_state")}
        keys = [Key(moved.get(it.partition, it.partition), it.sort) for it in lookup.states if it.sort not in without]
        if keys:
            items += store.get(keys, deadline=deadline)
    except StoreError as error:
        record.store_failed("read", error)
        return Found.of(items, available=False)
    finally:
        record.store_read_ms = milliseconds(time.monotonic() - began)
    return Found.of(items)


def remember(items: tuple[Item, ...], record: RequestRecord) -> str | None:
    """Writes the turn's items. Returns an error's code if not all could be written."""
    began = time.monotonic()
    try:
        current_store().put(items, deadline=began + WRITE_SECONDS)
    except StoreError as error:
        record.store_failed("write", error)
        return error.code
    finally:
        record.store_write_ms = milliseconds(time.monotonic() - began)
    return None
