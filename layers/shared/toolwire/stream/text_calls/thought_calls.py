"""Calls that a model has written at the end of its reasoning. A server whose parser waits for the end of the reasoning
finds none where the model goes over to a call without it (Kimi K2 and K3, Qwen 3.5), and the answer has nothing else:
an agent would stop there."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

from toolwire.model.events import FinishReason
from toolwire.stream.text_calls.arguments import TextTool
from toolwire.stream.text_calls.formats import OPENS, THOUGHT_CLOSES
from toolwire.stream.text_calls.quotes import Quotes
from toolwire.stream.text_calls.scanner import TextCall, TextCallScanner

#: How many characters of the end of the reasoning are kept.
_CHARS = 200_000
#: At how many of the last opening marks the calls may begin.
_MARKS = 20


class Thoughts:
    """The end of an answer's reasoning, which comes in pieces, and whether the answer has a text."""

    __slots__ = ("_has_text", "_length", "_pieces")

    def __init__(self) -> None:
        self._pieces: deque[str] = deque()
        self._length = 0
        self._has_text = False  # but for white space

    def heard(self, text: str, is_thought: bool) -> None:
        """More of the reasoning, or of a text that began with it, between tags; else more of the answer's text."""
        if not is_thought:
            self._has_text = self._has_text or bool(text and not text.isspace())
            return
        self._pieces.append(text)
        self._length += len(text)
        while self._length - len(self._pieces[0]) > _CHARS:
            self._length -= len(self._pieces.popleft())

    def calls(self, tools: Mapping[str, TextTool], reason: FinishReason) -> list[TextCall]:
        """The calls with which the reasoning ends: nothing but white space may follow. None if the answer has a text,
        or was cut."""
        if self._has_text or reason not in ("stop", "tool_calls"):
            return []
        text, *behind = THOUGHT_CLOSES.pattern.split("".join(self._pieces), maxsplit=1)
        if behind and behind[0].strip():
            return []
        for mark in [*OPENS.pattern.finditer(text)][-_MARKS:]:
            before = Quotes()
            before.add(text[: mark.start()])
            if before.fenced() or before.quoted():
                continue
            scanner = TextCallScanner(tools)
            rest = scanner.feed(text[mark.start() :]) + scanner.end(has_structure=True)
            if scanner.calls and not rest.strip():
                return scanner.calls
        return []
