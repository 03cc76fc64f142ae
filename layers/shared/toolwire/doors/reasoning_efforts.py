"""How hard a model is to think, in the words of both OpenAI APIs, and what says it otherwise."""

from __future__ import annotations

EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")

#: The most tokens -> the effort. The bounds lie between the budgets that clients ask for by name (4,000, 10,000 and
#: 31,999 in Claude Code).
_BUDGETS = ((4_096, "low"), (12_288, "medium"))


def known_effort(word: str | None, member: str) -> tuple[str | None, tuple[str, ...]]:
    """The effort if the word is one, else None and the member that has it: its own hosts may know the word, as Groq has
    `default`, so it stays in the client's API."""
    return (word, ()) if word is None or word in EFFORTS else (None, (member,))


def effort_of_budget(tokens: int) -> str:
    """The effort that comes nearest to so many tokens for thinking: not every provider is told a number."""
    return next((effort for most, effort in _BUDGETS if tokens <= most), "high")
