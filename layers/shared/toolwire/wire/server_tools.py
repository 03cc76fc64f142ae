"""Kinds of parts of a history that only their own host understands: those of server tools, which hosts run themselves,
a host's own form of reasoning, and billing."""

from __future__ import annotations

from toolwire.wire import anthropic_messages, gemini, openai_chat, openai_responses
from toolwire.wire.anthropic_client_tools import is_toolset as is_toolset
from toolwire.wire.cross_api_names import REASONING_PARTS

#: Dialect -> the kinds of parts that its server tools add. Other parts are carried or refused.
_LEFT = {
    anthropic_messages.DIALECT: anthropic_messages.SERVER_TOOL_BLOCKS,
    openai_responses.DIALECT: openai_responses.SERVER_TOOL_ITEMS,
    gemini.DIALECT: gemini.SERVER_TOOL_PARTS,
}


#: Dialect -> the kinds of parts that are a host's own form of reasoning.
_REASONING = {openai_chat.DIALECT: REASONING_PARTS, anthropic_messages.DIALECT: REASONING_PARTS}


#: Dialect -> the kinds of parts that are for a host's accounts and not for its models.
_ACCOUNTING = {anthropic_messages.DIALECT: (anthropic_messages.BILLING,)}


def is_accounting_part(dialect: str, kind: str) -> bool:
    """Whether a part of this kind is for the accounts of its own host."""
    return kind in _ACCOUNTING.get(dialect, ())


def is_reasoning_part(dialect: str, kind: str) -> bool:
    """Whether a part of this kind is reasoning in a form that only its own host reads."""
    return kind in _REASONING.get(dialect, ())


def is_server_tool_part(dialect: str, kind: str) -> bool:
    """Whether a server tool's run added a part of this kind."""
    return kind in _LEFT.get(dialect, ())
