"""POST /native/translate: shows the upstream's request for a client's, without sending it.

The exchange is opened without a credential, so the answer has none. Pure: an exchange in, bytes out.
"""

from __future__ import annotations

from toolwire.exchange.exchange import Exchange
from toolwire.wire.json import dump, write_object


def show(exchange: Exchange) -> bytes:
    """The request, as JSON, with its body embedded as it would be sent. `exchange` must be opened without a
    credential."""
    request, target = exchange.upstream_request, exchange.attempt.target
    warnings = exchange.figures.warnings.explained()
    return write_object(
        [
            ("object", b'"translation"'),
            ("door", dump(exchange.client.door.name)),
            ("provider", dump(target.provider.name)),
            ("wire", dump(target.provider.wire)),
            ("model", dump(target.model)),
            ("method", dump(request.method)),
            ("url", dump(request.url)),
            ("headers", dump(dict(request.headers))),
            ("body", request.body),
            ("warnings", dump(warnings)),
        ]
    )
