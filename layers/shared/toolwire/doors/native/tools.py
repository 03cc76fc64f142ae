"""The native door's tools and tool_choice."""

from __future__ import annotations

from collections.abc import Iterable

from toolwire.doors.native import request_models
from toolwire.model.errors import RequestError
from toolwire.model.request import Tool, ToolChoice
from toolwire.wire.json import raw_members


def read_tools(tools: Iterable[request_models.ToolDefinition]) -> tuple[Tool, ...]:
    """The tools of a request. Raises RequestError for parameters that are not declared as an object."""
    return tuple(_tool(tool, f"tools[{n}]") for n, tool in enumerate(tools))


def _tool(tool: request_models.ToolDefinition, path: str) -> Tool:
    function = tool.function
    parameters = bytes(function.parameters)
    root = bytes(raw_members(parameters).get("type", b""))
    if root != b'"object"':
        said = f"not {root.decode()[:80]}" if root else "and is missing"
        raise RequestError(
            f'`{path}.function.parameters.type` must be "object", {said}',
            param=f"{path}.function.parameters.type",
            code="invalid_function_parameters",
        )
    return Tool(function.name, function.description, parameters, function.strict)


def read_tool_choice(choice: request_models.ToolChoice | None) -> ToolChoice | None:
    """The request's tool choice; None if it has none."""
    match choice:
        case None:
            return None
        case request_models.NamedTool():
            return ToolChoice("required", (choice.function.name,), named=True)
        case request_models.AllowedTools():
            allowed = choice.allowed_tools
            return ToolChoice(allowed.mode, tuple(tool.function.name for tool in allowed.tools))
        case word:
            return ToolChoice(word)
