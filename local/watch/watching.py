"""Who watches a local server, as its environment says.

a terminal, or LOG_FORMAT=text   lines for a person instead of JSON; LOG_FORMAT=json: JSON on a terminal too
RECORD=folder                    each exchange as an event folder; REDACT=1: without what was said in it
INSPECT=0                        no inspector
INSPECT_MB=number                memory for the bytes of exchanges, 1 to 4096 (4): the oldest go first
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from local.watch.exchanges import MOST_BYTES, Exchanges
from toolwire.model.settings import SettingsError
from toolwire.shell.settings.variables import switch


@dataclass(frozen=True, slots=True)
class Watching:
    """Those who watch one server. `exchanges` is None when nobody does: then nothing is kept at all."""

    exchanges: Exchanges | None
    on_terminal: bool
    inspects: bool
    record: Path | None
    redact: bool

    @classmethod
    def of(cls, env: Mapping[str, str], *, is_terminal: bool) -> Watching:
        """What the environment asks for. Raises SettingsError."""
        form = env.get("LOG_FORMAT", "").strip().lower()
        if form not in ("", "text", "json"):
            raise SettingsError("LOG_FORMAT: write text or json.")
        on_terminal = form == "text" or (is_terminal and form != "json")
        folder = env.get("RECORD", "").strip()
        record = Path(folder) if folder else None
        redact = switch(env, "REDACT", default=False)
        inspects = switch(env, "INSPECT", default=True)
        most_bytes = _megabytes(env) << 20 if inspects else 0  # nobody else looks at one that is over
        exchanges = Exchanges(most_bytes=most_bytes) if on_terminal or inspects or record else None
        return cls(exchanges, on_terminal, inspects, record, redact)

    def rows(self, url: str) -> dict[str, list[str]]:
        """What the start banner says of them."""
        words = ", without what was said" if self.redact else ", prompts included"
        return {
            "inspector": [f"{url}/_toolwire/"] if self.inspects else [],
            "recorded in": [f"{self.record}{words}"] if self.record else [],
        }

    def begin(self) -> None:
        """Watches from now on. Raises OSError for a folder that cannot be made."""
        if self.exchanges is None:
            return
        if self.record is not None:
            from local.watch.recorder import Recorder

            self.record.mkdir(parents=True, exist_ok=True)
            self.exchanges.listen(Recorder(self.record, redact=self.redact))
        if self.on_terminal:
            from local.watch.terminal import show_on_terminal  # rich takes a tenth of a second

            show_on_terminal(self.exchanges)


def _megabytes(env: Mapping[str, str]) -> int:
    text = env.get("INSPECT_MB", "").strip() or str(MOST_BYTES >> 20)
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 4096:
        raise SettingsError("INSPECT_MB: write a whole number of megabytes from 1 to 4096.")
    return int(text)
