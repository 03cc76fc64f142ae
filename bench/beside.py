"""Measures other gateways beside this one, in one run, and writes docs/benchmarks.md:

    make bench-peers
    python -m bench.beside [--runs 5] [--quick] [--only Portkey ...]

The others are installed once, outside this repository (`peers.py`). All of them and ours stand in front of the same
scripted upstream, with one process each, and are asked by the same client. Each run measures everything once, subject
after subject, the order turning from run to run; printed are medians of the runs.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median

from bench.client import BenchError, Connection, Endpoint
from bench.cold_start import MODEL, configure, start_gateway
from bench.peers import PEERS, Peer, awaited, free_port
from bench.process import ROOT, Process, memory_mb, python
from bench.report import DIRECT, ROWS, Row, table
from bench.script import Script
from bench.traffic import MEASUREMENTS, QUICK, Figures, Sizes, Subject, prove

PAGE = ROOT / "docs" / "benchmarks.md"
OURS = "toolwire"
#: Smaller than `make bench`: the slowest peer takes a hundred times as long.
SIZES = Sizes(asks=15, paced_deltas=80, bursts=1, burst_deltas=1000, json_requests=80, seconds=0.5, more_answers=0)

FIRST_ROWS = (Row("first_answer", "start to first answer, ms"), Row("idle", "memory then, MB"))
#: Door -> what the table is called.
DOORS = {
    "chat_completions": "Chat Completions on both sides",
    "messages": "Messages API in, a Chat Completions host behind",
}

#: Why a row may be lost, by its figure; shown only where it is.
REASONS = {
    "bare_cpu": "it hands such chunks on as they are; here they are repaired, because strict clients cannot read them",
    **dict.fromkeys(
        ("first_answer", "idle"),
        "what checks schemas and calls is loaded by the first request with tools, 9 MB; it checks neither",
    ),
    "tools_cpu": "it hands such chunks on as they are; here each fragment is read, since hosts repeat and mix them",
    **dict.fromkeys(
        ("ttft", "tools_p50", "tools_p99", "json_time", "json_cpu", "json_rate_1", "streams_rate_1"),
        "here every call is checked, every request has its log line, and the inspector keeps it, which is a thirtieth "
        "of a small request's CPU (`INSPECT=0` leaves that out)",
    ),
    **dict.fromkeys(
        ("json_rate_16", "streams_rate_16"),
        "the threads of one Python process compute one at a time; `make run WORKERS=2` has two processes",
    ),
    "rss": "what checks schemas and calls takes 9 MB, and the inspector holds the latest exchanges (4 MB)",
}

#: The rows of `make bench`, without goals, which are not the others', and without what only a long run shows.
_ROWS = tuple(Row(row.figure, row.title) for row in ROWS if row.figure != "rss_more")

#: Figures that say something on a busy machine too: CPU time and memory.
_STEADY = ("text_cpu", "bare_cpu", "tools_cpu", "json_cpu", "rss", "idle")

Measured = dict[str, list[Figures]]


def main(argv: Sequence[str]) -> int:
    """Measures and writes the page. Returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m bench.beside", description="Measures other gateways beside ours.")
    parser.add_argument("--runs", type=int, default=5, help="runs to take medians of (default: %(default)s)")
    parser.add_argument("--quick", action="store_true", help="one short run that writes nothing")
    parser.add_argument("--only", nargs="*", metavar="NAME", help="these peers: " + ", ".join(p.name for p in PEERS))
    options = parser.parse_args(argv)
    peers = [peer for peer in PEERS if not options.only or peer.name in options.only]
    try:
        for peer in peers:
            peer.install()
        text = measured_page(peers, 1 if options.quick else options.runs, QUICK if options.quick else SIZES)
    except (BenchError, OSError, subprocess.CalledProcessError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    print(text)
    if not options.quick:
        PAGE.write_text(text)
    return 0


def measured_page(peers: Sequence[Peer], runs: int, sizes: Sizes) -> str:
    """Measures all, and says it."""
    load = os.getloadavg()[0]
    with ExitStack() as stack:
        upstream = stack.enter_context(Process(python("-m", "bench.upstream"), {})).printed(r"http://\S+/v1")
        starts: Measured = {}
        subjects: dict[str, list[Subject]] = {door: [] for door in DOORS}
        subjects["chat_completions"].append(Subject(DIRECT, Endpoint(upstream, "scripted")))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        gateway, base_url = start_gateway(configure(folder, upstream))
        stack.enter_context(gateway)
        _note_start(starts, OURS, gateway, Endpoint(base_url, MODEL))
        for door in DOORS:
            subjects[door].append(Subject(OURS, Endpoint(base_url, MODEL, door=door), gateway.pid))
        for peer in peers:
            process, port = _started(stack, peer, upstream)
            endpoints = [peer.endpoint(port, door, upstream) for door in peer.models]
            _note_start(starts, peer.name, process, endpoints[0])
            for endpoint in endpoints:
                subjects[endpoint.door].append(Subject(peer.name, endpoint, process.pid))
        for subject in (subject for of_door in subjects.values() for subject in of_door):
            prove(subject)
        figures = {door: _measured(of_door, runs, sizes) for door, of_door in subjects.items()}
    return page(starts, figures, runs, load, {peer.name: peer.version for peer in peers})


def _started(stack: ExitStack, peer: Peer, upstream: str) -> tuple[Process, int]:
    folder, port = Path(stack.enter_context(tempfile.TemporaryDirectory())), free_port()
    peer.settings(folder, upstream, port)
    variables = {**peer.variables, "HOME": str(folder), "PYTHONPATH": ""}
    process = stack.enter_context(Process(peer.command(peer.folder, folder, port), variables))
    try:
        awaited(port, process.is_running)
    except BenchError as error:
        raise BenchError(f"{peer.name}: {error}:\n{process.said()[-1000:]}") from None
    return process, port


def _note_start(starts: Measured, name: str, process: Process, endpoint: Endpoint) -> None:
    """From the process's start to its first whole answer; nothing else is under way."""
    with Connection(endpoint) as connection:
        connection.ask(endpoint.request(Script("tools"), stream=False)).check(0)
    took = (time.monotonic() - process.started) * 1e3
    starts[name] = [{"first_answer": took, "idle": memory_mb(process.pid)}]


def _measured(subjects: Sequence[Subject], runs: int, sizes: Sizes) -> Measured:
    figures: Measured = {subject.name: [] for subject in subjects}
    for run in range(runs):
        print(f"run {run + 1} of {runs} ...", file=sys.stderr, flush=True)
        of_run: dict[str, Figures] = {subject.name: {} for subject in subjects}
        for number, measure in enumerate(MEASUREMENTS):
            turn = (run + number) % len(subjects)
            for subject in [*subjects[turn:], *subjects[:turn]]:
                of_run[subject.name] |= measure(subject, sizes)
        for name, measured in of_run.items():
            figures[name].append(measured)
    return figures


def page(starts: Measured, figures: Mapping[str, Measured], runs: int, load: float, versions: Mapping[str, str]) -> str:
    """The page, from what was measured."""
    is_busy = load > (os.cpu_count() or 1)
    first, rows = (
        [row for row in all_rows if not is_busy or row.figure in _STEADY] for all_rows in (FIRST_ROWS, _ROWS)
    )
    names = "\n".join(f"- **{name}**: {version}" for name, version in versions.items())
    tables = "\n\n".join(f"## {DOORS[door]}\n\n{table(rows, _ours_first(of))}" for door, of in figures.items())
    lost = [(row, by) for row, by in _lost(first, starts).items()]
    lost += [(row, by) for of_door in figures.values() for row, by in _lost(rows, of_door).items()]
    named = "\n".join(
        f"- **{row.title}**, to {', '.join(by)}: {REASONS.get(row.figure, 'not explained')}" for row, by in lost
    )
    python = f"{platform.python_implementation()} {platform.python_version()}"
    left_out = f"""
Times and rates are left out: {load:.0f} processes of the machine waited for a CPU when it began, and so such figures
would say who else was at work. On an idle machine the same command writes them too.
"""
    return f"""# Beside other gateways

Measured in one run by `make bench-peers`, which installs the others under these versions, starts each with one process
in front of the scripted upstream of `bench/`, asks all of them with one client in turn, and writes this page:

{names}

Medians of {runs} runs on {os.cpu_count()} CPUs with {python}, which client, upstream and all gateways share.
Ratios are to toolwire. `bench/peers.py` has each one's settings.
{left_out if is_busy else ""}
## Start

{table(first, _ours_first(starts))}

{tables}

## The rows that we lose

{named or "None."}
"""


def _ours_first(figures: Measured) -> Measured:
    """In the order of the columns: the ratios of a table are to its first."""
    return {OURS: figures[OURS]} | figures


def _lost(rows: Sequence[Row], figures: Measured) -> dict[Row, list[str]]:
    """The rows in which others have a better median than we, and who."""
    lost: dict[Row, list[str]] = {}
    for row in rows:
        medians = {name: _median(runs, row.figure) for name, runs in figures.items() if name != DIRECT}
        ours = medians.pop(OURS)
        more = "rate" in row.figure
        by = [name for name, value in medians.items() if ours and value and (value > ours if more else value < ours)]
        if by:
            lost[row] = by
    return lost


def _median(runs: Sequence[Figures], figure: str) -> float | None:
    values = [run[figure] for run in runs if figure in run]
    return median(values) if values else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
