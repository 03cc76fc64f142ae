"""Every published case has a test of ours, or waits for something that is not built. Prints a line for each."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.cases.coverage import COVERED, FOLDERS, LATER, WIRE_OF
from tests.named_rows import each_row
from tests.reference import SHARED, their_word
from tests.test_reference_coverage import functions_of
from toolwire.doors import DOORS
from toolwire.providers import WIRES


@each_row("name", sorted({name for names in COVERED.values() for name in names}))
def test_the_named_test_exists(name: str) -> None:
    path, _, function = name.partition("::")
    assert function in functions_of(path)


def test_every_case_is_covered_or_waits() -> None:
    paths = [path for folder in FOLDERS for path in sorted((SHARED / folder).glob("[0-9]*.json"))]
    cases = [json.loads(path.read_text("utf-8")) for path in paths]
    if not cases:
        pytest.skip("reference data absent: no cases listed")
    open_cases = []
    for case in cases:
        number = case["id"][:3]
        waits = waits_for(case)
        said = ", ".join(COVERED[number]) if number in COVERED else f"waits for {waits}"
        print(f"{number}  {case['door']:9} {case['upstream']:10}  {said}")  # noqa: T201 - shown by pytest -s
        assert waits is None or number not in COVERED, f"{number} cannot be covered before {waits}"
        if waits is None and number not in COVERED:
            open_cases.append(number)
    assert open_cases == []


def waits_for(case: dict[str, Any]) -> str | None:
    """What the case needs and is not built; None if it has to pass."""
    if case["door"] not in map(their_word, DOORS):
        return f"the {case['door']} door"
    if (wire := WIRE_OF[case["upstream"]]) not in WIRES:
        return f"the {wire} wire"
    return LATER.get(case["id"][:3])
