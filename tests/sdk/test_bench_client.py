"""The bench harness's strict Chat and Messages clients at the local server, with its own upstream as each provider."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.reference import SHARED, needs
from tests.sdk.talks import SIM, SIM_MODELS

CLIENT = "bench/client.py"

pytestmark = [pytest.mark.integration, pytest.mark.enable_socket, needs(SIM, CLIENT)]


@pytest.mark.parametrize("front", ["chat", "anthropic"])
@pytest.mark.parametrize("model", SIM_MODELS)
def test_no_defect_in_any_case(tmp_path: Path, sim_gateway: str, model: str, front: str) -> None:
    command = [sys.executable, "-B", str(SHARED / CLIENT), "check", "--front", front, "--model", model]
    more = ["--base", sim_gateway.removesuffix("/v1"), "--save", str(tmp_path), "--sim-url", ""]
    done = subprocess.run([*command, *more], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    print(done.stdout)  # noqa: T201 - shown by pytest -s, and when it fails
    assert done.returncode == 0, done.stderr

    rows = {row["case"]: row for row in json.loads((tmp_path / "report.json").read_text("utf-8"))}
    assert len(rows) == 16
    # "info:" marks what a client may notice and is no fault.
    assert {name: [d for d in row.get("defects", ()) if not d.startswith("info:")] for name, row in rows.items()} == {
        name: [] for name in rows
    }
    statuses = {name: row["status"] for name, row in rows.items() if row["status"] != 200}
    assert statuses == {"err429_stream": 429, "err429_full": 429, "err500_full": 500}
