"""Neutral tools and tool_choice written as function declarations and `functionCallingConfig`."""

from __future__ import annotations

from dataclasses import replace

from toolwire.model.request import ChatRequest, ToolChoice
from toolwire.model.settings import Target
from toolwire.model.warnings import Warnings
from toolwire.providers.profiles import Profile
from toolwire.schema.dialects import SchemaDialect, adapted
from toolwire.wire.json import dump, write_object

#: For `parametersJsonSchema` Google documents `$defs`, a `$ref` that is alone in its schema and recurs only through
#: optional properties, `enum` of strings and numbers, inclusive bounds, `anyOf`, `oneOf` and `prefixItems`. It says
#: that other keywords are ignored.
SCHEMAS = SchemaDialect(omits_empty=True, plain=True, optional_cycles=True)
#: Where Google has refused them: bounds, formats and long lists make "too many states for serving" of many tools.
BARE_SCHEMAS = replace(SCHEMAS, essential="bare")


def write_declarations(
    request: ChatRequest, target: Target, profile: Profile, warnings: Warnings
) -> tuple[list[bytes], bool]:
    """The function declarations, and whether a tool asks for calls that keep to its schema."""
    rules = BARE_SCHEMAS if profile.schemas == "bare" else SCHEMAS
    declarations, is_strict = [], False
    for number, tool in enumerate(request.tools):
        if tool.kind == "opaque":  # another host's own tool
            warnings.add("not_supported:server_tools")
            continue
        schema = adapted(tool, rules, tool.schema_place(number), target.provider.name, request.options.schema_mode)
        for warning in schema.warnings:
            warnings.add(warning)
        is_strict = is_strict or bool(schema.strict)
        declaration = [("name", dump(tool.name))]
        description = schema.described(tool.description)
        declaration += [("description", dump(description))] if description else []
        declaration += [("parametersJsonSchema", schema.parameters)] if schema.parameters is not None else []
        declarations.append(write_object(declaration))
    return declarations, is_strict


def calling_config(choice: ToolChoice | None, is_strict: bool) -> dict[str, object] | None:
    """`functionCallingConfig`; None for Google's default, AUTO. Google refuses names beside AUTO, but takes them beside
    VALIDATED, which means text or a call that keeps to its schema."""
    if choice is not None and choice.mode == "none":
        return {"mode": "NONE"}
    config: dict[str, object]
    if choice is not None and choice.mode == "required":
        config = {"mode": "ANY"}
    elif is_strict or (choice is not None and choice.names is not None):
        config = {"mode": "VALIDATED"}
    else:
        return None
    if choice is not None and choice.names is not None:
        config["allowedFunctionNames"] = choice.names
    return config
