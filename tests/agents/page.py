"""`docs/agents.md`: what came of each client with each wire, written by the command that found it out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from tests.agents.client_file import Client, Known
from toolwire.providers.hosts import DEMO_MODELS

PAGE = Path(__file__).parents[2] / "docs" / "agents.md"
COLUMNS = (*DEMO_MODELS, "switch")
_NAMES = ["client", "version", *COLUMNS, "date", "failures, and whose they are"]

_HEAD = """\
# Real clients, every provider

`make agents` runs real clients through the gateway, in tool loops with the demo model of every wire, and writes this
page; `AGENT=name` runs one of [their files](../tests/agents/clients), `LATEST=1` what the registries have today. It
needs npm. How to set each up: [clients.md](clients.md).

What is held with each, in every way that the client has (streamed and not, each API that it speaks): calls (one, then
two at once, then one more), a call that fails, a result with an image where the client has such results, the
provider's 429 and 500, a stream that is cut within a call. `switch` is one conversation that goes through all models.
"ok" says that what was asked for was done, nothing else on the disk was touched, and failures were shown as failures.

"""


@dataclass(frozen=True)
class Verdict:
    """A failure, and what explains it."""

    way: str
    scenario: str
    known: Known | None


@dataclass(frozen=True)
class Row:
    """One client: column -> its failures there."""

    name: str
    version: str
    verdicts: dict[str, list[Verdict]]
    date: str


def explained(client: Client, way: str, scenario: str, wire: str) -> Known | None:
    """What the client's file says of such a failure; its wire may name the way instead."""
    name = scenario.replace(" ", "-")
    return next(
        (known for known in client.known if known.scenario in (name, "*") and known.wire in (wire, way, "*")), None
    )


def write(row: Row) -> None:
    """Puts the row in its place on the page."""
    there = rows(PAGE.read_text("utf-8") if PAGE.exists() else "")
    cells = [_cell(row.verdicts[column]) for column in COLUMNS]
    faults = {
        f"{verdict.scenario}: {verdict.known.whose}: {verdict.known.what}" if verdict.known else
        f"{verdict.scenario} ({verdict.way}): not explained yet"
        for found in row.verdicts.values()
        for verdict in found
    }  # fmt: skip
    there[row.name] = dict(
        zip(_NAMES, [row.name, row.version, *cells, row.date, "; ".join(sorted(faults))], strict=True)
    )
    lines = [_NAMES, ["---"] * len(_NAMES)]
    for name in sorted(there, key=str.lower):
        lines.append([there[name].get(column, "not run") for column in _NAMES])
    PAGE.write_text(_HEAD + "".join(f"| {' | '.join(line)} |\n" for line in lines), "utf-8")


def _cell(found: list[Verdict]) -> str:
    return ", ".join(dict.fromkeys(verdict.scenario for verdict in found)) or "ok"


def rows(text: str) -> dict[str, dict[str, str]]:
    """The page's rows by client, each as its cells by their column."""
    lines = [
        re.split(r" \| ", line.removeprefix("| ").removesuffix(" |")) for line in text.splitlines() if line[:2] == "| "
    ]
    return {line[0]: dict(zip(lines[0], line, strict=True)) for line in lines[2:]}
