"""Every exchange of a real agent is recorded, and replays: to the same bytes, and without what was said in it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from toolwire.shell.recording.folder import expected_files
from toolwire.shell.recording.redaction import redacted
from toolwire.shell.serve.replay import replay
from toolwire.shell.serve.scenario import load_scenario


@contextmanager
def recorded(folder: Path) -> Iterator[Path]:
    """The folder in which a gateway that is started meanwhile records."""
    before = os.environ.get("RECORD")
    os.environ["RECORD"] = str(folder)
    try:
        yield folder
    finally:
        if before is None:
            del os.environ["RECORD"]
        else:
            os.environ["RECORD"] = before


def failures(folder: Path) -> int:
    """Replays what was recorded and says how that went. Returns how many exchanges do not replay."""
    events = [path for path in sorted(folder.iterdir()) if (path / "exchange.json").exists()]
    failed = [path.name for path in events if not _replays(path)]
    print(f"{len(events)} exchanges were recorded, {len(failed)} do not replay", *failed, sep="\n  ")
    return len(failed) + (not events)


def _replays(folder: Path) -> bool:
    scenario = load_scenario(folder)
    replayed = replay(scenario)
    expected = {path.name: path.read_bytes() for path in folder.glob("expected.*")}
    return expected_files(replayed) == expected and replay(redacted(scenario)).head.status == replayed.head.status
