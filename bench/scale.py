"""What so many streams at once take of AWS, and cost: a simulation from measured service times.

    make scale
    python -m bench.scale [--times bench/service_times.json] [--seconds 30] [--memory 1024] [--functions 1]

`--times` is what `python -m bench.open_streams` measured: CPU and memory of an open stream, and a function's start.
`--seconds` is how long an answer takes on average (few take four times as long), `--memory` the functions' MB, and
`--functions` over how many doors the requests are spread: each scales by itself. Nothing here looks at a clock or at
chance, so the same arguments print the same.

The simulation goes in steps of a second. Clients come at an even rate from the first second on, as they do behind a
deployment or a region that fails over. A request takes an idle environment or has Lambda make one, of which a function
gets 1,000 at once and then 100 a second, up to the account's quota, for which as many were asked as the table says. One
that gets neither is answered 502 by API Gateway and comes again after its `Retry-After`, twice, as the SDKs do.

Prices are the list's of us-east-1 (arm64), of November 2026, without free tier and discounts, and without what both
ways of hosting pay alike: the providers, data to the internet, DynamoDB.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

#: USD. Lambda: a GB-second, a request. API Gateway: a request of a REST API.
LAMBDA_GB_SECOND, LAMBDA_REQUEST, API_REQUEST = 0.0000133334, 0.0000002, 0.0000035
#: USD an hour. Fargate: a vCPU, a GB. Application Load Balancer: itself, a capacity unit.
FARGATE_VCPU, FARGATE_GB, BALANCER, BALANCER_UNIT = 0.03238, 0.00356, 0.0225, 0.008

#: Lambda's environments that a function gets at once, and then in each second; and an account's quota of them.
BURST, GROWTH, QUOTA = 1000.0, 100.0, 1000

#: Seconds after which a refused client comes again: the template's `Retry-After`.
RETRY_SECONDS = 5

#: How often a client tries, all in all.
TRIES = 3

#: MB of a function's memory that go with a whole CPU.
WHOLE_CPU_MB = 1769

#: A task of Fargate: vCPUs, MB, and how much of each is used before there is another. Two at the least.
TASK_VCPU, TASK_MB, USED, FEWEST_TASKS = 1, 2048, 0.6, 2

#: A capacity unit of the balancer: new connections a second, and open ones.
UNIT_NEW, UNIT_OPEN = 25, 3000

#: Streams at once that are counted.
SCENARIOS = (10, 1_000, 100_000)

#: How answers' durations spread: shares of them, by their part of the mean. The parts' mean is 1.
DURATIONS = ((0.35, 0.3), (0.35, 0.8), (0.2, 1.5), (0.07, 2.5), (0.03, 4.667))

_HOUR = 3600


@dataclass(frozen=True, slots=True)
class Times:
    """What was measured, see `open_streams`."""

    stream_cpu_ms_a_second: float
    stream_mb: float
    process_mb: float
    start_ms: float


@dataclass(frozen=True, slots=True)
class Load:
    """What is asked: streams at once, seconds of an answer, MB of a function, doors."""

    streams: int
    seconds: float
    memory_mb: int
    functions: int

    @property
    def rate(self) -> float:
        """Requests a second."""
        return self.streams / self.seconds


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the simulation saw in its first hour, and after it."""

    environments: float
    #: Seconds until no request is refused any more.
    refused_for: int
    #: Of the requests of that hour, the share that was refused at first, that gave up, and that waited for a start.
    refused: float
    given_up: float
    cold: float


def simulate(load: Load, times: Times) -> Outcome:
    """An hour from nothing, each function with its part of the load."""
    start = times.start_ms / 1000 * WHOLE_CPU_MB / min(load.memory_mb, WHOLE_CPU_MB)
    ends = [0.0] * (_HOUR + 2 + math.ceil(max(part for _, part in DURATIONS) * load.seconds + start))
    #: By second, and by how often the client has tried: requests.
    tries = [[0.0] * TRIES for _ in range(_HOUR + RETRY_SECONDS)]
    rate, most = load.rate / load.functions, quota(load) / load.functions
    environments = idle = refused = given_up = cold = 0.0
    allowed, refused_for = BURST, 0
    for second in range(_HOUR):
        idle += ends[second]
        tries[second][0] = rate
        wanted = sum(tries[second])
        warm = min(wanted, idle)
        new = min(wanted - warm, allowed, most - environments)
        idle -= warm
        environments += new
        allowed = min(allowed - new + GROWTH, BURST)
        share_refused = (wanted - warm - new) / wanted
        if share_refused > 1e-9:
            turned_away = [many * share_refused for many in tries[second]]
            tries[second + RETRY_SECONDS][1:] = turned_away[:-1]
            refused, given_up, refused_for = refused + turned_away[0], given_up + turned_away[-1], second + 1
        cold += new
        for share, part in DURATIONS:
            seconds = part * load.seconds
            ends[second + math.ceil(seconds)] += warm * share
            ends[second + math.ceil(seconds + start)] += new * share
    asked = rate * _HOUR
    return Outcome(environments * load.functions, refused_for, refused / asked, given_up / asked, cold / asked)


def quota(load: Load) -> int:
    """Concurrent executions to ask AWS for: requests come by chance, so there are sometimes more streams than on
    average. With their spread (Poisson's) three times over, one second in 700 has more."""
    return math.ceil(load.streams + 3 * math.sqrt(load.streams))


