"""Requests shaped as Claude Code's: many tools, cached system blocks, a system message behind the user's first,
thinking between calls, betas. Written by us; the shape is what the real client was seen to send."""

from __future__ import annotations

import json
from typing import Any

BETAS = "claude-code-20250219,interleaved-thinking-2025-05-14,context-management-2025-06-27"

_CACHED = {"cache_control": {"type": "ephemeral"}}
_TOOLS = [
    {
        "name": name,
        "description": f"{name}: what it is for.\n- a rule",
        "input_schema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {"command": {"type": "string"}, "timeout": {"type": "number", "default": 1.5}},
            "required": ["command"],
            "additionalProperties": False,
        },
    }
    for name in (
        "Agent",
        "Bash",
        "Edit",
        "Read",
        "mcp__a_rather_long_server_name__with_a_long_tool_name_of_its_own_v2x",
    )
]
_HEAD: list[dict[str, Any]] = [
    {
        "role": "user",
        "content": [
            {"type": "text", "text": "<system-reminder>\nToday is a day.\n</system-reminder>"},
            {"type": "text", "text": "fix the bug — in “x”"},
        ],
    },
    {"role": "system", "content": "Available agents:\n- one"},
]


def conversation(turns: int) -> bytes:
    """The request of the given turn: the history grows by a tool call and its result each time."""
    messages = list(_HEAD)
    for turn in range(1, turns):
        thought = {"type": "thinking", "thinking": f"step {turn}", "signature": "c2ln"}
        calls = [
            {"type": "tool_use", "id": f"toolu_{turn}_{n}", "name": "Bash", "input": {"command": f"echo {n}"}}
            for n in range(2)
        ]
        results = [
            {"tool_use_id": call["id"], "type": "tool_result", "content": f"out {turn}", "is_error": False, **_CACHED}
            for call in calls
        ]
        messages += [
            {"role": "assistant", "content": [thought, {"type": "text", "text": "I look."}, *calls]},
            {
                "role": "user",
                "content": [*results, {"type": "text", "text": "<system-reminder>go on</system-reminder>"}],
            },
        ]
    body = {
        "model": "claude-alias",
        "max_tokens": 32000,
        "system": [
            {"type": "text", "text": "x-anthropic-billing-header: cc_version=2;"},
            {"type": "text", "text": "You are a Claude agent.", **_CACHED},
        ],
        "tools": _TOOLS,
        "thinking": {"type": "adaptive"},
        "context_management": {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]},
        "output_config": {"effort": "medium"},
        "metadata": {"user_id": '{"device_id":"d","session_id":"s"}'},
        "stream": True,
        "messages": messages,
    }
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


def first_turn() -> bytes:
    """The request that opens a conversation."""
    return conversation(1)
