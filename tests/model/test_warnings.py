"""Every warning has its sentence."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from toolwire.model.warnings import MESSAGES, explain

OPERATIONS = (Path(__file__).parents[2] / "docs" / "operations.md").read_text()


def _documented() -> set[str]:
    """The codes of the table of warnings, without what follows a colon."""
    table = OPERATIONS[OPERATIONS.index("| warning | meaning |") :].partition("\n\n")[0]
    first = "".join(line.split("|")[1] for line in table.splitlines()[2:])
    return {code.partition(":")[0] for code in re.findall(r"`([a-z_]+(?::[A-Z]+)?)`", first)}


def test_what_the_page_lists_has_words() -> None:
    assert _documented() == MESSAGES.keys()


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("tool_result_missing", MESSAGES["tool_result_missing"]),
        ("not_supported:seed", "The provider has no word for `seed`, so it was left out."),
        ("tool_not_allowed", "The tool is not on the tenant's allowlist."),
        ("never_heard_of", "never heard of"),
        ("never_heard_of:it", "never heard of: it"),
    ],
)
def test_words(code: str, expected: str) -> None:
    assert explain(code) == expected
