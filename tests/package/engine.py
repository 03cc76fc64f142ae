"""A container engine, and an image with a Python made by hand from this machine's own files.

No registry is needed: the image holds the interpreter below this environment, what it links to, and a shell.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.package.emulator import INTERPRETER

ENGINE = "docker"

#: What an image's build steps and SAM's run, beside Python.
_PROGRAMS = ("sh", "chmod", "cp", "mkdir", "mv", "rm")

#: What Lambda's managed runtime starts: its own client, by the wrapper where the function names one.
_BOOTSTRAP = f"""#!/bin/sh
set -- {INTERPRETER} /var/runtime/bootstrap.py
if [ -n "${{AWS_LAMBDA_EXEC_WRAPPER:-}}" ]; then exec "$AWS_LAMBDA_EXEC_WRAPPER" "$@"; fi
exec "$@"
"""


def engine(*arguments: str, timeout: float = 600) -> str:
    """What the engine prints on standard output. Raises AssertionError with its errors if it fails."""
    done = subprocess.run([ENGINE, *arguments], capture_output=True, text=True, timeout=timeout)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


def python_image() -> str:
    """The name of an image with this environment's Python, which Lambda's emulator can start as well. Skips the test
    where no engine runs."""
    if sys.platform != "linux":
        pytest.skip("an image is made by hand of a Linux machine's files")
    if shutil.which(ENGINE) is None:
        pytest.skip(f"there is no {ENGINE} here")
    if subprocess.run([ENGINE, "info"], capture_output=True, timeout=60).returncode:
        pytest.skip(f"no container engine runs: `{ENGINE} info` fails")
    name = f"toolwire-test-python:{sys.version_info[0]}.{sys.version_info[1]}"
    settings = [f"ENV PATH={INTERPRETER.parent}:/bin", "ENV LAMBDA_TASK_ROOT=/var/task", "WORKDIR /var/task"]
    changes = [word for it in settings for word in ("--change", it)]
    with subprocess.Popen(
        [ENGINE, "import", *changes, "-", name], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
    ) as to:
        assert to.stdin is not None
        with tarfile.open(fileobj=to.stdin, mode="w|") as image:
            _fill(image)
    assert to.returncode == 0
    return name


def _fill(image: tarfile.TarFile) -> None:
    for place, file in sorted(_contents().items()):
        entry = tarfile.TarInfo(place)
        entry.size, entry.mode = file.stat().st_size, 0o755 if os.access(file, os.X_OK) else 0o644
        with file.open("rb") as content:
            image.addfile(entry, content)
    for link in ("python", "python3"):
        entry = tarfile.TarInfo(str(INTERPRETER.with_name(link)))
        entry.type, entry.linkname = tarfile.SYMTYPE, INTERPRETER.name
        image.addfile(entry)
    bootstrap = tarfile.TarInfo("/var/runtime/bootstrap")
    bootstrap.size, bootstrap.mode = len(_BOOTSTRAP), 0o755
    image.addfile(bootstrap, io.BytesIO(_BOOTSTRAP.encode()))
    for folder, mode in (("/tmp", 0o1777), ("/var/task", 0o755), ("/proc", 0o755)):
        entry = tarfile.TarInfo(folder)
        entry.type, entry.mode = tarfile.DIRTYPE, mode
        image.addfile(entry)


def _contents() -> dict[str, Path]:
    """Place in the image -> the file of this machine that stands there."""
    stdlib = Path(sysconfig.get_path("stdlib"))
    found: dict[str, Path] = {str(INTERPRETER): INTERPRETER}
    found |= {f"/bin/{it}": Path(there) for it in _PROGRAMS if (there := shutil.which(it))}
    found |= {os.path.normpath(it): Path(it) for it in _libraries([*found.values(), *stdlib.rglob("*.so")])}
    folders = (stdlib, Path("/usr/share/python-wheels"))  # the other one is where Debian has those of ensurepip
    found |= {str(it): it for folder in folders for it in _files(folder)}
    # With these pip finds the packages that it finds here.
    settings = [Path("/etc/pip.conf"), Path("/etc/ssl/certs/ca-certificates.crt")]
    return found | {str(it): it for it in settings if it.exists()}


def _files(folder: Path) -> Iterator[Path]:
    left_out = {"site-packages", "dist-packages", "__pycache__", "test", "tests", "idlelib", "tkinter", "turtledemo"}
    for place, folders, names in os.walk(folder):
        folders[:] = [it for it in folders if it not in left_out]
        yield from (Path(place) / name for name in names)


def _libraries(binaries: list[Path]) -> list[str]:
    """What these are linked to, the loader included."""
    listed = subprocess.run(["ldd", *map(str, binaries)], capture_output=True, text=True).stdout
    return re.findall(r"(?:=> |^\t)(/\S+) \(0x", listed, re.MULTILINE)
