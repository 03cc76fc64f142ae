"""Ids are made of the operating system's bytes: each character equally likely, and no byte used twice."""

from __future__ import annotations

import os
import threading
import uuid
from collections import Counter
from itertools import count

import pytest

from toolwire.conversation.tool_call_ids import ALPHABET
from toolwire.shell import random_text
from toolwire.shell.random_text import ReadAhead, new_id, new_uuid


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> bytearray:
    """The bytes that ids are made of from now on."""
    left = bytearray()

    def take(size: int) -> bytes:
        assert left, "more was asked for than an id needs"
        taken = bytes(left[:size])
        del left[:size]
        return taken

    monkeypatch.setattr(random_text, "_source", take)
    return left


def test_every_character_is_as_likely_as_any_other(given: bytearray) -> None:
    given += bytes(range(256))

    counted = Counter(new_id(248))

    assert counted == dict.fromkeys(ALPHABET, 4)


@pytest.mark.parametrize("length", [1, 10, 20])
def test_an_id_is_as_long_as_asked_whatever_bytes_come(given: bytearray, length: int) -> None:
    given += b"\xff" * 3 + bytes(range(100)) * 2

    assert new_id(length) == ALPHABET[:length]


@pytest.mark.parametrize("data", [bytes(16), b"\xff" * 16, bytes(range(16)), bytes(range(240, 256))])
def test_a_uuid_is_a_random_one(given: bytearray, data: bytes) -> None:
    given += data

    assert new_uuid() == str(uuid.UUID(bytes=data, version=4))


def test_no_byte_is_given_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = count()
    monkeypatch.setattr(
        os, "urandom", lambda size: b"".join(next(numbers).to_bytes(4, "big") for _ in range(size // 4))
    )
    ahead, taken = ReadAhead(), []

    def take() -> None:
        for _ in range(500):
            taken.append(ahead.take(16))

    threads = [threading.Thread(target=take) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    words = [piece[at : at + 4] for piece in taken for at in range(0, 16, 4)]
    assert len(words) == len(set(words)) == 8 * 500 * 4


def test_more_than_is_read_ahead_is_given_too() -> None:
    ahead = ReadAhead()

    assert [len(ahead.take(size)) for size in (1, 5000, 4095, 4096)] == [1, 5000, 4095, 4096]
