"""Which efforts of reasoning a model of OpenAI's wires is asked for, as data: the first row that fits its name holds.

A client that speaks the wire itself asks what it likes, and the host's refusal is between the two. Claude Code and its
like ask for an effort with every request, whatever the model: sent to one that does not know the word, or the member,
every request would be refused. Source: the model pages of OpenAI, xAI and Groq, and what their APIs were seen to
refuse. A model that no row knows is asked in the words of its host's profile (`Profile.efforts`).
"""

from __future__ import annotations

import re
from dataclasses import replace

from toolwire.model.request import ChatRequest
from toolwire.model.settings import Target

#: Every word that a door takes, rising.
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")

_UP_TO_HIGH = ("low", "medium", "high")

#: Pattern for the model's name, after any path -> the words it knows, rising; none: it refuses the member.
ROWS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"(gpt-[3-9](\.\d+)?-chat|chatgpt|gpt-[34]|o1-(mini|preview)).*", ()),
    (r"(o[1-9]|gpt-oss).*", _UP_TO_HIGH),
    (r"gpt-5\.1(\D.*)?", ("none", *_UP_TO_HIGH)),
    (r"gpt-5\.[2-5](\D.*)?", ("none", *_UP_TO_HIGH, "xhigh")),
    (r"gpt-5([^.].*)?", ("minimal", *_UP_TO_HIGH)),
    (r"grok-3-mini.*", ("low", "high")),
    (r"grok-4\.20-multi-agent.*", (*_UP_TO_HIGH, "xhigh")),
    (r"grok-4\.3.*", ("none", *_UP_TO_HIGH)),
    (r"grok-([234]|code).*", ()),
    (r"(meta-)?(llama|codellama|mixtral|codestral|pixtral|gemma-?[123]).*", ()),
)


def known_efforts(model: str) -> tuple[str, ...] | None:
    """The words that the model knows; None for a model that no row knows."""
    name = model.rpartition("/")[2].lower()
    return next((words for pattern, words in ROWS if re.fullmatch(pattern, name)), None)


def with_known_effort(
    request: ChatRequest, target: Target, otherwise: tuple[str, ...], warnings: list[str]
) -> ChatRequest:
    """The request with a word that the model knows. `otherwise`: the words for a model that no row knows."""
    known = known_efforts(target.model)
    effort, found = _nearest(request.reasoning_effort, known, otherwise)
    warnings += found
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
