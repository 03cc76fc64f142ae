"""Kept answers as items of the store, and back."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from toolwire.conversation.kept_answers import (
    MOST_EARLIER,
    KeptAnswer,
    answer_items,
    answer_keys,
    history_of,
    read_answer,
)
from toolwire.model.kept_answers import Keeping
from toolwire.shell.store.store import MOST_ITEM_BYTES, size_of

EXPIRES = 2_000_000_000


def response(id: str, *output: Any) -> bytes:
    return json.dumps({"id": id, "output": list(output), "news": 1.10}).encode()


def keeping(*input_: bytes, previous: str | None = None, earlier: tuple[str, ...] = (), before: Any = ()) -> Keeping:
    return Keeping(True, previous, earlier, before, input_)


def noise(size: int) -> bytes:
    """An item that cannot be compressed by much."""
    return json.dumps({"text": random.Random(1).randbytes(size // 2).hex()}).encode()


@pytest.mark.parametrize("size", [10, 500_000, 2_000_000])
def test_an_answer_comes_back_to_the_byte(size: int) -> None:
    said, own = response("resp_1", {"type": "message"}), (noise(size), b'{"n": 12345678901234567890}')
    items = answer_items("t", keeping(*own, previous="resp_0", earlier=("resp_a",)), said, EXPIRES)
    assert [item.key for item in items] == answer_keys("t", "resp_1")[: len(items)]
    assert all(size_of(item) <= MOST_ITEM_BYTES for item in items)
    assert {item.expires_at for item in items} == {EXPIRES}
    assert read_answer(items) == KeptAnswer(own, ("resp_a", "resp_0"), said)
    assert (read_answer(items[1:]) is None) == (len(items) > 0)


def test_one_that_is_too_large_is_not_kept() -> None:
    assert answer_items("t", keeping(noise(8_000_000)), response("resp_1"), EXPIRES) == ()


@pytest.mark.parametrize("parts", [[], [b"?"], [b""]])
def test_what_is_no_answer_is_none(parts: list[bytes]) -> None:
    items = answer_items("t", keeping(), response("resp_1"), EXPIRES)
    broken = [type(items[0])(items[0].key, {"data": part}, EXPIRES) for part in parts]
    assert read_answer(broken) is None


def test_tenants_are_apart() -> None:
    one, other = ({key.partition for key in answer_keys(tenant, "resp_1")} for tenant in ("a", "b"))
    assert not one & other


def test_a_long_conversation_is_read_whole_and_leans_on_few() -> None:
    answers: dict[str, KeptAnswer] = {}
    previous: str | None = None
    earlier: tuple[str, ...] = ()
    said: list[bytes] = []
    for turn in range(3 * MOST_EARLIER):
        id, own, answered = f"resp_{turn}", f'"in {turn}"'.encode(), f"out {turn}"
        before = history_of(previous, answers) if previous else ()
        assert before == tuple(said)
        items = answer_items(
            "t", keeping(own, previous=previous, earlier=earlier, before=before), response(id, answered), EXPIRES
        )
        kept = read_answer(items)
        assert kept is not None
        answers[id] = kept
        assert len(kept.earlier) <= MOST_EARLIER
        said += [own, json.dumps(answered).encode()]
        previous, earlier = id, kept.earlier


def test_a_conversation_with_a_gap_is_none() -> None:
    answers = {"resp_2": KeptAnswer((), ("resp_1",), response("resp_2"))}
    assert history_of("resp_2", answers) is None
