"""`make replay`: the table, the comparison, and the exit status."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from local.replay import main, show
from toolwire.shell.recording.replay import replay
from toolwire.shell.recording.scenario import load_scenario

EVENTS = Path(__file__).parents[2] / "events"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A scenario that may be changed."""
    return Path(shutil.copytree(EVENTS / "one_call_stream", tmp_path / "one_call_stream"))


def test_a_scenario_that_is_as_expected(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(folder)]) == 0
    assert capsys.readouterr().out.endswith("\nas expected\n")


def test_the_event_file_names_its_folder(folder: Path) -> None:
    assert main([str(folder / "event.json")]) == 0


def test_a_difference_is_shown_and_is_status_1(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stream = folder / "expected.sse"
    stream.write_bytes(stream.read_bytes().replace(b"Oslo", b"Bergen"))

    assert main([str(folder)]) == 1
    shown = capsys.readouterr().out
    assert "-data: " in shown
    assert "+data: " in shown
    assert "Bergen" in shown


def test_a_stale_file_is_a_difference(folder: Path) -> None:
    (folder / "expected.body.json").write_text("{}")

    assert main([str(folder)]) == 1


def test_update_rewrites_what_is_expected(folder: Path) -> None:
    for path in folder.glob("expected.*"):
        path.unlink()
    (folder / "expected.body.json").write_text("{}")

    assert main([str(folder), "--update"]) == 0

    assert main([str(folder)]) == 0
    original = EVENTS / "one_call_stream"
    assert {path.name for path in folder.iterdir()} == {path.name for path in original.iterdir()}


def test_a_folder_without_a_scenario_is_status_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for missing, reason in ((tmp_path / "none", "there is no such folder"), (tmp_path, "it has no event.json")):
        assert main([str(missing)]) == 2
        assert capsys.readouterr().err == f"{missing} holds no scenario: {reason}\n"

    (tmp_path / "event.json").write_text("{")
    assert main([str(tmp_path)]) == 2
    assert f"{tmp_path} holds no scenario: JSONDecodeError: " in capsys.readouterr().err


@pytest.mark.parametrize("columns", [90, 180])
def test_the_table_has_three_columns_of_one_width(columns: int) -> None:
    lines = list(show(replay(load_scenario(EVENTS / "awkward_compatible_host")), columns))
    table = lines[lines.index("") + 1 :]

    assert all(len(line) <= columns for line in lines)
    assert all(line.count(" | ") >= 2 or line.endswith(" |") for line in table)
    assert "from the provider" in table[0]
    assert any("ToolCallStart(index=1" in line for line in table)
    assert any(line.endswith("| =") for line in table)


def test_a_line_is_shown_without_what_it_shares_with_the_one_above() -> None:
    text = "\n".join(show(replay(load_scenario(EVENTS / "one_call_stream")), 180))

    assert text.count('"system_fingerprint"') < 5
    assert '... "arguments":"Oslo"' in text
