"""Shortens the descriptions of tools for hosts that refuse long ones. What is cut off goes on in the instructions.

Azure takes 1,024 characters; agents' own tools and those of MCP servers have many more (OpenHands#4838, LibreChat#5741,
modelcontextprotocol/servers#799). Every request of such an agent would be refused.
"""

from __future__ import annotations

import re

from toolwire.model.request import ChatRequest, Message, TextPart, Tool, split_instructions
from toolwire.model.source import replace
from toolwire.model.warnings import Warnings

#: Warning: the end of a tool's description stands in the instructions.
SPLIT = "tool_description_split"

#: What a refusal says of a description that is too long, and the most characters that it names (OpenAI's hosts; those
#: that check by a schema).
_MOST = re.compile(
    r"\b(tool|function)s?\b.{0,60}\bdescription\b.{0,80}"
    r"(\bmaximum length( of| is)?|\bat most|\bless than or equal to|\blonger than|<="
    r"|\bexceeds?( the)?( limit| maximum)?( of)?) ?`?(?P<most>\d{2,5})\b",
    re.IGNORECASE | re.DOTALL,
)

#: What a shortened description ends with.
_MORE = " (It goes on in the instructions.)"


def longest_description(refusal: str) -> int | None:
    """The most characters of a tool's description that the host takes, if a refusal says so."""
    found = _MOST.search(refusal)
    return int(found["most"]) if found is not None and int(found["most"]) > 2 * len(_MORE) else None


def with_short_descriptions(request: ChatRequest, most: int, warnings: Warnings) -> ChatRequest:
    """The request with no description of more than `most` characters. The rest of each is in one message behind the
    leading instructions, under the tool's name; the same object if there is none. A tool in a namespace stays as it
    is."""
    rests: list[str] = []
    tools = tuple(_shortened(tool, most, rests) for tool in request.tools)
    if not rests:
        return request
    warnings.add(SPLIT)
    leading, others = split_instructions(request.messages)
    more = Message(leading[-1].role if leading else "system", (TextPart("\n\n".join(rests)),))
    return replace(request, tools=tools, messages=(*leading, more, *others))


def _shortened(tool: Tool, most: int, rests: list[str]) -> Tool:
    """The tool with the beginning of its description; the rest is added to `rests`."""
    told = tool.description or ""
    if len(told) <= most or tool.kind == "opaque" or any(name == "namespace" for name, _ in tool.extra):
        return tool
    most -= len(_MORE)
    end = max(told.rfind(" ", most // 2, most), told.rfind("\n", most // 2, most))
    end = end if end > 0 else most
    rests.append(f"The description of the tool `{tool.name}` goes on:\n{told[end:].strip()}")
    return replace(tool, description=told[:end].rstrip() + _MORE)
