"""python -m tests.scorecards [--only NAME] [--schemas FOLDER]

Suites that others wrote, each asked what it thinks of the gateway, and docs/scorecards.md with what they said. Each is
fetched from its registry into a temporary folder; one that cannot be had is named as left out.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.scorecards import aimock, benchmarks, llmprobe, schemas
from tests.scorecards.fetched import Absent

PAGE = Path(__file__).parents[2] / "docs" / "scorecards.md"

_HEAD = """# What other people's suites say

Written by `make suites`, which fetches suites and data sets that others wrote and holds the gateway against them.
It needs node, npm and pip, and takes some minutes; `make test` runs none of it. What this project's own tests say is in
[conformance.md](conformance.md), with the standard of the Responses API.

"""


def main() -> int:
    """Exit status 0: what a suite says is told, and nothing is judged here."""
    parser = argparse.ArgumentParser(prog="python -m tests.scorecards")
    parser.add_argument("--only", default="", help="the suites whose name has this text; nothing is written")
    parser.add_argument("--schemas", type=Path, help="folder of JSON schemas, such as JSONSchemaBench's data")
    options = parser.parse_args()
    suites: dict[str, Callable[[Path], str]] = {
        "llmprobe": llmprobe.section,
        "aimock": aimock.section,
        "BFCL": benchmarks.bfcl,
        "JSON Schema Test Suite": schemas.test_suite,
        "SchemaStore": schemas.schema_store,
        "JSONSchemaBench": lambda _: benchmarks.folder_of_schemas(options.schemas),
    }
    sections = []
    for name, section in suites.items():
        if options.only in name:
            with tempfile.TemporaryDirectory(prefix="scorecard-", ignore_cleanup_errors=True) as folder:
                try:
                    sections.append(f"## {name}\n\n{section(Path(folder))}")
                except Absent as absent:
                    sections.append(f"## {name}\n\nLeft out: {absent}.\n")
    text = "\n".join(sections)
    print(text)  # noqa: T201
    if not options.only:
        PAGE.write_text(_HEAD + text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
