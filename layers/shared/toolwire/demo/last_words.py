"""The user's own last words in a conversation, apart from what clients and gateways put beside them. Pure.

Agents write much in a user's name: reminders, the environment, the instructions of a project, a system message that an
API has no place for. All of it stands between a pair of tags (`<system-reminder>`, `<environment_context>`,
`<system>`), and none of it is what the user asks for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from toolwire.demo.directives import end_of_directive

#: Tags that agents put around the user's words themselves.
_OWN_TAGS = frozenset(
    {"task", "user_message", "user_input", "user_query", "user_request", "query", "question", "prompt", "message"}
)
_TAG = re.compile(r"<(?P<closes>/?)(?P<name>[A-Za-z][\w.:-]*)(?:\s[^<>\n]{0,300})?>")
_PLACES = re.compile(rf"(?P<tag>{_TAG.pattern})|\[demo ")
#: What stands before a tag that opens a line.
_LINE_STARTS = re.compile(r"(?:^|[\n\x1e])[ \t]*\Z")
#: Between two blocks of one message. No text of a request that matters has it.
_BETWEEN = "\x1e"


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
    """`text` is the user's; `turns` of the assistant follow it; `results` are those behind the last of them."""

    text: str
    turns: int = 0
    results: tuple[str, ...] = ()


def last_words(conversation: Sequence[Spoken]) -> LastWords:
    """Reads a conversation from its end. A message of the user's with nothing of his own in it does not count."""
    before = (None, *conversation)
    results: list[str] = []
    turns = 0
    after = ""
    for message, one_before in zip(reversed(conversation), reversed(before[:-1]), strict=True):
        if message.role == "assistant":
            turns += after != "assistant"
        elif not turns:
            results[:0] = message.results
        if message.role == "user" and not _of_results(message, one_before) and (text := own_words(message.texts)):
            return LastWords(text, turns, tuple(results) if turns else ())
        after = message.role
    return LastWords("", turns, tuple(results))


def _of_results(message: Spoken, before: Spoken | None) -> bool:
    """Whether it brings the files of tool results: many clients, and APIs whose results hold only text, put them into a
    message of the user's right behind, with a text of their own."""
    return message.files and bool(message.results or (before is not None and before.results))


def own_words(texts: Iterable[str]) -> str:
    """The user's own words in the blocks of one message: of several blocks with some, the last."""
    kept = _without_context(_BETWEEN.join(text.replace(_BETWEEN, " ") for text in texts))
    return next((words for block in reversed(kept.split(_BETWEEN)) if (words := block.strip())), "")


def _without_context(text: str) -> str:
    """The text without what stands in tags. What a directive holds is its own, tags included."""
    ends = _pairs(text)
    kept: list[str] = []
    position = 0
    for found in _PLACES.finditer(text):
        if found.start() < position:
            continue
        end = _end_of(found, text, ends)
        if end is None:
            continue
        kept.append(text[position : found.start()])
        if not found["tag"]:
            kept.append(text[found.start() : end])
        position = end
    return "".join([*kept, text[position:]])


def _end_of(found: re.Match[str], text: str, ends: dict[int, int]) -> int | None:
    """Where a directive ends, or what a tag hides; None for what is ordinary text."""
    if not found["tag"]:
        return end_of_directive(text, found.start())
    if found["name"].lower() in _OWN_TAGS:
        return found.end()
    if found["closes"]:
        return None
    if found.start() in ends:
        return ends[found.start()]
    if not _LINE_STARTS.search(text, max(0, found.start() - 50), found.start()):
        return None
    return len(text)  # it opens a line and nothing closes it: who knows where the user's words go on


def _pairs(text: str) -> dict[int, int]:
    """Where each closed tag begins -> where what closes it ends."""
    opened: dict[str, list[int]] = {}
    ends = {}
    for found in _TAG.finditer(text):
        open_ones = opened.setdefault(found["name"], [])
        if not found["closes"]:
            open_ones.append(found.start())
        elif open_ones:
            ends[open_ones.pop()] = found.end()
    return ends
