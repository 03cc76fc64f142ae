"""The recordings in events/ are what the demo itself answers: what is replayed is what runs live."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

from tests.demo.hosts import demo_host
from tests.named_rows import each_row
from toolwire.shell.recording.replay import replay
from toolwire.shell.recording.scenario import load_scenario

EVENTS = Path(__file__).parents[2] / "events"
#: Written by hand: hosts like it exist, the demo is none.
BY_HAND = {"awkward_compatible_host"}
FOLDERS = sorted(path.parent for path in EVENTS.glob("*/event.json") if path.parent.name not in BY_HAND)

#: What is new in each answer: ids, and the signatures of Anthropic's and Gemini's parts.
_VARYING = re.compile(
    rb'((?:chatcmpl-(?:tool-)?|call_|fc_|msg_|resp_|rs_|toolu_|demo)|"(?:responseId|thoughtSignature)": ")[\w=+/-]+'
)


@each_row("folder", FOLDERS, ids=[folder.name for folder in FOLDERS])
def test_the_demo_answers_as_recorded(folder: Path) -> None:
    scenario = load_scenario(folder)
    replayed = replay(scenario)
    assert replayed.request is not None
    numbers = itertools.count(1)

    said = demo_host(scenario.event)(replayed.request, lambda: f"{next(numbers):032x}")

    recorded = scenario.answers[0]
    expected, written = (_VARYING.sub(rb"\1ID", text) for text in (recorded.body, b"".join(said.pieces[: said.cut])))
    assert said.status == recorded.status
    assert [name for name, _ in said.headers] == list(recorded.headers)
    assert recorded.ends == ("complete" if said.cut is None else "cut")
    assert (expected if said.cut is None else expected[: len(written)]) == written
