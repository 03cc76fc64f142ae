"""Reads kept answers from the store, for requests that continue from them."""

from __future__ import annotations

import time
from collections.abc import Iterable
from itertools import groupby

from toolwire.conversation.kept_answers import KeptAnswer, answer_keys, read_answer
from toolwire.doors import Door
from toolwire.model.errors import InternalError
from toolwire.model.request import ChatRequest
from toolwire.model.settings import Tenant
from toolwire.shell.store.current import current_store
from toolwire.shell.store.store import READ_SECONDS, WARM_SECONDS, StoreError
from toolwire.shell.telemetry import observe
from toolwire.shell.telemetry.request_record import RequestRecord


def with_kept_history(door: Door, request: ChatRequest, tenant: Tenant, record: RequestRecord) -> ChatRequest:
    """The request with the history of the kept answers that it names, for a tenant whose answers are kept. Raises
    RequestError for an unknown answer, and InternalError if the store cannot be asked: a conversation is not answered
    without its history."""
    named = door.named_answers(request) if tenant.keep_answers else None
    if named is None:
        return request
    answers: dict[str, KeptAnswer] = {}
    if named:
        current_store().warm(wait=WARM_SECONDS)
        deadline = time.monotonic() + READ_SECONDS
        try:
            answers = read_answers(tenant.name, named, deadline)
            earlier = [id for answer in answers.values() for id in answer.earlier if id not in answers]
            answers |= read_answers(tenant.name, earlier, deadline)
        except StoreError as error:
            record.store_failed("read", error)
            raise InternalError(
                "The kept answers cannot be read now: try again.", code="store_unavailable", status=503
            ) from error
    if answers and (watch := observe.current_watch.get()) is not None:
        watch.continued(answers)
    return door.continued(request, answers)


def read_answers(tenant: str, ids: Iterable[str], deadline: float) -> dict[str, KeptAnswer]:
    """The stored answers of these ids. Raises StoreError."""
    places = {key: id for id in dict.fromkeys(ids) for key in answer_keys(tenant, id)}
    items = current_store().get(list(places), deadline=deadline) if places else []
    found = {id: read_answer(parts) for id, parts in groupby(items, lambda item: places[item.key])}
    return {id: answer for id, answer in found.items() if answer is not None}
