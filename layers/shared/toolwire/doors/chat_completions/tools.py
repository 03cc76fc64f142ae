"""The chat door's tools and tool_choice.

A tool of a type that is neither `function` nor `custom` is opaque: the host runs it itself.
"""

from __future__ import annotations

from typing import Any, cast

import msgspec

from toolwire.doors.tool_parameters import read_parameters
from toolwire.doors.typed_json import decode, member
from toolwire.model.errors import RequestError
from toolwire.model.request import Tool, ToolChoice
from toolwire.model.source import Source, with_source
from toolwire.wire import openai_chat as wire
from toolwire.wire.json import members, raw_members

#: What the model names of a function, and of what stands within it.
_OUTER = frozenset({"type", "function"})
_WITHIN = frozenset({"name", "description", "parameters", "strict"})


def read_tools(top: dict[str, bytes]) -> tuple[Tool, ...]:
    """The tools of a request, given its raw members. Raises RequestError."""
    raw = member(top, "tools", list[msgspec.Raw])
    return tuple(_tool(bytes(item), f"tools[{number}]") for number, item in enumerate(raw or ()))


def _tool(raw: bytes, path: str) -> Tool:
    shape = decode(raw, wire.Tool, path)
    inner = {"function": shape.function, "custom": shape.custom}.get(shape.type)
    if shape.type not in ("function", "custom"):
        return with_source(Tool(shape.type, kind="opaque"), Source(wire.DIALECT, raw))
    if inner is None:
        raise RequestError(
            f"`{path}.{shape.type}` is required for a tool of type {shape.type!r}",
            param=f"{path}.{shape.type}",
            code="missing_required_parameter",
        )
    if shape.custom is not None and shape.type == "custom":
        extra = tuple((name, value) for name, value in members(raw).items() if name == "custom")
        tool = Tool(inner.name, inner.description, kind="custom", extra=extra)
        return with_source(tool, Source(wire.DIALECT, raw))
    schema = read_parameters(bytes(inner.parameters), f"{path}.function.parameters")
    outer = raw_members(raw)
    within = raw_members(outer["function"])
    unread = [(name, bytes(value)) for name, value in outer.items() if name not in _OUTER]
    unread += [(f"function.{name}", bytes(value)) for name, value in within.items() if name not in _WITHIN]
    tool = Tool(inner.name, inner.description, schema, inner.strict, extra=tuple(unread))
    nulls = b"null" in raw and b"null" in map(bytes, within.values())
    return with_source(tool, None if nulls else Source(wire.DIALECT, raw))  # null is absent; several hosts refuse it


def read_tool_choice(top: dict[str, bytes]) -> ToolChoice | None:
    """The request's tool choice; None if it has none. Raises RequestError."""
    raw = top.get("tool_choice", b"null")
    if raw == b"null":
        return None
    if raw[:1] == b'"':
        word = decode(raw, str, "tool_choice")
        if word not in ("auto", "none", "required"):
            raise RequestError(
                f'`tool_choice` must be "auto", "none", "required" or an object, not {word!r}',
                param="tool_choice",
                code="invalid_value",
            )
        return ToolChoice(word)
    shape = decode(raw, wire.ToolChoice, "tool_choice")
    named = {"function": shape.function, "custom": shape.custom}.get(shape.type)
    if named is not None:
        return ToolChoice("required", (named.name,), named=True)
    allowed = shape.allowed_tools if shape.type == "allowed_tools" else None
    if allowed is None or allowed.mode not in ("auto", "required") or not allowed.tools:
        raise RequestError(
            '`tool_choice` must be {"type": "function", "function": {"name": ...}} or {"type": "allowed_tools", '
            '"allowed_tools": {"mode": "auto" or "required", "tools": [at least one]}}',
            param="tool_choice",
            code="invalid_value",
        )
    names = tuple(inner.name for tool in allowed.tools if (inner := tool.function or tool.custom) is not None)
    if not names and allowed.mode == "auto":  # the host's own tools alone: no function is in the set
        return ToolChoice("none")
    return ToolChoice(cast(Any, allowed.mode), names)
