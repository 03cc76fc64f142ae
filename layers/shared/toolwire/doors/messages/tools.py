"""The messages door's tools and tool_choice.

A tool that Anthropic has defined is a function if the client runs it; one that Anthropic runs is opaque.
"""

from __future__ import annotations

from typing import Any

import msgspec

from toolwire.doors.tool_parameters import read_parameters
from toolwire.doors.typed_json import decode, member
from toolwire.model.errors import RequestError
from toolwire.model.request import Tool, ToolChoice
from toolwire.model.source import Source, with_source
from toolwire.wire import anthropic_messages as wire
from toolwire.wire.anthropic_client_tools import DECLARED, client_tool
from toolwire.wire.json import unnamed

#: The words of `tool_choice.type` that we know.
CHOICES = ("auto", "any", "tool", "none")

_TOOL = frozenset({"type", "name", "description", "input_schema", "strict"})


def read_tools(top: dict[str, bytes]) -> tuple[Tool, ...]:
    """The tools of a request, given its raw members. Raises RequestError."""
    raw = member(top, "tools", list[msgspec.Raw])
    return tuple(_tool(bytes(item), f"tools[{number}]") for number, item in enumerate(raw or ()))


def _tool(raw: bytes, path: str) -> Tool:
    """Reads one tool. A tool that Anthropic has defined is a function if the client runs it, else an opaque tool with
    its name."""
    shape = decode(raw, wire.Tool, path)
    source = Source(wire.DIALECT, raw)
    if shape.type not in (None, "custom"):
        return with_source(_typed(shape, raw), source)
    if not shape.name:
        raise RequestError(f"`{path}.name` is required", param=f"{path}.name", code="missing_required_parameter")
    if not bytes(shape.input_schema):
        raise RequestError(
            f'`{path}.input_schema` is required: {{"type": "object"}} for a tool without parameters',
            param=f"{path}.input_schema",
            code="invalid_function_parameters",
        )
    schema = read_parameters(bytes(shape.input_schema), f"{path}.input_schema")
    return with_source(Tool(shape.name, shape.description, schema, shape.strict, extra=unnamed(raw, _TOOL)), source)


def _typed(shape: wire.Tool, raw: bytes) -> Tool:
    kind = shape.type or ""
    defined = client_tool(kind, msgspec.json.decode(raw))
    if defined is None:
        return Tool(shape.name or kind, kind="opaque")
    name, description, schema = defined
    return Tool(shape.name or name, description, schema, extra=unnamed(raw, _TOOL | DECLARED))


def read_tool_choice(top: dict[str, bytes]) -> tuple[ToolChoice | None, bool | None]:
    """The request's tool choice (None if it has none), and whether calls may be parallel (None: the provider decides).
    Raises RequestError."""
    shape = member(top, "tool_choice", wire.ToolChoice)
    if shape is None:
        return None, None
    parallel = False if shape.disable_parallel_tool_use else None
    if shape.type == "tool" and shape.name:
        return ToolChoice("required", (shape.name,), named=True), parallel
    if shape.type not in CHOICES:
        return None, parallel
    if shape.type == "tool":
        raise RequestError(
            "`tool_choice.name` is required for the type tool: the name of the tool to call",
            param="tool_choice.name",
            code="missing_required_parameter",
        )
    modes: dict[str, Any] = {"auto": "auto", "any": "required", "none": "none"}
    return ToolChoice(modes[shape.type]), parallel
