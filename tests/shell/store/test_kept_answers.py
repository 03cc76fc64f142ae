"""Kept answers in every store: whole however large, gone when they expire or are removed, each tenant's own."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from itertools import count

import pytest

from tests.shell.store_tables import EVERY_STORE, NOW, Clock, MakeStore, soon
from toolwire.conversation.kept_answers import KeptAnswer, answer_items, answer_keys
from toolwire.model.kept_answers import Keeping
from toolwire.model.stored import Item
from toolwire.shell.store import current
from toolwire.shell.store.current import current_store, use_store
from toolwire.shell.store.kept_answers import read_answers

CLOCK = Clock()
_numbers = count()


@pytest.fixture(scope="module", params=EVERY_STORE, autouse=True)
def table(request: pytest.FixtureRequest) -> Iterator[MakeStore]:
    opened: Callable[[], AbstractContextManager[MakeStore]] = request.param
    with opened() as make, pytest.MonkeyPatch.context() as patch:
        patch.setattr(current, "_given", [])
        use_store(make(CLOCK))
        yield make
    current_store.cache_clear()


@pytest.fixture
def id() -> str:
    CLOCK.now = NOW
    return f"resp_{next(_numbers):024}"


def keep(id: str, size: int = 10, *, tenant: str = "acme", seconds: int = 60) -> KeptAnswer:
    """Keeps an answer to an input of so many bytes, which cannot be compressed by much."""
    own = json.dumps({"text": random.Random(size).randbytes(size // 2).hex()}).encode()
    response = json.dumps({"id": id, "output": [{"type": "message"}], "news": 1.10}).encode()
    items = answer_items(tenant, Keeping(True, None, (), (), (own,)), response, int(NOW) + seconds)
    current_store().put(items, deadline=soon())
    return KeptAnswer((own,), (), response)


@pytest.mark.parametrize("size", [10, 700_000, 2_400_000], ids=["one item", "two items", "four items"])
def test_an_answer_is_whole(id: str, size: int) -> None:
    kept = keep(id, size)
    assert read_answers("acme", [id, "resp_another"], soon()) == {id: kept}


def test_answers_that_one_leans_on_are_read_at_once() -> None:
    kept = {f"resp_{number:024}": 400_000 for number in range(900, 917)}
    answers = {id: keep(id, size) for id, size in kept.items()}
    assert read_answers("acme", reversed(list(kept)), soon()) == answers


def test_one_that_has_expired_is_not_there(id: str) -> None:
    keep(id, 700_000, seconds=60)
    CLOCK.now = NOW + 61
    assert read_answers("acme", [id], soon()) == {}


def test_one_that_was_written_over_is_not_there(id: str) -> None:
    keep(id, 700_000)
    gone = [Item(key, {"v": 1}, int(NOW)) for key in answer_keys("acme", id)]
    current_store().put(gone, deadline=soon())
    assert read_answers("acme", [id], soon()) == {}


def test_it_is_its_tenants_own(id: str) -> None:
    keep(id, tenant="acme")
    assert read_answers("other", [id], soon()) == {}
