"""Tools that the hosts of an API run themselves: what they leave in a history, and types that stand for many tools."""

from __future__ import annotations

from toolwire.wire import anthropic_messages, openai_responses
from toolwire.wire.anthropic_client_tools import is_toolset as is_toolset

#: Dialect -> the kinds of parts that its server tools leave. Any other dialect's are carried or refused as they are.
_LEFT = {
    anthropic_messages.DIALECT: anthropic_messages.SERVER_TOOL_BLOCKS,
    openai_responses.DIALECT: openai_responses.SERVER_TOOL_ITEMS,
}


def is_server_tool_part(dialect: str, kind: str) -> bool:
    """Whether a part of this kind is what a server tool has left."""
    return kind in _LEFT.get(dialect, ())
