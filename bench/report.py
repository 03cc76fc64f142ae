"""The table: medians of all runs, ratios to the direct connection, and the goals they are held against."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from bench.traffic import Figures

#: Subject -> the figures of each run.
Runs = Mapping[str, Sequence[Figures]]

DIRECT = "direct"


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table."""

    figure: str
    title: str
    goal: str = ""
    #: Show what the gateway adds to the direct connection, beside the ratio.
    adds: bool = False


ROWS = (
    Row("ttft", "time to first token, ms", "<= 1.4", adds=True),
    Row("text_p50", "text delta delay p50, ms", "adds <= 0.25", adds=True),
    Row("text_p99", "text delta delay p99, ms", adds=True),
    Row("tools_p50", "tool delta delay p50, ms", "adds <= 0.25", adds=True),
    Row("tools_p99", "tool delta delay p99, ms", adds=True),
    Row("text_cpu", "CPU a text delta, burst, us", "<= 20"),
    Row("bare_cpu", "CPU a text delta written anew, burst, us", "<= 20"),
    Row("tools_cpu", "CPU a tool delta, burst, us", "<= 20"),
    Row("text_rate", "text deltas/s, one stream"),
    Row("json_time", "JSON answer with two calls, ms", adds=True),
    Row("json_cpu", "CPU a JSON answer with two calls, ms", "<= 0.9"),
    Row("json_rate_1", "JSON answers/s, 1 connection"),
    Row("json_rate_16", "JSON answers/s, 16 connections", ">= 900"),
    Row("streams_rate_1", "streams/s, 1 connection"),
    Row("streams_rate_16", "streams/s, 16 connections", ">= 500"),
    Row("local_start", "local server: start to first answer, ms", "<= 300"),
    Row("rss", "memory after the load, MB", "<= 45"),
    Row("rss_more", "what 1,000 more JSON answers add to it, MB", "0"),
)

START_ROWS = (
    Row("first_poll", "process start to first poll, ms", "<= 250", adds=True),
    Row("first_byte", "event to first byte of the answer, ms", "<= 20", adds=True),
)

CORE_ROWS = (
    Row("text_delta", "translate one text delta, us", "<= 3"),
    Row("bare_delta", "translate one text delta, written anew, us", "<= 3"),
    Row("tools_delta", "translate one tool delta, us", "<= 3"),
    Row("recovery_off", "translate one text delta, calls in text not looked for, us", "<= 3"),
    Row("recovery_on", "translate one text delta, calls in text looked for, us", "<= 4"),
    Row("call", "events of a tool call of 100 deltas, ms", "<= 0.3"),
    Row("request", "188 KB request, 100 messages, 20 tools, ms", "<= 1.2"),
)


STORE_ROWS = (
    Row("store_write", "write a turn's two ids and states, which its end waits for, ms", "<= 15", adds=True),
    Row("recall_1", "look up a history with 1 call, ms", "<= 10", adds=True),
    Row("recall_100", "look up a history with 100 calls, ms", adds=True),
    Row("recall_1000", "look up a history with 1,000 calls, ms", adds=True),
)


def table(rows: Sequence[Row], runs: Runs) -> str:
    """A Markdown table: a column for each subject, medians, and (against the first subject) ratios."""
    names = list(runs)
    lines = ["| " + " | ".join(["figure", "goal", *names]) + " |", "|---|---|" + "---:|" * len(names)]
    for row in rows:
        medians = {name: _median(runs[name], row.figure) for name in names}
        if any(value is not None for value in medians.values()):
            first = medians[names[0]] if len(names) > 1 else None
            cells = [_cell(row, medians[name], first if name != names[0] else None) for name in names]
            lines.append("| " + " | ".join([row.title, row.goal, *cells]) + " |")
    return "\n".join(lines)


def _median(runs: Sequence[Figures], figure: str) -> float | None:
    values = [run[figure] for run in runs if figure in run]
    return median(values) if values else None


def _cell(row: Row, value: float | None, direct: float | None) -> str:
    if value is None:
        return ""
    if direct is None:
        return _number(value)
    ratio = f"{_number(value / direct)}x"
    added = f", {'+' if value >= direct else '-'}{_number(abs(value - direct))}" if row.adds else ""
    return f"{_number(value)} ({ratio}{added})"


def _number(value: float) -> str:
    """Three digits that count: more would be noise."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"
