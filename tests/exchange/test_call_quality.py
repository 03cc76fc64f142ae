"""A plan in the order of how fit models' calls have been."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolwire.exchange.call_quality import HALF_LIFE, LEAST_CALLS, Quality, in_order, noted, share_fit, shares
from toolwire.model.settings import ProviderConfig, Target

A, B, C, D = (Target(ProviderConfig(name, "openai_chat", f"http://{name}"), "m") for name in "abcd")
#: Another endpoint of the provider of A.
A2 = Target(ProviderConfig("a", "openai_chat", "http://a2"), "m")


def names(targets: tuple[Target, ...]) -> str:
    return " ".join(target.provider.base_url.removeprefix("http://") for target in targets)


@pytest.mark.parametrize(
    ("known", "order"),
    [
        ({}, "a b c d"),
        ({"a": 0.7, "b": 0.9, "c": 1.0, "d": 0.8}, "c b d a"),
        ({"a": 0.9, "b": 0.9, "c": 0.9, "d": 0.9}, "a b c d"),
        ({"a": 0.90, "b": 0.91, "c": 0.92, "d": 0.89}, "a b c d"),
        ({"a": 0.5, "c": 1.0}, "c b a d"),
        ({"b": 0.5}, "a b c d"),
        ({"b": 0.5, "d": 0.6}, "a d c b"),
    ],
    ids=[
        "nothing is known", "the best first", "as good as each other", "hardly better", "the unknown keeps its place",
        "one alone", "two behind",
    ],
)  # fmt: skip
def test_order(known: dict[str, float], order: str) -> None:
    assert names(in_order((A, B, C, D), {(name, "m"): share for name, share in known.items()})) == order


def test_the_endpoints_of_a_model_stay_together() -> None:
    assert names(in_order((A, A2, B), {("a", "m"): 0.5, ("b", "m"): 1.0})) == "b a a2"


@given(st.permutations([A, B, C, D]), st.dictionaries(st.sampled_from("abcd"), st.floats(0, 1)))
def test_an_order_has_all_targets_and_is_its_own_order(targets: list[Target], known: dict[str, float]) -> None:
    shares = {(name, "m"): share for name, share in known.items()}
    ordered = in_order(targets, shares)
    assert set(ordered) == set(targets)
    assert in_order(ordered, shares) == ordered


@pytest.mark.parametrize(
    ("calls", "faults", "share"), [(0, 0, 1.0), (10, 0, 1.0), (10, 1, 0.9), (10, 10, 0.0), (0, 3, 0.0), (10, 20, 0.0)]
)
def test_share(calls: int, faults: int, share: float) -> None:
    assert share_fit(calls, faults) == pytest.approx(share)


def test_what_was_seen_is_forgotten_and_the_model_gets_its_place_back() -> None:
    known = {("a", "m"): noted(noted(Quality(), 30, 6, 1000.0), 10, 2, 1000.0)}
    assert shares(known, 1000.0) == {("a", "m"): pytest.approx(0.8)}
    assert shares(known, 1000.0 + HALF_LIFE) == {("a", "m"): pytest.approx(0.8)}
    assert LEAST_CALLS > 40 / 4
    assert shares(known, 1000.0 + 2 * HALF_LIFE) == {}
    assert shares(known, 900.0) == {("a", "m"): pytest.approx(0.8)}


def test_what_is_newer_weighs_more() -> None:
    known = {("a", "m"): noted(noted(Quality(), 40, 40, 0.0), 40, 0, 4 * HALF_LIFE)}
    assert shares(known, 4 * HALF_LIFE)["a", "m"] == pytest.approx(1 - 2.5 / 42.5)
