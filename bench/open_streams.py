"""Measures what `bench.scale` counts with: what one open stream costs the local server, and a function's start.

    python -m bench.open_streams [--streams 100] [--seconds 10] [--runs 3] [--out bench/service_times.json]

The streams are open at once, of deltas 33 ms apart, as a model writes 30 tokens a second. CPU is that of the gateway's
process for as long as they are open; memory is what they add while they are. Medians of the runs.
"""

from __future__ import annotations

import argparse
import json
import platform
import selectors
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median

from bench.client import BenchError, Connection, Endpoint
from bench.cold_start import MODEL, configure, lambda_start, start_gateway
from bench.process import Process, cpu_seconds, memory_mb, python
from bench.script import Script

#: Milliseconds between two deltas of a stream.
PAUSE_MS = 33


def main(argv: Sequence[str]) -> int:
    """Measures and writes the file. Returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m bench.open_streams")
    parser.add_argument("--streams", type=int, default=100, help="streams that are open at once")
    parser.add_argument("--seconds", type=int, default=10, help="how long each is open")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("service_times.json"))
    options = parser.parse_args(argv)
    try:
        runs = [_measured(options.streams, options.seconds) for _ in range(options.runs)]
    except (BenchError, OSError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    figures = {name: round(median(run[name] for run in runs), 3) for name in runs[0]}
    told = {
        "machine": f"{platform.machine()}, CPython {platform.python_version()}",
        "measured": time.strftime("%Y-%m-%d"),
    }
    options.out.write_text(json.dumps(told | figures, indent=2) + "\n", encoding="utf-8")
    print(options.out.read_text(encoding="utf-8"), end="")
    return 0


def _measured(streams: int, seconds: int) -> dict[str, float]:
    with ExitStack() as stack:
        upstream = stack.enter_context(Process(python("-m", "bench.upstream", "--port", "0"), {}))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        configuration = configure(folder, upstream.printed(r"http://127\.0\.0\.1:\d+/v1"))
        gateway, base_url = start_gateway(configuration)
        stack.enter_context(gateway)
        endpoint = Endpoint(base_url, MODEL)
        request = endpoint.request(Script("text", seconds * 1000 // PAUSE_MS, PAUSE_MS))
        for _ in range(3):  # what is loaded with a first request is no stream's
            with Connection(endpoint) as warm:
                warm.ask(endpoint.request(Script("text", 10)))
        before = memory_mb(gateway.pid)
        open_ones = [stack.enter_context(Connection(endpoint)) for _ in range(streams)]
        cpu, began = cpu_seconds(gateway.pid), time.monotonic()
        for connection in open_ones:
            connection.send(request)
        while_open = _read_to_the_end(open_ones, began + seconds / 2, gateway.pid)
        return {
            "stream_cpu_ms_a_second": (cpu_seconds(gateway.pid) - cpu) * 1000 / (streams * seconds),
            "stream_mb": max(while_open - before, 0.0) / streams,
            "process_mb": before,
            "start_ms": lambda_start(configuration)["first_poll"],
        }


def _read_to_the_end(connections: list[Connection], look_at: float, pid: int) -> float:
    """Reads every answer; the process's memory at a moment at which all of them are open."""
    selector, memory = selectors.DefaultSelector(), 0.0
    for connection in connections:
        selector.register(connection.socket, selectors.EVENT_READ, connection)
    while selector.get_map():
        for key, _ in selector.select(1.0):
            if key.data.receive():
                selector.unregister(key.fileobj)
        if not memory and time.monotonic() >= look_at:
            memory = memory_mb(pid)
    return memory


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
