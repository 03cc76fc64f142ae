"""Writes each exchange as an event folder (`toolwire.shell.recording.folder`)."""

from __future__ import annotations

import sys
from pathlib import Path

from toolwire.shell.recording.exchange import SeenExchange
from toolwire.shell.recording.folder import can_be_replayed, record


class Recorder:
    """A listener (`Exchanges.listen`) that writes into a folder."""

    def __init__(self, folder: Path, *, redact: bool = False) -> None:
        self._folder, self._redact = folder, redact

    def __call__(self, seen: SeenExchange) -> None:
        """Writes an exchange that is over. A failure is reported and ends nothing."""
        if not seen.over or not can_be_replayed(seen):
            return
        try:
            record(seen, self._folder / seen.request_id, redact=self._redact)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            print(f"toolwire: an exchange was not recorded in {self._folder}: {reason}", file=sys.stderr, flush=True)
