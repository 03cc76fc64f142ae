"""Rewrites a request with a forced tool choice for a host whose models refuse one while they think: keeps the choice
and switches thinking off.

DeepSeek V4, Kimi K2.5 and Qwen think by default, and then refuse each request that forces a call. Claude does so too,
and is treated likewise.
"""

from __future__ import annotations

import msgspec

from toolwire.model.request import ChatRequest
from toolwire.model.source import replace
from toolwire.model.warnings import Warnings

#: The members with which clients ask such hosts for thinking.
_ASKED = frozenset({"thinking", "enable_thinking", "thinking_budget", "reasoning", "reasoning_effort"})


def without_thinking(request: ChatRequest, warnings: Warnings) -> ChatRequest:
    """The request as such a host takes it: without a tool choice that forces nothing, else without the members that ask
    for thinking."""
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
    """Whether the tool choice forces a call."""
    return request.tool_choice is not None and request.tool_choice.mode == "required"
