"""What differs between the models behind Converse, as data. A row is a family; the first row whose pattern is found
counts.

A model is named by its id, by a cross-region inference profile ("us.anthropic.claude-sonnet-4-5-20250929-v1:0"), or by
an ARN, which says nothing of the family unless its name does. Source: the Bedrock user guide, "Supported models and
model features", "Prompt caching" and "Structured outputs", and the API reference of ToolChoice.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

#: How a request asks a family to reason, in `additionalModelRequestFields`.
Reasoning = Literal["claude", "nova", "effort", "none"]

#: The values of `toolChoice` that a family takes beside `auto`.
Forced = Literal["any and tool", "any", "none"]


@dataclass(frozen=True, slots=True)
class Family:
    """One model family. The defaults are for an unknown model, which is assumed to have all features of the API."""

    #: Regular expression, searched in the model's id.
    pattern: str
    tools: bool = True
    #: The tool names that it takes, where those are not all of the API's.
    tool_name: str = ""
    #: Whether a streamed request may declare tools; else a request with tools asks for a whole answer.
    streams_tools: bool = True
    forced: Forced = "any and tool"
    #: The call ids that it takes, and the length of an id that replaces another.
    call_id: str = r"[A-Za-z0-9_-]{1,64}"
    call_id_length: int = 40
    #: Whether it takes `system`; else that text is put in front of the first user's turn.
    system: bool = True
    #: Whether it reads `cachePoint` blocks: in the messages and `system`, and among the tools.
    cache_points: bool = True
    cache_points_in_tools: bool = True
    #: Whether `strict` tools and `outputConfig.textFormat` are known.
    structured_output: bool = True
    reasoning: Reasoning = "none"
    #: Whether `top_k` is known, as one of `additionalModelRequestFields`.
    top_k: bool = False
    #: Whether a turn may hold text beside calls, or beside results. Some models say that "Conversation blocks and tool
    #: result blocks cannot be provided in the same turn".
    mixed_turns: bool = True
    #: Whether `status` marks a failed tool's result, as documented for Claude and Nova; for others the failure is in
    #: the text.
    result_status: bool = True


#: Bedrock refuses a schema of the answer, and from Claude 5.5 on `strict` tools, for every Claude that is not listed
#: under "Structured outputs", also for those that have both at Anthropic.
_CLAUDE = Family(r"anthropic|claude", reasoning="claude", top_k=True, structured_output=False)
#: Nova fails to write the call of a tool with a hyphen in its name ("Model produced invalid sequence as part of
#: ToolUse": SEMOSS/Semoss#2892, lastmile-ai/mcp-agent#126).
_NOVA = Family(
    r"\bnova", tool_name=r"[A-Za-z_][A-Za-z0-9_]{0,63}", cache_points_in_tools=False, structured_output=False
)
#: A family of which nothing but the API's common members is documented.
_PLAIN = Family(
    r"", cache_points=False, cache_points_in_tools=False, structured_output=False, forced="none", result_status=False,
    mixed_turns=False,
)  # fmt: skip
_OPEN_WEIGHTS = replace(_PLAIN, structured_output=True, forced="any and tool", mixed_turns=True)

FAMILIES: tuple[Family, ...] = (
    replace(_CLAUDE, pattern=r"claude-3-(5|opus|sonnet|haiku)|claude-(v2|instant)", reasoning="none"),
    replace(_CLAUDE, pattern=r"(haiku|sonnet|opus)-4-[56]|opus-4-1\b", structured_output=True),
    _CLAUDE,
    replace(_NOVA, pattern=r"nova-2", reasoning="nova"),
    _NOVA,
    replace(_OPEN_WEIGHTS, pattern=r"mistral-large-3|ministral-3|magistral|devstral|voxtral", call_id=r"[A-Za-z0-9]{9}",
            call_id_length=9),
    replace(_PLAIN, pattern=r"mistral|mixtral|pixtral", forced="any", call_id=r"[A-Za-z0-9]{9}",
            call_id_length=9),
    replace(_PLAIN, pattern=r"meta|llama", streams_tools=False),
    replace(_PLAIN, pattern=r"cohere|command-r", tool_name=r"[A-Za-z_][A-Za-z0-9_]{0,63}"),  # as Cohere documents
    replace(_PLAIN, pattern=r"ai21|jamba"),
    replace(_PLAIN, pattern=r"writer|palmyra", streams_tools=False),
    replace(_PLAIN, pattern=r"deepseek.*\br1\b", tools=False),
    replace(_PLAIN, pattern=r"titan", tools=False, system=False),
    replace(_OPEN_WEIGHTS, pattern=r"gpt-oss", reasoning="effort"),
    replace(_OPEN_WEIGHTS, pattern=r"deepseek", forced="any"),  # it accepts a named tool, and calls others
    replace(_OPEN_WEIGHTS, pattern=r"qwen|kimi|moonshot|minimax|glm|zai|nemotron|gemma"),
    Family(r""),
)  # fmt: skip


def family_of(model: str) -> Family:
    """The family of a model's id."""
    return next(family for family in FAMILIES if re.search(family.pattern, model.lower()))
