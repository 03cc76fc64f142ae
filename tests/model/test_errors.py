"""The tree of errors: who broke the rule, and what the client's SDK may do about it."""

from __future__ import annotations

import pytest

from toolwire.model.errors import (
    ClientGone,
    GatewayError,
    InternalError,
    RequestError,
    UpstreamError,
    UpstreamProtocolError,
    UpstreamTimeout,
    UpstreamTruncated,
)
from toolwire.model.source import Source


@pytest.mark.parametrize(
    ("kind", "status", "code", "retry"),
    [
        (RequestError, 400, "invalid_request", False),
        (UpstreamError, 502, "upstream_error", None),
        (UpstreamTimeout, 504, "upstream_timeout", None),
        (UpstreamTruncated, 502, "upstream_truncated", None),
        (UpstreamProtocolError, 502, "upstream_protocol_error", None),
        (InternalError, 500, "internal_error", None),
    ],
)
def test_defaults(kind: type[GatewayError], status: int, code: str, retry: bool | None) -> None:
    error = kind("what happened")

    assert (error.status, error.code, error.retry) == (status, code, retry)
    assert (error.param, error.retry_after, error.source) == (None, None, None)
    assert str(error) == error.message == "what happened"


def test_what_is_given_wins_and_stays_with_its_error() -> None:
    source = Source("openai_chat", b"{}")
    error = UpstreamError(
        "busy", code="rate_limit_exceeded", status=429, param="model", retry=False, retry_after="2", source=source
    )

    assert (error.code, error.status, error.param) == ("rate_limit_exceeded", 429, "model")
    assert (error.retry, error.retry_after, error.source) == (False, "2", source)
    assert UpstreamError("other").status == 502


def test_a_client_that_left_is_nobodys_error() -> None:
    assert not issubclass(ClientGone, GatewayError)
