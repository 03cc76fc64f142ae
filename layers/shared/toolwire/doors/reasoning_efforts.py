"""Reads the effort of reasoning: in the words of both OpenAI APIs, and from a budget of tokens."""

from __future__ import annotations

EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")

#: The most tokens of a budget -> the effort. The bounds lie between the budgets that clients have names for (4,000,
#: 10,000 and 31,999 in Claude Code).
_BUDGETS = ((4_096, "low"), (12_288, "medium"))


def known_effort(word: str | None, member: str) -> tuple[str | None, tuple[str, ...]]:
    """The effort if the word is a known one; else None and the name of its member, which only hosts of the client's API
    are then sent: they may know the word, as Groq knows `default`."""
    return (word, ()) if word is None or word in EFFORTS else (None, (member,))


def effort_of_budget(tokens: int) -> str:
    """The effort nearest to a budget of tokens, for providers that take no number."""
    return next((effort for most, effort in _BUDGETS if tokens <= most), "high")
