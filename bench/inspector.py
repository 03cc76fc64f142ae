"""What the inspector costs a request: CPU of the local server that keeps exchanges to be looked at, as it does unless
it is told otherwise, beside one with INSPECT=0.

    python -m bench.inspector [--pairs 6] [--seconds 1.8] [--rows JSON] [--same]

Both servers are alive at once, on one processor, and answer at the same time, a piece of the one answer and a piece of
the other in turn: whatever else the machine does weighs on both alike. Four answers, A B and B A, are a block, which
gives one ratio of their CPU times; what a server does behind an answer counts. Two processes of the same program may
differ for as long as they live, since their memory lies elsewhere. So each row is measured on several pairs of
processes: a pair's figure is the median of its blocks, and the interval (95 %, Student's t) is that of the pairs'
figures. `--same` runs both with INSPECT=0: what the method itself gets wrong.

Nobody looks at a page meanwhile. It takes three minutes; on a loaded machine it has fewer blocks in that time, and
`nice -n -15` gives it more.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import mean, median, stdev
from typing import NamedTuple

from bench.client import Connection, Endpoint
from bench.cold_start import MODELS, configure
from bench.lock_step import Provider, pieces
from bench.process import Process, cpu_seconds, python
from bench.script import Script
from bench.wires import WIRES

#: Student's t for an interval of 95 %, by the number of pairs.
_T = {2: 12.71, 3: 4.30, 4: 3.18, 5: 2.78, 6: 2.57, 7: 2.45, 8: 2.36, 9: 2.31, 10: 2.26}
#: Blocks before a row is measured: the first requests of a process meet cold code.
_WARM = 3
#: Blocks of a row and a pair, however long they take.
_LEAST = 2

#: How often a block has its four answers where they are short: what a server does behind the last one falls into the
#: next block.
_SHORT = 4

#: CPU seconds of a block, without the inspector and with it.
Block = tuple[float, float]


class Row(NamedTuple):
    """What is asked for, with `together` deltas of a stream in one piece; 0: no stream."""

    name: str
    door: str
    provider: str
    script: Script
    together: int = 0


_TEXT, _TOOLS, _JSON = Script("text", 200), Script("tools", 100), Script("tools")
ROWS = (
    Row("Chat host, text deltas passed on, one at a time", "chat_completions", "bench", Script("text", 50), 1),
    Row("Chat host, text deltas passed on", "chat_completions", "bench", _TEXT, 20),
    Row("Chat host, text deltas written anew", "chat_completions", "bench", Script("bare", 200), 20),
    Row("Chat host, text deltas to the Messages API", "messages", "bench", _TEXT, 20),
    Row("Chat host, tool deltas", "chat_completions", "bench", _TOOLS, 20),
    Row("Chat host, JSON", "chat_completions", "bench", _JSON),
    Row("Anthropic host, text deltas passed on", "messages", "bench-anthropic", _TEXT, 20),
    Row("Anthropic host, text deltas written anew", "chat_completions", "bench-anthropic", _TEXT, 20),
    Row("Anthropic host, tool deltas", "chat_completions", "bench-anthropic", _TOOLS, 20),
    Row("Anthropic host, JSON", "chat_completions", "bench-anthropic", _JSON),
    Row("Gemini host, text deltas written anew", "chat_completions", "bench-gemini", _TEXT, 20),
    Row("Gemini host, stream of two calls", "chat_completions", "bench-gemini", Script("tools", 1), 1),
    Row("Gemini host, JSON", "chat_completions", "bench-gemini", _JSON),
)


class Figure(NamedTuple):
    """A row's: the ratio, how far off it may be, and of how many blocks it is."""

    ratio: float
    margin: float
    blocks: int


