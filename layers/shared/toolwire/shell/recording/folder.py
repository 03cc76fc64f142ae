"""Writes an exchange as an event folder. `make replay` replays it, and a copy in `events/` is a test.

It has no credential (`credentials.py`). The texts of the request and the answer are as they were, unless `redact` is
set (`redaction.py`).
"""

from __future__ import annotations

import io
import json
import tempfile
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import asdict

from toolwire.doors import door_at
from toolwire.model.warnings import explain
from toolwire.shell.network.proxy_event import resource
from toolwire.shell.recording.exchange import SeenExchange
from toolwire.shell.recording.notes import Note
from toolwire.shell.recording.replay import NOTHING_SENT, Replay, replay
from toolwire.shell.recording.scenario import Context, Failure, Recording, Scenario, save_scenario
from toolwire.shell.recording.summarize import summary


def can_be_replayed(seen: SeenExchange) -> bool:
    """Whether the exchange is one of a door, and was recorded as a whole."""
    return seen.is_whole and door_at(resource(seen.event)) is not None


def record(seen: SeenExchange, folder: Path, *, redact: bool = False) -> None:
    """Writes an exchange that is over. Raises OSError."""
    scenario = scenario_of(seen)
    if redact:
        from toolwire.shell.recording.redaction import redacted

        scenario = redacted(scenario)
        files = expected_files(replay(scenario))
    else:
        files = _seen_files(seen)
    unfinished = folder.with_name(f"{folder.name}.part")  # a folder of this name is always complete
    save_scenario(unfinished, scenario)
    for name, content in files.items():
        (unfinished / name).write_bytes(content)
    (unfinished / "exchange.json").write_text(json.dumps(about(seen), indent=2, ensure_ascii=False) + "\n", "utf-8")
    unfinished.rename(folder)


def packed(seen: SeenExchange, *, redact: bool = False) -> bytes:
    """The folder as a zip file, in which it has the name of the request's id. Raises OSError."""
    archive = io.BytesIO()
    with tempfile.TemporaryDirectory() as place, zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as files:
        folder = Path(place) / seen.request_id
        record(seen, folder, redact=redact)
        for path in sorted(folder.iterdir()):
            files.write(path, f"{seen.request_id}/{path.name}")
    return archive.getvalue()


def expected_files(replayed: Replay) -> dict[str, bytes]:
    """The `expected.*` files of a replay, by name."""
    return _files(replayed.requests, replayed.head.status, dict(replayed.head.headers), replayed.body)


def _seen_files(seen: SeenExchange) -> dict[str, bytes]:
    """The `expected.*` files of the exchange as it happened."""
    notes = seen.notes
    head = next((note.what for note in notes if note.kind == "sent_head"), NOTHING_SENT)
    body = b"".join(note.what for note in notes if note.kind == "sent")
    return _files([asked.body for asked in seen.asked], head.status, dict(head.headers), seen.without_credentials(body))


def _files(requests: Iterable[bytes], status: int, headers: dict[str, str], body: bytes) -> dict[str, bytes]:
    stream = "text/event-stream" in headers.get("content-type", "")
    files = {"expected.json": json.dumps({"status": status, "headers": headers}, indent=2).encode() + b"\n"}
    files["expected.sse" if stream else "expected.body.json"] = body
    for number, request in enumerate(requests, 1):
        files["expected.request.json" if number == 1 else f"expected.{number}.request.json"] = request
    return files


def about(seen: SeenExchange) -> dict[str, Any]:
    """A summary for the reader of the folder. No replay reads it."""
    line = summary(seen)
    values = asdict(line)
    for name in ("began", "routine", "dialect"):
        del values[name]
    values["began_at"] = line.began_at.isoformat()
    values["warnings"] = {code: explain(code) for code in line.warnings}
    values["asked"] = [{"method": asked.method, "url": asked.url, "headers": asked.headers} for asked in seen.asked]
    values["sent"] = [[round(note.at, 4), len(note.what)] for note in seen.notes if note.kind == "sent"]
    return values


# ---------------------------------------------------------------- what a replay needs


def scenario_of(seen: SeenExchange, notes: Sequence[Note] | None = None, *, blots: bool = True) -> Scenario:
    """The exchange as a scenario: all of it, or up to the end of these notes. Without `blots`, which is for scenarios
    that are not stored, an answer that repeats a credential stays as it is."""
    notes = list(seen.notes) if notes is None else notes
    answers = [_answer(seen, attempt, blots=blots) for attempt in _attempts(notes)]
    return Scenario(seen.event, answers[0] if answers else None, tuple(answers[1:]), _context(seen))


def _attempts(notes: Iterable[Note]) -> list[list[Note]]:
    """The notes behind each request to a provider."""
    attempts: list[list[Note]] = []
    for note in notes:
        if note.kind == "asked":
            attempts.append([])
        elif attempts:
            attempts[-1].append(note)
    return attempts


def _answer(seen: SeenExchange, notes: list[Note], *, blots: bool) -> Recording:
    answered = next((note.what for note in notes if note.kind == "head"), None)
    timing = [
        (note.at, len(note.what) if note.kind == "data" else None) for note in notes if note.kind in ("data", "silence")
    ]
    body = b"".join(note.what for note in notes if note.kind == "data")
    kept = seen.without_credentials(body) if blots else body
    ended = next((note for note in notes if note.kind == "end"), None)
    failed = ended.what if ended is not None else _failure(seen)
    return Recording(
        None if answered is None else answered.status,
        {} if answered is None else answered.headers,
        kept,
        "cut" if failed is not None else "complete" if ended is not None else "unread",
        Failure.of(failed) if failed is not None else None,
        tuple(timing) if len(kept) == len(body) else (),
    )


def _failure(seen: SeenExchange) -> Any:
    """The error that ended the reading of the body; None if the client hung up."""
    return None if summary(seen).outcome in ("running", "client_gone") else seen.error


def _context(seen: SeenExchange) -> Context | None:
    if seen.who is None:
        return None
    store_error = seen.store_error
    return Context(
        settings=seen.who.settings,
        tenant=seen.who.tenant,
        model=summary(seen).model,
        times=tuple(seen.times),
        ids=tuple(seen.ids),
        answer_headers=seen.who.rate_headers,
        found=seen.found,
        targets=tuple(seen.targets),
        most_attempts=seen.most_attempts,
        kept=seen.kept,
        store_error=store_error.removeprefix("write_") if store_error and store_error.startswith("write_") else None,
    )
