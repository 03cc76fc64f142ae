"""`docs/agents.md`: what came of each client with each wire, written by the command that found it out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from tests.agents.client_file import Client, Known
from toolwire.providers.hosts import DEMO_MODELS

PAGE = Path(__file__).parents[2] / "docs" / "agents.md"
COLUMNS = (*DEMO_MODELS, "switch")
NOT_RUN = "not run"
_FAULTS = "failures, and whose they are"
_NAMES = ["client", "version", *COLUMNS, "date", _FAULTS]

_HEAD = """\
# Real clients, every provider

`make agents` runs real clients through the gateway, in tool loops with the demo model of every wire, and writes this
page; `AGENT=name` runs one of [their files](../tests/agents/clients), `LATEST=1` what the registries have today,
`WIRE=gemini` one column (the date is that of the oldest). It needs npm. How to set each up: [clients.md](clients.md).

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
    """One client: column -> its failures there, of the columns that were run."""

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
    """Puts the row in its place on the page. Columns that were not run this time stay as they are, and so does the
    date, where they were run with the same version."""
    there = rows(PAGE.read_text("utf-8") if PAGE.exists() else "")
    before = there.get(row.name, {})
    if before.get("version") != row.version:
        before = {}
    kept = {column: before.get(column, NOT_RUN) for column in COLUMNS if column not in row.verdicts}
    cells = kept | {column: _cell(found) for column, found in row.verdicts.items()}
    faults = {
        f"{verdict.scenario}: {verdict.known.whose}: {verdict.known.what}" if verdict.known else
        f"{verdict.scenario} ({verdict.way}): not explained yet"
        for found in row.verdicts.values()
        for verdict in found
    }  # fmt: skip
    failed = {name for cell in kept.values() for name in cell.split(", ")}
    faults |= {fault for fault in before.get(_FAULTS, "").split("; ") if re.split(r": | \(", fault)[0] in failed}
    date = before["date"] if before and set(kept.values()) - {NOT_RUN} else row.date
    there[row.name] = cells | {
        "client": row.name, "version": row.version, "date": date, _FAULTS: "; ".join(sorted(faults))
    }  # fmt: skip
    lines = [_NAMES, ["---"] * len(_NAMES)]
    for name in sorted(there, key=str.lower):
        lines.append([there[name].get(column, NOT_RUN) for column in _NAMES])
    PAGE.write_text(_HEAD + "".join(f"| {' | '.join(line)} |\n" for line in lines), "utf-8")


def _cell(found: list[Verdict]) -> str:
    return ", ".join(dict.fromkeys(verdict.scenario for verdict in found)) or "ok"


def rows(text: str) -> dict[str, dict[str, str]]:
    """The page's rows by client, each as its cells by their column."""
    lines = [
        re.split(r" \| ", line.removeprefix("| ").removesuffix(" |")) for line in text.splitlines() if line[:2] == "| "
    ]
    return {line[0]: dict(zip(lines[0], line, strict=True)) for line in lines[2:]}
