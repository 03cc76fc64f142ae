"""REDACT=1 over every wire: what was said is gone, binary frames included, and the same happens."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from local.handlers import Handler, load_handlers
from local.server import FUNCTIONS
from tests.door_requests import question
from tests.framing.aws_frames import event, frame
from tests.in_turn import in_turn
from tests.local.test_reading import MODELS, Live, asked, live
from tests.local.test_recorder import QUESTION, WEATHER
from tests.named_rows import each_row
from toolwire.framing.aws_event_stream import AwsEventStreamDecoder
from toolwire.model.errors import GatewayError
from toolwire.shell.recording.binary_frames import with_texts
from toolwire.shell.recording.folder import expected_files, scenario_of
from toolwire.shell.recording.redaction import redacted
from toolwire.shell.recording.replay import replay
from toolwire.shell.recording.scenario import Scenario, load_scenario, save_scenario

pytestmark = pytest.mark.enable_socket

__all__ = ["live"]  # a fixture

#: Of the question, and of the demo models' answers and arguments.
SAID = ("Paris", "Oslo", "What is", "answered", "requested", "secret plans")
SCRIPTS = ["", "[demo cut]", "[demo text]", "[demo length]", "[demo interleave]", "[demo error 500]"]


@pytest.fixture(scope="module")
def handlers() -> dict[str, Handler]:
    return load_handlers(FUNCTIONS)


def of(handlers: dict[str, Handler], live: Live, door: str, model: str, script: str, *, stream: bool) -> Scenario:
    body = question(door, f"{QUESTION} secret plans {script}".strip(), WEATHER)
    return scenario_of(asked(handlers, live, door, {**body, "model": f"demo/{model}", "stream": stream}))


def everything(folder: Path) -> Iterator[str]:
    """What can be read of a folder: binary frames by their payloads, and base64 in them by what it stands for."""
    for path in folder.iterdir():
        data = path.read_bytes()
        yield data.decode("utf-8", "replace")
        for inner in re.findall(rb'"bytes"\s*:\s*"([A-Za-z0-9+/=]{20,})"', data):
            yield base64.b64decode(inner).decode("utf-8", "replace")


def kinds(scenario: Scenario) -> list[list[type]]:
    return [[type(event) for event in step.events] for step in replay(scenario).steps]


@in_turn("model, script, stream", [False, True], MODELS, SCRIPTS)
def test_nothing_that_was_said_is_left_and_it_replays(
    handlers: dict[str, Handler], live: Live, tmp_path: Path, model: str, script: str, stream: bool
) -> None:
    scenario = of(handlers, live, "messages", model, script, stream=stream)
    small = redacted(scenario)
    save_scenario(tmp_path, small)

    assert not [(word, text) for text in everything(tmp_path) for word in SAID if word in text]
    assert [len(answer.body) for answer in small.answers] == [len(answer.body) for answer in scenario.answers]
    assert [answer.timing for answer in small.answers] == [answer.timing for answer in scenario.answers]
    assert kinds(small) == kinds(scenario)
    assert expected_files(replay(load_scenario(tmp_path))) == expected_files(replay(small))


def calls(scenario: Scenario) -> list[tuple[str, dict[str, Any]]]:
    body = json.loads(replay(scenario).body)
    return [(it["name"], it["input"]) for it in body["content"] if it["type"] == "tool_use"]


@pytest.mark.parametrize("model", ["bedrock", "bedrock-claude"])
def test_the_names_in_binary_frames_stay(handlers: dict[str, Handler], live: Live, model: str) -> None:
    """Of tools and of arguments: what a replay depends on."""
    before = of(handlers, live, "messages", model, "", stream=True)
    after = redacted(before)
    said = [replay(it).body.decode() for it in (before, after)]

    for text in said:
        assert text.count('"name":"get_weather"') == 2
        assert "location" in "".join(re.findall(r'"partial_json":"((?:[^"\\]|\\.)*)"', text))


def payloads(body: bytes) -> list[bytes]:
    return [frame.data for frame in AwsEventStreamDecoder().feed(body)]


def upper(texts: list[str]) -> list[str]:
    return [text.upper() for text in texts]


class TestFrames:
    BODY = event("a", b'{"text":"one"}') + event("b", b'{"text":"two"}')

    def test_each_has_its_new_text_and_a_checksum_of_it(self) -> None:
        assert payloads(with_texts(self.BODY, upper)) == [b'{"TEXT":"ONE"}', b'{"TEXT":"TWO"}']

    def test_an_event_in_base64_is_changed_in_it(self) -> None:
        inner = base64.b64encode(b'{"text":"one"}')
        (payload,) = payloads(with_texts(event("chunk", b'{"bytes":"%b","p":"abc"}' % inner), upper))
        assert payload == b'{"bytes":"%b","p":"abc"}' % base64.b64encode(b'{"TEXT":"ONE"}')

    @each_row("size", range(1, len(BODY)))
    def test_a_frame_that_breaks_off_says_nothing(self, size: int) -> None:
        cut = self.BODY[:size]
        changed = with_texts(cut, upper)
        assert len(changed) == size
        assert not [word for word in (b"one", b"two") if word in changed]
        assert len(payloads(changed)) == len(payloads(cut))

    def test_a_checksum_that_was_wrong_stays_wrong(self) -> None:
        spoiled = self.BODY[:-1] + bytes([self.BODY[-1] ^ 1])
        decoder = AwsEventStreamDecoder()
        frames = decoder.feed(with_texts(spoiled, upper))
        assert next(frames).data == b'{"TEXT":"ONE"}'
        with pytest.raises(GatewayError, match="wrong checksum"):
            next(frames)

    def test_the_message_of_a_failure_is_said_no_more(self) -> None:
        failed = frame({":message-type": "error", ":error-code": "e", ":error-message": "of a secret"}, b"{}")
        (left,) = AwsEventStreamDecoder().feed(with_texts(failed, upper))
        assert (left.event, left.data) == ("exception:e", b'{"message":"xxxxxxxxxxx"}')

    @pytest.mark.parametrize("body", [b"data: 1\n\n" * 9, event("a", b"\xff\xfe"), BODY + b"no frame at all"])
    def test_what_is_none_is_not_kept(self, handlers: dict[str, Handler], live: Live, body: bytes) -> None:
        scenario = of(handlers, live, "messages", "bedrock", "", stream=True)
        assert scenario.upstream is not None
        small = redacted(replace(scenario, upstream=replace(scenario.upstream, body=body + b"\xff\xff" * 9)))
        assert small.answers[0].body == b""
