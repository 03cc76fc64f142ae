"""What is kept of an answer, where the client and its tenant want that: see `conversation.kept_answers`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Keeping:
    """`wanted`: whether this answer is to be kept. `previous`: the id of the kept answer that the request continues
    from, `earlier` those before it; `before`: the raw items of all of them; `input`: the request's own."""

    wanted: bool
    previous: str | None
    earlier: tuple[str, ...]
    before: tuple[bytes, ...]
    input: tuple[bytes, ...]
