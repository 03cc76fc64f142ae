"""Neutral tools and tool_choice written as Chat Completions. A tool that came unchanged from a client of the same
dialect is its own bytes."""

from __future__ import annotations

from collections.abc import Sequence

from toolwire.model.errors import RequestError
from toolwire.model.request import Tool, ToolChoice
from toolwire.model.source import Members, raw_in
from toolwire.wire.json import dump, members, write_object
from toolwire.wire.openai_chat import DIALECT


def write_tool(tool: Tool) -> bytes:
    """The tool as JSON. Raises RequestError (`unsupported_tool`) for one that only another API has."""
    raw = raw_in(tool, DIALECT)
    if raw is not None:
        return raw
    if tool.kind == "opaque":
        raise RequestError(
            f"this provider does not know tools of the type {tool.name!r}; remove it from `tools`",
            param="tools",
            code="unsupported_tool",
        )
    if tool.kind == "custom":
        return write_object([("type", b'"custom"'), ("custom", _custom(tool))])
    inner = [("name", dump(tool.name))]
    inner += [("description", dump(tool.description))] if tool.description is not None else []
    inner += [("parameters", tool.parameters)] if tool.parameters is not None else []
    inner += [("strict", dump(tool.strict))] if tool.strict is not None else []
    outer, within = split_members(tool.extra, "function")
    return write_object([("type", b'"function"'), ("function", write_object([*inner, *within])), *outer])


def split_members(extra: Members, kind: str) -> tuple[Members, Members]:
    """The unnamed members of a tool or call, and those of the object within it, which the door marks "function."."""
    mark = kind + "."
    within = tuple((name.removeprefix(mark), value) for name, value in extra if name.startswith(mark))
    return tuple(pair for pair in extra if not pair[0].startswith(mark)), within


def _custom(tool: Tool) -> bytes:
    """A custom tool under its (new) name, with its format as it came."""
    given = members(dict(tool.extra).get("custom", b"{}"))
    return write_object([*(given | {"name": dump(tool.name)}).items()])


def write_tool_choice(choice: ToolChoice, tools: Sequence[Tool]) -> bytes:
    """The value of `tool_choice` as JSON, given the tools that are sent."""
    if choice.names is None:
        return dump(choice.mode)
    custom = {tool.name for tool in tools if tool.kind == "custom"}
    kinds = ("custom" if name in custom else "function" for name in choice.names)
    named = [{"type": kind, kind: {"name": name}} for kind, name in zip(kinds, choice.names, strict=True)]
    if choice.named:
        return dump(named[0])
    return dump({"type": "allowed_tools", "allowed_tools": {"mode": choice.mode, "tools": named}})