def lambda_cost(load: Load) -> tuple[float, float]:
    """USD an hour of Lambda and of API Gateway, once all is steady."""
    requests = load.rate * _HOUR
    return load.streams * _HOUR * load.memory_mb / 1024 * LAMBDA_GB_SECOND + requests * LAMBDA_REQUEST, (
        requests * API_REQUEST
    )


def tasks(load: Load, times: Times) -> int:
    """Tasks of Fargate that carry the streams, by CPU and by memory."""
    by_cpu = TASK_VCPU * 1000 * USED / times.stream_cpu_ms_a_second
    by_memory = (TASK_MB * USED - times.process_mb) / times.stream_mb
    return max(math.ceil(load.streams / min(by_cpu, by_memory)), FEWEST_TASKS)


def fargate_cost(load: Load, times: Times) -> float:
    """USD an hour of the tasks and the load balancer in front of them."""
    units = max(load.rate / UNIT_NEW, load.streams / UNIT_OPEN)
    task = TASK_VCPU * FARGATE_VCPU + TASK_MB / 1024 * FARGATE_GB
    return tasks(load, times) * task + BALANCER + units * BALANCER_UNIT


def break_even(load: Load, times: Times) -> int:
    """The fewest streams at once, in every hour, for which the container costs less."""
    for streams in range(1, 1_000_000):
        other = Load(streams, load.seconds, load.memory_mb, load.functions)
        if fargate_cost(other, times) < sum(lambda_cost(other)):
            return streams
    raise ValueError("Lambda costs less at any load")


def report(times: Times, seconds: float, memory_mb: int, functions: int) -> str:
    """The tables of docs/scaling.md."""
    loads = [Load(streams, seconds, memory_mb, functions) for streams in SCENARIOS]
    outcomes = [simulate(load, times) for load in loads]
    costs = [lambda_cost(load) for load in loads]
    millions = [sum(cost) / load.rate / _HOUR * 1e6 for cost, load in zip(costs, loads, strict=True)]
    containers = [fargate_cost(load, times) for load in loads]
    rows: list[tuple[str, list[str]]] = [
        ("requests a second", [f"{load.rate:,.1f}" for load in loads]),
        ("concurrent executions to ask for", [f"{quota(load):,}" for load in loads]),
        (f"accounts, where each has {QUOTA:,}", [f"{math.ceil(quota(load) / QUOTA):,}" for load in loads]),
        ("environments after an hour from nothing", [f"{it.environments:,.0f}" for it in outcomes]),
        ("until no request is refused", [_lasting(it.refused_for) for it in outcomes]),
        ("refused at first in that hour", [f"{it.refused:.1%}" for it in outcomes]),
        ("given up in that hour", [f"{it.given_up:.1%}" for it in outcomes]),
        ("cold starts in that hour", [f"{it.cold:.2%}" for it in outcomes]),
        ("Lambda, USD an hour", [_usd(cost) for cost, _ in costs]),
        ("API Gateway, USD an hour", [_usd(cost) for _, cost in costs]),
        ("both, USD for a million answers", [_usd(million) for million in millions]),
        ("Fargate tasks of 1 vCPU and 2 GB", [f"{tasks(load, times):,}" for load in loads]),
        ("Fargate and load balancer, USD an hour", [_usd(cost) for cost in containers]),
    ]
    head = f"| streams at once | {' | '.join(f'{load.streams:,}' for load in loads)} |"
    lines = [head, f"|---|{'---:|' * len(loads)}", *(f"| {title} | {' | '.join(cells)} |" for title, cells in rows)]
    least = break_even(loads[0], times)
    left = [
        f"| {limit} | {_usd(limit * memory_mb / 1024 * LAMBDA_GB_SECOND * 1000)} |" for limit in (60, 300, 600, 900)
    ]
    return "\n".join(
        [
            f"Answers of {seconds:g} seconds, functions of {memory_mb:,} MB, {functions} of them.",
            "",
            *lines,
            "",
            f"A container costs less from {least} streams at once on, where they are there in every hour of the month.",
            "",
            "| StreamTimeoutSeconds | a thousand clients that leave at once cost, USD at most |",
            "|---:|---:|",
            *left,
        ]
    )


def _lasting(seconds: int) -> str:
    if seconds < 60:
        return f"{seconds} s"
    return f"{seconds / 60:.0f} min" if seconds < _HOUR else "over an hour"


def _usd(amount: float) -> str:
    return f"{amount:,.4f}" if amount < 0.1 else f"{amount:,.2f}"


def read_times(path: Path) -> Times:
    """What was measured. Raises OSError, KeyError and ValueError."""
    measured = json.loads(path.read_text(encoding="utf-8"))
    return Times(**{name: float(measured[name]) for name in Times.__slots__})


def main(argv: Sequence[str]) -> int:
    """Prints the tables. Returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m bench.scale")
    parser.add_argument("--times", type=Path, default=Path(__file__).with_name("service_times.json"))
    parser.add_argument("--seconds", type=float, default=30.0, help="how long an answer takes on average")
    parser.add_argument("--memory", type=int, default=1024, help="MB of a function")
    parser.add_argument("--functions", type=int, default=1, help="doors over which the requests are spread")
    options = parser.parse_args(argv)
    try:
        times = read_times(options.times)
    except (OSError, KeyError, ValueError) as error:
        print(f"scale: {options.times} cannot be read: {error}", file=sys.stderr)
        return 1
    print(report(times, options.seconds, options.memory, options.functions))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
