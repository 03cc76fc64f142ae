"""Which Python the layer's bytecode is made by: one of the version it is built for, wherever this machine has it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.gateway import ROOT

#: No Python of this machine's is this one.
VERSION = "3.97"


def program(place: Path, text: str) -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(f"#!/bin/sh\n{text}\n")
    place.chmod(0o755)
    return place


def python(place: Path, *, right: bool = True) -> Path:
    """What stands for a Python: asked whether it is another version than the one that is wanted, it says so."""
    return program(place, f"exit {0 if right else 1}")


def found(tmp_path: Path) -> str:
    """What the layer's Makefile finds with this folder's programs and home alone."""
    asked = ["make", "-s", "-f", "layers/shared/Makefile", "--eval", "found: ; @$(FIND_PYTHON)", "found"]
    env = {"PATH": f"{tmp_path / 'bin'}:{os.defpath}", "HOME": str(tmp_path / "home")}
    done = subprocess.run([*asked, f"LAYER_PYTHON={VERSION}"], cwd=ROOT, env=env, capture_output=True, text=True)
    return done.stdout.strip()


def test_none(tmp_path: Path) -> None:
    assert found(tmp_path) == ""


def test_on_the_path(tmp_path: Path) -> None:
    python(tmp_path / "bin" / f"python{VERSION}")
    assert found(tmp_path) == f"python{VERSION}"


def test_of_pyenv(tmp_path: Path) -> None:
    """pyenv's own program on the path answers for a version only where it is the chosen one."""
    python(tmp_path / "bin" / f"python{VERSION}", right=False)
    python(tmp_path / "home" / ".pyenv/versions/3.96.4/bin/python")
    newest = [python(tmp_path / "home" / f".pyenv/versions/{VERSION}.{it}/bin/python") for it in (1, 2)][-1]
    assert found(tmp_path) == str(newest)


def test_of_uv(tmp_path: Path) -> None:
    there = python(tmp_path / "uv" / "python")
    program(tmp_path / "bin" / "uv", f'test "$1 $2 $3" = "python find {VERSION}" && echo {there}')
    assert found(tmp_path) == str(there)


@pytest.mark.parametrize("place", [f"bin/python{VERSION}", f"home/.pyenv/versions/{VERSION}.1/bin/python"])
def test_another_version_under_its_name(tmp_path: Path, place: str) -> None:
    python(tmp_path / place, right=False)
    assert found(tmp_path) == ""
