"""What hosts of both of OpenAI's wires take of a request's tools, of `tool_choice` and of the answer's format, by their
profile."""

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

#: Hosts want an object with `properties`, and arrays that say what their items are; those with rules for strict tools
#: also refuse combinations at the root.
SCHEMAS = SchemaDialect(whole=True)
_COMBINED = frozenset({"allOf", "anyOf", "enum", "not", "oneOf"})
STRICT_SCHEMAS = SchemaDialect(whole=True, refused_at_root=_COMBINED)
#: Hosts with a form of their own, and those that have refused a schema.
TYPED_SCHEMAS = SchemaDialect(refused_at_root=_COMBINED, essential="typed")
BARE_SCHEMAS = SchemaDialect(refused_at_root=_COMBINED, essential="bare")
BARE_STRICT_SCHEMAS = replace_rules(STRICT_SCHEMAS, essential="bare")


def check_tools(request: ChatRequest, target: Target, profile: Profile, warnings: Warnings) -> None:
    """Raises RequestError for more tools than the host takes (`too_many_tools`), and for strict tools that break
    OpenAI's rules (`invalid_strict_schema`) under `schema_mode: reject` at a host that has these rules, and under the
    preset `2api` at any. At a host without them they are a warning."""
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
        return  # the host says it itself, or `with_known_schemas` has turned `strict` off
    for number, tool in enumerate(request.tools):
        if refuses:
            check_strict(tool, tool.schema_place(number))
        elif tool.strict and tool.parameters is not None and not is_strict(tool.parameters):
            warnings.add(named_warning("invalid_strict_schema", tool.name))


def _rules(profile: Profile) -> SchemaDialect:
    """What the host takes as a tool's parameters."""
    if profile.schemas == "bare":
        return BARE_STRICT_SCHEMAS if profile.strict_rules else BARE_SCHEMAS
    if profile.schemas == "typed":
        return TYPED_SCHEMAS
    return STRICT_SCHEMAS if profile.strict_rules else SCHEMAS


def with_told_tools(request: ChatRequest, target: Target, profile: Profile, warnings: Warnings) -> ChatRequest:
    """The request of a client of the host's own API with its tools as the host's refusals have told that they must be.
    Raises RequestError (`tool_schema_incompatible`)."""
    if any(name == "namespace" for tool in request.tools for name, _ in tool.extra):
        return request  # only whole, as its client has it, is a namespace one
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
    """The request with the tools' parameters in the words of the host, and `strict` where it can keep to it. Raises
    RequestError (`tool_schema_incompatible`)."""

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
    """The request without `strict` where the host does not take it, or not of some tools alone."""
    said = [tool.strict for tool in request.tools if tool.kind == "function"]
    if profile.strict == "each" or set(said) <= {None} or (profile.strict == "alike" and all(said)):
        return request
    if any(said):
        warnings.add(STRICT_OFF)
    tools = (tool if tool.strict is None else replace(tool, strict=None) for tool in request.tools)
    return replace(request, tools=tuple(tools))


def with_known_schemas(request: ChatRequest, target: Target, profile: Profile, warnings: Warnings) -> ChatRequest:
    """The request of another API's client as `with_known_tools` has it, and the answer's schema `strict` where the host
    can keep to it."""
    shape = request.response_format
    if profile.strict_rules and shape is not None and shape.strict and shape.schema and not is_strict(shape.schema):
        request = replace(request, response_format=replace(shape, strict=False))
        warnings.add(STRICT_OFF)
    return _with_known_strict(with_known_tools(request, target, profile, warnings), profile, warnings)


def with_known_format(request: ChatRequest, profile: Profile, warnings: Warnings) -> ChatRequest:
    """The request with the format of its answer in words, as far as the host has no member for it."""
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
    """The request with the tools of its allowed set alone, where the host knows no such set: what is not sent cannot be
    called."""
    choice = request.tool_choice
    if choice is None or choice.names is None or choice.named or profile.allowed_tools:
        return request
    allowed = tuple(tool for tool in request.tools if tool.name in choice.names)
    return replace(request, tools=allowed, tool_choice=ToolChoice(choice.mode))


def without_idle_choice(request: ChatRequest) -> ChatRequest:
    """The request without what it says of the use of tools, where it has none: hosts refuse it then."""
    return request if request.tools else replace(request, tool_choice=None, parallel_tool_calls=None)
