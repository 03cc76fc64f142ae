"""The ways through the house that CONTRIBUTING.md shows, held to the order in which the modules of a turn do run, and
its list of stages to theirs."""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path
from types import FrameType

import pytest

import toolwire
from toolwire.exchange.stages import Stages
from toolwire.shell.recording.replay import replay
from toolwire.shell.recording.scenario import load_scenario

ROOT = Path(__file__).parents[1]
PACKAGE = Path(toolwire.__file__).parent
#: The first cell of a row -> the modules in its second one. What follows "in the next request" is of another turn.
WAYS = {
    name: re.findall(r"`([a-z_]+/[a-z_<>/]*(?:\.py|/))`", way.partition("in the next request")[0])
    for name, way in re.findall(r"^\| (a request's body|a chunk of the answer|a tool call's id) \| (.*) \|$",
                                (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.MULTILINE)
}  # fmt: skip

#: Rooms that a replay does without: it has no sockets and no store.
NOT_REPLAYED = ("shell/network/", "shell/network/output.py", "shell/store/")

#: From here on it is about the answer.
ANSWER = ("exchange/answer.py", "receive_data")


def runs(scenario: str) -> tuple[list[str], list[str]]:
    """The modules of a replay in the order in which each first runs: for the request, and for the answer."""
    ran: list[tuple[str, str]] = []

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_name != "__init__" and code.co_filename.startswith(str(PACKAGE)):
            ran.append((str(Path(code.co_filename).relative_to(PACKAGE)), code.co_name))

    recorded = load_scenario(ROOT / "events" / scenario)
    replay(recorded)  # what is imported when it is needed is there now
    sys.setprofile(note)
    try:
        replay(recorded)
    finally:
        sys.setprofile(None)
    at = ran.index(ANSWER)
    request, answer = (list(dict.fromkeys(module for module, _ in part)) for part in (ran[:at], ran[at:]))
    return request, answer


@pytest.mark.parametrize(
    ("way", "scenario", "answer"),
    [
        ("a request's body", "messages_tool_results", False),
        ("a request's body", "responses_tool_results", False),
        ("a chunk of the answer", "messages_parallel_calls", True),
        ("a tool call's id", "messages_parallel_calls", True),
    ],
)
def test_the_way_is_as_it_is_told(way: str, scenario: str, answer: bool) -> None:
    request_ran, answer_ran = runs(scenario)
    ran = answer_ran if answer else request_ran
    told = [name for name in WAYS[way] if not name.startswith(NOT_REPLAYED)]
    assert len(told) > 3

    at = 0
    for name in told:
        pattern = re.compile(re.escape(name).replace(r"<api>", r"\w+").replace(r"<wire>", r"\w+"))
        place = next((n for n, module in enumerate(ran) if pattern.match(module)), None)
        assert place is not None, f"{name} does not run"
        assert place >= at, f"{name} runs earlier than told"
        at = place


def test_the_stages_stand_in_their_order() -> None:
    (row,) = re.findall(r"^\| stages \| .*$", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.MULTILINE)
    told = re.findall(r"`(\w+)`", row)
    assert told == list(inspect.signature(Stages).parameters)
