"""What clients feel, and what it costs: figures of one endpoint under scripted traffic.

Each function measures one thing once, against any Chat Completions endpoint: the upstream itself (the direct
connection), the gateway, a peer. Times are in ms unless a name says otherwise.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

from bench.client import BenchError, Connection, Endpoint, requests_per_second
from bench.process import cpu_seconds, memory_mb
from bench.script import Script

Figures = dict[str, float]


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much of everything one run does."""

    asks: int = 20
    paced_deltas: int = 120
    pause_ms: int = 3
    bursts: int = 3
    burst_deltas: int = 2000
    json_requests: int = 150
    seconds: float = 0.6
    #: JSON answers over which the memory must not rise.
    more_answers: int = 1000


QUICK = Sizes(
    asks=3, paced_deltas=10, pause_ms=1, bursts=1, burst_deltas=100, json_requests=5, seconds=0.05, more_answers=5
)


@dataclass(frozen=True, slots=True)
class Subject:
    """Something to measure: where it is, its process where that is ours to look at, and the kinds of streams
    (`Script.kind`) that would measure nothing there."""

    name: str
    endpoint: Endpoint
    pid: int | None = None
    without: frozenset[str] = frozenset()


def first_token(subject: Subject, sizes: Sizes) -> Figures:
    """From sending a request to its first token, on a warm connection; the upstream answers at once."""
    script = Script("text", 10)
    request = subject.endpoint.request(script)
    waits = []
    with Connection(subject.endpoint) as connection:
        connection.ask(request).check(script.stamps)
        for _ in range(sizes.asks):
            sent = time.monotonic_ns()
            waits.append((connection.ask(request).stamps()[0][1] - sent) / 1e6)
    return {"ttft": median(waits)}


def paced(subject: Subject, sizes: Sizes) -> Figures:
    """From the upstream's write of a delta to its arrival at the client, deltas a few ms apart."""
    figures = {}
    for kind, deltas in (("text", sizes.paced_deltas), ("tools", sizes.paced_deltas // 2)):
        if kind in subject.without:
            continue
        script = Script(kind, deltas, sizes.pause_ms)
        with Connection(subject.endpoint) as connection:
            answer = connection.ask(subject.endpoint.request(script))
        answer.check(script.stamps)
        delays = sorted((here - written) / 1e6 for written, here in answer.stamps())
        figures[f"{kind}_p50"] = median(delays)
        figures[f"{kind}_p99"] = delays[math.ceil(len(delays) * 0.99) - 1]
    return figures


def burst(subject: Subject, sizes: Sizes) -> Figures:
    """Streams whose deltas come as fast as the upstream can write them: CPU for each, in microseconds, and deltas/s."""
    figures = {}
    for kind in ("text", "bare", "tools"):
        if kind in subject.without:
            continue
        script = Script(kind, sizes.burst_deltas // (2 if kind == "tools" else 1))
        request = subject.endpoint.request(script)
        with Connection(subject.endpoint) as connection:
            connection.ask(request).check(script.stamps)

            def streams(connection: Connection = connection, request: bytes = request) -> None:
                for _ in range(sizes.bursts):
                    connection.ask(request)

            seconds, cpu = _timed(streams, subject.pid)
        count = sizes.bursts * script.stamps
        figures[f"{kind}_rate"] = count / seconds
        if cpu is not None:
            figures[f"{kind}_cpu"] = cpu / count * 1e6
    return figures


def json_answers(subject: Subject, sizes: Sizes) -> Figures:
    """Answers of two calls, not streamed, one after the other: time and CPU for each."""
    request = subject.endpoint.request(Script("tools"), stream=False)
    with Connection(subject.endpoint) as connection:
        connection.ask(request).check(0)

        def ask() -> None:
            for _ in range(sizes.json_requests):
                connection.ask(request)

        seconds, cpu = _timed(ask, subject.pid)
    figures = {"json_time": seconds / sizes.json_requests * 1e3}
    if cpu is not None:
        figures["json_cpu"] = cpu / sizes.json_requests * 1e3
    return figures


def rates(subject: Subject, sizes: Sizes) -> Figures:
    """Answers a second with 1 and 16 connections: JSON answers of two calls, and streams of 10 deltas."""
    script = Script("text", 10)
    requests = {
        "json": (subject.endpoint.request(Script("tools"), stream=False), 0),
        "streams": (subject.endpoint.request(script), script.stamps),
    }
    return {
        f"{name}_rate_{connections}": requests_per_second(subject.endpoint, request, stamps, connections, sizes.seconds)
        for name, (request, stamps) in requests.items()
        for connections in (1, 16)
    }


def memory(subject: Subject, sizes: Sizes) -> Figures:
    """Resident memory, in MB, after what was measured before, and by how much it rises over more JSON answers."""
    if subject.pid is None:
        return {}
    before = memory_mb(subject.pid)
    request = subject.endpoint.request(Script("tools"), stream=False)
    with Connection(subject.endpoint) as connection:
        for _ in range(sizes.more_answers):
            connection.ask(request)
    return {"rss": before, "rss_more": memory_mb(subject.pid) - before}


#: Every measurement, in the order of a run.
MEASUREMENTS: tuple[Callable[[Subject, Sizes], Figures], ...] = (
    first_token, paced, burst, json_answers, rates, memory,
)  # fmt: skip


def prove(subject: Subject) -> None:
    """Raises BenchError, naming the subject, if it does not give the scripted answers."""
    script = Script("tools", 2)
    try:
        with Connection(subject.endpoint) as connection:
            connection.ask(subject.endpoint.request(script)).check(script.stamps)
    except (BenchError, OSError) as error:
        raise BenchError(f"{subject.name} at {subject.endpoint.base_url}: {error}") from error


def _timed(work: Callable[[], None], pid: int | None) -> tuple[float, float | None]:
    """Wall and CPU seconds (of the process) that the work takes."""
    before = None if pid is None else cpu_seconds(pid)
    started = time.monotonic_ns()
    work()
    seconds = (time.monotonic_ns() - started) / 1e9
    return seconds, None if pid is None or before is None else cpu_seconds(pid) - before
