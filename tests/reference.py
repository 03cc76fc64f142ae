"""Other people's data, which is tested against and never committed: recordings, cases, and a bench harness.

It lies in the folder that TOOLWIRE_SHARED names, else in `shared` beside the repository. Where it is absent, the tests
that need it are skipped, visibly.
"""

from __future__ import annotations

import csv
import importlib.util
import os
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from toolwire.providers import WIRES

SHARED = Path(os.environ.get("TOOLWIRE_SHARED") or Path(__file__).parents[2] / "shared")


def needs(*names: str) -> pytest.MarkDecorator:
    """Skips a test unless these files are there."""
    absent = [name for name in names if not (SHARED / name).is_file()]
    return pytest.mark.skipif(bool(absent), reason=f"reference data absent: {', '.join(absent)}")


@cache
def load(name: str) -> ModuleType:
    """A program of the reference data as a module."""
    path = SHARED / name
    spec = importlib.util.spec_from_file_location(f"shared_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def judge() -> Any:
    """recordings/judge.py: the independent reader of recordings and of doors."""
    return load("recordings/judge.py")


def their_word(door: str) -> str:
    """The reference data's word for a door of ours: theirs for Chat Completions is "chat"."""
    return "chat" if door == "chat_completions" else door


#: The index of the recordings.
_INDEX = SHARED / "recordings" / "INDEX.tsv"


def without_recordings() -> str:
    """Why a test has no recordings; empty where it has."""
    return "" if _INDEX.is_file() else "reference data absent: no recordings"


def served_rows() -> list[dict[str, str]]:
    """The rows of the recordings' index whose API is a wire that is built."""
    if not _INDEX.is_file():
        return []
    with _INDEX.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [row for row in rows if row["api"] in judge().WIRES and judge().WIRES[row["api"]][0] in WIRES]
