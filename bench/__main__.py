"""Measures the gateway beside a direct connection to the same upstream, in one run:

    make bench
    python -m bench --starts [--runs 5]      cold starts alone; with --memory 1024 at the share of a CPU that Lambda
                                             gives to so many MB (by a cgroup, so as root)
    python -m bench [--runs 5] [--quick]
                    [--peer http://127.0.0.1:4000/v1 --peer-model MODEL [--peer-anthropic MODEL]
                     [--peer-gemini MODEL] [--peer-pid PID]] [--upstream-url URL]

The gateway is the local server, in a process of its own; so is the scripted upstream (`upstream.py`). Each run measures
everything once, subject after subject, the order turning from run to run, so that what disturbs the machine disturbs
all of them. Printed are the medians of the runs; where all of it was measured, without a peer, they are written into
docs/performance.md, too. Everything stays on this machine's loopback interface.

The client speaks Chat Completions; the upstream speaks it too, and then Anthropic Messages and Gemini.

To measure another gateway as well, start `python -m bench.upstream --port 9100`, configure that gateway to use it as an
OpenAI-compatible provider, and give both: `--upstream-url http://127.0.0.1:9100/v1 --peer ... --peer-model ...`. The
same upstream is Anthropic (at http://127.0.0.1:9100) and Gemini (there at /v1beta): models of the other gateway that
lead to these are named with `--peer-anthropic` and `--peer-gemini`. With `--peer-pid` its CPU and memory are measured
too.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

from bench import core, performance_page, store
from bench.client import BenchError, Endpoint
from bench.cold_start import MODELS, SIGNED_MODEL, bare_start, configure, lambda_start, local_start, start_gateway
from bench.cpu_share import share_of
from bench.process import ROOT, Process, python
from bench.report import CORE_ROWS, DIRECT, ROWS, START_ROWS, STORE_ROWS, table
from bench.tables import tables_at_once
from bench.traffic import MEASUREMENTS, QUICK, Figures, Sizes, Subject, prove
from bench.wires import WIRES

GATEWAY = "toolwire"
PEER = "peer"
#: Provider -> what is behind a gateway's name at the head of the column.
TO = {"bench": "", "bench-anthropic": " to Anthropic", "bench-gemini": " to Gemini"}


def main(argv: Sequence[str]) -> int:
    """Measures and prints. Returns the exit status."""
    options = _options(argv)
    runs = 1 if options.quick else options.runs
    sizes = QUICK if options.quick else Sizes()
    tables, load = dict[str, list[str]](), os.getloadavg()[0]
    print(f"{platform.python_implementation()} {platform.python_version()}, {os.cpu_count()} CPUs; medians of {runs}\n")
    try:
        with ExitStack() as stack:
            configuration = _configured(stack, options.upstream_url)
            if not options.starts:
                tables["Traffic"] = _print_traffic(_traffic(stack, options, configuration, runs, sizes))
            print("\nCold start of the chat function on Lambda's runtime; ratios are to AWS's runtime client alone.\n")
            with share_of(options.memory) as share:
                tables["Cold start"] = _print(table(START_ROWS, _starts(configuration[0], runs, share)))
    except (BenchError, OSError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    if options.starts:
        return 0
    print("\nThe translation alone, in process; ratios are to Chat Completions on both sides.\n")
    tables["The translation alone"] = _print(table(CORE_ROWS, _cores(sizes, runs)))
    print("\nThe store's part in a turn; ratios are to the store in memory.\n")
    stores: dict[str, list[Figures]] = {}
    for _ in range(runs):
        for name, figures in store.figures():
            stores.setdefault(name, []).append(figures)
    tables["The store"] = _print(table(STORE_ROWS, stores))
    if not options.quick and not options.peer:
        performance_page.write(tables, runs, load)
        print(f"\nThese tables are in {performance_page.PAGE.relative_to(ROOT)} now.")
    return 0


def _print(*tables: str) -> list[str]:
    print("\n\n".join(tables), flush=True)
    return list(tables)


def _print_traffic(traffic: dict[str, list[Figures]]) -> list[str]:
    """Prints two tables, each beside the direct connection: the client's own wire, and the others."""
    same = {name: traffic[name] for name in (DIRECT, GATEWAY, PEER) if name in traffic}
    others = {name: figures for name, figures in traffic.items() if name not in same}
    print("Chat Completions on both sides. Ratios are to the direct connection.\n")
    tables = _print(table(ROWS, same))
    print("\nChat Completions to other wires. Ratios are to the direct connection to a Chat Completions host.\n")
    return tables + _print(table(ROWS, {DIRECT: traffic[DIRECT]} | others))


