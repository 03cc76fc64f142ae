"""Neutral tools and tool_choice written as Converse's `toolConfig`."""

from __future__ import annotations

import re

from toolwire.model.errors import RequestError
from toolwire.model.request import ChatRequest, Tool
from toolwire.model.settings import Target
from toolwire.model.source import replace
from toolwire.model.warnings import Warnings
from toolwire.providers.bedrock_converse.messages import cache_point
from toolwire.providers.bedrock_converse.models import Family
from toolwire.schema.dialects import Adapted, SchemaDialect, adapted
from toolwire.wire.json import dump, write_array, write_object

#: Replaces `tool_choice: none`, which the API does not have, if the history needs declared tools.
DO_NOT_CALL = "Do not call any tool in this turn. Answer with text only."

#: Warning: a forced choice was sent as `auto`.
_CHOICE_CHANGED = "tool_choice_changed"

#: The definition of a tool that the history has called and the request does not declare.
_ABSENT_DESCRIPTION = "This tool is not available any more."
_ABSENT_SCHEMA = b'{"type":"object","properties":{}}'

#: Anthropic's rules, since most models are Anthropic's; but strict tools share no budget here.
SCHEMAS = SchemaDialect(
    empty=b'{"type":"object","properties":{}}',
    refused_at_root=frozenset({"allOf", "anyOf", "oneOf"}),
    property_name=re.compile(r"[A-Za-z0-9_.-]{1,64}"),
)


def with_known_tools(request: ChatRequest, target: Target, family: Family, warnings: Warnings) -> ChatRequest:
    """The request with the functions that are sent. If `tool_choice` allows only some, only these are sent, so that no
    other can be called. A family that can be forced to call any tool, but not a certain one, is sent that one only.
    Raises RequestError (`unsupported_tool`) if `tool_choice` can then not be met."""
    choice = request.tool_choice
    allowed = choice.names if choice is not None and (not choice.named or family.forced == "any") else None
    if any(tool.kind != "function" for tool in request.tools):
        warnings.add("not_supported:server_tools")
    kept = tuple(
        tool for tool in request.tools if tool.kind == "function" and (allowed is None or tool.name in allowed)
    )
    if choice is not None and choice.mode == "required" and not kept:
        raise RequestError(
            f"tool_choice asks for a tool call, but {target.provider.name} knows none of the tools",
            code="unsupported_tool",
            param="tool_choice",
        )
    return replace(request, tools=kept)


def instruction(request: ChatRequest, *, has_tool_blocks: bool) -> str | None:
    """What the model is told where it may not call a tool and tools must be declared all the same."""
    forbidden = request.tool_choice is not None and request.tool_choice.mode == "none"
    return DO_NOT_CALL if has_tool_blocks and (forbidden or not request.tools) else None


def write_tools(
    request: ChatRequest, target: Target, family: Family, warnings: Warnings, *, has_tool_blocks: bool
) -> bytes | None:
    """`toolConfig`; None where there is nothing to declare. Raises RequestError (`unsupported_tool`) for a model
    without tools, and for a schema that the API does not take."""
    forbidden = request.tool_choice is not None and request.tool_choice.mode == "none"
    if forbidden and not has_tool_blocks:
        return None
    if not request.tools and not has_tool_blocks:
        return None
    if not family.tools:
        raise RequestError(
            f"the model {target.model} of {target.provider.name} knows no tools: leave `tools` and the turns with tool "
            "calls out, or use another model",
            code="unsupported_tool",
            param="tools",
        )
    declared = [
        entry for n, tool in enumerate(request.tools) for entry in _entries(tool, n, request, target, family, warnings)
    ]
    members = [("tools", write_array(declared or _absent_tools(request)))]
    if (choice := _choice(request, family, warnings)) is not None and not forbidden:
        members.append(("toolChoice", choice))
    return write_object(members)


def _entries(
    tool: Tool, number: int, request: ChatRequest, target: Target, family: Family, warnings: Warnings
) -> list[bytes]:
    """A tool and the cache point behind it, if the client has marked it."""
    path = tool.schema_place(number)
    schema = adapted(tool, SCHEMAS, path, target.provider.name, request.options.schema_mode)
    warnings.add(*schema.warnings)
    return [
        _spec(tool, schema, family, warnings),
        *cache_point(tool.extra),
    ]


def _spec(tool: Tool, schema: Adapted, family: Family, warnings: Warnings) -> bytes:
    assert schema.parameters is not None  # this dialect writes a schema also for a tool without one
    members = [("name", dump(tool.name))]
    description = schema.described(tool.description)
    members += [("description", dump(description))] if description else []
    members.append(("inputSchema", write_object([("json", schema.parameters)])))
    if schema.strict and family.structured_output:
        members.append(("strict", b"true"))
    elif schema.strict:
        warnings.add("not_supported:strict")
    return write_object([("toolSpec", write_object(members))])


def _absent_tools(request: ChatRequest) -> list[bytes]:
    """The tools that the history has called: the API refuses tool blocks without a `toolConfig`."""
    names = dict.fromkeys(call.name for call in request.tool_calls)
    schema = write_object([("json", _ABSENT_SCHEMA)])
    about = [("description", dump(_ABSENT_DESCRIPTION)), ("inputSchema", schema)]
    return [write_object([("toolSpec", write_object([("name", dump(name)), *about]))]) for name in names]


def _choice(request: ChatRequest, family: Family, warnings: Warnings) -> bytes | None:
    """`toolChoice`, as far as the family has it. None means `auto`, the API's default."""
    choice = request.tool_choice
    if choice is None or choice.mode in ("auto", "none"):
        return None
    if family.forced == "none":
        warnings.add(_CHOICE_CHANGED)
        return None
    if choice.named and choice.names and family.forced == "any and tool":
        return dump({"tool": {"name": choice.names[0]}})
    return b'{"any":{}}'
