"""The gemini door's tools and toolConfig. Each function declaration is a tool; a service of Google's is opaque."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from toolwire.doors.gemini.json_forms import json_schema, own_members
from toolwire.doors.tool_parameters import read_parameters
from toolwire.doors.typed_json import decode, member, one_of
from toolwire.model.errors import RequestError
from toolwire.model.request import Tool, ToolChoice
from toolwire.model.source import Source, with_source
from toolwire.wire.gemini import DIALECT

_MODES = ("MODE_UNSPECIFIED", "AUTO", "ANY", "NONE", "VALIDATED")

#: The member with the value VALIDATED, which only this API has.
VALIDATED = "toolConfig.functionCallingConfig.mode"

#: The members for the parameters' schema; if both are there, the first counts.
_SCHEMAS = ("parametersJsonSchema", "parameters")

_DECLARATION = frozenset({"name", "description", *_SCHEMAS})


def read_tools(top: dict[str, bytes]) -> tuple[Tool, ...]:
    """The tools of a request, given its raw members. Raises RequestError."""
    raw = top.get("tools", b"null")
    entries = [raw] if raw[:1] == b"{" else list(map(bytes, member(top, "tools", list[msgspec.Raw]) or ()))
    return tuple(tool for number, entry in enumerate(entries) for tool in _tools(entry, f"tools[{number}]"))


def _tools(raw: bytes, path: str) -> Iterator[Tool]:
    """The tools of one entry, which may hold several of several kinds."""
    for name, value in own_members(raw, path).items():
        if name != "functionDeclarations":
            if value != b"null":
                yield with_source(
                    Tool(name, kind="opaque", path=f"{path}.{name}"),
                    Source(DIALECT, b'{"%b":%b}' % (name.encode(), value)),
                )
            continue
        at = f"{path}.functionDeclarations"
        declarations = [value] if value[:1] == b"{" else decode(value, list[msgspec.Raw] | None, at) or ()
        for number, declaration in enumerate(map(bytes, declarations)):
            yield _declared(declaration, f"{at}[{number}]")


def _declared(raw: bytes, path: str) -> Tool:
    found = own_members(raw, path)
    name = decode(found.get("name", b'""'), str, f"{path}.name")
    if not name:
        raise RequestError(f"`{path}.name` is required", param=f"{path}.name", code="missing_required_parameter")
    description = decode(found.get("description", b"null"), str | None, f"{path}.description")
    kind = next((name for name in _SCHEMAS if found.get(name, b"null") != b"null"), _SCHEMAS[0])
    schema = read_parameters(found.get(kind, b"null"), f"{path}.{kind}")
    if schema is not None and kind == "parameters":
        schema = json_schema(schema)
    extra = tuple((key, value) for key, value in found.items() if key not in _DECLARATION)
    return with_source(Tool(name, description, schema, extra=extra, path=path, schema_name=kind), Source(DIALECT, raw))


def read_tool_choice(top: dict[str, bytes]) -> ToolChoice | None:
    """The request's tool choice; None if it has none. Raises RequestError."""
    if top.get("toolConfig", b"null") == b"null":
        return None
    raw = own_members(top["toolConfig"], "toolConfig").get("functionCallingConfig", b"null")
    if raw == b"null":
        return None
    path = "toolConfig.functionCallingConfig"
    config = own_members(raw, path)
    word = decode(config.get("mode", b"null"), str | None, f"{path}.mode")
    mode = one_of(word.upper() if word else "AUTO", _MODES, f"{path}.mode")
    names = decode(config.get("allowedFunctionNames", b"null"), list[str] | None, f"{path}.allowedFunctionNames")
    allowed = tuple(names) if names else None
    if mode == "NONE":
        return ToolChoice("none")
    if mode == "ANY":
        return ToolChoice("required", allowed, named=allowed is not None and len(allowed) == 1)
    return ToolChoice("auto", allowed)


def is_validated(top: dict[str, bytes]) -> bool:
    """Whether all calls must keep to their schemas, which other APIs set for each tool."""
    raw = top.get("toolConfig", b"")
    config = own_members(raw, "").get("functionCallingConfig", b"") if raw[:1] == b"{" else b""
    return config[:1] == b"{" and own_members(config, "").get("mode", b"").upper() == b'"VALIDATED"'
