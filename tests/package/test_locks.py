"""The locks: exact, hashed, and the same versions tested, run and deployed."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LAYER = ["layers/shared/requirements.txt", "layers/shared/requirements-google-keys.txt"]
LOCKS = ["requirements/run.txt", "requirements/dev.txt", "requirements/sam.txt", *LAYER]
_PIN = re.compile(r"^([a-z0-9-]+)==(\S+)(?: ; ([^\\]+?))? \\$", re.MULTILINE)


def _pins(lock: str) -> dict[str, str]:
    return {name: version for name, version, _ in _PIN.findall((ROOT / lock).read_text())}


@pytest.mark.parametrize("lock", LOCKS)
def test_everything_is_pinned_with_hashes_and_nothing_names_a_host(lock: str) -> None:
    text = (ROOT / lock).read_text()
    entries = re.split(r"^(?=[a-z])", re.sub(r"^#.*\n", "", text, flags=re.MULTILINE), flags=re.MULTILINE)
    for entry in filter(None, entries):
        assert _PIN.match(entry), entry
        assert "--hash=sha256:" in entry, entry
    assert "://" not in text


@pytest.mark.parametrize("lock", ["requirements/run.txt", *LAYER])
def test_what_runs_is_what_was_tested(lock: str) -> None:
    tested = _pins("requirements/dev.txt")
    assert _pins(lock).items() <= tested.items()


@pytest.mark.parametrize("lock", LAYER)
def test_layer_is_the_same_for_every_python(lock: str) -> None:
    """pip reads a condition for the Python it runs in, not for the one it installs for: so there must be none."""
    text = (ROOT / lock).read_text()
    assert [condition for _, _, condition in _PIN.findall(text) if condition] == []


def test_every_dependency_is_locked() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    groups = project["dependency-groups"]
    runtime = project["project"]["dependencies"]
    wanted = {
        "requirements/run.txt": runtime + groups["local"],
        "requirements/dev.txt": runtime + groups["lambda"] + groups["local"] + groups["dev"],
        "requirements/sam.txt": groups["sam"],
        "layers/shared/requirements.txt": runtime + groups["lambda"],
        "layers/shared/requirements-google-keys.txt": groups["google-keys"],
    }
    for lock, requirements in wanted.items():
        names = {re.split(r"[\[<>=;]", requirement)[0] for requirement in requirements}
        assert names <= _pins(lock).keys(), f"{lock}: run `make lock`"


@pytest.mark.parametrize(("python", "left_out"), [("3.13", "nothing"), ("3.14", "backports-zstd")])
def test_the_layer_leaves_out_what_its_python_has(python: str, left_out: str) -> None:
    """The layer's lock has no condition (see above), so its Makefile knows."""
    command = ["make", "-n", "-C", str(ROOT / "layers/shared"), "build-SharedLayer", f"LAYER_PYTHON={python}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert f"left_out = /^{left_out}==/" in done.stdout
    assert "backports-zstd" in _pins("layers/shared/requirements.txt")


@pytest.mark.parametrize(("asked", "is_there"), [("", False), ("1", True)])
def test_what_signs_with_googles_keys_is_in_the_layer_where_it_is_asked_for(asked: str, is_there: bool) -> None:
    command = ["make", "-n", "-C", str(ROOT / "layers/shared"), "build-SharedLayer", f"LAYER_GOOGLE_KEYS={asked}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ("requirements-google-keys.txt" in done.stdout) == is_there
