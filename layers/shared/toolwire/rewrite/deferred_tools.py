"""Handles deferred tools, which a client declares for a search only, for providers without this feature.

Claude Code and Codex declare some tools as deferred and search them by a tool of their own, whose result names the
tools that were found. A provider without deferred tools is sent only the found ones, and the result in words.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from toolwire.model.map_request import map_content, map_messages, map_parts
from toolwire.model.request import ChatRequest, Message, Part, TextPart, Tool, ToolReferencePart, ToolResultPart
from toolwire.model.source import replace


def with_found_tools(request: ChatRequest) -> ChatRequest:
    """The request without deferred tools that were not found yet, and with results of searches in words; the same
    object if it has neither. If the search itself would run at another provider, all tools are sent, since none could
    be found."""
    given, request = request, map_messages(request, _in_words)
    if not any(map(_is_deferred, request.tools)) or any(map(_searches_elsewhere, request.tools)):
        return request
    found = frozenset(_found(given))
    tools = tuple(tool for tool in request.tools if tool.name in found or not _is_deferred(tool))
    callable_now = any(tool.kind != "opaque" for tool in tools)
    return replace(request, tools=tools) if callable_now and len(tools) < len(request.tools) else request


def _found(request: ChatRequest) -> Iterator[str]:
    """The names of the tools that the history or the choice has used."""
    yield from (request.tool_choice.names or ()) if request.tool_choice is not None else ()
    for message in request.messages:
        yield from (call.name for call in message.tool_calls)
        for part in message.parts:
            content = part.content if type(part) is ToolResultPart else ()
            yield from (item.name for item in content if type(item) is ToolReferencePart)


def _is_deferred(tool: Tool) -> bool:
    return dict(tool.extra).get("defer_loading") == b"true"


def _searches_elsewhere(tool: Tool) -> bool:
    return tool.kind == "opaque" and tool.name.startswith("tool_search")


def _in_words(message: Message) -> Message:
    return map_parts(message, _part_in_words) if message.role == "tool" else message


def _part_in_words(part: Part) -> Part:
    return map_content(part, _item_in_words) if type(part) is ToolResultPart else part


def _item_in_words(item: Any) -> Any:
    return TextPart(f"The tool `{item.name}` can be called now.") if type(item) is ToolReferencePart else item
