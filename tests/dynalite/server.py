"""dynalite, an independent DynamoDB, as a process of its own: for what moto does not tell, concurrency above all.

It needs node and npm, and the first time a network: `npm ci` installs what package-lock.json names.
"""

from __future__ import annotations

import fcntl
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import gettempdir

from tests.gateway import awaited_port, free_port, running

_HERE = Path(__file__).parent

#: Why a test that needs dynalite is skipped, or an empty text.
MISSING = "" if shutil.which("node") and shutil.which("npm") else "node and npm are not installed"


@contextmanager
def dynalite(folder: Path) -> Iterator[str]:
    """Runs an empty one and gives its URL, for AWS_ENDPOINT_URL_DYNAMODB. `folder` gets its log."""
    _install()
    port = free_port()
    program = str(_HERE / "node_modules" / "dynalite" / "cli.js")
    command = ["node", program, "--host", "127.0.0.1", "--port", str(port), "--createTableMs", "0"]
    with running(command, folder / "dynalite.log"):
        awaited_port(port)
        yield f"http://127.0.0.1:{port}"


def _install() -> None:
    """What the lock names; once there, nothing is asked of a registry. None of it needs a script to be run.

    One process installs, those beside it wait.
    """
    installed, lock = _HERE / "node_modules" / ".package-lock.json", _HERE / "package-lock.json"
    with (Path(gettempdir()) / "toolwire-dynalite.lock").open("w") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        if installed.is_file() and installed.stat().st_mtime > lock.stat().st_mtime:
            return
        command = ["npm", "ci", "--omit=dev", "--ignore-scripts"]
        done = subprocess.run(command, cwd=_HERE, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