def blocks(row: Row, provider: Provider, servers: Sequence[tuple[str, int]], seconds: float) -> list[Block]:
    """CPU at each server (URL and process), block by block."""
    stream = row.together > 0
    answer = pieces(WIRES[row.provider], row.script, stream=stream, together=row.together)
    endpoints = [Endpoint(url, MODELS[row.provider], door=row.door) for url, _ in servers]
    requests = [endpoint.request(row.script, stream=stream) for endpoint in endpoints]

    def spent() -> list[float]:
        return [cpu_seconds(pid) for _, pid in servers]

    with ExitStack() as stack:
        clients = [stack.enter_context(Connection(endpoint)) for endpoint in endpoints]

        def block() -> None:
            for order in ((0, 1), (1, 0)) * (1 if len(answer) > 2 else _SHORT):
                both = [provider.steps(clients[server], requests[server], answer) for server in order]
                for _ in zip(*both, strict=True):
                    pass

        for _ in range(_WARM):
            block()
        for client in clients:
            client.answer.check(row.script.stamps if stream else 0)
        found: list[Block] = []
        until, before = time.monotonic() + seconds, spent()
        while time.monotonic() < until or len(found) < _LEAST:
            block()
            after = spent()
            found.append((after[0] - before[0], after[1] - before[1]))
            before = after
        return found


def figure(pairs: Sequence[Sequence[Block]]) -> Figure:
    """From the blocks of each pair of processes."""
    ratios = [median(watched / without for without, watched in found) for found in pairs]
    margin = _T[len(ratios)] * stdev(ratios) / len(ratios) ** 0.5
    return Figure(mean(ratios), margin, sum(map(len, pairs)))


@contextmanager
def processors(wanted: set[int]) -> Iterator[None]:
    """Has what is started meanwhile, and this process, run on these processors only."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, wanted)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def measured(rows: Sequence[Row], pairs: int, seconds: float, variables: Sequence[dict[str, str]]) -> dict[Row, Figure]:
    """Each row's figure, from so many pairs of servers with these variables."""
    all_of_them = sorted(os.sched_getaffinity(0))
    servers, others = {all_of_them[-1]}, set(all_of_them[:-1] or all_of_them)
    command = python("-m", "local.server", "--port", "0", "--config")
    found: dict[Row, list[list[Block]]] = {row: [] for row in rows}
    with ExitStack() as stack:
        stack.enter_context(processors(others))
        provider = stack.enter_context(Provider())
        configuration = configure(Path(stack.enter_context(tempfile.TemporaryDirectory())), provider.url)
        for _ in range(pairs):
            with ExitStack() as pair:
                with processors(servers):
                    started = [pair.enter_context(Process([*command, configuration], it)) for it in variables]
                asked = [(it.printed(r"http://127\.0\.0\.1:\d+/v1"), it.pid) for it in started]
                for row in rows:
                    found[row].append(blocks(row, provider, asked, seconds))
    return {row: figure(of_pairs) for row, of_pairs in found.items()}


def table(found: Mapping[Row, Figure]) -> str:
    """A Markdown table."""
    lines = ["| CPU with the inspector, ratio to `INSPECT=0` | | 95 % interval | blocks |", "|---|---:|---:|---:|"]
    for row, it in found.items():
        interval = f"{it.ratio - it.margin:.3f} to {it.ratio + it.margin:.3f}"
        lines.append(f"| {row.name} | {it.ratio:.3f} | {interval} | {it.blocks} |")
    return "\n".join(lines)


def main(argv: Sequence[str]) -> int:
    """Measures and prints. Returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m bench.inspector", description="What the inspector costs.")
    parser.add_argument("--pairs", type=int, default=6, choices=_T, help="pairs of servers (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=1.8, help="for a row and a pair (default: %(default)s)")
    parser.add_argument("--rows", default="", metavar="WORDS", help="only those whose names have these words")
    parser.add_argument("--same", action="store_true", help="no inspector in either server")
    arguments = parser.parse_args(argv)
    off = {"INSPECT": "0"}
    rows = [row for row in ROWS if arguments.rows in row.name]
    variables = off, off if arguments.same else {}
    print(table(measured(rows, arguments.pairs, arguments.seconds, variables)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
