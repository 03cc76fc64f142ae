"""Every scenario in events/ replays to its expected files, however the provider's answer is cut into pieces."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from toolwire.doors import DOORS, door_at, load_door
from toolwire.model.events import StreamFailed, ToolCallStart
from toolwire.shell.network.proxy_event import http_request
from toolwire.shell.recording.folder import expected_files as outcome
from toolwire.shell.recording.replay import replay
from toolwire.shell.recording.scenario import Scenario, load_scenario

EVENTS = Path(__file__).parents[3] / "events"
FOLDERS = sorted(path.parent for path in EVENTS.glob("*/event.json"))

every_scenario = pytest.mark.parametrize("folder", FOLDERS, ids=[folder.name for folder in FOLDERS])


def expected(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("expected.*")}


def changed(scenario: Scenario, **fields: object) -> Scenario:
    body = json.loads(scenario.event["body"]) | fields
    return replace(scenario, event=scenario.event | {"body": json.dumps(body)})


def test_there_are_scenarios_and_the_list_names_each() -> None:
    page = (EVENTS / "README.md").read_text("utf-8")
    paths = {load_scenario(folder).event["resource"] for folder in FOLDERS}

    assert {door_at(path) for path in paths} == set(DOORS), "a scenario for every door"
    assert [folder.name for folder in FOLDERS if f"`{folder.name}`" not in page] == []


@every_scenario
def test_a_scenario_replays_to_its_expected_files(folder: Path) -> None:
    assert outcome(replay(load_scenario(folder))) == expected(folder)


@every_scenario
def test_the_bytes_do_not_depend_on_how_the_answer_arrives(folder: Path) -> None:
    scenario = load_scenario(folder)
    whole = replay(scenario, lambda upstream: [upstream.body])

    one_by_one = replay(scenario, lambda upstream: (upstream.body[at : at + 1] for at in range(len(upstream.body))))

    assert outcome(whole) == outcome(one_by_one) == expected(folder)


@every_scenario
def test_a_scenario_runs_live_as_well(folder: Path) -> None:
    event = json.loads((folder / "event.json").read_text("utf-8"))

    request = http_request(event)
    door = door_at(request.path)
    assert door is not None
    assert load_door(door).parse_request(request).model.startswith("demo/")


STREAMS = [folder for folder in FOLDERS if len(load_scenario(folder).answers[0].pieces) > 1]


@pytest.mark.parametrize("folder", STREAMS, ids=[folder.name for folder in STREAMS])
def test_what_was_cut_is_no_clean_stop(folder: Path) -> None:
    """The first half of any stream, as a connection that breaks leaves it."""
    scenario = load_scenario(folder)
    recorded = scenario.answers[0]
    half = replace(recorded, body=recorded.body[: len(recorded.body) // 2], ends="cut")

    replayed = replay(replace(scenario, upstream=half))

    assert b'"error"' in replayed.body
    for ending in (b"[DONE]", b"message_stop", b"response.completed", b"response.end"):
        assert ending not in replayed.body


@pytest.mark.parametrize("at", [0, 400, 700, 1000])
def test_a_broken_answer_is_never_a_clean_stop(at: int) -> None:
    scenario = load_scenario(EVENTS / "one_call_stream")
    cut = replace(scenario, upstream=replace(scenario.answers[0], body=scenario.answers[0].body[:at], ends="cut"))

    replayed = replay(cut)

    assert b'"error"' in replayed.body
    assert b"[DONE]" not in replayed.body
    assert replayed.head.status == (200 if at else 502)
    assert any(isinstance(event, StreamFailed) for step in replayed.steps for event in step.events) == bool(at)


def test_a_step_shows_what_one_frame_became() -> None:
    replayed = replay(load_scenario(EVENTS / "one_call_stream"))

    step = next(step for step in replayed.steps if any(isinstance(event, ToolCallStart) for event in step.events))
    assert step.received is not None
    assert b'"tool_calls"' in step.received
    assert step.sent == step.received


def test_a_refused_request_sends_nothing_to_the_provider() -> None:
    replayed = replay(changed(load_scenario(EVENTS / "text_stream"), messages=[]))

    assert replayed.request is None
    assert replayed.head.status == 400
    assert "expected.request.json" not in outcome(replayed)


def test_another_provider_needs_no_credential_here() -> None:
    replayed = replay(changed(load_scenario(EVENTS / "text_stream"), model="openai/gpt-5"))

    assert replayed.request is not None
    assert b'"model":"gpt-5"' in replayed.request
