"""Neutral tools and tool_choice written as Messages has them."""

from __future__ import annotations

import re
from dataclasses import replace as rules_with

from toolwire.model.errors import RequestError
from toolwire.model.request import ChatRequest, Tool
from toolwire.model.settings import Target
from toolwire.model.source import raw_in, replace
from toolwire.model.warnings import Warnings
from toolwire.providers.anthropic_messages.models import Family
from toolwire.providers.profiles import Profile
from toolwire.rewrite.prompt_cache import marks_of
from toolwire.schema.dialects import Adapted, SchemaDialect, adapted, within_strict_budget
from toolwire.schema.strict import StrictBudget
from toolwire.wire.anthropic_messages import DIALECT
from toolwire.wire.json import dump, write_object

#: Anthropic refuses these keywords at the root, wants `type: object` there and property names of 64 plain characters.
SCHEMAS = SchemaDialect(
    empty=b'{"type":"object","properties":{}}',
    refused_at_root=frozenset({"allOf", "anyOf", "oneOf"}),
    property_name=re.compile(r"[A-Za-z0-9_.-]{1,64}"),
    strict_budget=StrictBudget(tools=20, optional=24, unions=16),
)


#: Where a host of the API has refused them (Ollama and llama.cpp, Moonshot).
BARE_SCHEMAS = rules_with(SCHEMAS, essential="bare")
#: The same for a client of this API, whose property names are valid already.
_BARE_KEPT_NAMES = rules_with(BARE_SCHEMAS, property_name=None)


def with_bare_tools(request: ChatRequest, target: Target, warnings: Warnings) -> ChatRequest:
    """The request of a client of this API, with its tools' schemas reduced to what every host takes. Raises
    RequestError (`tool_schema_incompatible`)."""

    def bare(number: int, tool: Tool) -> Tool:
        if tool.kind != "function" or tool.parameters is None:
            return tool
        name, mode = target.provider.name, request.options.schema_mode
        schema = adapted(tool, _BARE_KEPT_NAMES, tool.schema_place(number), name, mode)
        warnings.add(*schema.warnings)
        new = replace(tool, parameters=schema.parameters, description=schema.described(tool.description))
        return tool if new == tool else new

    return replace(request, tools=tuple(bare(number, tool) for number, tool in enumerate(request.tools)))


def with_tools(
    request: ChatRequest, target: Target, family: Family, profile: Profile, warnings: Warnings
) -> tuple[ChatRequest, list[bytes]]:
    """The request with the tools that are sent, and these as JSON. If `tool_choice` allows only some, only these are
    sent, so that no other can be called. Raises RequestError (`unsupported_tool`, `tool_schema_incompatible`)."""
    choice = request.tool_choice
    allowed = choice.names if choice is not None and not choice.named else None
    kept = [
        (tool, tool.schema_place(number))
        for number, tool in enumerate(request.tools)
        if (allowed is None or tool.name in allowed) and _is_sent(tool, warnings)
    ]
    if choice is not None and choice.mode == "required" and not kept:
        raise RequestError(
            f"tool_choice asks for a tool call, but {target.provider.name} knows none of the tools",
            code="unsupported_tool",
            param="tool_choice",
        )
    rules = BARE_SCHEMAS if profile.schemas == "bare" else SCHEMAS
    schemas = [adapted(tool, rules, path, target.provider.name, request.options.schema_mode) for tool, path in kept]
    if SCHEMAS.strict_budget is not None:
        schemas = within_strict_budget(schemas, SCHEMAS.strict_budget)
    written = [_tool(tool, schema, family, warnings) for (tool, _), schema in zip(kept, schemas, strict=True)]
    return replace(request, tools=tuple(tool for tool, _ in kept)), written


def _is_sent(tool: Tool, warnings: Warnings) -> bool:
    """Whether the API knows this kind of tool. What only the host that the client had in mind can run is left out."""
    if tool.kind == "function" or raw_in(tool, DIALECT) is not None:
        return True
    warnings.add("not_supported:server_tools")
    return False


def _tool(tool: Tool, schema: Adapted, family: Family, warnings: Warnings) -> bytes:
    raw = raw_in(tool, DIALECT)
    if raw is not None:
        return raw
    assert schema.parameters is not None  # this dialect writes a schema also for a tool without one
    warnings.add(*schema.warnings)
    members = [("name", dump(tool.name))]
    description = schema.described(tool.description)
    members += [("description", dump(description))] if description else []
    members.append(("input_schema", schema.parameters))
    if schema.strict and family.structured_output:
        members.append(("strict", b"true"))
    elif schema.strict:
        warnings.add("not_supported:strict")
    return write_object([*members, *marks_of(tool.extra)])


def write_tool_choice(request: ChatRequest) -> bytes | None:
    """The value of `tool_choice`, with whether calls may be parallel; None without tools."""
    choice = request.tool_choice
    alone = request.parallel_tool_calls is False
    if not request.tools or (choice is None and not alone):
        return None
    if choice is None or choice.mode == "auto":
        form: dict[str, object] = {"type": "auto"}
    elif choice.mode == "none":
        return b'{"type":"none"}'
    elif choice.named and choice.names:
        form = {"type": "tool", "name": choice.names[0]}
    else:
        form = {"type": "any"}
    return dump(form | ({"disable_parallel_tool_use": True} if alone else {}))
