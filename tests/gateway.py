"""The real gateway for a test: a process of its own, on a free port, whose demo provider does not pause."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.starter import ROOT as ROOT
from tests.starter import Program, start

#: Seconds a process may take to listen; the machine may be busy with other tests.
START_SECONDS = 30.0


@contextmanager
def gateway(folder: Path, config: str = "") -> Iterator[str]:
    """Serves this configuration and gives the base URL, which ends in /v1. `folder` gets its log."""
    with gateway_process(folder, config) as (base, _):
        yield base


@contextmanager
def gateway_process(folder: Path, config: str = "") -> Iterator[tuple[str, int]]:
    """The same, and the number of the process."""
    document = folder / "toolwire.toml"
    document.write_text(config, encoding="utf-8")
    log = folder / "gateway.log"
    with log.open("wb") as output:
        arguments = ["--port", "0", "--config", str(document)]
        process = start("tests.unhurried_server", *arguments, env=os.environ, output=output)
    with _until_the_end(process, log):
        yield awaited(log, re.compile(r"listens at (\S+)")), process.pid


@contextmanager
def running(command: list[str], log: Path) -> Iterator[Path]:
    """A process of this repository that ends with the test. What it says goes into `log`."""
    env = {**os.environ, "PYTHONPATH": str(ROOT / "layers" / "shared"), "PYTHONUNBUFFERED": "1"}
    with log.open("wb") as output:
        process = subprocess.Popen(command, cwd=ROOT, env=env, stdout=output, stderr=subprocess.STDOUT)
    with _until_the_end(process, log):
        yield log


@contextmanager
def _until_the_end(process: subprocess.Popen[bytes] | Program, log: Path) -> Iterator[None]:
    try:
        yield
        assert process.poll() is None, f"it ended by itself:\n{log.read_text()}"
    finally:
        process.terminate()
        process.wait(20)


def awaited(log: Path, pattern: re.Pattern[str], seconds: float = START_SECONDS) -> str:
    """The first group of the pattern, as soon as the log has it."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := pattern.search(log.read_text("utf-8", "replace")):
            return found[1]
        time.sleep(0.02)
    raise AssertionError(f"not within {seconds:g} s: {pattern.pattern}\n{log.read_text()}")


def awaited_port(port: int) -> None:
    """Returns as soon as something listens there."""
    end = time.monotonic() + START_SECONDS
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            assert time.monotonic() < end, f"nothing listens at port {port}"
            time.sleep(0.02)
        else:
            return


def free_port() -> int:
    """A port that nobody listens at now, for programs that have to be told one."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
