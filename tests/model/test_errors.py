"""The tree of errors: who broke the rule, and what the client's SDK may do about it."""

from __future__ import annotations

import pytest

from tests.named_rows import each_row
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


@pytest.mark.parametrize("value", ["0", "120", "Wed, 21 Oct 2026 07:28:00 GMT"])
def test_what_says_when_to_retry_is_passed_on(value: str) -> None:
    assert UpstreamError("busy", status=429, retry_after=value).retry_headers() == (("retry-after", value),)


@pytest.mark.parametrize(
    ("said", "seconds", "milliseconds"), [("1.5", "2", "1500"), ("0.0004", "1", "1"), ("3.0", "3", "3000")]
)
def test_a_fraction_of_a_second_is_told_in_both_headers(said: str, seconds: str, milliseconds: str) -> None:
    """`Retry-After` is a whole number: urllib3 raises for another one, in place of the retry."""
    headers = UpstreamError("busy", status=429, retry_after=said).retry_headers()
    assert headers == (("retry-after", seconds), ("retry-after-ms", milliseconds))


@each_row("value", ["", "soon", "1, 2", "-1", "9" * 5_000, "\xe9", "1\r\nset-cookie: a=b", "1\n"])
def test_what_does_not_say_it_is_not(value: str) -> None:
    assert UpstreamError("busy", status=429, retry_after=value).retry_headers() == ()


def test_a_secret_is_blotted_out_of_everything_an_upstream_wrote() -> None:
    error = UpstreamTimeout(
        "it was s3cret", code="s3cret", status=429, param="s3cret", retry_after="2", source=Source("a", b'"s3cret"')
    ).without("s3cret")

    assert type(error) is UpstreamTimeout
    assert (error.message, error.code, error.param, error.source) == ("it was ***", "***", "***", Source("a", b'"***"'))
    assert (str(error), error.status, error.retry_after) == ("it was ***", 429, "2")


def test_a_client_that_left_is_nobodys_error() -> None:
    assert not issubclass(ClientGone, GatewayError)
