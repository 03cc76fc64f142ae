"""When a target is not asked any more, and when it is asked again."""

from __future__ import annotations

import pytest

from tests.named_rows import each_row
from toolwire.exchange.breaker import CLOSED, Circuit, Outcomes, after_failure, after_success, claimed, is_failure
from toolwire.model.errors import GatewayError, RequestError, UpstreamError, UpstreamProtocolError, UpstreamTruncated
from toolwire.model.settings import BreakerRules

RULES = BreakerRules(failures=3, seconds=30, open_seconds=10)

#: What happens at which second, and for how long the target must not be asked then. An attempt ends in the second in
#: which it began, or as "fail since 3".
Story = list[tuple[float, str, float]]

STORIES: dict[str, Story] = {
    "nothing has failed": [(0, "ask", 0), (0, "ask", 0)],
    "two failures do not open it": [(0, "fail", 0), (1, "fail", 0), (2, "ask", 0)],
    "three do": [(0, "fail", 0), (1, "fail", 0), (2, "fail", 0), (2, "ask", 10), (11.5, "ask", 0.5)],
    "a success between them is none of its business": [
        (0, "fail", 0), (1, "fail", 0), (1, "succeed", 0), (2, "fail", 0), (2, "ask", 10),
    ],
    "three within the window": [
        (0, "fail", 0), (20, "fail", 0), (31, "fail", 0), (31, "ask", 0), (32, "fail", 0), (32, "ask", 10),
    ],
    "one request tries": [
        (0, "fail", 0), (0, "fail", 0), (0, "fail", 0), (10, "ask", 0),
        (10, "ask", 10), (15, "ask", 5),
    ],
    "its success closes it": [
        (0, "fail", 0), (0, "fail", 0), (0, "fail", 0), (10, "ask", 0),
        (11, "succeed", 0), (11, "ask", 0), (11, "fail", 0),
        (11, "ask", 0),
    ],
    "its failure opens it anew": [
        (0, "fail", 0), (0, "fail", 0), (0, "fail", 0), (10, "ask", 0),
        (12, "fail", 0), (12, "ask", 10), (22, "ask", 0),
    ],
    "one that never ends lets the next one try": [
        (0, "fail", 0), (0, "fail", 0), (0, "fail", 0), (10, "ask", 0),
        (19.9, "ask", 0.1), (20, "ask", 0), (20, "ask", 10),
    ],
    "an attempt that began before it opened does not close it": [
        (0, "fail", 0), (1, "fail", 0), (2, "fail", 0), (3, "succeed since 1", 0), (3, "ask", 9),
    ],
    "nor keep it open for longer": [
        (0, "fail", 0), (1, "fail", 0), (2, "fail", 0), (9, "fail since 1", 0), (9, "ask", 3), (12, "ask", 0),
    ],
    "nor speak for the one that tries": [
        (0, "fail", 0), (1, "fail", 0), (2, "fail", 0), (12, "ask", 0),
        (13, "fail since 1", 0), (13, "succeed since 1", 0), (13, "ask", 9),
        (14, "succeed since 12", 0), (14, "ask", 0),
    ],
    "one that ends after the next one failed is of the past": [
        (0, "fail", 0), (0, "fail", 0), (0, "fail", 0), (10, "ask", 0), (20, "ask", 0),
        (21, "fail since 20", 0), (22, "succeed since 10", 0), (22, "ask", 9),
    ],
    "a clock that was set back by an hour, and one request tries": [
        (3600, "fail", 0), (3600, "fail", 0), (3600, "fail", 0), (0, "ask", 0), (0, "ask", 10),
        (1, "succeed since 0", 0), (1, "ask", 0),
    ],
    "and fails": [
        (3600, "fail", 0), (3600, "fail", 0), (3600, "fail", 0), (0, "ask", 0), (2, "fail since 0", 0), (2, "ask", 10),
    ],
    "what failed at an hour that is not yet counts no more": [
        (3600, "fail", 0), (3600, "fail", 0), (0, "fail", 0), (0, "ask", 0),
    ],
    "a clock that is a little ahead": [
        (3, "fail", 0), (3, "fail", 0), (0, "fail", 0), (0, "ask", 10), (3, "fail since 1", 0), (9, "ask", 1),
    ],
    "the last of many that wait for a dead host counts once it is closed again": [
        (0, "fail", 0), (0, "fail", 0), (0, "fail", 0), (10, "ask", 0), (11, "succeed since 10", 0),
        (12, "fail since 0", 0), (12, "fail", 0), (12, "ask", 0), (12, "fail", 0), (12, "ask", 10),
    ],
}  # fmt: skip


@each_row("story", STORIES.values(), ids=STORIES)
def test_a_circuit_opens_and_closes(story: Story) -> None:
    circuit = CLOSED
    for now, what, expected in story:
        wait = 0.0
        what, _, since = what.partition(" since ")
        began = 1000 + float(since or now)
        if what == "ask":
            circuit, wait = claimed(circuit, RULES, 1000 + now)
        elif what == "fail":
            circuit = after_failure(circuit, RULES, 1000 + now, began)
        else:
            circuit = after_success(circuit, began)
        assert wait == pytest.approx(expected), (now, what)


def test_a_success_in_a_closed_circuit_changes_nothing() -> None:
    circuit = after_failure(CLOSED, RULES, 1000, 999)
    assert after_success(circuit, 1000) is circuit
    assert after_success(CLOSED, 1000) is CLOSED


def test_a_circuit_bears_no_more_failures_than_it_needs() -> None:
    circuit = CLOSED
    for now in range(100):
        circuit = after_failure(circuit, RULES, now, now)
    assert circuit == Circuit((97, 98, 99), 109)


@pytest.mark.parametrize(
    ("outcomes", "counts"),
    [
        ("f", True),
        ("ff", True),
        ("sf", True),
        ("ssf", False),
        ("fff" + "s" * 8 + "f", False),
        ("s" * 9 + "f" * 5, True),
    ],
)
def test_a_failure_of_a_target_that_mostly_answers_is_no_sign(outcomes: str, counts: bool) -> None:
    seen = Outcomes()
    assert [seen.note(failed=outcome == "f") for outcome in outcomes][-1] is counts


@each_row(
    ("error", "status", "expected"),
    [
        (UpstreamError("no", status=500), 500, True),
        (UpstreamError("no", status=529), 200, True),
        (UpstreamError("no", code="upstream_unreachable"), None, True),
        (UpstreamTruncated("cut"), 200, True),
        (UpstreamError("no", status=429), 429, False),
        (UpstreamError("no", status=400, retry=False), 400, False),
        (UpstreamProtocolError("no", code="tool_not_allowed"), 200, False),
        (RequestError("no"), None, False),
    ],
)
def test_what_counts_as_a_failure_of_the_target(error: GatewayError, status: int | None, expected: bool) -> None:
    assert is_failure(error, status) is expected
