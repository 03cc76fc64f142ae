"""Repairs arguments that break their tool's schema, where a request or its tenant asks for it (`repair_arguments`).

Some models write `"5"` for 5, a list as the text of one, or JSON inside a code fence. Only these are undone, and only
where the whole is valid by the tool's schema then: nothing is guessed, and every other character stays as it came. A
repaired call is always named in a warning.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from json import JSONDecoder
from typing import Any

from toolwire.model.events import Batch, StreamEvent, ToolCallDelta, ToolCallEnd, ToolCallStart
from toolwire.model.request import ChatRequest
from toolwire.model.stage import Stage
from toolwire.model.warnings import Warnings, named_warning
from toolwire.policy.arguments import MALFORMED, find_faults
from toolwire.wire.plain import plain

#: Warning: the arguments of a call were repaired.
_REPAIRED = "tool_arguments_repaired"

#: The most values that are repaired in one call.
_MOST = 64

_FENCE = re.compile(r"\s*```[A-Za-z]*[ \t]*\n?(.*?)\s*```\s*", re.DOTALL)
_WHITE = re.compile(r"[ \t\r\n]*")


def repaired(text: str, parameters: bytes | None) -> str | None:
    """Valid arguments in place of these; None for arguments that are valid, and for those that cannot be repaired."""
    flaws = find_faults(text, parameters)
    if not flaws:
        return None
    fenced = _FENCE.fullmatch(text)
    if flaws[0].code == MALFORMED and fenced is not None:
        text = fenced[1]
        flaws = find_faults(text, parameters)
    for _ in range(_MOST):
        if not flaws:
            return text
        unquoted = None if flaws[0].code == MALFORMED else _unquoted(text, flaws[0].path)
        if unquoted is None:
            return None
        text = unquoted
        before, flaws = flaws[0], find_faults(text, parameters)
        if flaws and flaws[0] == before:
            return None
    return None


def _unquoted(text: str, pointer: str) -> str | None:
    """The text with the JSON that a string at this pointer holds in the string's place; None where it is no string, or
    holds none."""
    steps = [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]
    try:
        start, end = _span(text, steps)
        if text[start] != '"':
            return None
        inner = json.loads(text[start:end])
        value = json.loads(inner)
    except (ValueError, LookupError, RecursionError):
        return None
    return None if isinstance(value, str) else text[:start] + inner.strip() + text[end:]


def _span(text: str, steps: list[str]) -> tuple[int, int]:
    """Where in a JSON text the value at these steps begins and ends. Raises ValueError or LookupError."""
    at = _after_white(text, 0)
    for step in steps:
        # Of members with one name the last one counts.
        at = dict(_members(text, at))[step]
    _, end = JSONDecoder().raw_decode(text, at)
    return at, end


def _members(text: str, at: int) -> Iterator[tuple[str, int]]:
    """The names of an object's members, or the numbers of a list's, and where their values begin."""
    is_object = text[at] == "{"
    if not is_object and text[at] != "[":
        raise LookupError(at)
    at, number = _after_white(text, at + 1), 0
    while text[at] not in "}]":
        name = str(number)
        if is_object:
            name, at = JSONDecoder().raw_decode(text, at)
            at = _after_white(text, _after_white(text, at) + 1)  # behind the colon
        yield name, at
        _, at = JSONDecoder().raw_decode(text, at)
        at, number = _after_white(text, at), number + 1
        if text[at] == ",":
            at = _after_white(text, at + 1)


def _after_white(text: str, at: int) -> int:
    found = _WHITE.match(text, at)
    return found.end() if found else at


class ArgumentRepair(Stage):
    """Over the batches of one answer. While a call is open, batches are held; they pass as they came, with their
    sources, unless one of their calls was repaired."""

    def __init__(self, request: ChatRequest, warnings: Warnings) -> None:
        self._schemas = {tool.name: tool.parameters for tool in request.tools if tool.kind == "function"}
        self._warnings = warnings
        self._open: dict[int, tuple[str, list[str]]] = {}  # part index -> the tool, and its arguments so far
        self._texts: dict[int, str] = {}  # part index -> repaired arguments
        self._held: list[Batch] = []

    def take(self, batch: Batch) -> list[Batch]:
        """See `Stage`."""
        for event in batch.events:
            if type(event) is ToolCallStart and event.kind == "function" and event.name in self._schemas:
                self._open[event.index] = event.name, []
            elif type(event) is ToolCallDelta and event.index in self._open:
                self._open[event.index][1].append(event.fragment)
            elif type(event) is ToolCallEnd and event.index in self._open:
                self._end(event.index)
        self._held.append(batch)
        return [] if self._open else self.broken()

    def broken(self) -> list[Batch]:
        """What is held, with the repaired arguments where there are some."""
        held, self._held = self._held, []
        if not self._texts:
            return held
        batches = [self._rewritten(batch) for batch in held]
        self._texts.clear()
        return [batch for batch in batches if batch.events]

    def _end(self, index: int) -> None:
        name, fragments = self._open.pop(index)
        text = repaired("".join(fragments), self._schemas[name])
        if text is not None:
            self._texts[index] = text
            self._warnings.add(named_warning(_REPAIRED, name))

    def _rewritten(self, batch: Batch) -> Batch:
        bare = plain(batch)
        events: list[StreamEvent] = []
        for event in bare.events:
            index: Any = getattr(event, "index", None)
            if index in self._texts and type(event) is ToolCallDelta:
                continue
            if index in self._texts and type(event) is ToolCallEnd:
                events.append(ToolCallDelta(index, self._texts[index]))
            events.append(event)
        return Batch(tuple(events), bare.extra)
