"""The settings follow the document in Systems Manager: no request waits, and what is wrong changes nothing."""

from __future__ import annotations

import json
import logging
import threading
from pathlib import Path

import pytest

from toolwire.model.settings import SettingsError
from toolwire.shell.settings.current import QUIET_SECONDS, REREAD_SECONDS, CurrentSettings
from toolwire.shell.telemetry.log import LogLine

FIRST, SECOND = '[aliases]\nbest = "demo/openai"\n', '[aliases]\nbest = "demo/anthropic"\n'
OLD, NEW = {"best": "demo/openai"}, {"best": "demo/anthropic"}


class Place:
    """A parameter, a clock, and the settings of a process that reads both."""

    def __init__(self, text: str, place: str = "ssm:/toolwire/config") -> None:
        self.text: str | Exception = text
        self.now = 0.0
        self.read_by: list[str] = []
        self.gate = threading.Event()
        self.gate.set()
        self.settings = CurrentSettings({"TOOLWIRE_CONFIG": place}, self._read, lambda: self.now)

    def _read(self, place: str) -> str:
        self.gate.wait(5)
        self.read_by.append(threading.current_thread().name)
        if isinstance(self.text, Exception):
            raise self.text
        return self.text

    def aliases(self, *, after: float = 0.0) -> dict[str, str]:
        """What a request finds; then the reading that it has begun, if any, is over."""
        self.now += after
        found = dict(self.settings().aliases)
        if self.settings.reader is not None and self.gate.is_set():
            self.settings.reader.join(5)
        return found


def test_a_change_is_in_use_within_a_minute() -> None:
    place = Place(FIRST)
    assert place.aliases() == OLD
    place.text = SECOND
    assert place.aliases(after=REREAD_SECONDS - 1) == OLD
    assert len(place.read_by) == 1
    assert place.aliases(after=1) == OLD  # the request that finds it old does not wait
    assert place.aliases() == NEW
    assert 2 * REREAD_SECONDS <= 60


def test_no_request_waits_for_the_reading_and_one_thread_does_it() -> None:
    place = Place(FIRST)
    kept = place.settings()
    place.text, place.now = SECOND, REREAD_SECONDS
    place.gate.clear()
    assert [dict(place.settings().aliases) for _ in range(20)] == [OLD] * 20
    place.gate.set()
    assert place.settings.reader is not None
    place.settings.reader.join(5)
    assert place.read_by == ["MainThread", "settings"]
    assert dict(place.settings().aliases) == NEW
    assert dict(kept.aliases) == OLD  # an exchange that has begun


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ("[aliases", "this is not TOML"),
        ('[aliases]\nbest = "nobody/model"\n', "nobody"),
        ("[alias]\n", "alias"),
    ],
)
def test_what_is_wrong_changes_nothing_and_is_told(
    wrong: str,
    told: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("TOOLWIRE_METRICS", "1")

    def said() -> list[tuple[str, str]]:
        """Level and problem of each line since the last look; each error has its metric beside it."""
        metrics = [json.loads(line) for line in capsys.readouterr().out.splitlines() if "_aws" in line]
        lines = [(line.levelname, _problem(line)) for line in caplog.records]
        caplog.clear()
        assert [metric["ConfigurationErrors"] for metric in metrics] == [
            [1.0] for level, _ in lines if level == "ERROR"
        ]
        return lines

    place = Place(FIRST)
    place.aliases()
    place.text = wrong
    place.aliases(after=REREAD_SECONDS)
    assert place.aliases() == OLD
    ((level, problem),) = said()
    assert level == "ERROR"
    assert told in problem
    assert place.aliases(after=REREAD_SECONDS) == OLD
    assert said() == []  # told already
    place.aliases(after=QUIET_SECONDS)
    assert len(said()) == 1
    place.text = SECOND
    place.aliases(after=REREAD_SECONDS)
    assert place.aliases() == NEW
    assert [level for level, _ in said()] == ["INFO"]


def _problem(line: logging.LogRecord) -> str:
    assert isinstance(line, LogLine)
    return str(line.fields.get("problem", ""))


def test_a_parameter_that_cannot_be_read_is_told_the_second_time(caplog: pytest.LogCaptureFixture) -> None:
    """Lambda stops a process between two requests: a call that was under way then has failed, and nothing is wrong."""
    place = Place(FIRST)
    place.aliases()
    place.text = SettingsError("TOOLWIRE_CONFIG: the SSM parameter cannot be read: timeout.")
    place.aliases(after=REREAD_SECONDS)
    assert caplog.records == []
    place.aliases(after=REREAD_SECONDS)
    assert [(line.levelname, _problem(line)) for line in caplog.records] == [("ERROR", str(place.text))]
    assert place.aliases() == OLD
    place.text = SECOND
    place.aliases(after=REREAD_SECONDS)
    assert place.aliases() == NEW


def test_a_first_document_that_is_wrong_is_read_with_each_request() -> None:
    place = Place("[aliases")
    for _ in range(2):
        with pytest.raises(SettingsError, match="not TOML"):
            place.settings()
    place.text = FIRST
    assert place.aliases() == OLD


def test_a_document_that_stays_as_it_is_is_not_made_into_settings_again() -> None:
    place = Place(FIRST)
    first = place.settings()
    place.aliases(after=REREAD_SECONDS)
    assert len(place.read_by) == 2
    assert place.settings() is first


def test_a_file_is_read_once(tmp_path: Path) -> None:
    """It is what was packed, or what the local server was started with."""
    place = Place(FIRST, str(tmp_path / "toolwire.toml"))
    place.aliases()
    place.text = SECOND
    assert place.aliases(after=3600) == OLD
    assert place.read_by == ["MainThread"]
