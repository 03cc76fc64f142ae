"""Tokens that a client allows for thinking, as the effort that comes nearest: not every provider is told a number."""

from __future__ import annotations

#: The most tokens -> the effort. The bounds lie between the budgets that clients ask for by name (4,000, 10,000 and
#: 31,999 in Claude Code).
_BUDGETS = ((4_096, "low"), (12_288, "medium"))


def effort_of_budget(tokens: int) -> str:
    """The effort that comes nearest to so many tokens."""
    return next((effort for most, effort in _BUDGETS if tokens <= most), "high")
