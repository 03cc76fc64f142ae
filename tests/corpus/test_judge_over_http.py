"""The recordings once more, from outside: judge.py against the local server over HTTP, as any gateway is judged."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.gateway import free_port, gateway
from tests.reference import SHARED, judge, needs, served_rows, their_word
from toolwire.doors import DOORS
from toolwire.providers import WIRES

pytestmark = [pytest.mark.integration, pytest.mark.enable_socket, needs("recordings/judge.py")]

JUDGE = SHARED / "recordings" / "judge.py"


@pytest.mark.parametrize("more", [[], ["--split", "7"]], ids=["whole", "cut at random bytes"])
def test_every_recording_passes(tmp_path: Path, more: list[str]) -> None:
    apis = [word for api, (wire, _) in judge().WIRES.items() if wire in WIRES for word in ("--api", api)]
    upstream = ["--upstream-port", str(free_port())]
    config = run_judge(tmp_path, "config", *upstream, *apis)
    # Other tests are about the doors that it does not know.
    judged = [word for word in map(their_word, DOORS) if word in judge().DOORS]
    doors = [word for their in judged for word in ("--door", their)]
    with gateway(tmp_path, config) as base:
        asked = ["judge", "--base", base, "--all-out", "rows.jsonl"]
        table = run_judge(tmp_path, *asked, *upstream, *apis, *doors, *more)
    print(table)  # noqa: T201 - shown by pytest -s, and when it fails

    rows = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text("utf-8").splitlines()]
    assert len(rows) == len(judged) * len(served_rows())
    assert [row for row in rows if row["outcome"] not in ("pass", "special")] == []
    assert Counter(row["outcome"] for row in rows)["pass"] > 0.85 * len(rows)


def run_judge(folder: Path, *arguments: str) -> str:
    """What the judge prints."""
    command = [sys.executable, "-B", str(JUDGE), *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout
