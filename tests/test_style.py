"""Rules of the house that no linter has: sizes, names, and nothing of the machine it was written on."""

from __future__ import annotations

import itertools
import re
import subprocess
import tomllib
from collections.abc import Iterator
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

_CLASS = re.compile(r"(?P<indent>\s*)class (?P<name>\w+)")

#: A developer's own directories. The pattern begins with a plain character, for which Python looks quickly.
_MACHINE = re.compile(r"/(?<![\w.$}-]/)(?:work|root|home/\w+|Users/\w+|tmp)/\w")
#: Hosts of package registries: in a lock they would be somebody's mirror.
_REGISTRIES = ("pythonhosted.org", "registry.npmjs.org")


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


def _class_lines(text: str) -> Iterator[tuple[str, int]]:
    """The name of each class and its lines: up to the last one that is indented further. To parse the files takes
    seconds."""
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if head := _CLASS.match(line):
            further = re.compile(rf"\s{{{len(head['indent']) + 1}}}|\s*$|[)\]]")
            inside = itertools.takewhile(further.match, lines[number + 1 :])
            yield head["name"], 1 + len("\n".join(inside).rstrip().splitlines())


def test_the_lines_of_a_class_are_counted() -> None:
    text = "class A(\n    B,\n):\n    x = 1\n\n    class C:\n        y = 2\n\n\nclass D: ...\n"
    assert dict(_class_lines(text)) == {"A": 7, "C": 2, "D": 1}


def test_classes_can_be_read_in_one_sitting() -> None:
    found: dict[str, int] = {}
    for path in SOURCES:
        text = path.read_text()
        if text.count("\n") >= MOST_CLASS_LINES:
            found |= {f"{path.relative_to(ROOT)}: {name}": count for name, count in _class_lines(text)}
    assert len(found) > 100
    assert {name: count for name, count in found.items() if count > MOST_CLASS_LINES} == {}


def test_names_say_what_is_inside() -> None:
    assert [str(path) for path in SOURCES if {path.stem, path.parent.name} & _EMPTY_NAMES] == []


def test_nothing_names_the_machine_it_was_written_on() -> None:
    found = []
    for path in TRACKED:
        text = path.read_bytes().decode("utf-8", "replace")
        names = [*_MACHINE.findall(text), *(host for host in _REGISTRIES if host in text)]
        found += [f"{path.relative_to(ROOT)}: {name}" for name in names]
    assert [place for place in found if not place.startswith("tests/test_style.py")] == []


def test_nothing_refers_to_pages_that_are_not_here() -> None:
    absent = ("DESIGN", "CONTRACTS", "of the design")
    named = [
        path
        for path in SOURCES
        if path != Path(__file__) and any(words in (text := path.read_text()) for words in absent)
        if re.search(r"\b(?:DESIGN|CONTRACTS)\b|section \d+ of the design", text)
    ]

    assert [str(path.relative_to(ROOT)) for path in named] == []


def test_one_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["version"] == toolwire.__version__
