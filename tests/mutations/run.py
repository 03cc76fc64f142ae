"""Breaks each behaviour that docs/reference-coverage.md claims, and says whether the row's own tests notice.

    python -m tests.mutations.run [--only TEXT] [--changed]

The tree is copied once; each mutant is put into the copy, its row's tests run there, and the file is restored.

    killed      a test failed
    SURVIVED    all passed, so the row's tests do not show its rule
    stale       the row or the code is no longer what the mutant says
    no verdict  the tests could not be collected, or took too long

Ends with 1 unless all are killed, and with 2 where a test fails without any mutant: then no kill would mean anything.
"""

from __future__ import annotations

import argparse
import importlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from tests.mutations.mutant import Mutant, Stale, mutated, named_by, page_sections

ROOT = Path(__file__).parents[2]

#: A table of mutants -> the heads of the page's sections that it is about.
TABLES = ("sentinel", "cline", "two_api", "two_api_forms", "responses")

_SECONDS = 120
_NOT_COPIED = shutil.ignore_patterns(
    ".git", ".venv", ".venv-*", ".aws-sam", "__pycache__", ".*_cache", ".hypothesis", "recordings"
)
#: pytest's exit statuses.
_PASSED, _FAILED = 0, 1


def all_mutants() -> list[tuple[str, Mutant]]:
    """Every mutant, with the heading of its section."""
    tables = [importlib.import_module(f"tests.mutations.{name}").MUTANTS for name in TABLES]
    return [(section, mutant) for table in tables for section, mutants in table.items() for mutant in mutants]


def verdict_on(mutant: Mutant, tests: Sequence[str], tree: Path, seconds: float = _SECONDS) -> str:
    """Puts the mutant into the tree, runs the tests there, and restores the file. The verdict's first word is `killed`,
    `SURVIVED`, `stale` or `no`."""
    file = tree / mutant.path
    before = file.read_bytes() if file.is_file() else None
    if before is None:
        return f"stale: there is no {mutant.path}"
    try:
        after = mutated(before.decode(), mutant)
    except Stale as why:
        return f"stale: {why}"
    try:
        file.write_text(after, "utf-8")
        status = _status_of(tests, tree, seconds)
    finally:
        file.write_bytes(before)
    if status is None:
        return f"no verdict: the tests took more than {seconds:g} seconds"
    return {_PASSED: "SURVIVED", _FAILED: "killed"}.get(status, f"no verdict: pytest ended with {status}")


def _status_of(tests: Sequence[str], tree: Path, seconds: float) -> int | None:
    """pytest's exit status, or None where it took too long: it and its children are ended then."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    # Without bytecode: a mutant of the same length within the same second would not be noticed.
    environment = {
        **os.environ,
        "PYTHONPATH": str(tree / "layers" / "shared"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "TOOLWIRE_SHARED": os.environ.get("TOOLWIRE_SHARED", str(ROOT.parent / "shared")),
    }
    quiet = subprocess.DEVNULL
    with subprocess.Popen(
        command, cwd=tree, env=environment, stdout=quiet, stderr=quiet, start_new_session=True
    ) as process:
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return None


def _changed() -> set[str]:
    """The files that differ from the last commit."""
    git = shutil.which("git") or "git"
    asked = subprocess.run([git, "diff", "--name-only", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(asked.stdout.split())


def fail_without_mutant(tests: Sequence[str], tree: Path) -> bool:
    """Whether a test fails in the tree as it is."""
    return bool(tests) and _status_of(tests, tree, 10 * _SECONDS) != _PASSED


def _named(mutants: Iterable[tuple[str, Mutant]]) -> list[str]:
    """The tests of all these mutants; those of a stale one are left out, since its verdict says so."""
    page, found = page_sections(), set()
    for section, mutant in mutants:
        with suppress(Stale):
            found |= set(named_by(mutant, page.get(section, "")))
    return sorted(found)


def _verdicts(mutants: Iterable[tuple[str, Mutant]], tree: Path) -> Iterable[tuple[str, Mutant, str]]:
    page = page_sections()
    for section, mutant in mutants:
        try:
            verdict = verdict_on(mutant, named_by(mutant, page.get(section, "")), tree)
        except Stale as why:
            verdict = f"stale: {why}"
        yield section, mutant, verdict


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="tests.mutations.run", description="Shows that the named tests can fail.")
    parser.add_argument("--only", default="", metavar="TEXT", help="mutants with TEXT in their rule, section or file")
    parser.add_argument("--changed", action="store_true", help="mutants of files that differ from the last commit")
    chosen = parser.parse_args(arguments)
    mutants = [it for it in all_mutants() if chosen.only in f"{it[0]} {it[1].rule} {it[1].path}"]
    if chosen.changed:
        changed = _changed()
        mutants = [it for it in mutants if it[1].path in changed]
    counts: dict[str, Counter[str]] = {}
    with tempfile.TemporaryDirectory(prefix="toolwire-mutants-") as folder:
        tree = Path(folder) / "tree"
        shutil.copytree(ROOT, tree, ignore=_NOT_COPIED)
        if fail_without_mutant(_named(mutants), tree):
            sys.stdout.write("a named test fails without any mutant: mend that first\n")
            return 2
        for section, mutant, verdict in _verdicts(mutants, tree):
            sys.stdout.write(f"{verdict}\t{mutant.rule}\t{mutant.path}\n")
            sys.stdout.flush()
            counts.setdefault(section, Counter())[verdict.partition(":")[0]] += 1
    for section, of in counts.items():
        sys.stdout.write(f"{section}: " + ", ".join(f"{count} {word}" for word, count in sorted(of.items())) + "\n")
    return 0 if all(set(of) == {"killed"} for of in counts.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
