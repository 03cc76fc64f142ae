"""`make minimize`: a failing folder becomes small and still fails in the same way."""

from __future__ import annotations

import base64
import gzip
import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from local.minimize import fault, main
from toolwire.shell.recording.replay import replay
from toolwire.shell.recording.scenario import Scenario, load_scenario, save_scenario

EVENTS = Path(__file__).parents[2] / "events"


def folder_of(scenario: Scenario, folder: Path) -> Path:
    save_scenario(folder, scenario)
    return folder


def with_body(scenario: Scenario, **members: object) -> Scenario:
    body = json.loads(scenario.event["body"]) | members
    return replace(scenario, event=scenario.event | {"body": json.dumps(body)})


def size(folder: Path) -> int:
    scenario = load_scenario(folder)
    return len(scenario.event["body"]) + sum(len(answer.body) for answer in scenario.answers)


def test_a_refused_request_keeps_what_is_refused(tmp_path: Path) -> None:
    scenario = load_scenario(EVENTS / "one_call_stream")
    messages = json.loads(scenario.event["body"])["messages"]
    folder = folder_of(
        with_body(scenario, messages=[*messages, {"role": "nobody"}, *messages], seed=4), tmp_path / "event"
    )
    found = fault(load_scenario(folder))

    assert main([str(folder)]) == 0
    small = load_scenario(tmp_path / "event-small")
    assert found is not None
    assert fault(small) == found
    assert json.loads(small.event["body"]) == {"messages": [{"role": "nobody"}]}


def test_a_body_that_was_packed_is_made_small(tmp_path: Path) -> None:
    """With names of headers as a client wrote them, which API Gateway leaves."""
    scenario = load_scenario(EVENTS / "one_call_stream")
    body = gzip.compress(json.dumps(json.loads(scenario.event["body"]) | {"messages": [{"role": "nobody"}]}).encode())
    packed = {"body": base64.b64encode(body).decode(), "isBase64Encoded": True}
    headers = {"headers": {"Content-Encoding": "gzip"}, "multiValueHeaders": {"Content-Encoding": ["gzip"]}}
    folder = folder_of(replace(scenario, event=scenario.event | packed | headers), tmp_path / "event")

    assert main([str(folder)]) == 0
    assert json.loads(load_scenario(tmp_path / "event-small").event["body"]) == {"messages": [{"role": "nobody"}]}


def test_a_stream_that_breaks_keeps_the_frames_it_needs(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(EVENTS / "upstream_cut_mid_call", tmp_path / "event"))

    assert main([str(folder)]) == 0
    out = tmp_path / "event-small"
    assert fault(load_scenario(out)) == fault(load_scenario(folder)) == "upstream_truncated"
    assert size(out) < size(folder) / 2


def test_a_command_may_be_the_check(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(EVENTS / "parallel_calls_interleaved", tmp_path / "event"))
    check = tmp_path / "check.py"
    check.write_text(
        "import pathlib, sys; sys.exit('planted' in (pathlib.Path(sys.argv[1]) / 'event.json').read_text())"
    )
    folder_of(with_body(load_scenario(folder), note="planted"), folder)

    assert main([str(folder), "--check", f"{sys.executable} {check} {{}}", "--out", str(tmp_path / "out")]) == 0
    assert "planted" in json.dumps(load_scenario(tmp_path / "out").event)
    assert size(tmp_path / "out") < 200


def test_what_does_not_fail_is_status_1_and_what_is_no_scenario_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(EVENTS / "text_stream")]) == 1
    assert "CHECK=" in capsys.readouterr().err
    assert main([str(tmp_path)]) == 2
    assert "holds no scenario: it has no event.json" in capsys.readouterr().err
    assert fault(load_scenario(EVENTS / "text_stream")) is None


def test_the_small_one_says_what_it_gives(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(EVENTS / "upstream_rate_limited", tmp_path / "event"))

    assert main([str(folder)]) == 0
    out = tmp_path / "event-small"
    assert json.loads((out / "expected.json").read_text())["status"] == replay(load_scenario(out)).head.status == 429
