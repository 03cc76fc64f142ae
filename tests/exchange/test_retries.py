"""Whom a failed request is sent to next, and when."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from tests.named_rows import each_row
from toolwire.exchange.plan import Plan
from toolwire.exchange.retries import Attempts, Next, who_may_follow
from toolwire.model.errors import (
    GatewayError,
    InternalError,
    RequestError,
    UpstreamError,
    UpstreamProtocolError,
    UpstreamTimeout,
    UpstreamTruncated,
)
from toolwire.model.settings import ProviderConfig, Retries, Target
from toolwire.providers.upstream_errors import credential_refused, retry_of

A, B, C = (Target(ProviderConfig(name, "openai_chat", f"http://{name}"), "m") for name in "abc")


def refusal(status: int, retry_after: str | None = None) -> UpstreamError:
    return UpstreamError("no", status=status, retry=retry_of(status), retry_after=retry_after)


@each_row(
    ("error", "status", "others"),
    [
        *((refusal(status), status, "any") for status in (408, 429, 500, 502, 503, 504, 529)),
        *((refusal(status), status, "none") for status in (400, 404, 405, 413, 422)),
        (refusal(402), 402, "another"),
        (credential_refused(401), 401, "another"),
        (credential_refused(403), 403, "another"),
        (UpstreamError("no address", code="upstream_unreachable"), None, "any"),
        (UpstreamTimeout("late"), None, "any"),
        (UpstreamTimeout("late"), 200, "any"),
        (UpstreamTruncated("cut"), 200, "any"),
        (UpstreamProtocolError("a web page"), 200, "any"),
        (refusal(529), 200, "any"),  # an error event
        (UpstreamError("failed", code="server_error"), 200, "any"),
        (refusal(400), 200, "none"),
        (UpstreamProtocolError("too long", code="tool_not_allowed"), 200, "none"),
        (UpstreamError("the model's", code="upstream_malformed_function_call"), 200, "none"),
        (RequestError("ours"), None, "none"),
        (InternalError("a bug"), 200, "none"),
    ],
    ids=lambda value: f"{value.code}-{value.status}" if isinstance(value, GatewayError) else None,
)
def test_what_failed_says_who_may_follow(error: GatewayError, status: int | None, others: str) -> None:
    assert who_may_follow(error, status) == others


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def far_from_greenwich(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as place:
        place.setenv("TZ", "JST-9")
        time.tzset()
        yield
    time.tzset()


def attempts(*targets: Target, attempts: int | None = None, seconds: float = 60.0, chance: float = 1.0) -> Attempts:
    plan = Plan(targets[0], targets[1:], Retries(attempts))
    return Attempts(plan, 1000.0 + seconds, Clock(), lambda: chance)


@each_row(
    ("made", "error", "expected"),
    [
        (attempts(A), refusal(500), []),
        (attempts(A, B, C), refusal(500), [(B, 0), (C, 0)]),
        (attempts(A, B, C), credential_refused(401), [(B, 0), (C, 0)]),
        (attempts(A, B, C), refusal(400), []),
        (attempts(A, B, C, attempts=2), refusal(500), [(B, 0)]),
        (attempts(A, attempts=5), refusal(500), [(A, 0.5), (A, 1.0), (A, 2.0), (A, 4.0)]),
        (attempts(A, attempts=5, chance=0.5), refusal(500), [(A, 0.25), (A, 0.5), (A, 1.0), (A, 2.0)]),
        (attempts(A, attempts=9), refusal(500), [(A, 0.5 * 2**n) for n in range(5)] + [(A, 8.0)] * 3),
        (attempts(A, B, attempts=4), refusal(500), [(B, 0), (A, 0.5), (B, 0)]),
        (attempts(A, B, attempts=4), credential_refused(401), [(B, 0)]),
        (attempts(A, attempts=2), refusal(429, "7"), [(A, 7.0)]),
        (attempts(A, attempts=2), refusal(429, "0.25"), [(A, 0.5)]),
        (attempts(A, attempts=2), refusal(429, "Thu, 01 Jan 1970 00:17:00 GMT"), [(A, 20.0)]),
        (attempts(A, attempts=2), refusal(429, " 7 "), [(A, 7.0)]),
        # Dates that name no zone are in UTC too, wherever the gateway runs.
        (attempts(A, attempts=2), refusal(429, "Thu, 01 Jan 1970 00:17:00 -0000"), [(A, 20.0)]),
        (attempts(A, attempts=2), refusal(429, "Thu Jan  1 00:17:00 1970"), [(A, 20.0)]),
        (attempts(A, attempts=2), refusal(429, "Thursday, 01-Jan-70 00:17:00 GMT"), [(A, 20.0)]),
        (attempts(A, attempts=2), refusal(429, "Thu, 01 Jan 1970 02:17:00 +0200"), [(A, 20.0)]),
        (attempts(A, attempts=2), refusal(429, "soon"), [(A, 0.5)]),
        (attempts(A, attempts=2), refusal(429, "1_0"), [(A, 0.5)]),
        (attempts(A, attempts=2), refusal(429, "-5"), [(A, 0.5)]),
        (attempts(A, attempts=2), refusal(429, "nan"), [(A, 0.5)]),
        (attempts(A, attempts=2), refusal(429, "inf"), [(A, 0.5)]),
        (attempts(A, attempts=2), refusal(429, "9" * 5_000), []),
        (attempts(A, attempts=2), refusal(429, "60"), []),  # not within the budget
        (attempts(A, attempts=2), refusal(429, "1e999"), [(A, 0.5)]),
        (attempts(A, B), refusal(429, "600"), [(B, 0)]),
        (attempts(A, attempts=5, seconds=1.0), refusal(500), [(A, 0.5)]),
    ],
)
@pytest.mark.usefixtures("far_from_greenwich")
def test_attempts_follow_the_plan(made: Attempts, error: GatewayError, expected: list[tuple[Target, float]]) -> None:
    clock = made._now
    assert isinstance(clock, Clock)
    seen = []
    while (following := made.after(error, error.status)) is not None:
        seen.append((following.target, round(following.pause, 6)))
        assert made.target == following.target
        clock.now += following.pause

    assert seen == expected
    assert made.count == len(expected) + 1


def test_a_target_that_cannot_be_asked_costs_no_attempt() -> None:
    made = attempts(A, B, C, attempts=2)

    assert made.instead() == Next(B, 0.0)
    assert made.after(refusal(500), 500) == Next(C, 0.0)
    assert made.count == 2
    assert made.instead() == Next(B, 0.5)
    assert made.instead() is None
