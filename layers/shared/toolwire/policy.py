"""The tool policy: one enforcement point, on the neutral form, so that no door can go around it.

Definitions come from clients and are hostile input: everything is counted before anything is built from it.
"""

from __future__ import annotations

import re

from toolwire.model.errors import RequestError, UpstreamProtocolError
from toolwire.model.limits import Limits
from toolwire.model.request import ChatRequest, Tool
from toolwire.schema.check import check_parameters

_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_NO_BRACKETS = bytes(set(range(256)) - set(b"{}[]"))


def check_request(request: ChatRequest, limits: Limits) -> list[str]:
    """Warnings about the tools. Raises RequestError, naming field and fix, for tools and tool_choice that are not valid
    or that the tenant's limits do not allow."""
    tools = request.tools
    if len(tools) > limits.tools:
        message = f"`tools` has {len(tools)} entries; at most {limits.tools} are allowed in one request: send fewer"
        raise _refused(message, "tools", "too_many_tools")
    if sum(map(_size, tools)) > limits.tools_bytes:
        raise _refused(
            f"`tools` is larger than {limits.tools_bytes} bytes: send fewer or shorter tools",
            "tools",
            "tools_too_large",
        )
    seen: set[str] = set()
    for number, tool in enumerate(tools):
        if tool.kind == "opaque":
            continue
        _check_tool(tool, f"tools[{number}].{tool.kind}", limits)
        if tool.name in seen:
            raise _refused(
                f"the tool name {tool.name!r} is used twice; names must be unique",
                f"tools[{number}].{tool.kind}.name",
                "duplicate_tool_name",
            )
        seen.add(tool.name)
    _check_choice(request, seen)
    # Parallel calls are not held to a strict schema (OpenAI's guide). Saying nothing leaves the choice to the provider.
    parallel = request.parallel_tool_calls is True and any(tool.strict for tool in tools)
    return ["strict_with_parallel"] if parallel else []


def _check_tool(tool: Tool, path: str, limits: Limits) -> None:
    if not 1 <= len(tool.name) <= limits.tool_name_chars:
        raise _refused(
            f"a tool name has 1 to {limits.tool_name_chars} characters, this one has {len(tool.name)}",
            f"{path}.name",
            "invalid_tool_name",
        )
    if len(tool.description or "") > limits.description_chars:
        raise _refused(
            f"a tool description has at most {limits.description_chars} characters, this one has "
            f"{len(tool.description or '')}",
            f"{path}.description",
            "tool_description_too_long",
        )
    parameters = tool.parameters or b""
    # There cannot be more levels or nodes than opening brackets, so a schema with few needs no closer look.
    levels = nodes = parameters.count(b"{") + parameters.count(b"[")
    if nodes > min(2 * limits.schema_depth, limits.schema_nodes):
        levels, nodes = measure(parameters)
    depth = (levels + 1) // 2  # a level of a schema is two of JSON: the object and its `properties`
    if depth > limits.schema_depth or nodes > limits.schema_nodes:
        raise _refused(
            f"the parameters are nested {depth} levels deep with {nodes} nodes; at most {limits.schema_depth} levels "
            f"and {limits.schema_nodes} nodes are allowed",
            f"{path}.parameters",
            "tool_schema_too_complex",
        )
    check_parameters(tool, f"{path}.parameters")


def _size(tool: Tool) -> int:
    """Bytes of what the model is told of a tool."""
    texts = (tool.name, tool.description or "")
    extra = sum(len(value) for _, value in tool.extra)
    return len(tool.parameters or b"") + extra + sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)


def measure(raw: bytes) -> tuple[int, int]:
    """(levels of nesting, number of objects and arrays) of a JSON text, without building it."""
    level = deepest = nodes = 0
    for bracket in _STRING.sub(b"", raw).translate(None, _NO_BRACKETS):
        if bracket in b"{[":
            level += 1
            nodes += 1
            deepest = max(deepest, level)
        else:
            level -= 1
    return deepest, nodes


def _check_choice(request: ChatRequest, names: set[str]) -> None:
    choice = request.tool_choice
    if choice is None:
        return
    if not request.tools and (choice.mode == "required" or choice.names is not None):
        message = "tool_choice asks for a tool call, but the request has no tools"
        raise _refused(message, "tool_choice", "tool_choice_without_tools")
    for name in choice.names or ():
        if name not in names:
            raise _refused(
                f"tool_choice names the tool {name!r}, which is not in `tools`", "tool_choice", "unknown_tool_choice"
            )


class AnswerLimits:
    """Counts the calls and argument bytes of one answer while it streams."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._calls = 0
        self._bytes: dict[int, int] = {}

    def call(self) -> None:
        """One more call. Raises UpstreamProtocolError over the limit."""
        self._calls += 1
        if self._calls > self._limits.calls:
            raise UpstreamProtocolError(
                f"the model made more than {self._limits.calls} tool calls in one answer", code="too_many_tool_calls"
            )

    def arguments(self, index: int, fragment: str) -> None:
        """More arguments of the call at this part index."""
        added = len(fragment) if fragment.isascii() else len(fragment.encode("utf-8", "surrogatepass"))
        size = self._bytes.get(index, 0) + added
        self._bytes[index] = size
        if size > self._limits.arguments_bytes:
            raise UpstreamProtocolError(
                f"the arguments of a tool call are larger than {self._limits.arguments_bytes} bytes",
                code="tool_arguments_too_large",
            )


def _refused(message: str, param: str, code: str) -> RequestError:
    return RequestError(message, param=param, code=code)
