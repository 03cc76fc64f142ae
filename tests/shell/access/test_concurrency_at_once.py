"""Slots that sixteen gateways take from one table at once (dynalite: moto's updates race)."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.dynalite.server import MISSING
from tests.gateway import ROOT
from tests.shell.access.test_rates_at_once import environment, table
from toolwire.shell.access.concurrency import TableSlots

__all__ = ["environment", "table"]

pytestmark = [
    pytest.mark.integration,
    pytest.mark.enable_socket,
    pytest.mark.skipif(bool(MISSING), reason=MISSING),
]

PROCESSES, MOST, TIMES = 16, 4, 6


def test_never_are_more_held_than_there_are(environment: dict[str, str], table: str) -> None:
    asked = {"table": table, "times": TIMES, "most": MOST}
    command = [sys.executable, "-m", "tests.shell.taking_slots", json.dumps(asked)]
    processes = [
        subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(PROCESSES)
    ]
    held: list[tuple[float, float]] = []
    for process in processes:
        out, _ = process.communicate(timeout=300)
        assert process.returncode == 0
        held += json.loads(out)

    assert len(held) == PROCESSES * TIMES
    moments = sorted([(began, 1) for began, _ in held] + [(ended, -1) for _, ended in held])
    at_once = most_at_once = 0
    for _, step in moments:
        at_once += step
        most_at_once = max(most_at_once, at_once)
    assert 2 <= most_at_once <= MOST
    # All were given back.
    taken = [TableSlots(table).take("provider#acme", MOST, 600.0) for _ in range(MOST + 1)]
    assert [give_back is not None for give_back in taken] == [True] * MOST + [False]
