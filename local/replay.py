"""Replays a recorded exchange and shows it side by side: the provider's frames, the neutral events, the client's bytes.

    python -m local.replay events/parallel_calls_interleaved
    python -m local.replay events/parallel_calls_interleaved --update
    python -m local.replay recordings/<request id> --model other/one

A frame that reaches the client as it came is shown as "=", and "..." stands for the text that a line shares with the
one above it; the files hold every byte. The result is compared with the folder's `expected.*`; `--update` rewrites
those. With `--model` the conversation is really sent to another provider, and both answers are shown. Exit status: 0 as
expected, 1 with a difference, 2 when the folder holds no scenario.
"""

from __future__ import annotations

import argparse
import difflib
import json
import logging
import os
import shutil
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import zip_longest
from pathlib import Path

from local.resend import CLIENT_KEYS, answer_text, ask_again, recorded_rows, rows, side_by_side, with_model
from local.shortener import Shortener, said
from local.watch.exchanges import Exchanges
from toolwire.doors import door_at
from toolwire.shell.network.proxy_event import resource
from toolwire.shell.recording.folder import expected_files
from toolwire.shell.recording.replay import Replay, replay
from toolwire.shell.recording.scenario import Scenario, load_scenario
from toolwire.shell.serve.door import serve
from toolwire.shell.telemetry.log import logger

#: The columns of text if the output is no terminal.
_COLUMNS = 180
_GAP = " | "


def show(replayed: Replay, columns: int) -> Iterator[str]:
    """The lines of the table."""
    width = (columns - 2 * len(_GAP)) // 3
    for request in replayed.requests:
        yield "request to the provider:"
        yield from textwrap.wrap(request.decode("utf-8", "replace"), columns, break_on_hyphens=False)
        yield ""
    yield _row(width, "from the provider", "neutral events", f"to the client ({replayed.head.status})")
    received, sent = Shortener(), Shortener()
    for step in replayed.steps:
        yield _row(width, "-" * width, "-" * width, "-" * width)
        left = ["(end)"] if step.received is None else received.lines(step.received)
        middle = [said(event) for event in step.events]
        right = ["="] if step.received and step.sent == step.received else sent.lines(step.sent)
        cells = [[part for line in column for part in _wrapped(line, width)] for column in (left, middle, right)]
        for row in zip_longest(*cells, fillvalue=""):
            yield _row(width, *row)


def differences(folder: Path, files: dict[str, bytes]) -> Iterator[str]:
    """A unified diff against the folder's own files; empty if they are equal."""
    for name in sorted({*files, *(path.name for path in folder.glob("expected.*"))}):
        path = folder / name
        expected = path.read_bytes() if path.exists() else b""
        found = files.get(name, b"")
        if expected != found:
            before, after = (text.decode("utf-8", "replace").splitlines() for text in (expected, found))
            yield from difflib.unified_diff(before, after, f"{folder.name}/{name}", "replayed", lineterm="")


def update(folder: Path, files: dict[str, bytes]) -> None:
    """Replaces the folder's `expected.*` by these files."""
    for stale in folder.glob("expected.*"):
        stale.unlink()
    for name, content in files.items():
        (folder / name).write_bytes(content)


def no_scenario(folder: Path, error: Exception) -> str:
    """The message for a folder without a readable scenario, by the error of the reading."""
    if not folder.is_dir():
        reason = "there is no such folder"
    elif isinstance(error, FileNotFoundError):
        reason = f"it has no {Path(error.filename).name}" if error.filename else str(error)
    else:
        reason = f"{type(error).__name__}: {error}"
    return f"{folder} holds no scenario: {reason}"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m local.replay", description="Replays a recorded exchange.")
    parser.add_argument("event", type=Path, help="a scenario's folder, such as events/one_call_stream")
    parser.add_argument("--model", help="send the client's request to this model instead, and show both")
    parser.add_argument("--update", action="store_true", help="rewrite the folder's expected.* files")
    options = parser.parse_args(arguments)
    folder: Path = options.event.parent if options.event.is_file() else options.event
    try:
        scenario = load_scenario(folder)
    except (OSError, ValueError, KeyError) as error:
        print(no_scenario(folder, error), file=sys.stderr)
        return 2
    columns = shutil.get_terminal_size((_COLUMNS, 0)).columns
    if options.model:
        return _replay_at(options.model, folder, scenario, columns)
    replayed = replay(scenario)
    for line in show(replayed, columns):
        print(line)
    files = expected_files(replayed)
    changed = list(differences(folder, files))
    if options.update:
        update(folder, files)
        print(f"\nrewritten: {', '.join(sorted(files))}" if changed else "\nnothing to rewrite")
        return 0
    print("\nas expected" if not changed else "\nNOT as expected:", *changed, sep="\n")
    return 1 if changed else 0


def _replay_at(model: str, folder: Path, scenario: Scenario, columns: int) -> int:
    """Sends the conversation to another model and shows both answers. Returns the exit status: 1 if it was refused."""
    door = door_at(resource(scenario.event))
    if door is None:
        print(f"{folder}: no model was asked", file=sys.stderr)
        return 2
    for name in CLIENT_KEYS:
        os.environ.pop(name, None)
    with _quiet():
        seen = ask_again(with_model(scenario.event, model), partial(serve, door), Exchanges())
    about = folder / "exchange.json"
    before = recorded_rows(json.loads(about.read_text("utf-8"))) if about.exists() else {}
    bodies = {path.name: path.read_bytes() for path in folder.glob("expected*")}
    before["request"] = answer_text(bodies.get("expected.request.json", b""))
    before["answer"] = answer_text(bodies.get("expected.sse") or bodies.get("expected.body.json", b""))
    after = rows(seen)
    after["request"] = "\n".join(answer_text(asked.body) for asked in seen.asked)
    after["answer"] = answer_text(b"".join(note.what for note in seen.notes if note.kind == "sent"))
    for line in side_by_side(before, after, columns):
        print(line)
    return 1 if seen.error is not None else 0


@contextmanager
def _quiet() -> Iterator[None]:
    """Keeps the log's lines out of the output."""
    log = logger().lines
    before = log.level
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(before)


def _wrapped(line: str, width: int) -> list[str]:
    return textwrap.wrap(line, width, break_on_hyphens=False, drop_whitespace=False)


def _row(width: int, left: str, middle: str, right: str) -> str:
    return _GAP.join((left.ljust(width), middle.ljust(width), right)).rstrip()


if __name__ == "__main__":
    sys.exit(main())
