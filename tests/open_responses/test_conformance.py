"""Every answer and every event of the Responses door is valid by Open Responses, whatever wire the answer comes by."""

from __future__ import annotations

import json

from tests.named_rows import each_row
from tests.open_responses.judge import document_faults
from tests.open_responses.suite import REASONING_WIRES, SUITE, TOOL, WIRES, Asked, faults, final_response, play


def _name(asked: Asked) -> str:
    return f"{asked.what}{', streamed' if asked.stream else ''}"


CASES = {f"{_name(asked)}: {wire}": (wire, asked) for wire in WIRES for asked in SUITE if wire not in asked.but}


@each_row(("wire", "asked"), CASES.values(), ids=CASES)
def test_an_answer_is_valid_by_the_standard(wire: str, asked: Asked) -> None:
    assert faults(wire, asked) == []


@each_row("stream", [True, False], ids=["streamed", "whole"])
@each_row("wire", REASONING_WIRES)
def test_reasoning_is_an_item_of_its_own(wire: str, stream: bool) -> None:
    (asked,) = (asked for asked in SUITE if asked.what == "reasoning" and asked.stream == stream)
    first = final_response(play(wire, asked), stream)["output"][0]
    assert first["type"] == "reasoning"
    assert [part["type"] for part in first["summary"]] == ["summary_text"]
    assert first["summary"][0]["text"]


# ---------------------------------------------------------------- the judge itself

VALID = final_response(play("openai", SUITE[0]), stream=False)


@each_row("name", sorted(VALID))
def test_the_judge_misses_every_member(name: str) -> None:
    assert document_faults(json.dumps({key: value for key, value in VALID.items() if key != name}).encode())


def test_the_judge_knows_types_and_items() -> None:
    assert document_faults(json.dumps(VALID).encode()) == []
    for wrong in ({"temperature": None}, {"tools": [TOOL]}, {"output": [{"type": "message"}]}, {"completed_at": "now"}):
        assert document_faults(json.dumps(VALID | wrong).encode())
