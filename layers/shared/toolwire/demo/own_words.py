"""Finds the user's own text in a user's message, beside text that agents and gateways add. Pure.

Agents add reminders, the environment, a project's instructions, the files that a prompt mentions. Nearly all of it
stands between tags (`<system-reminder>`, `<environment_context>`, `<system>`), and none of it is the user's request.
Such text may itself contain the closing tag. So it reaches from the first opening tag of a name in a block to the last
closing tag of this name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from toolwire.demo.directives import places_of_directives

#: Tags that agents put around the user's words themselves.
_OWN_TAGS = frozenset(
    {"task", "user_message", "user_input", "user_query", "user_request", "query", "question", "prompt", "message"}
)
_TAG = re.compile(r"<(?P<closes>/?)(?P<name>[A-Za-z][\w.:-]*)(?:\s[^<>\n]{0,300})?>")
#: The text in front of a tag that opens a line.
_LINE_STARTS = re.compile(r"(?:^|\n)[ \t]*\Z")
#: Around the files that a prompt mentions, and before each (Gemini CLI, Qwen Code): no tags, each in a block.
_FILES, _FILES_END = "--- Content from referenced files ---", "--- End of content ---"
_FILE = re.compile(r"Content from @?\S[^\n]*:")
_FILES_IN_TEXT = re.compile(rf"^{_FILES}$(?:.*^{_FILES_END}$|.*\Z)", re.M | re.S)
#: The beginnings of summaries with which agents replace a conversation. Directives that they quote were answered
#: before.
_SUMMARIES = (
    "This session is being continued from a previous conversation",
    "Another language model started to solve this problem",
)


def own_words(blocks: Iterable[str]) -> str:
    """The user's own words in the blocks of one message: of several blocks with some, the last."""
    own = ""
    for block in _without_context(blocks):
        summary = next((words for words in _SUMMARIES if block.lstrip().startswith(words)), None)
        own = summary or _outside_tags(block).strip() or own
    return own


def _without_context(blocks: Iterable[str]) -> Iterator[str]:
    """The blocks that are not context as a whole: those behind one that is nothing but what begins context."""
    ends: str | None = None
    is_file = False
    for block in blocks:
        text = block.strip()
        if ends is not None:
            ends = None if text == ends else ends
        elif is_file:
            is_file = False
        elif text == _FILES:
            ends = _FILES_END
        elif _FILE.fullmatch(text):
            is_file = True
        elif (tag := _TAG.fullmatch(text)) and not tag["closes"] and tag["name"].lower() not in _OWN_TAGS:
            ends = f"</{tag['name']}>"
        elif text != _FILES_END:
            yield block


def _outside_tags(text: str) -> str:
    """The text without the parts in tags. The text of a directive stays, with any tags in it."""
    text = _FILES_IN_TEXT.sub("", text)
    tags = list(_tags(text))
    ends = {tag["name"]: tag.end() for tag in tags if tag["closes"]}
    kept: list[str] = []
    position = 0
    for tag in tags:
        end = _end(tag, text, ends)
        if tag.start() >= position and end:
            kept.append(text[position : tag.start()])
            position = end
        elif not tag["closes"]:
            position = max(position, min(end, ends.get(tag["name"], 0)))
    return "".join([*kept, text[position:]])


def _end(tag: re.Match[str], text: str, ends: dict[str, int]) -> int:
    """The end of the text that the tag hides; 0 if it hides nothing."""
    if tag["name"].lower() in _OWN_TAGS:
        return tag.end()
    if tag["closes"]:
        return 0
    if (end := ends.get(tag["name"], 0)) > tag.start():
        return end
    opens_line = _LINE_STARTS.search(text, max(0, tag.start() - 50), tag.start())
    return len(text) if opens_line else 0  # nothing closes it: who knows where the user's words go on


def _tags(text: str) -> Iterator[re.Match[str]]:
    """The tags that stand in no directive."""
    position = 0
    for start, end in (*places_of_directives(text), (len(text), len(text))):
        yield from _TAG.finditer(text, position, start)
        position = end
