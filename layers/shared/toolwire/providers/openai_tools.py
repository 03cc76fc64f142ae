"""Rewrites a request's tools, `tool_choice` and format of the answer to what a host takes, by its profile. For both of
OpenAI's wires."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace as replace_rules

from toolwire.model.errors import RequestError
from toolwire.model.request import ChatRequest, ResponseFormat, Tool, ToolChoice
from toolwire.model.settings import Target
from toolwire.model.source import replace
from toolwire.model.warnings import Warnings, named_warning
from toolwire.providers.profiles import Profile
from toolwire.rewrite.answer_format import with_format_in_words
from toolwire.schema.answer_schema import of_object
from toolwire.schema.check import check_strict, is_strict
from toolwire.schema.dialects import STRICT_OFF, SchemaDialect, adapted

#: Hosts want an object with `properties`, and arrays with `items`. Hosts with rules for strict tools also refuse
#: combinations at the root.
SCHEMAS = SchemaDialect(whole=True)
_COMBINED = frozenset({"allOf", "anyOf", "enum", "not", "oneOf"})
STRICT_SCHEMAS = SchemaDialect(whole=True, refused_at_root=_COMBINED)
#: The rules of hosts with their own form of schemas, and of hosts that have refused a schema.
TYPED_SCHEMAS = SchemaDialect(refused_at_root=_COMBINED, essential="typed")
BARE_SCHEMAS = SchemaDialect(refused_at_root=_COMBINED, essential="bare")
BARE_STRICT_SCHEMAS = replace_rules(STRICT_SCHEMAS, essential="bare")


def check_tools(request: ChatRequest, target: Target, profile: Profile, warnings: Warnings) -> None:
    """Raises RequestError for more tools than the host takes (`too_many_tools`). Strict tools that break OpenAI's rules
    are an error (`invalid_strict_schema`) under `schema_mode: reject` at a host with these rules, and under the preset
    `2api` at any host; at a host without them they are a warning."""
    if profile.tools is not None and len(request.tools) > profile.tools:
        raise RequestError(
            f"`tools` has {len(request.tools)} entries; {target.provider.name} accepts at most {profile.tools} in one "
            "request: send fewer",
            param="tools",
            code="too_many_tools",
        )
    options = request.options
    refuses = options.contract_2api or (profile.strict_rules and options.schema_mode == "reject")
    if profile.strict_rules and not refuses:
        return  # the host refuses it itself, or `with_known_schemas` has turned `strict` off
    for number, tool in enumerate(request.tools):
        if refuses:
            check_strict(tool, tool.schema_place(number))
        elif tool.strict and tool.parameters is not None and not is_strict(tool.parameters):
            warnings.add(named_warning("invalid_strict_schema", tool.name))


def _rules(profile: Profile) -> SchemaDialect:
    """The host's rules for a tool's parameters."""
    if profile.schemas == "bare":
        return BARE_STRICT_SCHEMAS if profile.strict_rules else BARE_SCHEMAS
    if profile.schemas == "typed":
        return TYPED_SCHEMAS
    return STRICT_SCHEMAS if profile.strict_rules else SCHEMAS


def with_told_tools(request: ChatRequest, target: Target, profile: Profile, warnings: Warnings) -> ChatRequest:
    """The request of a client of the host's own API, with its tools as the host's refusals have shown that they must
    be. Raises RequestError (`tool_schema_incompatible`)."""
    if any(name == "namespace" for tool in request.tools for name, _ in tool.extra):
        return request  # a namespace can only be sent as its client wrote it
    if profile.schemas == "bare":
        request = with_known_tools(request, target, profile, warnings)
    if not profile.tool_members:
        request = _without_members(request, warnings)
    return _with_known_strict(request, profile, warnings) if profile.strict == "none" else request


def _without_members(request: ChatRequest, warnings: Warnings) -> ChatRequest:
    """The request without members of functions that the API does not document."""

    def known(tool: Tool) -> Tool:
        if tool.kind != "function" or not tool.extra:
            return tool
        warnings.add(*(f"not_supported:{name.rpartition('.')[2]}" for name, raw in tool.extra if raw != b"null"))
        return replace(tool, extra=())

    if not any(tool.extra for tool in request.tools):
        return request
    return replace(request, tools=tuple(map(known, request.tools)))


def with_known_tools(request: ChatRequest, target: Target, profile: Profile, warnings: Warnings) -> ChatRequest:
    """The request with the tools' parameters by the host's rules, and with `strict` where the host can enforce it.
    Raises RequestError (`tool_schema_incompatible`)."""

    def tools() -> Iterator[Tool]:
        rules = _rules(profile)
        for number, tool in enumerate(request.tools):
            if tool.kind != "function":
                yield tool
                continue
            path = tool.schema_place(number)
            schema = adapted(tool, rules, path, target.provider.name, request.options.schema_mode)
            new = replace(tool, parameters=schema.parameters, description=schema.described(tool.description))
            warnings.add(*schema.warnings)
            if profile.strict_rules and new.strict and new.parameters is not None and not is_strict(new.parameters):
                new = replace(new, strict=None)
                warnings.add(STRICT_OFF)
            yield tool if new == tool else new

    return replace(request, tools=tuple(tools())) if request.tools else request


def _with_known_strict(request: ChatRequest, profile: Profile, warnings: Warnings) -> ChatRequest:
    """The request without `strict`, if the host does not take it, or takes it only for all tools alike."""
    said = [tool.strict for tool in request.tools if tool.kind == "function"]
    if profile.strict == "each" or set(said) <= {None} or (profile.strict == "alike" and all(said)):
        return request
    if any(said):
        warnings.add(STRICT_OFF)
    tools = (tool if tool.strict is None else replace(tool, strict=None) for tool in request.tools)
    return replace(request, tools=tuple(tools))


def with_known_schemas(request: ChatRequest, target: Target, profile: Profile, warnings: Warnings) -> ChatRequest:
    """The request of another API's client after `with_known_tools`, and with a `strict` schema of the answer if the
    host can enforce it."""
    shape = request.response_format
    if profile.strict_rules and shape is not None and shape.strict and shape.schema and not is_strict(shape.schema):
        request = replace(request, response_format=replace(shape, strict=False))
        warnings.add(STRICT_OFF)
    return _with_known_strict(with_known_tools(request, target, profile, warnings), profile, warnings)


def with_known_format(request: ChatRequest, profile: Profile, warnings: Warnings) -> ChatRequest:
    """The request with the format of its answer in words, if the host has no member for it."""
    shape = request.response_format
    if shape is None or shape.kind == "text":
        return request
    if not profile.json_object or (request.tools and not profile.json_beside_tools):
        return with_format_in_words(request, warnings)
    if profile.json_schema or shape.kind != "json_schema":
        return request
    is_object = shape.schema is None or of_object(shape.schema) is not None
    told = with_format_in_words(request, warnings)
    return replace(told, response_format=ResponseFormat("json_object")) if is_object else told


def only_allowed(request: ChatRequest, profile: Profile) -> ChatRequest:
    """The request with only the allowed tools, if the host does not know an allowed set: a tool that is not sent cannot
    be called."""
    choice = request.tool_choice
    if choice is None or choice.names is None or choice.named or profile.allowed_tools:
        return request
    allowed = tuple(tool for tool in request.tools if tool.name in choice.names)
    return replace(request, tools=allowed, tool_choice=ToolChoice(choice.mode))


def without_idle_choice(request: ChatRequest) -> ChatRequest:
    """The request without its settings for tools, if it has no tools: hosts refuse them then."""
    return request if request.tools else replace(request, tool_choice=None, parallel_tool_calls=None)
