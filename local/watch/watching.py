"""Who watches a local server, as its environment says.

a terminal, or LOG_FORMAT=text   lines for a person instead of JSON; LOG_FORMAT=json: JSON on a terminal too
RECORD=folder                    each exchange as an event folder; REDACT=1: without what was said in it
INSPECT=0                        no inspector
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from local.watch.exchanges import Exchanges


@dataclass(frozen=True, slots=True)
class Watching:
    """Those who watch one server. `exchanges` is None when nobody does: then nothing is kept at all."""

    exchanges: Exchanges | None
    on_terminal: bool

    @classmethod
    def of(cls, env: Mapping[str, str], *, is_terminal: bool) -> Watching:
        """What the environment asks for."""
        text = env.get("LOG_FORMAT", "").strip().lower()
        on_terminal = text == "text" or (is_terminal and text != "json")
        return cls(Exchanges() if on_terminal else None, on_terminal)

    def begin(self) -> None:
        """Watches from now on."""
        if self.exchanges is not None and self.on_terminal:
            from local.watch.terminal import show_on_terminal  # rich takes a tenth of a second

            show_on_terminal(self.exchanges)
