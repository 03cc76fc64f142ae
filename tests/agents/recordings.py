"""Every exchange of a real agent is recorded, and replays: to the same bytes, without what was said in it, and to every
other provider."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from local.resend import ask_again, with_model
from local.watch.exchanges import Exchanges
from toolwire.doors import door_at
from toolwire.shell.network.proxy_event import resource
from toolwire.shell.recording.folder import expected_files
from toolwire.shell.recording.redaction import redacted
from toolwire.shell.recording.replay import replay
from toolwire.shell.recording.scenario import load_scenario
from toolwire.shell.serve.door import serve

#: A model of each wire.
ELSEWHERE = tuple(
    f"demo/{name}" for name in ("openai", "responses", "anthropic", "gemini", "bedrock", "bedrock-claude", "compatible")
)


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


def refused_elsewhere(folder: Path) -> int:
    """Sends what was recorded to each of the demo's wires, as `make replay MODEL=` does, and says how that went.
    Returns how often it was refused."""
    events = [path for path in sorted(folder.iterdir()) if (path / "exchange.json").exists()]
    scenarios = [(path.name, load_scenario(path)) for path in events]
    sent, refused = 0, []
    for name, scenario in scenarios:
        door = door_at(resource(scenario.event))
        if door is None or scenario.upstream is None or scenario.upstream.status != 200:
            continue  # it was refused at its own provider too
        for model in ELSEWHERE:
            sent += 1
            seen = ask_again(with_model(scenario.event, model), partial(serve, door), Exchanges())
            if seen.error is not None:
                refused.append(f"{name} at {model}: {seen.error.code}: {seen.error.message[:200]}")
    print(f"{sent} times one was sent elsewhere, {len(refused)} times refused", *refused, sep="\n  ")
    return len(refused) + (not sent)


def _replays(folder: Path) -> bool:
    scenario = load_scenario(folder)
    replayed = replay(scenario)
    expected = {path.name: path.read_bytes() for path in folder.glob("expected.*")}
    return expected_files(replayed) == expected and replay(redacted(scenario)).head.status == replayed.head.status
