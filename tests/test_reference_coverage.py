"""docs/reference-coverage.md names tests that exist and run, and every row names one or says why there is none."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from tests.named_rows import each_row
from tests.named_tests import NamedTests, named_tests

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "reference-coverage.md").read_text()

_TEST = re.compile(r"`(tests/[\w/.-]+\.py)::(test_\w+)`")
#: What a row may say in place of a test: a decision, with its reason behind it.
_DECIDED = re.compile(r"(decided|not filled in: |the client's to |keys and rates)")

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


@each_row("name", sorted(set(_TEST.findall(PAGE))), ids="::".join)
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


# ---------------------------------------------------------------- whether they ran

pytest_plugins = ["pytester"]

SUITE = """
import pytest

@pytest.mark.parametrize("n", [1, 2])
def test_runs(n): ...

@pytest.mark.parametrize("n", [])
def test_has_no_cases(n): ...

@pytest.mark.skip
def test_is_skipped(): ...

@pytest.mark.skip(reason="reference data absent: x.json")
def test_has_no_data(): ...

@pytest.mark.integration
def test_is_for_the_other_run(): ...

@pytest.mark.xfail
def test_is_known_to_fail(): assert False
"""

NAMES = ["runs", "has_no_cases", "is_skipped", "has_no_data", "is_for_the_other_run", "is_known_to_fail", "is_gone"]

CONFTEST = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from tests.left_out import left_out
from tests.named_tests import NamedTests
from tests.worker_reports import tell_less

def pytest_pycollect_makeitem(collector, name, obj):
    return left_out(collector, name, obj)

def pytest_configure(config):
    config.addinivalue_line("markers", "integration: slow")
    named = ["test_it.py::test_" + name for name in {NAMES}]
    config.pluginmanager.register(NamedTests(config, named))
    tell_less(config)
"""

EVERY_RUN = {"has_no_cases", "is_skipped", "is_known_to_fail", "is_gone"}


@pytest.mark.parametrize(
    ("arguments", "unshown"),
    [
        (("-m", "not integration"), EVERY_RUN),
        pytest.param(("-m", "not integration", "-n", "2"), EVERY_RUN, marks=pytest.mark.integration),
        (("-m", "integration or hypothesis"), {"is_gone"}),
        (("-k", "runs"), set()),
        (("test_it.py::test_runs",), set()),
    ],
    ids=["fast", "fast, by two workers", "slow", "by a word", "by a name"],
)
def test_a_run_of_everything_fails_without_a_named_test(
    pytester: pytest.Pytester, arguments: tuple[str, ...], unshown: set[str]
) -> None:
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(test_it=SUITE)

    run = pytester.runpytest_subprocess if "-n" in arguments else pytester.runpytest_inprocess
    ran = run("-p", "no:cacheprovider", *arguments)

    told = [line.rpartition("::test_")[2] for line in ran.outlines if line.startswith("named by docs/")]
    assert sorted(told) == sorted(unshown)
    assert ran.ret == (pytest.ExitCode.TESTS_FAILED if unshown else pytest.ExitCode.OK)


def test_the_plugin_is_there_and_watches_the_page(pytestconfig: pytest.Config) -> None:
    plugin = pytestconfig.pluginmanager.get_plugin("named-tests")
    assert isinstance(plugin, NamedTests)
    assert plugin._named == named_tests()
    assert len(plugin._named) > 100
