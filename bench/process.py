"""Processes under measurement: started, looked at from outside, ended."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

from bench.client import BenchError

ROOT = Path(__file__).resolve().parent.parent
LAYER = ROOT / "layers" / "shared"

#: Seconds that a process may take to start.
_PATIENCE = 30.0

#: Variables that would change what is measured: none of the machine's own configuration reaches a process.
_KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "VIRTUAL_ENV")


def environment(**variables: str) -> dict[str, str]:
    """A process's environment: what every program needs, the package, and these variables."""
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    return kept | {"PYTHONPATH": f"{LAYER}{os.pathsep}{ROOT}"} | variables


class Process:
    """A child process, whose output goes to a file. Use as a context manager: leaving it ends the process."""

    def __init__(self, command: Sequence[str], variables: Mapping[str, str]) -> None:
        self._output = tempfile.TemporaryFile()  # noqa: SIM115 - closed when the process ends
        self.started = time.monotonic()
        self._popen = subprocess.Popen(
            command, env=environment(**variables), cwd=ROOT, stdout=self._output, stderr=subprocess.STDOUT
        )
        self.pid = self._popen.pid

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *args: object) -> None:
        self._popen.terminate()
        try:
            self._popen.wait(5)
        except subprocess.TimeoutExpired:
            self._popen.kill()
            self._popen.wait()
        self._output.close()

    def is_running(self) -> bool:
        """Whether it has not ended."""
        return self._popen.poll() is None

    def said(self) -> str:
        """What it has printed so far, at most 64 KiB."""
        return os.pread(self._output.fileno(), 1 << 16, 0).decode(errors="replace")

    def printed(self, pattern: str) -> str:
        """The first thing it prints that matches, once it has. Raises BenchError if it ends, or does not, in time."""
        while True:
            ended = self._popen.poll() is not None
            said = self.said()
            if (found := re.search(pattern, said)) is not None:
                return found[0]
            if ended or time.monotonic() - self.started > _PATIENCE:
                raise BenchError(f"{self._popen.args!r} did not start:\n{said}")
            time.sleep(0.001)


def python(*arguments: str) -> list[str]:
    """A command for this interpreter."""
    return [sys.executable, *arguments]


def cpu_seconds(pid: int) -> float:
    """CPU time, user and system, of a process with all its threads and children, to the nanosecond.

    Not from /proc/PID/stat, whose unit is 10 ms: Linux gives every process a clock (clock_getcpuclockid(3)).
    """
    return sum(time.clock_gettime((~member << 3) | 2) for member in _family(pid))


def memory_mb(pid: int) -> float:
    """Resident memory of a process and its children, in MB."""
    pages = sum(int(Path(f"/proc/{member}/statm").read_text().split()[1]) for member in _family(pid))
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def _family(pid: int) -> list[int]:
    family = [pid]
    for task in Path(f"/proc/{pid}/task").iterdir():
        with suppress(FileNotFoundError):  # a thread that has just ended
            for child in (task / "children").read_text().split():
                family += _family(int(child))
    return family
