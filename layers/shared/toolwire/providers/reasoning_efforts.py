"""Chooses the effort of reasoning for a model of OpenAI's wires (`openai_models.py` knows the words of each).

A client that speaks the wire itself keeps its word, and gets the host's own refusal. Other clients, such as Claude
Code, send an effort with every request, and a model that does not know the word, or the member, would refuse each of
them. The word sent is the host's own if it has any (`reasoning_words.py`), else the model's, else, for a model without
a row, one of the profile (`Profile.efforts`).
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
    """The request with an effort that the model knows. `otherwise`: the words for a model without a row. `hosts`: the
    host's own words."""
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
    """The word to send, and codes of warnings. It is the nearest word that is not higher, else the lowest. For "none"
    at an unknown model no other word is sent: it may reason only if asked to."""
    words = otherwise if known is None else known
    if asked is None or asked in words:
        return asked, []
    if not words or (asked == "none" and known is None):
        return None, [] if asked == "none" and known == () else ["not_supported:reasoning_effort"]
    below = [word for word in words if EFFORTS.index(word) <= EFFORTS.index(asked) and word != "none"]
    return (below[-1] if below else next(word for word in words if word != "none")), ["reasoning_effort_changed"]
