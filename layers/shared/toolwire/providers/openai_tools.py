"""What hosts of both of OpenAI's wires take of a request's tools and of `tool_choice`, by their profile."""

from __future__ import annotations

from collections.abc import Iterator

from toolwire.model.errors import RequestError
from toolwire.model.request import ChatRequest, Tool, ToolChoice
from toolwire.model.settings import Target
from toolwire.model.source import replace
from toolwire.model.warnings import Warnings, named_warning
from toolwire.providers.profiles import Profile
from toolwire.schema.check import check_strict, is_strict
from toolwire.schema.dialects import STRICT_OFF, SchemaDialect, adapted

#: Hosts want an object with `properties`, and arrays that say what their items are; those with rules for strict tools
#: also refuse combinations at the root.
SCHEMAS = SchemaDialect(whole=True)
STRICT_SCHEMAS = SchemaDialect(whole=True, refused_at_root=frozenset({"allOf", "anyOf", "enum", "not", "oneOf"}))


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


def with_known_schemas(request: ChatRequest, target: Target, profile: Profile, warnings: Warnings) -> ChatRequest:
    """The request of another API's client with the tools' parameters in the words of this one, and `strict` where the
    host can keep to it, for the tools and for the answer. Raises RequestError (`tool_schema_incompatible`)."""

    def tools() -> Iterator[Tool]:
        for number, tool in enumerate(request.tools):
            if tool.kind != "function":
                yield tool
                continue
            path = tool.schema_place(number)
            rules = STRICT_SCHEMAS if profile.strict_rules else SCHEMAS
            schema = adapted(tool, rules, path, target.provider.name, request.options.schema_mode)
            new = replace(tool, parameters=schema.parameters, description=schema.described(tool.description))
            warnings.add(*schema.warnings)
            if profile.strict_rules and new.strict and new.parameters is not None and not is_strict(new.parameters):
                new = replace(new, strict=None)
                warnings.add(STRICT_OFF)
            yield tool if new == tool else new

    shape = request.response_format
    if profile.strict_rules and shape is not None and shape.strict and shape.schema and not is_strict(shape.schema):
        request = replace(request, response_format=replace(shape, strict=False))
        warnings.add(STRICT_OFF)
    return replace(request, tools=tuple(tools())) if request.tools else request


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
