"""A mutant: one behaviour of a row of docs/reference-coverage.md, broken on purpose."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from tests.named_tests import NAMED, PAGE

_ROW = re.compile(r"^\| (.+?) \| (.+) \|$", re.MULTILINE)


@dataclass(frozen=True)
class Mutant:
    """`old`, which stands exactly once in the file `path`, becomes `new`. `rule` begins a row's first cell."""

    rule: str
    path: str
    old: str
    new: str


class Stale(Exception):
    """The page or the code has moved on, and the mutant has not."""


def mutated(text: str, mutant: Mutant) -> str:
    """The file's text with the mutant in it. Raises Stale unless `old` is there exactly once."""
    count = text.count(mutant.old)
    if count != 1:
        raise Stale(f"{mutant.path} has the old text {count} times")
    return text.replace(mutant.old, mutant.new)


def sections(page: str) -> dict[str, str]:
    """Each section's heading and text."""
    parts = re.split(r"^## (.+)$", page, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def named_by(mutant: Mutant, section: str) -> list[str]:
    """The tests that the mutant's row of the section names. Raises Stale unless exactly one row begins with the rule
    and names a test."""
    rows = _ROW.findall(section)
    exact = [shown for rule, shown in rows if rule == mutant.rule]
    found = exact or [shown for rule, shown in rows if rule.startswith(mutant.rule)]
    if len(found) != 1:
        raise Stale(f"{len(found)} rows begin with {mutant.rule!r}")
    named = list(dict.fromkeys(NAMED.findall(found[0])))
    if not named:
        raise Stale(f"the row {mutant.rule!r} names no test")
    return named


def page_sections(path: Path = PAGE) -> dict[str, str]:
    return sections(path.read_text("utf-8"))
