"""Counts how fit each model's tool calls were, over recorded exchanges.

    python -m local.scorecard recordings/

Every folder is replayed with validation of arguments; nothing is sent. The table has a row for each provider and model:
exchanges, calls, calls at fault, and the share of fit ones, by which a plan may be ordered (`order = "quality"`). It
has names and counts, no content. Exit status: 0, or 2 where no folder could be replayed.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from toolwire.exchange.call_quality import share_fit
from toolwire.exchange.figures import MALFORMED
from toolwire.policy.answers import FINISH_MISMATCH
from toolwire.policy.arguments import INVALID, UNKNOWN
from toolwire.shell.recording.replay import Replay, replay
from toolwire.shell.recording.scenario import Scenario, load_scenario

_VALIDATE = "x-toolwire-validate-tool-arguments"

#: A count -> its column.
COLUMNS = {
    "exchanges": "exchanges",
    "calls": "calls",
    UNKNOWN: "of no declared tool",
    MALFORMED: "no JSON object",
    INVALID: "break their schema",
    FINISH_MISMATCH: "finish reason amiss",
}


def main() -> int:
    """See the module."""
    parser = argparse.ArgumentParser(prog="python -m local.scorecard")
    parser.add_argument("folder", type=Path, help="a folder of recorded exchanges")
    options = parser.parse_args()
    rows, unread = scores(sorted(path.parent for path in options.folder.glob("**/event.json")))
    if not rows and not unread:
        fix = "record some (make run RECORD=recordings/), or name another (RECORDINGS=)"
        print(f"scorecard: {options.folder} holds no recorded exchange: {fix}", file=sys.stderr)
        return 2
    print(*table(rows), sep="\n")
    for folder, why in unread.items():
        print(f"left out: {folder}: {why}", file=sys.stderr)
    return 0 if rows else 2


def scores(folders: Iterable[Path]) -> tuple[dict[tuple[str, str], Counter[str]], dict[Path, str]]:
    """The counts by provider and model, and the folders that could not be replayed, each with the reason."""
    rows: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    unread: dict[Path, str] = {}
    for folder in folders:
        try:
            replayed = replay(_validated(load_scenario(folder)))
        except (OSError, ValueError, KeyError, StopIteration) as error:
            unread[folder] = type(error).__name__
            continue
        if replayed.figures is not None and replayed.target is not None:
            rows[replayed.target.provider.name, replayed.target.model] += _counts(replayed)
    return rows, unread


def _counts(replayed: Replay) -> Counter[str]:
    assert replayed.figures is not None
    return Counter({"exchanges": 1, "calls": replayed.figures.calls}) + replayed.figures.call_faults


def _faults(counts: Counter[str]) -> int:
    return counts.total() - counts["exchanges"] - counts["calls"]


def _validated(scenario: Scenario) -> Scenario:
    """The scenario with validation of arguments switched on."""
    headers = dict(scenario.event.get("headers") or {})
    kept = {name: value for name, value in headers.items() if name.lower() != _VALIDATE}
    several = scenario.event.get("multiValueHeaders")
    event = scenario.event | {"headers": kept | {_VALIDATE: "annotate"}}
    if several is not None:
        others = {name: values for name, values in several.items() if name.lower() != _VALIDATE}
        event["multiValueHeaders"] = others | {_VALIDATE: ["annotate"]}
    return replace(scenario, event=event)


def table(rows: dict[tuple[str, str], Counter[str]]) -> Iterator[str]:
    """The lines of a table, the providers by name."""
    heads = ("provider", "model", *COLUMNS.values(), "fit")
    cells = [
        (*key, *(str(counts[name]) for name in COLUMNS), f"{share_fit(counts['calls'], _faults(counts)):.0%}")
        for key, counts in sorted(rows.items())
    ]
    widths = [max(map(len, column)) for column in zip(heads, *cells, strict=True)]
    for row in (heads, *cells):
        yield "  ".join(
            text.ljust(width) if place < 2 else text.rjust(width)
            for place, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()


if __name__ == "__main__":
    sys.exit(main())
