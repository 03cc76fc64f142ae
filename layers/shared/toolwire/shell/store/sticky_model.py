"""Asks the store for the model of a conversation's last turn: see `conversation.sticky_model`."""

from __future__ import annotations

import time

from toolwire.conversation.sticky_model import sticky_key, with_sticky_model
from toolwire.model.request import ChatRequest
from toolwire.shell.store.current import current_store
from toolwire.shell.store.store import READ_SECONDS, WARM_SECONDS, StoreError
from toolwire.shell.telemetry.request_record import RequestRecord


def with_known_model(request: ChatRequest, record: RequestRecord) -> ChatRequest:
    """The request with its model. The store is asked only if the request names none; a failure counts as an unknown
    model. Notes the request in the record. Raises RequestError: see `with_sticky_model`."""
    found = _known(request, record)
    record.requested_model, record.tools = found.model, len(found.tools)
    return found


def _known(request: ChatRequest, record: RequestRecord) -> ChatRequest:
    key = None if request.model else sticky_key(request, record.tenant or "")
    if key is None:
        return with_sticky_model(request, None)
    store = current_store()
    store.warm(wait=WARM_SECONDS)
    try:
        found = store.get([key], deadline=time.monotonic() + READ_SECONDS)
    except StoreError as error:
        record.store_failed("read", error)
        found = []
    return with_sticky_model(request, found[0] if found else None)
