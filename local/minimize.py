"""Makes a failing event folder as small as it can be while it still fails: fewer messages, tools, members, frames.

    python -m local.minimize recordings/<request id> [--check 'command {}'] [--out FOLDER]

The check is a command that gets a folder in place of `{}` and fails (any status but 0) while the fault is there.
Without a check, a folder fails if its replay ends with the same error or the same exception. Exit status: 0 if a folder
was written, 1 if nothing fails, 2 for a folder without a scenario.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from local.replay import no_scenario
from toolwire.model.events import StreamFailed
from toolwire.shell.network.proxy_event import http_request, with_body
from toolwire.shell.recording.folder import expected_files
from toolwire.shell.recording.replay import replay
from toolwire.shell.recording.scenario import Recording, Scenario, load_scenario, save_scenario

#: Whether a scenario still shows the fault.
Check = Callable[[Scenario], bool]

#: Strings are cut to this many characters.
_SHORT = 8


def fault(scenario: Scenario) -> str | None:
    """The failure of a replay: the code of its error or the type of its exception; None if it does not fail."""
    try:
        replayed = replay(scenario)
    except Exception as failure:  # noqa: BLE001 - whatever it is, it is the fault
        return type(failure).__name__
    failed = [event.code for step in replayed.steps for event in step.events if isinstance(event, StreamFailed)]
    if failed:
        return failed[0]
    if replayed.head.status < 400:
        return None
    try:
        error = json.loads(replayed.body)["error"]
        place = re.sub(r"\d+", "N", str(error.get("param")))  # of any message or tool
        return f"{replayed.head.status} {error.get('code') or error.get('type')} {place}"
    except (ValueError, KeyError, TypeError, AttributeError):
        return str(replayed.head.status)


def minimized(scenario: Scenario, fails: Check) -> Scenario:
    """The smallest scenario found that still fails. Raises ValueError when it does not fail at all."""
    if not fails(scenario):
        raise ValueError("it does not fail")
    before = None
    while scenario != before:
        before = scenario
        scenario = _smaller_request(scenario, fails)
        scenario = _fewer_frames(scenario, fails)
    return scenario


def _smaller_request(scenario: Scenario, fails: Check) -> Scenario:
    try:
        body = json.loads(http_request(scenario.event).body)
    except ValueError:
        return scenario
    changed = True
    while changed:
        changed = False
        for smaller in _smaller(body):
            tried = _with_body(scenario, smaller)
            if fails(tried):
                scenario, body, changed = tried, smaller, True
                break
    return scenario


def _smaller(value: Any) -> Iterator[Any]:
    """Yields the value with one part less, large parts first."""
    if isinstance(value, list):
        half = len(value) // 2
        if half > 1:
            yield value[half:]
            yield value[:half]
        for number in range(len(value)):
            yield value[:number] + value[number + 1 :]
        for number, inner in enumerate(value):
            for smaller in _smaller(inner):
                yield [*value[:number], smaller, *value[number + 1 :]]
    elif isinstance(value, dict):
        for name in value:
            yield {other: inner for other, inner in value.items() if other != name}
        for name, inner in value.items():
            for smaller in _smaller(inner):
                yield value | {name: smaller}
    elif isinstance(value, str) and len(value) > _SHORT:
        yield value[:_SHORT]
        yield value[: len(value) // 2]


def _with_body(scenario: Scenario, body: Any) -> Scenario:
    return replace(scenario, event=with_body(scenario.event, json.dumps(body, ensure_ascii=False)))


def _fewer_frames(scenario: Scenario, fails: Check) -> Scenario:
    """The scenario without frames of streams that the fault does not need. Removes runs of frames, ever shorter
    ones."""
    for number in range(len(scenario.answers)):
        pieces = scenario.answers[number].pieces
        size = max(1, len(pieces) // 2)
        while len(pieces) > 1:
            at = 0
            while at < len(pieces):
                fewer = pieces[:at] + pieces[at + size :]
                tried = _with_answer(scenario, number, b"".join(fewer))
                if fewer and fails(tried):
                    scenario, pieces = tried, fewer
                else:
                    at += size
            if size == 1:
                break
            size //= 2
    return scenario


def _with_answer(scenario: Scenario, number: int, body: bytes) -> Scenario:
    answers: list[Recording] = list(scenario.answers)
    answers[number] = replace(answers[number], body=body, timing=())
    return replace(scenario, upstream=answers[0], later=tuple(answers[1:]))


def _by_command(command: str) -> Check:
    """A check that fails while the command fails, which is given a folder."""

    def fails(scenario: Scenario) -> bool:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name) / "event"
            save_scenario(folder, scenario)
            words = [str(folder) if word == "{}" else word for word in shlex.split(command)]
            return subprocess.run(words, capture_output=True, check=False).returncode != 0  # noqa: S603 - the user's own

    return fails


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m local.minimize", description="Makes a failing event folder small.")
    parser.add_argument("event", type=Path, help="the folder")
    parser.add_argument("--check", help="a command that fails while the fault is there; {} stands for a folder")
    parser.add_argument("--out", type=Path, help="where the small one is written (default: beside it, with -small)")
    options = parser.parse_args(arguments)
    folder: Path = options.event
    try:
        scenario = load_scenario(folder)
    except (OSError, ValueError, KeyError) as error:
        print(no_scenario(folder, error), file=sys.stderr)
        return 2
    found = fault(scenario)
    fails = _by_command(options.check) if options.check else lambda tried: found is not None and fault(tried) == found
    try:
        small = minimized(scenario, fails)
    except ValueError:
        hint = "the check passes" if options.check else "its replay ends well; name a check: CHECK='command {}'"
        print(f"{folder}: nothing fails here: {hint}", file=sys.stderr)
        return 1
    out: Path = options.out or folder.with_name(f"{folder.name}-small")
    save_scenario(out, small)
    _write_expected(out, small)
    print(f"{out}: {_size(scenario)} bytes of request and answers became {_size(small)}")
    return 0


def _write_expected(folder: Path, scenario: Scenario) -> None:
    """Writes the answer that the small scenario gives today, if it gives one. Once the fault is gone, `UPDATE=1` writes
    it anew."""
    try:
        files = expected_files(replay(scenario))
    except Exception:  # noqa: BLE001 - that it raises is what it shows
        return
    for name, content in files.items():
        (folder / name).write_bytes(content)


def _size(scenario: Scenario) -> int:
    return len(scenario.event.get("body") or "") + sum(len(answer.body) for answer in scenario.answers)


if __name__ == "__main__":
    sys.exit(main())
