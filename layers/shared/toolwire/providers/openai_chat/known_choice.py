"""Rewrites a tool choice for a host that has refused its form. LM Studio and Groq's proxies know no object; Z.ai,
Moonshot, Meta and relays know only `auto`."""

from __future__ import annotations

from typing import Literal

from toolwire.model.request import ChatRequest, ToolChoice
from toolwire.model.source import replace
from toolwire.model.warnings import Warnings


def with_known_choice(request: ChatRequest, forms: Literal["words", "auto"], warnings: Warnings) -> ChatRequest:
    """The request with a tool choice that the host takes: `forms` is `words` or `auto`. A named tool becomes the only
    tool that is sent, which means the same. If the host cannot force a call, the choice becomes `auto` with a warning.
    If calls are forbidden, no tools are sent."""
    choice = request.tool_choice
    if choice is None or (forms == "words" and choice.names is None):
        return request
    if choice.names is not None:
        request = replace(request, tools=tuple(tool for tool in request.tools if tool.name in choice.names))
    if forms == "words":
        return replace(request, tool_choice=ToolChoice(choice.mode))
    if choice.mode == "none":
        return replace(request, tools=(), tool_choice=None, parallel_tool_calls=None)
    if choice.mode == "required":
        warnings.add("tool_choice_changed")
    return replace(request, tool_choice=None)
