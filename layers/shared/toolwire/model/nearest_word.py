"""Finds the known word that a mistyped one is likely to mean, for error messages."""

from __future__ import annotations

from collections.abc import Iterable


def did_you_mean(word: str, known: Iterable[str], *, before: str = "") -> str:
    """A question to append to an error's text, with a space in front; "" if no known word is near. `before` is written
    in front of the word."""
    from difflib import get_close_matches  # for few requests: not at a cold start

    by_lower = {name.lower(): name for name in known}
    near = get_close_matches(word.lower(), by_lower, n=1)
    return f" Did you mean {before + by_lower[near[0]]!r}?" if near else ""
