"""How many tokens a request would have, without an answer to it: see `Door.count_renderer`.

Everything is decided as for an answer (key, policy, route, history), so that what is counted is what would be sent.
"""

from __future__ import annotations

import time
from dataclasses import replace

from toolwire.exchange.exchange import Exchange
from toolwire.exchange.prepare import HOP_HEADER
from toolwire.model.limits import ANSWER_BYTES
from toolwire.model.warnings import Warnings
from toolwire.providers import load_provider
from toolwire.providers.token_count import NO_COUNT, estimate, read_count
from toolwire.shell.serve import observe
from toolwire.shell.serve.door import upstream


def count_tokens(exchange: Exchange, expires: float, record: observe.RequestRecord) -> tuple[int, Warnings]:
    """The number of tokens of the exchange's request to its provider, and warnings about it. `expires` is a moment of
    `time.monotonic`. Raises GatewayError."""
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
    return tokens, warnings
