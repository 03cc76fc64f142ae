"""A tool choice at a host whose models do not take one while they think: the choice is kept, and thinking switched off.

DeepSeek V4, Kimi K2.5 and Qwen think unless they are told not to, and refuse each request that says which tool is to be
called. So does Claude, which is treated likewise.
"""

from __future__ import annotations

import msgspec

from toolwire.model.request import ChatRequest
from toolwire.model.source import replace
from toolwire.model.warnings import Warnings

#: The members by which clients ask such hosts for thinking.
_ASKED = frozenset({"thinking", "enable_thinking", "thinking_budget", "reasoning", "reasoning_effort"})


def without_thinking(request: ChatRequest, warnings: Warnings) -> ChatRequest:
    """The request as such a host takes it: without a choice that says nothing, else without what asks for thinking."""
    choice = request.tool_choice
    if choice is not None and choice.mode == "auto":
        return replace(request, tool_choice=None)
    if not is_forced(request):
        return request
    warnings.add("reasoning_turned_off")
    fields = request.fields
    if fields is not None:
        members = tuple(member for member in fields.members if member[0] not in _ASKED)
        fields = msgspec.structs.replace(fields, members=members)
    return replace(request, reasoning_effort=None, fields=fields)


def is_forced(request: ChatRequest) -> bool:
    """Whether a tool is to be called."""
    return request.tool_choice is not None and request.tool_choice.mode == "required"
