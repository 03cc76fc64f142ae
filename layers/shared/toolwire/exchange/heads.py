"""The head of an answer: the usual headers, the warnings, and what the tenant's rates leave."""

from __future__ import annotations

import re

from toolwire.exchange.attempt import Attempt
from toolwire.exchange.figures import Figures
from toolwire.model.http import CONVERSATION_HEADER, Head, Headers, id_headers
from toolwire.model.settings import Target
from toolwire.model.warnings import HEADER, Warnings

#: The form that a provider's header must have to be shown, and the most that are.
_SHOWN_VALUE = re.compile(r"[\x21-\x7e]{1,64}")
_MOST_SHOWN = 32

STREAM, DOCUMENT = "text/event-stream; charset=utf-8", "application/json"


class Heads:
    """Makes the heads of one exchange. `answer_headers` are in each head; if there are none, the provider's headers
    about its own limits are."""

    def __init__(self, request_id: str, conversation_id: str, figures: Figures, answer_headers: Headers) -> None:
        self._request_id, self._conversation_id, self._figures = request_id, conversation_id, figures
        self._told: frozenset[str] = frozenset()  # warnings that the head or a comment has told
        self._answer_headers = answer_headers
        #: Whether a head was sent: there is only one.
        self.sent = False
        #: The warnings that were known when the upstream's answer began; None before that.
        self.warnings_before: Warnings | None = None
        #: The provider's headers (names in lower case), and the prefixes of those that clients of its own API are
        #: shown.
        self.upstream_headers: dict[str, str] = {}
        self._shown: tuple[str, ...] = ()
        #: The headers about the attempt that answers.
        self._attempt: Headers = ()

    def begin(self, attempt: Attempt, count: int | None) -> None:
        """The answer will be that of this attempt. `count`: the number of attempts so far; None where there can be only
        one."""
        self._shown = attempt.provider.shown_headers if attempt.same_dialect else ()
        self._attempt = () if count is None else _attempt_headers(count, attempt.target)

    def stream_head(self, content_type: str) -> Head:
        """A stream's head. It has the warnings that were known when the upstream began to answer. Those of the answer
        itself come later: which of them are known when the head goes out depends on how the bytes arrive."""
        found = self._figures.warnings if self.warnings_before is None else self.warnings_before
        return self._head(200, content_type, found, ("cache-control", "no-cache"))

    def head(self, status: int, content_type: str, *more: tuple[str, str]) -> Head:
        """A head with the warnings that are known by now."""
        return self._head(status, content_type, self._figures.warnings, *more)

    def _head(self, status: int, content_type: str, warnings: Warnings, *more: tuple[str, str]) -> Head:
        headers = [("content-type", content_type), *id_headers(self._request_id)]
        headers.append((CONVERSATION_HEADER, self._conversation_id))
        self._told |= frozenset(warnings)
        if warnings:
            headers.append((HEADER, warnings.header()))
        return Head(status, (*headers, *self._attempt, *(self._answer_headers or self._limits()), *more))

    def late_warnings(self) -> str:
        """The warnings that came too late for the head, as the value of their header. Each is returned once."""
        told = self._told if self.sent else self._told | frozenset(self.warnings_before or ())
        self._told = told | frozenset(self._figures.warnings)
        return self._figures.warnings.header(told)

    def _limits(self) -> Headers:
        return tuple(
            (name, value)
            for name, value in self.upstream_headers.items()
            if name.startswith(self._shown) and _SHOWN_VALUE.fullmatch(value)
        )[:_MOST_SHOWN]


def _attempt_headers(count: int, target: Target) -> Headers:
    """The headers with the provider and the number of the attempt."""
    full = f"{target.provider.name}/{target.model}"
    shown = full if full.isascii() and full.isprintable() else target.provider.name
    return (("x-toolwire-attempts", str(count)), ("x-toolwire-target", shown))
