"""Which effort of reasoning a model of OpenAI's wires is asked for (`openai_models.py` knows the words of each).

A client that speaks the wire itself asks what it likes, and the host's refusal is between the two. Claude Code and its
like ask for an effort with every request, whatever the model: sent to one that does not know the word, or the member,
every request would be refused. A host with words of its own is asked in those (`reasoning_words.py`), another one in
the model's, and for a model that no row knows in those of its profile (`Profile.efforts`).
"""

from __future__ import annotations

from toolwire.model.request import ChatRequest
from toolwire.model.settings import Target
from toolwire.model.source import replace
from toolwire.model.warnings import Warnings
from toolwire.providers.openai_models import EFFORTS, family_of
from toolwire.providers.reasoning_words import Words


def with_known_effort(
    request: ChatRequest, target: Target, otherwise: tuple[str, ...], warnings: Warnings, hosts: Words | None = None
) -> ChatRequest:
    """The request with a word that the model knows. `otherwise`: the words for a model that no row knows; `hosts`: the
    host's own words for it."""
    known = family_of(target.known_as).efforts if hosts is None else tuple(hosts.told) or None
    otherwise = otherwise if hosts is None else ()
    effort, found = _nearest(request.reasoning_effort, known, otherwise)
    warnings.add(*found)
    summary = request.reasoning_summary if known != () else None
    if (effort, summary) == (request.reasoning_effort, request.reasoning_summary):
        return request
    return replace(request, reasoning_effort=effort, reasoning_summary=summary)


def _nearest(
    asked: str | None, known: tuple[str, ...] | None, otherwise: tuple[str, ...]
) -> tuple[str | None, list[str]]:
    """The word to send, and codes of warnings: the nearest from below, else the least. Nothing stands in for "none" at
    a model that nobody knows: it may not reason unless it is asked to."""
    words = otherwise if known is None else known
    if asked is None or asked in words:
        return asked, []
    if not words or (asked == "none" and known is None):
        return None, [] if asked == "none" and known == () else ["not_supported:reasoning_effort"]
    below = [word for word in words if EFFORTS.index(word) <= EFFORTS.index(asked) and word != "none"]
    return (below[-1] if below else next(word for word in words if word != "none")), ["reasoning_effort_changed"]
