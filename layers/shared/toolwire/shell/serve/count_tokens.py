"""Counts the tokens of a request, without an answer to it: see `Door.count_renderer`.

All is decided as for an answer (key, policy, route, history), so that the counted request is the one that would be
sent.
"""

from __future__ import annotations

from toolwire.exchange.exchange import Exchange
from toolwire.model.limits import ANSWER_BYTES
from toolwire.model.warnings import Warnings
from toolwire.providers import load_provider
from toolwire.providers.token_count import estimate, read_count
from toolwire.shell.network.upstream import upstream
from toolwire.shell.serve.signed_request import signed_request
from toolwire.shell.telemetry.request_record import RequestRecord


def count_tokens(exchange: Exchange, expires: float, record: RequestRecord) -> tuple[int, Warnings]:
    """The number of tokens of the exchange's request to its provider, and warnings about it. `expires` is a moment of
    `time.monotonic`. Raises GatewayError."""
    assert record.target is not None
    request, provider = exchange.upstream_request, load_provider(record.target.provider.wire)
    count = provider.count_request(request)
    tokens = None
    if count is not None:
        name = record.target.provider.name
        with upstream().send(signed_request(exchange, count.request), expires=expires, provider=name) as answer:
            body = answer.read(ANSWER_BYTES)
            if not 200 <= answer.status < 300 and answer.status not in count.absent:
                raise provider.parse_error(answer.status, answer.headers, body)
        tokens = read_count(body, count.member) if answer.status not in count.absent else None
    warnings = exchange.figures.warnings
    if tokens is None:
        tokens = estimate(request.body)
        warnings.add("token_count_estimated")
    return tokens, warnings