def _options(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measures the gateway on this machine.")
    parser.add_argument("--runs", type=int, default=5, help="runs to take medians of (default: %(default)s)")
    parser.add_argument("--quick", action="store_true", help="one short run: shows that it works, not how fast")
    parser.add_argument("--starts", action="store_true", help="measure cold starts alone")
    parser.add_argument("--memory", type=int, help="MB of a function, for the share of a CPU that cold starts have")
    parser.add_argument("--upstream-url", help="a `python -m bench.upstream` that runs already; default: our own")
    parser.add_argument("--peer", help="base URL of another gateway to measure, in front of the same upstream")
    parser.add_argument("--peer-model", default="scripted", help="the model to ask it for (default: %(default)s)")
    parser.add_argument("--peer-anthropic", help="its model that leads to the upstream as Anthropic")
    parser.add_argument("--peer-gemini", help="its model that leads to the upstream as Gemini")
    parser.add_argument("--peer-pid", type=int, help="its process, for CPU and memory")
    options = parser.parse_args(argv)
    if options.runs < 1:
        parser.error("--runs must be at least 1")
    return options


def _configured(stack: ExitStack, upstream_url: str | None) -> tuple[str, Subject]:
    """Starts the upstream unless there is one; the gateway's configuration, and the direct connection."""
    if upstream_url is None:
        upstream_url = stack.enter_context(Process(python("-m", "bench.upstream"), {})).printed(r"http://\S+/v1")
    folder = stack.enter_context(tempfile.TemporaryDirectory())
    return configure(Path(folder), upstream_url), Subject(DIRECT, Endpoint(upstream_url, "scripted"))


def _traffic(
    stack: ExitStack, options: argparse.Namespace, configuration: tuple[str, Subject], runs: int, sizes: Sizes
) -> dict[str, list[Figures]]:
    """Every measurement of every subject, in turn."""
    path, direct = configuration
    gateway, base_url = start_gateway(path)
    stack.enter_context(gateway)
    subjects = [direct]
    subjects += [
        Subject(GATEWAY + TO[provider], Endpoint(base_url, MODELS[provider]), gateway.pid, wire.without)
        for provider, wire in WIRES.items()
    ]
    peers = zip(WIRES, (options.peer_model, options.peer_anthropic, options.peer_gemini), strict=True)
    subjects += [
        Subject(PEER + TO[provider], Endpoint(options.peer, model), options.peer_pid, WIRES[provider].without)
        for provider, model in peers
        if options.peer and model
    ]
    figures: dict[str, list[Figures]] = {subject.name: [] for subject in subjects}
    for subject in subjects:
        prove(subject)
    for run in range(runs):
        print(f"run {run + 1} of {runs} ...", file=sys.stderr, flush=True)
        of_run: dict[str, Figures] = defaultdict(dict)
        for number, measure in enumerate(MEASUREMENTS):
            turn = (run + number) % len(subjects)
            for subject in subjects[turn:] + subjects[:turn]:
                of_run[subject.name] |= measure(subject, sizes)
        of_run[GATEWAY] |= local_start(path)
        for name, measured in of_run.items():
            figures[name].append(measured)
    return figures


def _starts(configuration: str, runs: int, share: Sequence[str]) -> dict[str, list[Figures]]:
    """Cold starts: AWS's runtime client alone, ours, ours at a provider that is signed for, and ours with the
    template's tables, in turn. One of each comes first, to compile and cache."""
    figures: dict[str, list[Figures]] = {}
    with tables_at_once() as tables:
        starts: dict[str, Callable[[], Figures]] = {
            "awslambdaric": lambda: bare_start(share),
            GATEWAY: lambda: lambda_start(configuration, share=share),
            f"{GATEWAY}, signing": lambda: lambda_start(configuration, SIGNED_MODEL, share=share),
            f"{GATEWAY}, tables": lambda: lambda_start(configuration, tables=tables, share=share),
        }
        for _ in range(runs + 1):
            for name, start in starts.items():
                figures.setdefault(name, []).append(start())
    return {name: found[1:] for name, found in figures.items()}


def _cores(sizes: Sizes, runs: int) -> dict[str, list[Figures]]:
    """The translation to each wire, in turn."""
    figures: dict[str, list[Figures]] = {GATEWAY + to: [] for to in TO.values()}
    for _ in range(runs):
        for provider, wire in WIRES.items():
            streams = core.deltas(sizes.burst_deltas, wire) | core.call_events(wire)
            streams |= core.text_calls(sizes.burst_deltas, wire)
            figures[GATEWAY + TO[provider]].append(streams | core.large_request(wire=wire))
    return figures


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
