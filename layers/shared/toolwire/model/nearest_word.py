"""The word that another is likely meant to be: errors say it, so that a mistyped name is seen as one."""

from __future__ import annotations

from collections.abc import Iterable


def did_you_mean(word: str, known: Iterable[str], *, before: str = "") -> str:
    """A question to put behind an error's text, with a space in front; "" where no known word is near. `before` stands
    before the word where it is to be written."""
    from difflib import get_close_matches  # for few requests: no cold start's business

    by_lower = {name.lower(): name for name in known}
    near = get_close_matches(word.lower(), by_lower, n=1)
    return f" Did you mean {before + by_lower[near[0]]!r}?" if near else ""
