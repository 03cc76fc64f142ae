"""Completes a request to a provider: adds the last headers, then the signatures over them."""

from __future__ import annotations

import time
from dataclasses import replace

from toolwire.exchange.exchange import Exchange
from toolwire.exchange.prepare import HOP_HEADER
from toolwire.model.http import UpstreamRequest
from toolwire.shell.access.aws_signing import signed


def signed_request(exchange: Exchange, request: UpstreamRequest) -> UpstreamRequest:
    """The complete request to the exchange's provider: nothing of it may change after this. Raises GatewayError."""
    request = exchange.attempt.signed(replace(request, headers=(*request.headers, (HOP_HEADER, "1"))), time.time())
    return signed(request, exchange.attempt.target.provider)
