"""Reads from a refusal's words what it does not take of the form of messages: their content, their calls, the ids of
these. A client's history may have any form that OpenAI takes, and nobody can take a message out of it again. The
patterns are the words of known hosts, as `tests/exchange/test_refused_messages.py` has them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from toolwire.exchange.profile_lessons import Lesson

#: About content that is no string: a list, or null. Some say of what it was, others only what they want. Parsers
#: (serde, Go, hosts with FastAPI), templates, LM Studio, Cloudflare.
_WANTS_STRING = re.compile(
    r"\binvalid type: (sequence|null), expected a string\b|\bvalue must be a string\b|\bshould be a valid string\b"
    r"|\bonly concatenate str\b|\bcannot unmarshal (array|object|null)\b.{0,80}\bof type string\b"
    r"|'(array|null)' not in 'string'|\bexpected (a )?string\b.{0,20}\b(array|list|null|none)\b"
    r"|\bcontent\b.{0,30}\b(must|should) be a(n array or)? string\b",
    re.IGNORECASE | re.DOTALL,
)

#: About content that is null or left out.
_NULL = re.compile(
    r"\bcontent\b.{0,40}(\bnone is not an allowed\b|<nil>|\b(must|can)(not| not) be null\b)"
    r"|\bcontent\b['`]?( field)? is (a )?required\b|\bmissing field `content`",
    re.IGNORECASE | re.DOTALL,
)

#: About content without any text (LM Studio, Moonshot, xAI, Mistral, Z.ai, and Claude behind other APIs).
_EMPTY = re.compile(
    r"\b(content|messages?|text)\b.{0,60}\b(not|non|n't)[ -](be )?empty\b|\bat least one content element\b"
    r"|\bmust contain non-whitespace text\b|\bcannot be set for empty text\b|\bcontent or tool_calls, but not none\b"
    r"|\bprompt parameter was not received\b|未正常接收到prompt",
    re.IGNORECASE | re.DOTALL,
)

#: About the role "system": within the history at hosts of the Messages API (Claude Code sends such messages to models
#: that it takes for new ones), and anywhere in templates of open models.
_SYSTEM = re.compile(
    r"\bunknown variant `system`|\bshould be 'user' or 'assistant'|\bunexpected role \"system\""
    r"|\bsystem (role|messages?)\b( is| are)? not support|n't support (the )?system (role|messages?)\b"
    r"|\brole\b\W{1,4}system\b.{0,20}\bnot support|不支持 role=\"system\""
    r"|\bonly user,? (and |or )?(assistant|model)( and tool)? roles are supported\b",
    re.IGNORECASE,
)

#: About a reference to a tool that a search has found, which Claude Code has in its results.
_REFERENCE = re.compile(r"\btool_reference\b", re.IGNORECASE)

#: About a turn with calls that lacks its thinking, in the Messages API (DeepSeek, and hosts of Claude).
_THINKING = re.compile(
    r"`?content\[\]\.thinking`?.{0,60}\bmust be passed back\b|\bexpected `thinking` or `redacted_thinking`",
    re.IGNORECASE | re.DOTALL,
)

#: About several calls in one turn, and about a text beside a call.
_SEVERAL = re.compile(r"\bsingle tool[- ]?calls? at once\b", re.IGNORECASE)
_BESIDE = re.compile(
    r"\bcontent or tool_calls, but not both\b|\bcannot pass both content and thinking\b", re.IGNORECASE
)

#: About the id of a call: Mistral's rule; a pattern (Claude and Converse behind other APIs); a length (OpenAI).
_NINE = re.compile(r"\btool call ids?\b.{0,200}\blength (of )?9\b", re.IGNORECASE | re.DOTALL)
_PATTERN = re.compile(r"\btool_?(use|call)(_?id|\.id)\b.{0,120}\bpattern\b", re.IGNORECASE | re.DOTALL)
_LENGTH = re.compile(
    r"\btool_call(s\[\d+\]\.|_)id\b.{0,30}\btoo long\b.{0,60}\bmaximum length (\d{1,3})\b", re.IGNORECASE | re.DOTALL
)
#: The most characters of an id of ours, by OpenAI's rule; a shorter one may not tell two calls apart.
_MOST, _LEAST = 40, 9


def of_messages(said: str) -> Iterator[Lesson]:
    """The lessons about the form of messages that a refusal may teach, the likeliest first."""
    wants_string = _WANTS_STRING.search(said)
    if wants_string:
        yield Lesson("", {"content_lists": False})
    if wants_string or _NULL.search(said):
        yield Lesson("", {"null_content": False})
    if _EMPTY.search(said):
        yield Lesson("", {"empty_content": False})
    if _SYSTEM.search(said):
        yield Lesson("", {"system_messages": False})
    if _REFERENCE.search(said):
        yield Lesson("", {"tool_references": False})
    if _THINKING.search(said):
        yield Lesson("", {"thinking_required": True})
    if _SEVERAL.search(said):
        yield Lesson("", {"several_calls": False})
    if _BESIDE.search(said):
        yield Lesson("", {"text_beside_calls": False})
    if _NINE.search(said):
        yield _ids("[A-Za-z0-9]", 9, least=9)
    elif longest := _LENGTH.search(said):
        yield _ids("[A-Za-z0-9_-]", max(_LEAST, min(_MOST, int(longest[2]))))
    elif _PATTERN.search(said):
        yield _ids("[A-Za-z0-9_-]", _MOST)


def _ids(character: str, length: int, *, least: int = 1) -> Lesson:
    """The lesson that ids have so many of these characters, also those that the host made itself."""
    fields: dict[str, Any] = {"call_id": f"{character}{{{least},{length}}}", "call_id_length": length}
    return Lesson("", fields | {"own_ids": False})
