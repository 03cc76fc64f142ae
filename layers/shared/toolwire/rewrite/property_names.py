"""Replaces names of parameters in calls, for tools with names that a provider refuses: the provider's names in the
history, the client's in the answer.

For these tools only, a scanner replaces keys of the outermost object, wherever the pieces are cut, and passes all other
characters unchanged. Nothing else rewrites the text of arguments without being asked to.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from toolwire.model.events import ToolCallStart
from toolwire.model.map_request import map_messages, map_parts
from toolwire.model.request import ChatRequest, Part, ToolCallPart
from toolwire.model.source import replace
from toolwire.rewrite.call_text import CallTextStage
from toolwire.wire.json import dump

#: Tool name -> the names of its parameters: as written -> as meant.
Names = Mapping[str, Mapping[str, str]]

#: The characters that matter outside a string, and within one.
_SIGN = re.compile(r'["{}\[\],]')
_RUN = re.compile(r'[^"\\]*(?:\\.[^"\\]*)*', re.DOTALL)


class KeyScanner:
    """Replaces keys of one JSON object, whose text comes in pieces. Text that is no JSON passes unchanged."""

    def __init__(self, names: Mapping[str, str]) -> None:
        """`names`: key -> its replacement."""
        self._names = names
        self._depth = 0
        self._is_object = False
        self._wants_key = False
        self._string: str | None = None  # the string that is open: "key" or "value"
        self._key = ""  # of an open key, its text so far
        self._escaped = False  # whether the text so far ends inside an escape

    def feed(self, text: str) -> str:
        """Takes a piece. Returns the text that is certain by now: a key is returned when it is complete."""
        out: list[str] = []
        at = 0
        while at < len(text):
            at = self._outside(text, at, out) if self._string is None else self._inside(text, at, out)
        return "".join(out)

    def end(self) -> str:
        """The held beginning of a key that has not ended."""
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
    """The request with the keys replaced in calls of the tools in `names`; the same object if there are none."""
    if not any(names.values()):
        return request
    return map_messages(request, lambda message: map_parts(message, lambda part: _part(part, names)))


def _part(part: Part, names: Names) -> Part:
    if type(part) is not ToolCallPart or part.kind != "function" or not names.get(part.name):
        return part
    scanner = KeyScanner(names[part.name])
    arguments = scanner.feed(part.arguments) + scanner.end()
    return part if arguments == part.arguments else replace(part, arguments=arguments)


class RestoredNames(CallTextStage[KeyScanner]):
    """The stage that restores the client's names of parameters in the calls of an answer."""

    def __init__(self, names: Names) -> None:
        """`names`: by the client's names of the tools."""
        super().__init__()
        self._names = {tool: known for tool, known in names.items() if known}

    def rewriter(self, call: ToolCallStart) -> KeyScanner | None:
        """See `CallTextStage`."""
        known = self._names.get(call.name) if call.kind == "function" else None
        return None if known is None else KeyScanner(known)
