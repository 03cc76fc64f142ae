"""The simulation counts right, and docs/scaling.md holds what it prints."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from bench import scale
from bench.scale import DURATIONS, Load, Times, break_even, fargate_cost, lambda_cost, quota, simulate, tasks

ROOT = Path(__file__).parents[2]
TIMES = Times(stream_cpu_ms_a_second=3.0, stream_mb=0.2, process_mb=40.0, start_ms=200.0)


def test_the_page_has_what_the_command_prints() -> None:
    printed = scale.report(scale.read_times(ROOT / "bench" / "service_times.json"), 30.0, 1024, 1)
    assert printed in (ROOT / "docs" / "scaling.md").read_text(encoding="utf-8")


def test_make_prints_it(tmp_path: Path) -> None:
    path = tmp_path / "times.json"
    path.write_text(json.dumps({name: getattr(TIMES, name) for name in Times.__slots__}))
    command = ["make", "-s", "-o", ".venv/run.stamp", "scale", f"TIMES={path}", "SECONDS=60", "MEMORY=512", "DOORS=2"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.stdout == scale.report(TIMES, 60.0, 512, 2) + "\n", done.stderr


@pytest.mark.parametrize("text", ["", "{}", '{"start_ms": "soon"}'])
def test_times_that_cannot_be_read_are_said(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "times.json"
    path.write_text(text)
    assert scale.main(["--times", str(path)]) == 1
    assert f"{path} cannot be read" in capsys.readouterr().err


def test_durations_have_the_mean_that_is_asked_for() -> None:
    assert sum(share for share, _ in DURATIONS) == pytest.approx(1)
    assert sum(share * part for share, part in DURATIONS) == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize("streams", [10, 500, 1000])
def test_environments_are_rate_times_duration(streams: int) -> None:
    """Where the start takes no time and the burst is enough: Little's law, up to the steps of a second."""
    outcome = simulate(Load(streams, 60.0, 1769, 1), Times(3.0, 0.2, 40.0, 0.0))
    assert outcome.environments == pytest.approx(streams, rel=0.02)
    assert (outcome.refused, outcome.given_up, outcome.refused_for) == (0, 0, 0)
    assert outcome.cold == pytest.approx(outcome.environments / (streams / 60 * 3600))


def test_what_grows_faster_than_lambda_is_refused_for_as_long_as_it_takes() -> None:
    load = Load(100_000, 30.0, 1024, 1)
    one, five = simulate(load, TIMES), simulate(Load(100_000, 30.0, 1024, 5), TIMES)
    seconds = (load.streams - scale.BURST) / scale.GROWTH
    assert seconds * 0.9 < one.refused_for < seconds * 1.5
    assert one.refused_for > 2.5 * five.refused_for
    assert one.refused > one.given_up > five.given_up > 0
    assert one.environments <= quota(load)


def test_a_smaller_function_starts_more_slowly() -> None:
    slow = Times(3.0, 0.2, 40.0, 4000.0)
    small, large = (simulate(Load(500, 10.0, memory, 1), slow).environments for memory in (512, 1769))
    assert small > large


@pytest.mark.parametrize(("streams", "asked"), [(100, 130), (10_000, 10_300)])
def test_the_quota_has_room_for_chance(streams: int, asked: int) -> None:
    assert quota(Load(streams, 30.0, 1024, 1)) == asked


def test_an_hour_of_lambda_by_hand() -> None:
    """100 streams of 30 s at 2 GB: 720,000 GB-seconds and 12,000 requests."""
    compute, requests = lambda_cost(Load(100, 30.0, 2048, 1))
    assert compute == pytest.approx(720_000 * 0.0000133334 + 12_000 * 0.0000002)
    assert requests == pytest.approx(12_000 * 0.0000035)


def test_tasks_are_bound_by_cpu_or_by_memory() -> None:
    load = Load(10_000, 30.0, 1024, 1)
    assert tasks(load, TIMES) == 50  # 200 streams of 3 ms are 60 % of a CPU
    assert tasks(load, Times(0.1, 2.0, 28.8, 0.0)) == 17  # 1,200 MB of streams with 2 MB each
    assert tasks(Load(1, 30.0, 1024, 1), TIMES) == 2


def test_the_break_even_is_where_the_costs_cross() -> None:
    load = Load(1, 30.0, 1024, 1)
    least = break_even(load, TIMES)
    before, there = (Load(streams, 30.0, 1024, 1) for streams in (least - 1, least))
    assert fargate_cost(there, TIMES) < sum(lambda_cost(there))
    assert least > 1
    assert fargate_cost(before, TIMES) >= sum(lambda_cost(before))


def test_the_page_names_the_prices_that_are_counted_with() -> None:
    page = (ROOT / "docs" / "scaling.md").read_text(encoding="utf-8")
    for price in (scale.LAMBDA_GB_SECOND, scale.FARGATE_VCPU, scale.FARGATE_GB, scale.BALANCER, scale.BALANCER_UNIT):
        assert f"{price:.10f}".rstrip("0") in page
    for price in (scale.LAMBDA_REQUEST, scale.API_REQUEST):
        assert f"{price * 1e6:.2f}" in page
    assert re.search(r"us-east-1 in November 2026", page)


@pytest.mark.integration
@pytest.mark.enable_socket
def test_open_streams_are_measured(tmp_path: Path) -> None:
    from bench import open_streams

    path = tmp_path / "times.json"
    assert open_streams.main(["--streams", "5", "--seconds", "1", "--runs", "1", "--out", str(path)]) == 0
    assert scale.read_times(path).stream_cpu_ms_a_second > 0
