"""What the inspector costs a request: CPU of the local server that keeps exchanges to be looked at, as it does unless
it is told otherwise, beside one with INSPECT=0.

    python -m bench.inspector [--rounds 9]

Both are asked the same in turn, so that what else the machine does weighs on both; the figures are the fastest round of
each, and the median of the rounds' ratios. Nobody looks at a page meanwhile.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median

from bench.client import Connection, Endpoint
from bench.cold_start import MODEL, MODELS, configure
from bench.process import Process, cpu_seconds, python
from bench.script import Script

#: Deltas of all the streams of one round.
_DELTAS = 12_000


def _kinds() -> dict[str, tuple[str, str, Script, bool, int]]:
    """What is asked for: the door, the model, the answer, whether it is streamed, and how often in a round."""
    anthropic = MODELS["bench-anthropic"]
    kinds = {"JSON answer, two calls": ("chat", MODEL, Script("tools"), False, 200)}
    for deltas in (10, 100, 1000):
        script = Script("text", deltas)
        kinds[f"stream of {deltas} text deltas"] = ("chat", MODEL, script, True, min(_DELTAS // deltas, 200))
    kinds["the same, 1 ms between deltas"] = ("chat", MODEL, Script("text", 1000, 1), True, 1)
    kinds["two calls of 500 deltas"] = ("chat", MODEL, Script("tools", 500), True, 12)
    kinds["Messages from a Chat host, 1,000 deltas"] = ("messages", MODEL, Script("text", 1000), True, 12)
    kinds["Chat from an Anthropic host, 1,000 deltas"] = ("chat", anthropic, Script("text", 1000), True, 12)
    return kinds


def measured(urls: Sequence[tuple[str, int]], rounds: int) -> dict[str, list[list[float]]]:
    """CPU seconds of a request, by kind, for each round and server (URL and process)."""
    found: dict[str, list[list[float]]] = {}
    for kind, (door, model, script, stream, count) in _kinds().items():
        endpoints = [Endpoint(url, model, door=door) for url, _ in urls]
        with ExitStack() as stack:
            connections = [stack.enter_context(Connection(endpoint)) for endpoint in endpoints]
            requests = [endpoint.request(script, stream=stream) for endpoint in endpoints]
            for connection, request in zip(connections, requests, strict=True):
                connection.ask(request).check(script.stamps if stream else 0)
            found[kind] = []
            for number in range(rounds):
                row = [0.0] * len(urls)
                order = range(len(urls)) if number % 2 else reversed(range(len(urls)))
                for server in order:
                    before = cpu_seconds(urls[server][1])
                    for _ in range(count):
                        connections[server].ask(requests[server])
                    row[server] = (cpu_seconds(urls[server][1]) - before) / count
                found[kind].append(row)
    return found


def table(found: dict[str, list[list[float]]]) -> str:
    """A Markdown table."""
    lines = ["| a request's CPU, ms | `INSPECT=0` | watched | ratio |", "|---|---:|---:|---:|"]
    for kind, rows in found.items():
        without, watched = (min(row[server] for row in rows) * 1e3 for server in (0, 1))
        lines.append(f"| {kind} | {without:.2f} | {watched:.2f} | {median(row[1] / row[0] for row in rows):.3f} |")
    return "\n".join(lines)


def main(argv: Sequence[str]) -> int:
    """Measures and prints. Returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m bench.inspector", description="What the inspector costs.")
    parser.add_argument("--rounds", type=int, default=9, help="rounds of each kind (default: %(default)s)")
    rounds = parser.parse_args(argv).rounds
    with ExitStack() as stack:
        upstream = stack.enter_context(Process(python("-m", "bench.upstream"), {})).printed(r"http://\S+/v1")
        configuration = configure(Path(stack.enter_context(tempfile.TemporaryDirectory())), upstream)
        command = python("-m", "local.server", "--port", "0", "--config", configuration)
        servers = []
        for variables in ({"INSPECT": "0"}, {}):
            process = stack.enter_context(Process(command, variables))
            servers.append((process.printed(r"http://127\.0\.0\.1:\d+/v1"), process.pid))
        found = measured(servers, rounds)
    print(table(found))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
