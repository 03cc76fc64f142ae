"""Programs of this repository in processes of their own, without the time that their imports take.

One process per test worker imports what a gateway needs, once, and is copied for each program that a test starts: a
copy takes some hundredths of a second, a start 0.3 s. A copy has run nothing and read no variable of the environment,
so it does what the program would do. How a program starts and what it imports is tested with `subprocess`.
"""

from __future__ import annotations

import atexit
import functools
import gc
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import traceback
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import IO, Any, NoReturn

ROOT = Path(__file__).parents[1]

_ONE_ORDER = threading.Lock()


class Program:
    """One that was started: what `subprocess.Popen` says of it."""

    def __init__(self, pid: int, status: IO[bytes]) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._status = status

    def poll(self) -> int | None:
        """Its exit status, once it has ended: negative where a signal ended it."""
        return self._ended(0)

    def wait(self, seconds: float) -> int:
        """Waits for its end. Raises subprocess.TimeoutExpired."""
        if (status := self._ended(seconds)) is None:
            raise subprocess.TimeoutExpired(f"process {self.pid}", seconds)
        return status

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def _ended(self, seconds: float) -> int | None:
        if self.returncode is None and select.select([self._status], [], [], seconds)[0]:
            said = self._status.read()
            assert said, "the process that starts programs has ended"
            self.returncode = int(said)
            self._status.close()
        return self.returncode


def start(
    module: str,
    *arguments: str,
    env: Mapping[str, str],
    output: IO[Any],
    errors: IO[Any] | None = None,
    path: Sequence[str] = (),
) -> Program:
    """`python -m module`, which must have a `main` that takes the arguments. `errors`: what it says there, if not to
    `output`. `path`: where it finds modules first."""
    order = {"module": module, "arguments": arguments, "env": dict(env), "path": path}
    data = json.dumps(order).encode() + b"\n"
    reading, writing = os.pipe()
    with _ONE_ORDER:
        control = _starter()
        fds = [output.fileno(), (errors or output).fileno(), writing]
        control.sendall(data[socket.send_fds(control, [data], fds) :])
        pid = int(control.recv(20))
    os.close(writing)
    return Program(pid, os.fdopen(reading, "rb"))


@functools.cache
def _starter() -> socket.socket:
    ours, theirs = socket.socketpair()
    env = {**os.environ, "PYTHONPATH": str(ROOT / "layers" / "shared"), "PYTHONUNBUFFERED": "1"}
    command = [sys.executable, "-m", "tests.starter", str(theirs.fileno())]
    process = subprocess.Popen(command, cwd=ROOT, env=env, pass_fds=[theirs.fileno()])
    theirs.close()

    def end() -> None:
        ours.close()
        process.wait(20)

    atexit.register(end)
    return ours


class _Starter:
    """The process that is copied. It has one thread: what another one holds would stay held in a copy."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._status_of: dict[int, int] = {}

    def serve(self) -> None:
        """Until the test worker ends, and with it all that was started for it."""
        woken, wakes = os.pipe()
        os.set_blocking(wakes, False)
        signal.set_wakeup_fd(wakes)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # of a terminal: the test worker ends then, and says so
        while True:
            ready = select.select([control := self._control.fileno(), woken], [], [])[0]
            if woken in ready:
                os.read(woken, 1 << 10)
                self._reap()
            if control in ready:
                data, fds, _, _ = socket.recv_fds(self._control, 1 << 16, 3)
                if not data:
                    break
                while not data.endswith(b"\n"):
                    data += self._control.recv(1 << 16)
                self._start(json.loads(data), *fds)
        for pid in self._status_of:
            os.kill(pid, signal.SIGKILL)

    def _start(self, order: dict[str, Any], output: int, errors: int, status: int) -> None:
        if (pid := os.fork()) == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            self._control.close()
            for fd in (status, *self._status_of.values()):
                os.close(fd)
            _become(order, output, errors)
        self._status_of[pid] = status
        os.close(output)
        os.close(errors)
        self._control.send(str(pid).encode())

    def _reap(self) -> None:
        while self._status_of:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            with os.fdopen(self._status_of.pop(pid), "wb") as told:
                told.write(str(os.waitstatus_to_exitcode(status)).encode())


def _become(order: dict[str, Any], output: int, errors: int) -> NoReturn:
    """Runs a program to its end in this process."""
    status = 1
    try:
        os.dup2(output, 1)
        os.dup2(errors, 2)
        os.close(output)
        os.close(errors)
        os.environ.clear()
        os.environ.update(order["env"])
        sys.path[:0] = order["path"]
        sys.argv = [order["module"], *order["arguments"]]
        gc.enable()
        status = int(import_module(order["module"]).main(order["arguments"]) or 0)
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except Exception:  # noqa: BLE001 - what Python itself would print
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _imports() -> None:
    """What a gateway imports by its first requests on every door, of every provider."""
    import local.inspector  # noqa: F401
    import tests.unhurried_server  # noqa: F401
    from toolwire.doors import DOORS, load_door
    from toolwire.providers import WIRES

    for door in DOORS:
        load_door(door)
    for module in WIRES.values():
        import_module(module)


if __name__ == "__main__":
    _imports()
    gc.collect()
    gc.disable()
    gc.freeze()  # a page with an object that the collector looks at is a page to be copied
    _Starter(socket.socket(fileno=int(sys.argv[1]))).serve()
