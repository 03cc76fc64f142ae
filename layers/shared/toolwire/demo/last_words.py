"""Finds the user's own last message in a conversation, and what has followed it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from toolwire.demo.own_words import own_words


@dataclass(frozen=True, slots=True)
class Spoken:
    """One message of a conversation: who speaks, and the texts of its blocks. `role` is "user", "assistant" or any
    other; `results` are texts of tool results in it, `files` says that images or files stand beside its texts."""

    role: str
    texts: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    files: bool = False


@dataclass(frozen=True, slots=True)
class LastWords:
    """`text` is the user's; `turns` of the assistant follow it; `results` are those behind the last of them, and
    `answered` counts all."""

    text: str
    turns: int = 0
    results: tuple[str, ...] = ()
    answered: int = 0


def last_words(conversation: Sequence[Spoken]) -> LastWords:
    """Reads a conversation from its end. A message of the user's with nothing of his own in it does not count."""
    before = (None, *conversation)
    results: list[str] = []
    turns = answered = 0
    after = ""
    for message, one_before in zip(reversed(conversation), reversed(before[:-1]), strict=True):
        if message.role == "assistant":
            turns += after != "assistant"
        elif not turns:
            results[:0] = message.results
        if message.role == "user" and not _of_results(message, one_before) and (text := own_words(message.texts)):
            return LastWords(text, turns, tuple(results) if turns else (), answered)
        answered += len(message.results)
        after = message.role
    return LastWords("", turns, tuple(results), answered)


def _of_results(message: Spoken, before: Spoken | None) -> bool:
    """Whether it brings the files of tool results: many clients, and APIs whose results hold only text, put them into a
    message of the user's right behind, with a text of their own."""
    return message.files and bool(message.results or (before is not None and before.results))
