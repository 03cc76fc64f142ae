"""`make run` and then `make verify`: the gateway that a newcomer starts passes its own checks."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from local.verify import main

pytestmark = [pytest.mark.enable_socket, pytest.mark.integration]

ROOT = Path(__file__).parents[2]
KEY = "a-key"
KEY_SHA256 = hashlib.sha256(KEY.encode()).hexdigest()


@pytest.fixture(params=["open", "with a key"])
def gateway(request: pytest.FixtureRequest) -> Iterator[tuple[str, list[str]]]:
    """The URL of a running local server, and how its key is given."""
    environment = dict(os.environ, PYTHONPATH=str(ROOT / "layers" / "shared"))
    if request.param == "with a key":
        environment |= {"KEY_SHA256": KEY_SHA256, "REQUIRE_KEY": "1"}
    command = [sys.executable, "-m", "local.server", "--port", "0"]
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        url = server.stdout.readline().split()[-1]
        yield url, (["--key", KEY] if request.param == "with a key" else [])
        server.send_signal(signal.SIGINT)
        server.stdout.read()


def test_the_local_gateway_passes_its_checks(
    gateway: tuple[str, list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    url, key = gateway

    assert main([url, *key]) == 0, capsys.readouterr().out
