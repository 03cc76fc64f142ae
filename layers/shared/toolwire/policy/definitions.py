"""Enforces the policy on a request: its tool definitions, its tool_choice, the allowlist.

Definitions come from clients and may be hostile: they are counted before anything is built from them.
"""

from __future__ import annotations

from itertools import accumulate

from toolwire.model.errors import RequestError
from toolwire.model.limits import Limits
from toolwire.model.request import ChatRequest, Tool
from toolwire.model.warnings import Warnings, named_warning
from toolwire.policy.rules import ToolRules
from toolwire.schema.check import check_parameters, has_slow_pattern
from toolwire.schema.memory import Memory, digest

_NO_BRACKETS = bytes(set(range(256)) - set(b"{}[]"))
#: Each bracket as the step from a level to the next, as a signed byte.
_STEPS = bytes.maketrans(b"{[}]", b"\x01\x01\xff\xff")

#: Levels and nodes of schemas.
_memory: Memory[tuple[int, int]] = Memory(1 << 20)


def check_request(request: ChatRequest, rules: ToolRules) -> Warnings:
    """Checks the tools and tool_choice. Returns the warnings about them. Raises RequestError, naming field and fix, for
    what is not valid or what the tenant's limits or allowlist do not allow."""
    tools, limits = request.tools, rules.limits
    if len(tools) > limits.tools:
        message = f"`tools` has {len(tools)} entries; at most {limits.tools} are allowed in one request: send fewer"
        raise _refused(message, "tools", "too_many_tools")
    if sum(map(_size, tools)) > limits.tools_bytes:
        message = f"`tools` is larger than {limits.tools_bytes} bytes: send fewer or shorter tools"
        raise _refused(message, "tools", "tools_too_large")
    names: set[str] = set()
    for number, tool in enumerate(tools):
        if tool.kind == "opaque":
            continue
        _check_tool(tool, number, limits, repairs=rules.schema_mode != "reject")
        if tool.name in names:
            message = f"the tool name {tool.name!r} is used twice; names must be unique"
            raise _refused(message, f"{tool.place(number)}.name", "duplicate_tool_name")
        names.add(tool.name)
    _check_choice(request, names | {tool.name for tool in tools if tool.kind == "opaque"})
    warnings = Warnings()
    _check_allowlist(tools, rules, warnings)
    _check_strict_parallel(request, rules, warnings)
    slow = (tool for tool in tools if tool.parameters is not None and has_slow_pattern(tool.parameters))
    warnings.add(*(named_warning("slow_pattern", tool.name) for tool in slow))
    return warnings


def _check_allowlist(tools: tuple[Tool, ...], rules: ToolRules, warnings: Warnings) -> None:
    """Adds a warning, or raises RequestError, for each declared tool that the tenant may not use. A host's own tool is
    listed by its type."""
    for number, tool in enumerate(tools):
        if rules.allowed is None or tool.name in rules.allowed:
            continue
        if rules.refuses_others:
            message = f"the tool {tool.name[:128]!r} is not on this tenant's list of allowed tools: leave it out"
            place = tool.place(number)
            if tool.kind != "opaque":
                place += ".name"
            elif not tool.path:
                place += ".type"
            raise _refused(message, place, "tool_not_allowed")
        warnings.add(named_warning("tool_not_allowed", tool.name))


def _check_strict_parallel(request: ChatRequest, rules: ToolRules, warnings: Warnings) -> None:
    """Checks strict tools beside parallel calls, for which OpenAI does not enforce strict schemas (its guide). A
    request without `parallel_tool_calls` allows them, as the API does."""
    if request.parallel_tool_calls is False or not any(tool.strict for tool in request.tools):
        return
    if rules.refuses_strict_parallel:
        message = (
            "a tool with `strict: true` cannot be held to its schema in parallel calls: send "
            "`parallel_tool_calls: false`"
        )
        raise _refused(message, "parallel_tool_calls", "strict_with_parallel")
    warnings.add("strict_with_parallel")


def _check_tool(tool: Tool, number: int, limits: Limits, *, repairs: bool) -> None:
    path, schema_path = tool.place(number), tool.schema_place(number)
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
    # A schema has at most as many levels and nodes as opening brackets. If these are few, nothing else is counted.
    levels = nodes = parameters.count(b"{") + parameters.count(b"[")
    if nodes > min(2 * limits.schema_depth, limits.schema_nodes):
        levels, nodes = _memory.found(digest(parameters), lambda: measure(parameters), lambda _: 0)
    depth = (levels + 1) // 2  # a level of a schema is two of JSON: the object and its `properties`
    if depth > limits.schema_depth or nodes > limits.schema_nodes:
        raise _refused(
            f"the parameters are nested {depth} levels deep with {nodes} nodes; at most {limits.schema_depth} levels "
            f"and {limits.schema_nodes} nodes are allowed",
            schema_path,
            "tool_schema_too_complex",
        )
    check_parameters(tool, schema_path, repairs=repairs)


def _size(tool: Tool) -> int:
    """The size of a tool's definition in bytes."""
    texts = (tool.name, tool.description or "")
    extra = sum(len(value) for _, value in tool.extra)
    return len(tool.parameters or b"") + extra + sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)


def measure(raw: bytes) -> tuple[int, int]:
    """The levels of nesting of a JSON text, and its number of objects and arrays, counted without building it."""
    texts = raw.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')  # every second one is in quotes
    steps = b"".join(texts[::2]).translate(_STEPS, _NO_BRACKETS)
    return max(accumulate(memoryview(steps).cast("b")), default=0), steps.count(1)


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


def _refused(message: str, param: str, code: str) -> RequestError:
    return RequestError(message, param=param, code=code)
