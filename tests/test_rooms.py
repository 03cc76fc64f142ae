"""The folders of protocols: the same file names in each, and an `__init__.py` that names every file."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import toolwire
from tests.named_rows import each_row
from toolwire.doors import DOORS
from toolwire.providers import WIRES

PACKAGE = Path(toolwire.__file__).parent

#: A room -> the modules that each of its folders has, at the least.
IN_EVERY_FOLDER = {
    "doors": {"request", "tools", "history", "stream", "document", "errors"},
    "providers": {"request", "messages", "tools", "answer", "errors"},
}
#: What a folder has not, because its API is another's in a frame of its own: see its `__init__.py`.
BORROWED = {"bedrock_messages": {"messages", "tools", "errors"}}
REGISTRIES = {"doors": [row.module for row in DOORS.values()], "providers": list(WIRES.values())}

FOLDERS = [(room, folder.parent) for room in IN_EVERY_FOLDER for folder in (PACKAGE / room).glob("*/__init__.py")]

#: A line of a table of contents: a module or a room, and what is in it.
_CONTENT = re.compile(r"^ *([a-z]\w*) {2,}\S", re.MULTILINE)

ROOT = Path(__file__).parents[1]
#: Every room of the package, and of what runs on the developer's machine.
ROOMS = [path.parent for room in (PACKAGE, ROOT / "local", ROOT / "bench") for path in room.rglob("__init__.py")]


@pytest.mark.parametrize("room", REGISTRIES)
def test_a_folder_is_an_api(room: str) -> None:
    there = {f"toolwire.{room}.{folder.name}.request" for of, folder in FOLDERS if of == room}
    assert there == set(REGISTRIES[room])


@pytest.mark.parametrize(("room", "folder"), FOLDERS, ids=lambda it: it if isinstance(it, str) else it.name)
def test_every_folder_of_an_api_has_the_same_files(room: str, folder: Path) -> None:
    files = {path.stem for path in folder.glob("*.py")}
    assert IN_EVERY_FOLDER[room] - files == BORROWED.get(folder.name, set())


@each_row("room", ROOMS, ids=lambda room: room.name)
def test_every_room_says_what_is_in_it(room: Path) -> None:
    """Its modules and its rooms; where these are APIs, the registry has them."""
    files = {path.stem for path in room.glob("*.py")} - {"__init__", "__main__"}
    rooms = {path.parent.name for path in room.glob("*/__init__.py")}
    told = _CONTENT.findall(ast.get_docstring(ast.parse((room / "__init__.py").read_text("utf-8"))) or "")
    assert sorted(told) == sorted(files if room.name in REGISTRIES else files | rooms)
