"""Answers with a shorter history in place of an answer. Only the same provider can read it: see `Door.compaction`.

All is decided as for an answer (key, policy, route), so that the compacted history is the one that would be sent.
"""

from __future__ import annotations

from toolwire.doors import Compaction
from toolwire.exchange.exchange import Exchange
from toolwire.model.limits import ANSWER_BYTES
from toolwire.providers import load_provider
from toolwire.shell.network.upstream import upstream
from toolwire.shell.serve.signed_request import signed_request
from toolwire.shell.telemetry.request_record import RequestRecord

#: The statuses of a path that a host does not have.
_ABSENT = (404, 405, 501)


def compact(shown: Compaction, exchange: Exchange, expires: float, record: RequestRecord) -> bytes:
    """The answer's body. `expires` is a moment of `time.monotonic`. Raises GatewayError; `shown.absent` if the provider
    has no compaction."""
    assert record.target is not None
    provider, name = load_provider(record.target.provider.wire), record.target.provider.name
    request = provider.compaction_request(exchange.upstream_request)
    if request is None:
        raise shown.absent(name)
    with upstream().send(signed_request(exchange, request), expires=expires, provider=name) as answer:
        body = answer.read(ANSWER_BYTES)
        if answer.status in _ABSENT:
            raise shown.absent(name)
        if not 200 <= answer.status < 300:
            raise provider.parse_error(answer.status, answer.headers, body)
    return shown.render(body)
