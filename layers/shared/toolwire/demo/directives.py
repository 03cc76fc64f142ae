"""Reads the directives in a user's message: `[demo call NAME {json}]`, `[demo error 429]`. Pure.

`>>` separates the directives of successive turns: `[demo call a {}] >> [demo call b {}]`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, takewhile
from typing import Any

#: The most calls that one turn makes.
MOST_CALLS = 50

_OPENS = "[demo "
_SIMPLE = re.compile(r"\[demo ([a-z]+)(?: (\d{1,6}))?\]")
_CALL = re.compile(r"\[demo call ([\w.:/-]{1,200})\s*")
_SAY = re.compile(r"\[demo say\s*(?=\")")
_CLOSES = re.compile(r"\s*\]")
_NEXT = re.compile(r"\s*>>")
#: The most places that are tried as a directive: a text of brackets must not take long.
_MOST_TRIED = 1_000
_JSON = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class AskedCall:
    """One call that is asked for. `payload` is an object as it was written, or a text (`is_text`): what a tool with
    free text gets, or the first parameter of another."""

    name: str
    payload: str
    is_text: bool = False


@dataclass(frozen=True, slots=True)
class Directives:
    """Calls, faults and manners on demand; times in seconds."""

    error: int | None = None
    cut: bool = False
    stall: float = 0.0
    pace: float | None = None
    length: bool = False
    text: bool = False
    says: str = ""
    count: int | None = None
    interleave: bool = False
    calls: tuple[AskedCall, ...] = ()


def directives(text: str, turn: int = 0, answered: int = 0, tools: Collection[str] = ()) -> Directives:
    """The directives of the text for this turn; turn 0 answers the text itself. Unknown directives and numbers out of
    range are ordinary text. Calls are made once; other directives hold for every turn, unless the text has `>>`.
    `answered`: the answered calls of these tools. They show the step of a client that splits a turn's calls into
    several turns, or joins several turns."""
    steps = _steps(text)
    if len(steps) == 1:
        return steps[0] if turn == 0 else replace(steps[0], calls=(), count=None)
    turn = _step(steps, turn, answered, tools)
    return steps[turn] if turn < len(steps) else Directives()


def _step(steps: Sequence[Directives], turn: int, answered: int, tools: Collection[str]) -> int:
    """The next step. It follows the number of turns, unless the answered calls are those of other steps. Steps whose
    calls may not have been made are not counted."""
    sure = list(takewhile(lambda step: _is_sure(step, tools), steps))
    made = list(accumulate((len(step.calls) for step in sure), initial=0))
    if not answered or answered not in made:
        return turn
    return max(turn, len(sure)) if answered == made[-1] else made.index(answered)


def _is_sure(step: Directives, tools: Collection[str]) -> bool:
    """Whether all of the step's calls are made, and no others."""
    other = step.count is not None or step.text or step.says or step.error or step.cut
    return bool(step.calls) and not other and all(call.name in tools for call in step.calls)


def without_directives(text: str) -> str:
    """The text without its directives."""
    kept: list[str] = []
    position = 0
    for start, end, _ in _placed(text):
        kept.append(text[position:start])
        step = _NEXT.match(text, end)
        position = step.end() if step else end
    return "".join([*kept, text[position:]]).strip()


def places_of_directives(text: str) -> Iterator[tuple[int, int]]:
    """Where each directive begins and ends."""
    return ((start, end) for start, end, _ in _placed(text))


def _steps(text: str) -> list[Directives]:
    """The directives of each turn."""
    steps = [Directives()]
    for _, end, asked in _placed(text):
        if isinstance(asked, AskedCall):
            steps[-1] = replace(steps[-1], calls=(*steps[-1].calls, asked)[:MOST_CALLS])
        elif isinstance(asked, str):
            steps[-1] = replace(steps[-1], says=steps[-1].says + asked)
        else:
            steps[-1] = replace(steps[-1], **asked)
        if _NEXT.match(text, end):
            steps.append(Directives())
    return steps


#: A call, a text to say, or members of the turn's directives.
_Asked = AskedCall | str | dict[str, Any]


def _placed(text: str) -> Iterator[tuple[int, int, _Asked]]:
    """Each directive: where it begins and ends, and what it asks for."""
    start, tried = text.find(_OPENS), 0
    while start >= 0 and tried < _MOST_TRIED:
        found = _read(text, start)
        if found is not None:
            yield start, *found
        tried += 1
        start = text.find(_OPENS, found[0] if found else start + 1)


def _read(text: str, start: int) -> tuple[int, _Asked] | None:
    if found := _SIMPLE.match(text, start):
        asked = _simple(found[1], int(found[2]) if found[2] else None)
        return None if asked is None else (found.end(), asked)
    found = _CALL.match(text, start) or _SAY.match(text, start)
    if found is None:
        return None
    begins = found.end()
    value, end = _json(text, begins) if text[begins : begins + 1] in ("{", '"') else ({}, begins)
    closing = _CLOSES.match(text, end)
    if value is None or closing is None:
        return None
    if found.re is _SAY:
        return closing.end(), value
    if isinstance(value, str):
        return closing.end(), AskedCall(found[1], value, is_text=True)
    return closing.end(), AskedCall(found[1], text[begins:end] or "{}")


def _json(text: str, start: int) -> tuple[Any, int]:
    """The JSON value that begins there and where it ends; None for one that is not valid."""
    try:
        return _JSON.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None, start


def _simple(name: str, value: int | None) -> dict[str, Any] | None:
    match name, value:
        case "error", int(status) if 400 <= status <= 599:
            return {"error": status}
        case "cut" | "length" | "text" | "interleave", None:
            return {name: True}
        case "stall", int(seconds) if seconds <= 300:
            return {"stall": float(seconds)}
        case "slow", int(milliseconds) if milliseconds <= 10_000:
            return {"pace": milliseconds / 1000}
        case "calls", int(count) if 1 <= count <= MOST_CALLS:
            return {"count": count}
    return None
