"""Names of parameters that a provider refuses, in calls: the provider's in the history, the client's in the answer.

The one case where the text of arguments is rewritten, for the tools that have such names alone: a scanner replaces keys
of the outermost object, whatever the cuts, and passes every other character as it came.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from toolwire.model.events import Batch, StreamEvent, ToolCallDelta, ToolCallEnd, ToolCallStart
from toolwire.model.map_request import map_messages, map_parts
from toolwire.model.request import ChatRequest, Part, ToolCallPart
from toolwire.model.source import replace
from toolwire.model.stage import Stage
from toolwire.wire.json import dump
from toolwire.wire.plain import plain

#: Tool name -> its names: what is written -> what is meant.
Names = Mapping[str, Mapping[str, str]]

#: What matters outside a string, and how a string goes on.
_SIGN = re.compile(r'["{}\[\],]')
_RUN = re.compile(r'[^"\\]*(?:\\.[^"\\]*)*', re.DOTALL)


class KeyScanner:
    """Replaces keys of one JSON object as its text comes. What is no JSON passes unchanged."""

    def __init__(self, names: Mapping[str, str]) -> None:
        """`names`: key -> what stands in its place."""
        self._names = names
        self._depth = 0
        self._is_object = False
        self._wants_key = False
        self._string: str | None = None  # the string that is open: "key" or "value"
        self._key = ""  # of an open key, its text so far
        self._escaped = False  # whether the text so far ends inside an escape

    def feed(self, text: str) -> str:
        """What is certain with this text: a key leaves when it is complete."""
        out: list[str] = []
        at = 0
        while at < len(text):
            at = self._outside(text, at, out) if self._string is None else self._inside(text, at, out)
        return "".join(out)

    def end(self) -> str:
        """What was held of a key that never ended."""
        held, self._key, self._string = self._key, "", None
        return held

    def _outside(self, text: str, at: int, out: list[str]) -> int:
        found = _SIGN.search(text, at)
        if found is None:
            out.append(text[at:])
            return len(text)
        sign, end = found[0], found.end()
        if sign == '"' and self._wants_key:
            out.append(text[at : found.start()])
            self._string, self._key = "key", '"'
        else:
            out.append(text[at:end])
            self._string = "value" if sign == '"' else None
        if sign in "{[":
            self._depth += 1
            self._is_object = sign == "{" if self._depth == 1 else self._is_object
        elif sign in "}]":
            self._depth -= 1
        self._wants_key = self._depth == 1 and self._is_object and sign in "{,"
        return end

    def _inside(self, text: str, at: int, out: list[str]) -> int:
        start = at
        if self._escaped:  # the character after a backslash that was the last one
            at, self._escaped = at + 1, False
        found = _RUN.match(text, at)
        end = found.end() if found else at
        if end == len(text):
            ended = False
        elif text[end] == '"':
            end, ended = end + 1, True
        else:  # a backslash at the end
            end, ended, self._escaped = end + 1, False, True
        if self._string == "value":
            out.append(text[start:end])
        else:
            self._key += text[start:end]
            if ended:
                out.append(self._replaced(self._key))
                self._key = ""
        self._string = None if ended else self._string
        return end

    def _replaced(self, key: str) -> str:
        try:
            name = self._names.get(json.loads(key, strict=False))
        except ValueError:
            return key
        return key if name is None else dump(name).decode("utf-8", "surrogatepass")


def with_replaced_names(request: ChatRequest, names: Names) -> ChatRequest:
    """The request with the keys of its calls replaced, of the tools in `names`; itself if there is none."""
    if not any(names.values()):
        return request
    return map_messages(request, lambda message: map_parts(message, lambda part: _part(part, names)))


def _part(part: Part, names: Names) -> Part:
    if type(part) is not ToolCallPart or part.kind != "function" or not names.get(part.name):
        return part
    scanner = KeyScanner(names[part.name])
    arguments = scanner.feed(part.arguments) + scanner.end()
    return part if arguments == part.arguments else replace(part, arguments=arguments)


class RestoredNames(Stage):
    """Gives the calls of one answer their parameters' own names back, over its batches."""

    deltas = frozenset({ToolCallDelta})

    def __init__(self, names: Names) -> None:
        """`names`: of the tools, as the client calls them."""
        self._names = {tool: known for tool, known in names.items() if known}
        self._open: dict[int, KeyScanner] = {}  # part index -> its scanner

    def take(self, batch: Batch) -> list[Batch]:
        """The batch with the client's keys; itself, with its source, if it has none to restore."""
        if not any(self._concerns(event) for event in batch.events):
            return [batch]
        bare = plain(batch)
        events: list[StreamEvent] = []
        for event in bare.events:
            events += self._events(event) if self._concerns(event) else (event,)
        return [Batch(tuple(events), bare.extra)]

    def _concerns(self, event: StreamEvent) -> bool:
        if type(event) is ToolCallStart:
            return event.kind == "function" and event.name in self._names
        return (type(event) is ToolCallDelta or type(event) is ToolCallEnd) and event.index in self._open

    def _events(self, event: StreamEvent) -> list[StreamEvent]:
        if type(event) is ToolCallStart:
            self._open[event.index] = KeyScanner(self._names[event.name])
            return [event]
        if type(event) is ToolCallDelta:
            text = self._open[event.index].feed(event.fragment)
            return [ToolCallDelta(event.index, text)] if text else []
        assert type(event) is ToolCallEnd
        text = self._open.pop(event.index).end()
        return [*([ToolCallDelta(event.index, text)] if text else []), event]
