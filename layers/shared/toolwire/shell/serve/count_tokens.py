"""POST /messages/count_tokens: how many tokens a request would have, without an answer to it.

Everything is decided as for an answer (key, policy, route, history), so that what is counted is what would be sent.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

from toolwire.doors.messages.request import COUNT_DOOR
from toolwire.exchange.exchange import Exchange
from toolwire.exchange.prepare import HOP_HEADER
from toolwire.model.http import Headers, HttpRequest
from toolwire.model.limits import ANSWER_BYTES
from toolwire.model.warnings import HEADER, Warnings
from toolwire.providers import load_provider
from toolwire.providers.token_count import NO_COUNT, estimate, read_count
from toolwire.shell.serve import observe
from toolwire.shell.serve.admission import open_exchange
from toolwire.shell.serve.document import serve_document
from toolwire.shell.serve.door import seconds_left, upstream
from toolwire.shell.serve.output import Answer
from toolwire.shell.serve.proxy_event import is_proxy_event, resource
from toolwire.wire.json import dump


def is_count(event: Any) -> bool:
    """Whether an event is for this module: the function has two paths."""
    return is_proxy_event(event) and resource(event) == "/messages/count_tokens"


def serve_count(event: Any, context: Any) -> Answer:
    """The answer to one proxy event: a Head, then the body."""
    expires = time.monotonic() + seconds_left(context)

    def document(request: HttpRequest, record: observe.RequestRecord) -> tuple[bytes, Headers]:
        exchange = open_exchange(COUNT_DOOR, request, record)
        body, warnings = _count(exchange, expires, record)
        told = ((HEADER, warnings.header()),) if warnings else ()
        return body, (*told, *exchange.answer_headers)

    yield from serve_document(COUNT_DOOR.name, event, context, document, COUNT_DOOR.render_error)


def _count(exchange: Exchange, expires: float, record: observe.RequestRecord) -> tuple[bytes, Warnings]:
    """The count as the API has it, and codes of warnings. Raises GatewayError."""
    assert record.target is not None
    request, provider = exchange.upstream_request, load_provider(record.target.provider.wire)
    count = provider.count_request(request)
    tokens = None
    if count is not None:
        asked = replace(count.request, headers=(*count.request.headers, (HOP_HEADER, "1")))
        with upstream().send(exchange.attempt.signed(asked, time.time()), expires=expires) as answer:
            body = answer.read(ANSWER_BYTES)
            if not 200 <= answer.status < 300 and answer.status not in NO_COUNT:
                raise provider.parse_error(answer.status, answer.headers, body)
        tokens = read_count(body, count.member) if answer.status not in NO_COUNT else None
    warnings = exchange.figures.warnings
    if tokens is None:
        tokens = estimate(request.body)
        warnings.add("token_count_estimated")
    return dump({"input_tokens": tokens}), warnings
