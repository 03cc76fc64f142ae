"""The store's benchmark measures what it says: each table begins empty."""

from __future__ import annotations

import time

import pytest

from bench import store

pytestmark = pytest.mark.enable_socket


def test_a_run_finds_nothing_of_the_run_before(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ENDPOINT_URL_DYNAMODB", "AWS_DEFAULT_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "")  # the benchmark sets them for good
    found = []
    for _ in range(2):
        with store._table() as table:
            found.append(len(table.mappings(store._PARTITION, deadline=time.monotonic() + 20)))
            store._put(table, store._items(3))

    assert found == [0, 0]
