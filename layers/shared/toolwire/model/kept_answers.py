"""What is kept of an answer for later requests, where client and tenant want that: see `conversation.kept_answers`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Keeping:
    """`wanted`: this answer is to be kept. `previous`: the id of the kept answer that the request continues from.
    `earlier`: the ids of the answers before that one. `before`: the raw items of all of these. `input`: the raw items
    of the request itself."""

    wanted: bool
    previous: str | None
    earlier: tuple[str, ...]
    before: tuple[bytes, ...]
    input: tuple[bytes, ...]
