"""Answers GET and DELETE /responses/{id}, GET /responses/{id}/input_items and POST /responses/{id}/cancel, for tenants
whose answers are kept."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from toolwire.conversation.kept_answers import KeptAnswer, answer_keys, input_of
from toolwire.doors.responses.errors import answer_not_found, no_kept_answers, no_stream_of_kept, not_cancellable
from toolwire.doors.responses.request import DOOR
from toolwire.model.errors import InternalError
from toolwire.model.http import Headers, HttpRequest
from toolwire.model.stored import Item
from toolwire.shell.network.output import Answer
from toolwire.shell.network.proxy_event import is_proxy_event, resource
from toolwire.shell.serve.admission import admit_client
from toolwire.shell.serve.json_endpoint import serve_document
from toolwire.shell.store.current import current_store
from toolwire.shell.store.kept_answers import read_answers
from toolwire.shell.store.store import READ_SECONDS, WARM_SECONDS, WRITE_SECONDS, StoreError
from toolwire.shell.telemetry.request_record import RequestRecord
from toolwire.wire.json import dump

_PLACE = "/responses/{id}"


def is_about_kept(event: Any) -> bool:
    """Whether an event is a client's request about a kept answer."""
    return is_proxy_event(event) and resource(event).startswith(_PLACE)


def serve_kept_answer(event: Any, context: Any) -> Answer:
    """The answer to one proxy event: a Head, then the body."""
    yield from serve_document("responses", event, context, _document, DOOR.render_error)


def _document(request: HttpRequest, record: RequestRecord) -> tuple[bytes, Headers]:
    admitted = admit_client(DOOR, request, record)
    tenant, id = admitted.tenant, request.parameters.get("id", "")
    if not tenant.keep_answers:
        raise no_kept_answers()
    current_store().warm(wait=WARM_SECONDS)
    deadline = time.monotonic() + READ_SECONDS
    try:
        found = read_answers(tenant.name, [id], deadline)
        if id not in found:
            raise answer_not_found(id)
        match request.method, request.path.removeprefix(_PLACE):
            case "DELETE", _:
                body = _removed(tenant.name, id)
            case "POST", "/cancel":
                raise not_cancellable()
            case _, "/input_items":
                body = _listed(tenant.name, id, found, request.query, deadline)
            case _:
                if request.query.get("stream", "false") != "false":
                    raise no_stream_of_kept()
                body = found[id].response
    except StoreError as error:
        record.store_failed("write" if request.method == "DELETE" else "read", error)
        raise InternalError(
            "The store cannot be asked now: try again.", code="store_unavailable", status=503
        ) from error
    return body, admitted.rate_headers


def _removed(tenant: str, id: str) -> bytes:
    # Nobody gets what has expired; what was written over is gone at once.
    gone = [Item(key, {"v": 1}, int(time.time())) for key in answer_keys(tenant, id)]
    current_store().put(gone, deadline=time.monotonic() + WRITE_SECONDS)
    return dump({"id": id, "object": "response", "deleted": True})


def _listed(tenant: str, id: str, found: dict[str, KeptAnswer], query: Mapping[str, str], deadline: float) -> bytes:
    """The input of the answer, with the whole conversation before it. Raises RequestError (404) if an earlier answer
    has expired; then no request can continue from this one either."""
    from toolwire.doors.responses.input_items import input_items  # few requests ask for it

    history = input_of(id, found | read_answers(tenant, found[id].earlier, deadline))
    if history is None:
        raise answer_not_found(id)
    return input_items(history, id, query)
