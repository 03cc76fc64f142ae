"""Replays a recorded exchange and shows it side by side: the provider's frames, the neutral events, the client's bytes.

    python -m local.replay events/parallel_calls_interleaved
    python -m local.replay events/parallel_calls_interleaved --update

A frame that reaches the client as it came is shown as "=", and "..." stands for what a line shares with the one above
it; the files hold every byte. What comes out is compared with the folder's `expected.*`;
`--update` rewrites those. Exit status: 0 as expected, 1 with a difference, 2 when the folder holds no scenario.
"""

from __future__ import annotations

import argparse
import dataclasses
import difflib
import json
import shutil
import sys
import textwrap
from collections.abc import Iterator
from itertools import takewhile, zip_longest
from pathlib import Path

from toolwire.shell.serve.replay import Replay, load_scenario, replay

#: Columns of text when the output is no terminal.
_COLUMNS = 180
_GAP = " | "
#: A beginning shared with the line above is cut off if it has more characters than this.
_SHORTEST_CUT = 40


def outcome(replayed: Replay) -> dict[str, bytes]:
    """The `expected.*` files of a replay, by name."""
    headers = dict(replayed.head.headers)
    head = {"status": replayed.head.status, "headers": headers}
    stream = "text/event-stream" in headers.get("content-type", "")
    files = {"expected.json": json.dumps(head, indent=2).encode() + b"\n"}
    files["expected.sse" if stream else "expected.body.json"] = replayed.body
    if replayed.request is not None:
        files["expected.request.json"] = replayed.request
    return files


def show(replayed: Replay, columns: int) -> Iterator[str]:
    """The lines of the table."""
    width = (columns - 2 * len(_GAP)) // 3
    if replayed.request is not None:
        yield "request to the provider:"
        yield from textwrap.wrap(replayed.request.decode("utf-8", "replace"), columns, break_on_hyphens=False)
        yield ""
    yield _row(width, "from the provider", "neutral events", f"to the client ({replayed.head.status})")
    received, sent = _Shortener(), _Shortener()
    for step in replayed.steps:
        yield _row(width, "-" * width, "-" * width, "-" * width)
        left = ["(end)"] if step.received is None else received.lines(step.received)
        middle = [_said(event) for event in step.events]
        right = ["="] if step.received and step.sent == step.received else sent.lines(step.sent)
        cells = [[part for line in column for part in _wrapped(line, width)] for column in (left, middle, right)]
        for row in zip_longest(*cells, fillvalue=""):
            yield _row(width, *row)


class _Shortener:
    """Lines of one column, each without the beginning that it shares with the line before: in most frames that is
    nearly all of them."""

    def __init__(self) -> None:
        self._before = ""

    def lines(self, data: bytes) -> list[str]:
        return [self._short(line) for line in data.decode("utf-8", "replace").split("\n") if line]

    def _short(self, line: str) -> str:
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(self._before, line, strict=False)))
        # Cut where a member begins, so that what is left can be read.
        cut = max(line.rfind(opening, 0, same) for opening in ('{"', ',"')) + 1
        self._before = line
        return f"... {line[cut:]}" if cut > _SHORTEST_CUT else line


def differences(folder: Path, files: dict[str, bytes]) -> Iterator[str]:
    """A unified diff against the folder's own files; nothing if they are the same."""
    for name in sorted({*files, *(path.name for path in folder.glob("expected.*"))}):
        path = folder / name
        expected = path.read_bytes() if path.exists() else b""
        found = files.get(name, b"")
        if expected != found:
            before, after = (text.decode("utf-8", "replace").splitlines() for text in (expected, found))
            yield from difflib.unified_diff(before, after, f"{folder.name}/{name}", "replayed", lineterm="")


def update(folder: Path, files: dict[str, bytes]) -> None:
    """Makes the folder's `expected.*` these."""
    for stale in folder.glob("expected.*"):
        stale.unlink()
    for name, content in files.items():
        (folder / name).write_bytes(content)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m local.replay", description="Replays a recorded exchange.")
    parser.add_argument("event", type=Path, help="a scenario's folder, such as events/one_call_stream")
    parser.add_argument("--update", action="store_true", help="rewrite the folder's expected.* files")
    options = parser.parse_args(arguments)
    folder: Path = options.event.parent if options.event.is_file() else options.event
    try:
        scenario = load_scenario(folder)
    except (OSError, ValueError, KeyError) as error:
        print(f"{folder} holds no scenario: {type(error).__name__}: {error}", file=sys.stderr)
        return 2
    replayed = replay(scenario)
    for line in show(replayed, shutil.get_terminal_size((_COLUMNS, 0)).columns):
        print(line)
    files = outcome(replayed)
    changed = list(differences(folder, files))
    if options.update:
        update(folder, files)
        print(f"\nrewritten: {', '.join(sorted(files))}" if changed else "\nnothing to rewrite")
        return 0
    print("\nas expected" if not changed else "\nNOT as expected:", *changed, sep="\n")
    return 1 if changed else 0


def _said(value: object) -> str:
    """An event in one line: its class and the fields that say something."""
    if not dataclasses.is_dataclass(value):
        return repr(value)
    fields = ((field, getattr(value, field.name)) for field in dataclasses.fields(value) if field.init)
    said = ", ".join(f"{field.name}={_said(content)}" for field, content in fields if content != field.default)
    return f"{type(value).__name__}({said})"


def _wrapped(line: str, width: int) -> list[str]:
    return textwrap.wrap(line, width, break_on_hyphens=False, drop_whitespace=False)


def _row(width: int, left: str, middle: str, right: str) -> str:
    return _GAP.join((left.ljust(width), middle.ljust(width), right)).rstrip()


if __name__ == "__main__":
    sys.exit(main())
