"""How long an answer may take, by the provider's settings, the tenant's and the client's headers."""

from __future__ import annotations

import pytest

from toolwire.exchange.time_limits import asked_limits, limits_for
from toolwire.model.errors import RequestError
from toolwire.model.settings import ProviderConfig, Tenant, TimeLimits


@pytest.mark.parametrize(
    ("provider", "tenant", "asked", "expected"),
    [
        (TimeLimits(), TimeLimits(), TimeLimits(), TimeLimits()),
        (TimeLimits(5, 6, 7), TimeLimits(), TimeLimits(), TimeLimits(5, 6, 7)),
        (TimeLimits(5, 6, 7), TimeLimits(50, None, 1), TimeLimits(), TimeLimits(50, 6, 1)),
        (TimeLimits(), TimeLimits(), TimeLimits(idle_seconds=3), TimeLimits(None, 3, None)),
        (TimeLimits(idle_seconds=2), TimeLimits(), TimeLimits(idle_seconds=3), TimeLimits(None, 2, None)),
        (TimeLimits(), TimeLimits(total_seconds=9), TimeLimits(total_seconds=3), TimeLimits(None, None, 3)),
    ],
)
def test_what_holds(provider: TimeLimits, tenant: TimeLimits, asked: TimeLimits, expected: TimeLimits) -> None:
    config = ProviderConfig("acme", "openai_chat", "http://a.example", time_limits=provider)
    assert limits_for(config, Tenant(time_limits=tenant), asked) == expected


def test_headers_are_seconds() -> None:
    given = {"x-toolwire-first-byte-seconds": "2.5", "x-toolwire-total-seconds": "30", "accept": "*/*"}
    assert asked_limits(given) == TimeLimits(first_byte_seconds=2.5, total_seconds=30)
    assert asked_limits({}) == TimeLimits()


@pytest.mark.parametrize("text", ["soon", "", "0", "-1", "nan", "inf", "901"])
def test_a_header_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(RequestError) as caught:
        asked_limits({"x-toolwire-idle-seconds": text})
    assert (caught.value.code, caught.value.param) == ("invalid_option", "x-toolwire-idle-seconds")
