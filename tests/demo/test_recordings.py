"""The recordings in events/ are what the demo itself answers: what is replayed is what runs live."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path
from typing import Literal

import pytest

from toolwire.demo.openai_chat import answer

EVENTS = Path(__file__).parents[2] / "events"
#: Written by hand: hosts like it exist, the demo is none.
BY_HAND = {"awkward_compatible_host"}
FOLDERS = sorted(path.parent for path in EVENTS.glob("*/event.json") if path.parent.name not in BY_HAND)

_ID = re.compile(rb"(chatcmpl-tool-|chatcmpl-|call_)[0-9a-f]+")


@pytest.mark.parametrize("folder", FOLDERS, ids=[folder.name for folder in FOLDERS])
def test_the_demo_answers_as_recorded(folder: Path) -> None:
    request = json.loads(json.loads((folder / "event.json").read_text("utf-8"))["body"])
    recorded = json.loads((folder / "upstream.json").read_text("utf-8"))
    flavour: Literal["openai", "compatible"] = "openai" if request["model"] == "demo/openai" else "compatible"
    numbers = itertools.count(1)

    body = json.dumps(request | {"model": flavour}).encode()
    said = answer(body, flavour, now=1_700_000_000, new_hex=lambda: f"{next(numbers):032x}")

    expected = _ID.sub(rb"\1ID", (folder / recorded["body"]).read_bytes())
    written = _ID.sub(rb"\1ID", b"".join(said.pieces[: said.cut]))
    assert said.status == recorded["status"]
    assert [name for name, _ in said.headers] == list(recorded["headers"])
    assert recorded["ends"] == ("complete" if said.cut is None else "cut")
    assert (expected if said.cut is None else expected[: len(written)]) == written
