"""The cases as they are published: run.py, which plays the upstream, against the local server over HTTP."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cases.coverage import COVERED, FOLDERS
from tests.gateway import free_port, gateway
from tests.reference import SHARED, needs
from toolwire.doors import DOORS
from toolwire.providers import WIRES

pytestmark = [pytest.mark.integration, pytest.mark.enable_socket, needs("cases/run.py")]

#: run.py's roles that are no Chat host -> their wire.
ROLES = {
    "anthropic": "anthropic_messages",
    "google": "gemini",
    "bedrock": "bedrock_converse",
    "responses": "openai_responses",
}

#: What is not built is not served; two profiles are named by their roles.
OURS = [f"--provider={role}=" for role, wire in ROLES.items() if wire not in WIRES]
OURS += [f"--door={door}=" for door in ("responses", "messages", "native") if door not in DOORS]
OURS += ["--profile=mistral=mistral", "--profile=deepseek=deepseek"]


@pytest.mark.parametrize("name", FOLDERS)
def test_every_covered_case_passes(name: str, tmp_path: Path) -> None:
    folder = SHARED / name
    covered = {number for number in COVERED if any(folder.glob(f"{number}-*.json"))}
    options = ["--cases", str(folder), "--upstream-port", str(free_port()), *OURS]
    run_cases(tmp_path, "--write-config", "toolwire.toml", *options)
    with gateway(tmp_path, (tmp_path / "toolwire.toml").read_text("utf-8")) as base:
        server = base.removesuffix("/v1")
        table = run_cases(tmp_path, "--gateway", server, "--strict", "--json", "verdicts.json", *options)
    print(table)  # noqa: T201 - shown by pytest -s, and when it fails

    verdicts = {row["id"][:3]: row for row in json.loads((tmp_path / "verdicts.json").read_text("utf-8"))["results"]}
    failed = {number: verdicts[number]["reason"] for number in covered if verdicts[number]["verdict"] != "PASS"}
    assert failed == {}


def run_cases(folder: Path, *arguments: str) -> str:
    """What run.py prints."""
    command = [sys.executable, "-B", str(SHARED / "cases" / "run.py"), *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout
