"""The table of how fit models' calls were, over recorded exchanges."""

from __future__ import annotations

import shutil
from pathlib import Path

from local.scorecard import scores, table

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
