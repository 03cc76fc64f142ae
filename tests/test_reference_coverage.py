"""docs/reference-coverage.md names tests that exist, and every row names one or says why there is none."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "reference-coverage.md").read_text()

_TEST = re.compile(r"`(tests/[\w/.-]+\.py)::(test_\w+)`")
#: What a row may say in place of a test: a decision, with its reason behind it.
_DECIDED = re.compile(r"(design \d|not filled in: |the client's to |keys and rates)")

ROWS = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in PAGE.splitlines()
    if line.startswith("| ") and not line.startswith("| rule |")
]


@cache
def functions_of(path: str) -> frozenset[str]:
    """The names of a module's test functions: pytest collects every one of them."""
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef))


@pytest.mark.parametrize("name", sorted(set(_TEST.findall(PAGE))), ids="::".join)
def test_the_named_test_exists(name: tuple[str, str]) -> None:
    path, function = name
    assert function in functions_of(path)


def test_every_row_is_shown_or_decided() -> None:
    assert len(ROWS) > 130
    assert [row for row in ROWS if len(row) != 2] == []
    assert [rule for rule, shown in ROWS if not (_TEST.search(shown) or _DECIDED.search(shown))] == []


def test_nothing_that_looks_like_a_test_is_misspelt() -> None:
    said = re.findall(r"`(tests/[^`]*)`", PAGE)
    assert [name for name in said if not _TEST.fullmatch(f"`{name}`")] == []


def test_the_five_contract_tests_are_named_as_the_document_names_them() -> None:
    contract = functions_of("tests/sdk/test_2api_contract.py")
    named = re.findall(r"^\| `(test_\w+)` \|", PAGE, re.MULTILINE)
    assert len(named) == 5
    assert set(named) <= contract
