"""What `make suites` makes of the suites' reports and data, without any of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.scorecards import benchmarks, llmprobe, schemas
from tests.scorecards.__main__ import PAGE
from tests.scorecards.benchmarks import Case, cases_of, judged, translated
from tests.scorecards.fetched import Absent


def report(*failing: str) -> dict[str, Any]:
    results = [{"name": "chat/completions: basic completion", "outcome": "pass"}]
    results += [{"name": name, "outcome": "fail"} for name in failing]
    surfaces = [{"surface": "chat_completions", "passed": 1, "total": len(results)}]
    return {"conformance": {"passed": 1, "total": len(results), "bySurface": surfaces, "results": results}}


def test_a_row_that_fails_says_where_and_why() -> None:
    rows = llmprobe.table({"openai": report("chat/completions: logprobs"), "gemini": report()}).splitlines()
    assert "| demo/openai | 1 of 2 | 1 of 2 |" in rows
    assert "| demo/gemini | 1 of 1 | 1 of 1 |" in rows
    (told,) = [row for row in rows if row.startswith("| chat/completions: logprobs |")]
    assert told == f"| chat/completions: logprobs | openai | {llmprobe.WHY['logprobs']} |"


def test_a_row_that_nobody_looked_into_is_told_so() -> None:
    assert "| chat/completions: new | openai | **not looked into yet** |" in llmprobe.table(
        {"openai": report("chat/completions: new")}
    )


def test_the_page_has_no_row_that_nobody_looked_into() -> None:
    assert "not looked into" not in PAGE.read_text("utf-8")


FUNCTION = {
    "name": "move",
    "description": "Moves.",
    "parameters": {
        "type": "dict",
        "properties": {"to": {"type": "string"}, "by": {"type": "float"}, "tags": {"type": "tuple", "items": {}}},
        "required": ["to"],
    },
}
DATA = {
    "one.json": json.dumps({"id": "one_0", "question": [], "function": [FUNCTION]}) + "\n",
    "possible_answer/one.json": json.dumps(
        {"id": "one_0", "ground_truth": [{"move": {"to": ["a", "b"], "by": ["", 1.5], "tags": [[1]]}}]}
    ),
    "multi_turn_func_doc/x.json": json.dumps(FUNCTION) + "\n",
}


def test_the_benchmarks_entries_and_the_calls_that_it_takes_for_right() -> None:
    first, second = cases_of(DATA)
    assert first == Case((FUNCTION,), (("move", {"to": "a", "tags": [1]}),))
    assert second == Case((FUNCTION,), ())
    assert judged([first, second]) == (1, {})
    wrong = Case((FUNCTION,), (("move", {"to": 1}), ("move", {})))
    assert judged([wrong])[1].total() == 2


def test_its_words_for_types() -> None:
    parameters = translated(FUNCTION["parameters"])
    assert parameters["type"] == "object"
    assert [it["type"] for it in parameters["properties"].values()] == ["string", "number", "array"]


def test_a_folder_of_schemas(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"type":"object","properties":{"a":{"type":"string"}}}', "utf-8")
    (tmp_path / "b.json").write_text('{"type":"array"}', "utf-8")
    row = benchmarks.folder_of_schemas(tmp_path).splitlines()[-1]
    assert row.startswith("| as they are | 1 / 0 / 0 / 1 |")
    with pytest.raises(Absent):
        benchmarks.folder_of_schemas(None)


def test_the_official_suites_tests_are_asked_of_tools() -> None:
    """Values that are no objects are an argument; a schema with references stands alone."""
    text = {"data": "x", "valid": True}, {"data": 1, "valid": False}
    groups: list[dict[str, Any]] = [
        {"schema": {"type": "string"}, "tests": [*text]},
        {"schema": {"$ref": "#/$defs/a", "$defs": {"a": {"required": ["b"]}}}, "tests": [{"data": {}, "valid": True}]},
        {"schema": {"$ref": "http://else/where"}, "tests": [{"data": {}, "valid": True}, {"data": 1, "valid": True}]},
        {"schema": {"$ref": "other.json"}, "tests": [{"data": {}, "valid": True}]},
        {"schema": False, "tests": [{"data": 1, "valid": False}]},
    ]
    asked = list(schemas.asked_of("draft7", "some", groups))
    assert [one.arguments for one in asked] == ['{"value": "x"}', '{"value": 1}', "{}", "{}", "{}", '{"value": 1}']
    lines = schemas.suite_table(asked).splitlines()
    assert "| draft7 | 6 | 3 | 1 | 1 | 1 | 0 | 0 |" in lines
    assert lines[-1] == "Judged otherwise, by the suite's file: 1 × `some`."
