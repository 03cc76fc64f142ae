"""The share of a CPU that Lambda gives to a function's memory, by a cgroup of this machine.

Lambda gives a whole CPU at 1,769 MB, and a share in proportion below ("Configure Lambda function memory" in its guide).
It is a quota: whoever has used its part of a period waits for the next one.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.client import BenchError

_WHOLE_CPU_MB = 1769
#: Microseconds: short, so that a start does not run for a tenth of a second and then stand still.
_PERIOD = 20_000

_CGROUPS = Path("/sys/fs/cgroup")


def part_of(memory: int) -> float:
    """The part of a CPU that comes with so many MB; 1 at the most."""
    return min(1.0, memory / _WHOLE_CPU_MB)


@contextmanager
def share_of(memory: int | None) -> Iterator[list[str]]:
    """Words to put before a command that is to have that memory's share; none for None, which is no limit. Raises
    BenchError where this user or machine cannot make such a group."""
    if memory is None:
        yield []
        return
    quota = round(_PERIOD * part_of(memory))
    first = (_CGROUPS / "cpu").is_dir()
    group = (_CGROUPS / "cpu" if first else _CGROUPS) / f"toolwire-bench-{os.getpid()}"
    limits = {"cpu.cfs_period_us": _PERIOD, "cpu.cfs_quota_us": quota} if first else {"cpu.max": f"{quota} {_PERIOD}"}
    try:
        group.mkdir()
        for name, value in limits.items():
            (group / name).write_text(str(value))
    except OSError as error:
        raise BenchError(f"a share of a CPU needs root and the cgroup controller cpu: {error}") from error
    try:
        yield ["sh", "-c", f'echo $$ > {group}/cgroup.procs && exec "$@"', "sh"]
    finally:
        _remove(group)


def _remove(group: Path) -> None:
    """As soon as its last process is gone, which the kernel notes a little later than its parent does."""
    for _ in range(100):
        try:
            group.rmdir()
        except OSError:
            time.sleep(0.02)
        else:
            return
