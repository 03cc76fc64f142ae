"""The table of how fit models' calls were, over recorded exchanges."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from local.scorecard import main, scores, table

EVENTS = Path(__file__).parents[2] / "events"


def test_recorded_exchanges_are_counted_by_provider_and_model(tmp_path: Path) -> None:
    folder = tmp_path / "one"
    shutil.copytree(EVENTS / "call_without_arguments", folder)
    upstream = folder / "upstream.sse"
    upstream.write_bytes(upstream.read_bytes().replace(b'"name":"', b'"name":"un'))
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "event.json").write_text("{}", "utf-8")
    rows, unread = scores([EVENTS / "call_without_arguments", folder, broken])
    ((key, counts),) = rows.items()
    assert key[0] == "demo"
    assert counts == {"exchanges": 2, "calls": 2, "unknown_tool_call": 1}
    assert list(unread) == [broken]
    head, row = table(rows)
    assert head.split()[:4] == ["provider", "model", "exchanges", "calls"]
    assert row.split() == [*key, "2", "2", "1", "0", "0", "0", "50%"]


def test_a_folder_without_exchanges_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["scorecard", str(tmp_path / "none")])

    assert main() == 2
    assert capsys.readouterr() == (
        "",
        f"scorecard: {tmp_path}/none holds no recorded exchange: record some (make run RECORD=recordings/), or name "
        "another (RECORDINGS=)\n",
    )
