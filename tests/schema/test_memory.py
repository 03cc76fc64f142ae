"""What is found once is known when it comes again, in no more than so many bytes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from toolwire.schema.memory import ENTRY_BYTES, Memory, digest


def asked(memory: Memory[str], key: str, size: int = 100) -> bool:
    """Whether it had to be found. What is found is the key."""
    calls: list[str] = []

    def find() -> str:
        calls.append(key)
        return key

    assert memory.found(key, find, lambda _: size) == key
    return bool(calls)


def test_it_is_found_once() -> None:
    memory: Memory[str] = Memory(10_000)
    assert asked(memory, "a")
    assert asked(memory, "b")
    assert not asked(memory, "a")
    assert memory.held == 2 * (100 + ENTRY_BYTES)


def test_nothing_is_a_result() -> None:
    memory: Memory[None] = Memory(10_000)
    calls: list[int] = []

    def find() -> None:
        calls.append(1)

    for _ in range(3):
        memory.found("a", find, lambda _: 0)
    assert calls == [1]


def test_the_oldest_goes() -> None:
    memory: Memory[str] = Memory(3 * (100 + ENTRY_BYTES))
    for key in "abcd":
        asked(memory, key)
    assert not any(asked(memory, key) for key in "bcd")
    assert asked(memory, "a")
    assert len(memory) == 3


def test_what_is_larger_than_all_of_it_drives_nothing_out() -> None:
    memory: Memory[str] = Memory(1_000)
    asked(memory, "a")
    assert asked(memory, "b", 1_000)
    assert asked(memory, "b", 1_000)
    assert not asked(memory, "a")


def test_an_error_is_not_kept() -> None:
    memory: Memory[int] = Memory(1_000)
    with pytest.raises(ZeroDivisionError):
        memory.found("a", lambda: 1 // 0, lambda _: 0)
    assert memory.found("a", lambda: 1, lambda _: 0) == 1


def test_threads_share_it() -> None:
    memory: Memory[str] = Memory(20 * (100 + ENTRY_BYTES))
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: asked(memory, str(number % 50)), range(5_000)))
    assert len(memory) <= 20
    assert memory.held == len(memory) * (100 + ENTRY_BYTES)


def test_a_text_is_known_by_its_hash() -> None:
    assert digest(b"a") == digest(b"a") != digest(b"b")
    assert len(digest(b"a" * 10_000)) == 32
