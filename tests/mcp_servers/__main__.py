"""python -m tests.mcp_servers [--captures FOLDER] [--only TEXT]

Installs public MCP servers into a temporary folder, asks each for its tools, and writes docs/mcp-schemas.md: what
becomes of every tool at every provider. The servers' own texts are not written anywhere.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from tests.mcp_servers.listing import Declared, Listing, listing_of
from tests.mcp_servers.servers import SERVERS, Server
from tests.mcp_servers.table import OUTCOMES, PROVIDERS, Counts, captured, outcomes

PAGE = Path(__file__).parents[2] / "docs" / "mcp-schemas.md"

_HEAD = """# The tools of public MCP servers

`make mcp-schemas` installs public MCP servers, asks each for its tools (`tools/list`), and holds them against every
provider as [`tools/check`](native.md#which-providers-take-my-tools) does, for a client whose API is not the
provider's own. No key is needed: a server that does not start without a real one is left out.
`CAPTURES=folder` adds the tools of recorded requests of agents.

A cell says how many tools went unchanged / converted without loss / loosened, with a warning / refused.
[Tool policy](tool-policy.md#schemas) says what these mean.

"""


class Row(NamedTuple):
    """A source of tools in the table."""

    name: str
    version: str
    tools: int
    counts: Counts


def main() -> int:
    """Exit status 1 where a tool was refused."""
    parser = argparse.ArgumentParser(prog="python -m tests.mcp_servers")
    parser.add_argument("--captures", type=Path, help="folder with requests of agents")
    parser.add_argument("--only", default="", help="servers whose package has this text; nothing is written")
    options = parser.parse_args()
    rows: list[Row] = []
    refusals: list[str] = []
    absent: list[str] = []

    def add(name: str, version: str, tools: tuple[Declared, ...] | list[Declared]) -> None:
        counts, refused = outcomes(tools)
        rows.append(Row(name, version, len(tools), counts))
        refusals.extend(f"{name}, {text}" for text in refused)

    chosen = [server for server in SERVERS if options.only in server.package]
    with tempfile.TemporaryDirectory(prefix="mcp-servers-", ignore_cleanup_errors=True) as folder:
        for server, listing in zip(chosen, _listings(chosen, Path(folder)), strict=True):
            if listing.tools:
                add(f"`{server.package}`", listing.version, listing.tools)
            else:
                absent.append(f"{server.package} ({listing.fault or 'it has no tools'})")
    for agent, tools in captured(options.captures) if options.captures else ():
        add(f"{agent}, recorded", "", tools)
    text = _table(rows)
    print(text)  # noqa: T201
    print(*(f"left out: {it}" for it in absent), *(f"refused: {it}" for it in refusals), sep="\n")  # noqa: T201
    if not options.only:
        PAGE.write_text(_HEAD + text, "utf-8")
    return 1 if refusals else 0


def _listings(servers: list[Server], folder: Path) -> list[Listing]:
    def one(numbered: tuple[int, Server]) -> Listing:
        place = folder / str(numbered[0])
        place.mkdir()
        try:
            return listing_of(numbered[1], place)
        finally:
            shutil.rmtree(place, ignore_errors=True)  # a hundred megabytes each

    with ThreadPoolExecutor(4) as pool:
        return list(pool.map(one, enumerate(servers)))


def _table(rows: list[Row]) -> str:
    lines = [
        "| server | version | tools | " + " | ".join(PROVIDERS) + " |",
        "|---|---|---:|" + "---|" * len(PROVIDERS),
    ]
    total: Counts = {name: Counter() for name in PROVIDERS}
    for row in rows:
        lines.append(f"| {row.name} | {row.version} | {row.tools} | {_cells(row.counts)} |")
        for name in PROVIDERS:
            total[name] += row.counts[name]
    lines.append(f"| **{len(rows)} sources** | | {sum(row.tools for row in rows)} | {_cells(total)} |")
    return "\n".join(lines) + "\n"


def _cells(counts: Counts) -> str:
    return " | ".join(" / ".join(str(counts[name][outcome]) for outcome in OUTCOMES) for name in PROVIDERS)


if __name__ == "__main__":
    sys.exit(main())
