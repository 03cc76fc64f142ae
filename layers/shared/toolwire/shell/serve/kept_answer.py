"""GET and DELETE /responses/{id}: an answer that was kept, for a tenant that has answers kept."""

from __future__ import annotations

import time
from typing import Any

from toolwire.conversation.kept_answers import answer_keys
from toolwire.doors.responses.errors import answer_not_found, no_kept_answers
from toolwire.doors.responses.request import DOOR
from toolwire.model.errors import InternalError
from toolwire.model.http import Headers, HttpRequest
from toolwire.model.stored import Item
from toolwire.shell.serve import observe
from toolwire.shell.serve.admission import admit_client
from toolwire.shell.serve.document import serve_document
from toolwire.shell.serve.output import Answer
from toolwire.shell.serve.proxy_event import is_proxy_event, resource
from toolwire.shell.store.current import current_store
from toolwire.shell.store.kept_answers import read_answers
from toolwire.shell.store.store import READ_SECONDS, WARM_SECONDS, WRITE_SECONDS, StoreError
from toolwire.wire.json import dump


def is_about_kept(event: Any) -> bool:
    """Whether an event is a client's request about a kept answer."""
    return is_proxy_event(event) and resource(event) == "/responses/{id}"


def serve_kept_answer(event: Any, context: Any) -> Answer:
    """The answer to one proxy event: a Head, then the body."""
    yield from serve_document("responses", event, context, _document, DOOR.render_error)


def _document(request: HttpRequest, record: observe.RequestRecord) -> tuple[bytes, Headers]:
    admitted = admit_client(DOOR, request, record)
    tenant, id = admitted.tenant, request.parameters.get("id", "")
    if not tenant.keep_answers:
        raise no_kept_answers()
    store = current_store()
    store.warm(wait=WARM_SECONDS)
    try:
        found = read_answers(tenant.name, [id], time.monotonic() + READ_SECONDS)
        if id not in found:
            raise answer_not_found(id)
        if request.method != "DELETE":
            return found[id].response, admitted.rate_headers
        # Nobody gets what has expired; what was written over is gone at once.
        gone = [Item(key, {"v": 1}, int(time.time())) for key in answer_keys(tenant.name, id)]
        store.put(gone, deadline=time.monotonic() + WRITE_SECONDS)
    except StoreError as error:
        record.store_failed("read" if request.method != "DELETE" else "write", error)
        raise InternalError(
            "The store cannot be asked now: try again.", code="store_unavailable", status=503
        ) from error
    return dump({"id": id, "object": "response", "deleted": True}), admitted.rate_headers
