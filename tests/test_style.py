"""Rules of the house that no linter has: sizes, names, and nothing of the machine it was written on."""

from __future__ import annotations

import ast
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

import toolwire

ROOT = Path(__file__).parents[1]

#: Lines of a file and of a class. Each is meant to be read in one sitting; beyond this it has two subjects.
MOST_LINES, MOST_CLASS_LINES = 400, 200
#: Tests are tables, whose rows stand together.
MOST_TEST_LINES = 600

#: Names that say nothing of what is inside.
_EMPTY_NAMES = {"base", "common", "helper", "helpers", "manager", "misc", "util", "utils"}

#: A developer's own directories, and hosts of package registries (in a lock they would be somebody's mirror).
_MACHINE = re.compile(r"(?<![\w.$}-])/(?:work|root|home/\w+|Users/\w+|tmp)/\w|pythonhosted\.org|registry\.npmjs\.org")


def _tracked() -> list[Path]:
    """The files of the repository, new ones included; none where this is no checkout."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    return [ROOT / name for name in done.stdout.split("\0") if name and (ROOT / name).is_file()]


TRACKED = _tracked()
SOURCES = [path for path in TRACKED if path.suffix == ".py"]


@pytest.mark.skipif(not TRACKED, reason="not a git checkout")
def test_sources_are_found() -> None:
    assert ROOT / "layers/shared/toolwire/__init__.py" in SOURCES


def test_files_can_be_read_in_one_sitting() -> None:
    lines = {path.relative_to(ROOT): len(path.read_text().splitlines()) for path in SOURCES}
    most = {name: MOST_TEST_LINES if name.parts[0] == "tests" else MOST_LINES for name in lines}
    assert {str(name): count for name, count in lines.items() if count > most[name]} == {}


def test_classes_can_be_read_in_one_sitting() -> None:
    found = {}
    for path in SOURCES:
        text = path.read_text()
        if text.count("\n") < MOST_CLASS_LINES or "class " not in text:
            continue  # no class in it can be longer
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ClassDef) and node.end_lineno is not None:
                found[f"{path.relative_to(ROOT)}: {node.name}"] = node.end_lineno - node.lineno + 1
    assert {name: count for name, count in found.items() if count > MOST_CLASS_LINES} == {}


def test_names_say_what_is_inside() -> None:
    assert [str(path) for path in SOURCES if {path.stem, path.parent.name} & _EMPTY_NAMES] == []


def test_nothing_names_the_machine_it_was_written_on() -> None:
    found = []
    for path in TRACKED:
        text = path.read_bytes().decode("utf-8", "replace")
        found += [f"{path.relative_to(ROOT)}: {match[0]}" for match in _MACHINE.finditer(text)]
    assert [place for place in found if not place.startswith("tests/test_style.py")] == []


def test_nothing_refers_to_pages_that_are_not_here() -> None:
    absent = re.compile(r"\b(?:DESIGN|CONTRACTS)\b|section \d+ of the design")
    named = [path for path in SOURCES if path != Path(__file__) and absent.search(path.read_text())]

    assert [str(path.relative_to(ROOT)) for path in named] == []


def test_one_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["version"] == toolwire.__version__
