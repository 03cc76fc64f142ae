"""A request on its way to a provider: its last headers and signatures, and the connections that it is sent over."""

from __future__ import annotations

import functools
import time
from dataclasses import replace

from toolwire.exchange.exchange import Exchange
from toolwire.exchange.prepare import HOP_HEADER
from toolwire.model.http import UpstreamRequest
from toolwire.shell.access.aws_signing import signed
from toolwire.shell.network.upstream import Upstream


def outgoing(exchange: Exchange, request: UpstreamRequest) -> UpstreamRequest:
    """A request to the exchange's provider as it is sent: nothing of it changes after this. Raises GatewayError."""
    request = exchange.attempt.signed(replace(request, headers=(*request.headers, (HOP_HEADER, "1"))), time.time())
    return signed(request, exchange.attempt.target.provider)


@functools.cache
def upstream() -> Upstream:
    """The process's connections to providers."""
    return Upstream()
