"""One host that fails, and sixteen gateways that share what they know of it (dynalite: moto's updates race)."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from itertools import pairwise

import pytest

from tests.dynalite.server import MISSING
from tests.gateway import ROOT
from tests.shell.access.test_rates_at_once import environment, table

__all__ = ["environment", "table"]

pytestmark = [
    pytest.mark.integration,
    pytest.mark.enable_socket,
    pytest.mark.skipif(bool(MISSING), reason=MISSING),
]

#: SECONDS: of which sixteen interpreters take ten to start on a busy machine.
PROCESSES, PERIOD, SECONDS = 16, 2.0, 25.0
#: What was read before the circuit opened is taken for true for so long.
STALE = 2.0


def test_once_it_is_open_one_request_a_period_reaches_the_host(environment: dict[str, str], table: str) -> None:
    asked = {"table": table, "until": time.time() + SECONDS, "open_seconds": PERIOD}
    command = [sys.executable, "-m", "tests.shell.failing_at_once", json.dumps(asked)]
    processes = [
        subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(PROCESSES)
    ]
    moments: list[float] = []
    for process in processes:
        out, _ = process.communicate(timeout=120)
        assert process.returncode == 0
        moments += json.loads(out)

    moments.sort()
    settled = [moment for moment in moments if moment > moments[4] + STALE + PERIOD]
    assert len(settled) >= 3
    assert min(later - earlier for earlier, later in pairwise(settled)) > 0.9 * PERIOD
