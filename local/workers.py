"""Several processes of the local server at one port, so that it has more than one CPU: the kernel shares connections
among them (SO_REUSEPORT).

    python -m local.server --workers 2        make run WORKERS=2

They share nothing but the port. What one keeps in its memory (conversations, rates, breakers), another does not know;
tables of DynamoDB are shared, as those of a deployed gateway are. The banner says which is which.

The first worker starts alone and says that it listens, or why it cannot; then the others start. All are stopped
together: each drains. A worker that ends by itself ends them all, so that whoever started us sees it.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from local.ports import cannot_listen, family_of
from toolwire.model.settings import Settings

if TYPE_CHECKING:
    import subprocess

#: The variable that tells a worker which descriptors it shares with its parent: where it says that it listens, and
#: what ends with the parent.
PIPES = "TOOLWIRE_WORKER_PIPES"

#: Processes that may share a port.
MOST_WORKERS = 64

#: Seconds between two looks at the workers.
_LOOK_SECONDS = 0.1


def serve_with_workers(host: str, port: int, count: int) -> int:
    """Serves until it is interrupted or one of `count` workers ends. Returns the exit status."""
    try:
        reserved = _reserved(host, port)
    except (OSError, OverflowError) as error:
        print(cannot_listen(error, host, port), file=sys.stderr)
        return 1
    # The inspector would show the requests of one worker.
    environment = os.environ | {"INSPECT": "0"}
    command = [sys.executable, "-m", "local.server", "--host", host, "--workers", str(count)]
    with reserved:
        return _run(count, [*command, "--port", str(reserved.getsockname()[1])], environment)


def _run(count: int, command: Sequence[str], environment: Mapping[str, str]) -> int:
    import subprocess  # few servers have more than one worker

    listens, says = os.pipe()
    stays, alive = os.pipe()
    workers: list[subprocess.Popen[bytes]] = []

    def start(*pipes: int) -> None:
        variables = {**environment, PIPES: ",".join(map(str, pipes))}
        # A group of its own: the terminal's Ctrl-C is ours to pass on, once.
        workers.append(subprocess.Popen(command, env=variables, pass_fds=pipes, process_group=0))  # noqa: S603 - ours

    try:
        start(stays, says)
        os.close(says)
        if os.read(listens, 1):
            for _ in range(count - 1):
                start(stays)
            while all(worker.poll() is None for worker in workers):
                time.sleep(_LOOK_SECONDS)
            print("toolwire: a worker has ended, so all are stopped", file=sys.stderr, flush=True)
        failed = 1
    except KeyboardInterrupt:
        failed = 0
    finally:
        statuses = _stopped(workers)
        for pipe in (listens, stays, alive):
            os.close(pipe)
    return next((status for status in statuses if status > 0), failed)


def _stopped(workers: Sequence[subprocess.Popen[bytes]]) -> list[int]:
    """Lets the workers drain; once more interrupted, they end at once. Returns their exit statuses."""
    while True:
        for worker in workers:
            if worker.poll() is None:
                worker.send_signal(signal.SIGTERM)
        try:
            return [worker.wait() for worker in workers]
        except KeyboardInterrupt:
            continue


def _reserved(host: str, port: int) -> socket.socket:
    """A socket that keeps the port for the workers without listening. Raises OSError, also where another server
    listens that would share it."""
    if not hasattr(socket, "SO_REUSEPORT"):
        raise OSError("this system shares no port among processes; leave WORKERS out")
    with socket.socket(family_of(host)) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind((host, port))
        port = probe.getsockname()[1]
    kept = socket.socket(family_of(host))
    try:
        kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        kept.bind((host, port))
    except BaseException:
        kept.close()
        raise
    return kept


def begin_worker(env: Mapping[str, str]) -> bool:
    """Says that this process listens, if it is the first worker, and ends it with its parent, if it is any. Returns
    whether the banner is its to print."""
    if PIPES not in env:
        return True
    stays, _, says = env[PIPES].partition(",")

    def end_with_parent() -> None:
        os.read(int(stays), 1)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=end_with_parent, daemon=True).start()
    if not says:
        return False
    os.write(int(says), b".")
    os.close(int(says))
    return True


def banner_row(count: int, settings: Settings, store: str) -> list[str]:
    """What the start banner says of several workers."""
    own = []
    if store != "dynamodb":
        own.append("conversations (STORE=dynamodb shares them)")
    if settings.rates_table is None:
        own.append("rates and breakers (RATES_TABLE shares them)")
    return [f"{count} processes", *(f"each for itself: {what}" for what in own)]
