"""The Responses door's tools and tool_choice.

Tools are flat here. A namespace, which no other API has, becomes its functions under names of their own
(`wire.flat_name`); `Names` gives them their namespace back in the answer. Tools that the host runs itself are opaque.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, cast

import msgspec

from toolwire.doors.responses.open_items import Kind
from toolwire.doors.tool_parameters import read_parameters
from toolwire.doors.typed_json import decode, member
from toolwire.model.errors import RequestError
from toolwire.model.request import ChatRequest, Tool, ToolChoice
from toolwire.model.source import Members, Source, with_source
from toolwire.wire import openai_client_tools as client_tools
from toolwire.wire import openai_responses as wire
from toolwire.wire.json import dump, elements, members, raw_members, unnamed, write_array, write_object
from toolwire.wire.openai_responses import SEARCH_CALL, SEARCH_TOOL

_KNOWN = frozenset({"type", "name", "description", "parameters", "strict"})
#: The description of a search for tools without one.
_SEARCHES = "Search for more tools by what they do. The tools that are found can be called then."
_QUERY = b'{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}'
#: What marks it.
_BY_CLIENT: Members = (("execution", b'"client"'),)
_WORDS = ("auto", "none", "required")

_MAY_BE_NESTED = re.compile(rb'"(?:function|custom)"\s*:\s*\{')


class Names:
    """Maps a tool's name to the function and namespace that it stands for."""

    def __init__(self, request: ChatRequest) -> None:
        self._kinds: dict[str, Kind] = {tool.name: kind for tool in request.tools if (kind := _item_kind(tool))}
        self._namespaces = {
            tool.name: msgspec.json.decode(raw, type=str)
            for tool in request.tools
            if (raw := dict(tool.extra).get("namespace")) is not None
        }

    def item_kind(self, name: str, kind: str) -> Kind:
        """The type of the item for a call of this tool."""
        if kind == "custom":
            return "custom_tool_call"
        return self._kinds.get(name, "function_call")

    def split(self, name: str) -> tuple[str | None, str]:
        """(namespace or None, name within it)."""
        namespace = self._namespaces.get(name)
        return namespace, name if namespace is None else name.removeprefix(wire.flat_name(namespace, ""))


# ---------------------------------------------------------------- tools


def read_tools(top: dict[str, bytes]) -> tuple[Tool, ...]:
    """The tools of a request, given its raw members. Raises RequestError."""
    return read_tool_list(member(top, "tools", list[msgspec.Raw]) or (), "tools")


def read_tool_list(raws: Iterable[msgspec.Raw], place: str) -> tuple[Tool, ...]:
    """The tools of a list at this place of the request. Raises RequestError."""
    tools: list[Tool] = []
    for number, raw in enumerate(raws):
        path = f"{place}[{number}]"
        shape = decode(bytes(raw), wire.Tool, path)
        if shape.type == "namespace":
            tools += _namespace(shape, path)
        else:
            tools.append(_tool(bytes(raw), shape, path))
    return tuple(tools)


def _namespace(shape: wire.Tool, path: str) -> list[Tool]:
    """The tools of a namespace. Its description is put in front of that of the first tool."""
    namespace = _name(shape, path)
    tools: list[Tool] = []
    for number, raw in enumerate(shape.tools or ()):
        inner_path = f"{path}.tools[{number}]"
        inner = decode(bytes(raw), wire.Tool, inner_path)
        tool = _tool(bytes(raw), inner, inner_path, namespace)
        if number == 0 and shape.description:
            texts = [shape.description, *([tool.description] if tool.description else [])]
            tool = Tool(tool.name, "\n\n".join(texts), tool.parameters, tool.strict, tool.kind, tool.extra)
        tools.append(tool)
    return tools


def _tool(raw: bytes, shape: wire.Tool, path: str, namespace: str | None = None) -> Tool:
    """One tool. A tool of a namespace has no source, since it cannot be sent alone."""
    source = Source(wire.DIALECT, raw) if namespace is None else None
    mark: Members = (("namespace", dump(namespace)),) if namespace is not None else ()
    if shape.type == SEARCH_TOOL and shape.execution == "client":
        return with_source(_search(shape), source)
    own = client_tools.client_tool(shape.type, raw)
    if own is not None:
        marks = ((client_tools.DECLARED, raw), (client_tools.ITEM, dump(own.call)))
        extra = (*unnamed(raw, _KNOWN), *marks)
        return with_source(Tool(own.name, own.description, own.schema, extra=extra), source)
    if shape.type not in ("function", "custom"):
        return with_source(Tool(shape.type, kind="opaque"), source or Source(wire.DIALECT, raw))
    flat = _flat(raw, shape.type) if shape.name is None else None
    if flat is not None:
        path, source, raw = f"{path}.{shape.type}", None, flat
        shape = decode(raw, wire.Tool, path)
    name = wire.flat_name(namespace, _name(shape, path))
    if shape.type == "custom":
        return with_source(Tool(name, shape.description, kind="custom", extra=_custom(name, shape) + mark), source)
    schema = read_parameters(bytes(shape.parameters), f"{path}.parameters")
    return with_source(Tool(name, shape.description, schema, shape.strict, extra=unnamed(raw, _KNOWN) + mark), source)


def _flat(raw: bytes, kind: str) -> bytes | None:
    """The flat form of a tool in the Chat API's form, which the reference document also shows for this API; None for
    any other tool."""
    nested = bytes(raw_members(raw).get(kind, b""))
    return write_object([("type", dump(kind)), *members(nested).items()]) if nested[:1] == b"{" else None


def with_flat_tools(top: dict[str, bytes]) -> dict[str, bytes]:
    """The members of a request whose tools were read, with the tools in OpenAI's flat form; the same object if they
    have it."""
    raw = top.get("tools", b"")
    if _MAY_BE_NESTED.search(raw) is None:
        return top
    tools = [_flat(tool, kind) or tool for tool in elements(raw) for kind in (decode(tool, wire.Tool, "tools").type,)]
    return {**top, "tools": write_array(tools)}


def _search(shape: wire.Tool) -> Tool:
    """The client's own search for deferred tools, as a function, which every API has."""
    parameters = bytes(shape.parameters)
    schema = parameters if parameters[:1] == b"{" else _QUERY
    return Tool(SEARCH_TOOL, shape.description or _SEARCHES, schema, extra=_BY_CLIENT)


def _item_kind(tool: Tool) -> Kind | None:
    """The type of items for calls of this function, if it has its own."""
    if _is_search(tool):
        return SEARCH_CALL
    raw = dict(tool.extra).get(client_tools.ITEM)
    return cast(Kind, msgspec.json.decode(raw, type=str)) if raw is not None else None


def _is_search(tool: Tool) -> bool:
    """Whether the tool is the client's own search for tools."""
    return tool.name == SEARCH_TOOL and tool.extra == _BY_CLIENT


def _custom(name: str, shape: wire.Tool) -> Members:
    """A custom tool in the Chat API's form, which the neutral model uses."""
    pairs = [("name", dump(name))]
    pairs += [("description", dump(shape.description))] if shape.description is not None else []
    grammar = bytes(shape.format)
    pairs += [("format", wire.nested_format(grammar))] if grammar[:1] == b"{" else []
    return (("custom", write_object(pairs)),)


def _name(shape: wire.Tool, path: str) -> str:
    if not shape.name:
        raise RequestError(
            f"`{path}.name` is required for a tool of type {shape.type!r}",
            param=f"{path}.name",
            code="missing_required_parameter",
        )
    return shape.name


# ---------------------------------------------------------------- tool_choice


class _Choice(msgspec.Struct):
    """The tool that a choice names."""

    name: str
    namespace: str | None = None


def read_tool_choice(top: dict[str, bytes], tools: tuple[Tool, ...]) -> tuple[ToolChoice | None, list[str]]:
    """The tool choice, and the names of tools in it that only the host runs. Raises RequestError."""
    raw = top.get("tool_choice", b"null")
    if raw == b"null":
        return None, []
    if raw[:1] == b'"':
        word = decode(raw, str, "tool_choice")
        if word not in _WORDS:
            raise RequestError(
                f'`tool_choice` must be "auto", "none", "required" or an object, not {word!r}',
                param="tool_choice",
                code="invalid_value",
            )
        return ToolChoice(word), []
    shape = decode(raw, wire.ToolChoice, "tool_choice")
    if shape.type != "allowed_tools":
        chosen = _chosen(raw, shape.type, tools)
        if chosen is not None:
            return ToolChoice("required", (chosen,), named=True), []
        return ToolChoice("required"), [f"tool_choice ({shape.type})"]
    mode = shape.mode or "auto"
    if mode not in _WORDS or not shape.tools:
        raise RequestError(
            '`tool_choice` must be {"type": "function", "name": ...} or {"type": "allowed_tools", '
            '"mode": "auto", "required" or "none", "tools": [at least one]}',
            param="tool_choice",
            code="invalid_value",
        )
    entries = decode(bytes(raw_members(raw)["tools"]), list[msgspec.Raw], "tool_choice.tools")
    kinds = [tool.type for tool in shape.tools]
    chosen_names = [_chosen(bytes(entry), kind, tools) for entry, kind in zip(entries, kinds, strict=True)]
    names = tuple(name for name in chosen_names if name is not None)
    foreign = [f"tool_choice ({kind})" for kind, name in zip(kinds, chosen_names, strict=True) if name is None]
    if mode == "none" or not (names or mode == "required"):  # no function is in the set
        return ToolChoice("none"), foreign
    return ToolChoice(cast(Any, mode), names or None), foreign


def _chosen(raw: bytes, kind: str, tools: tuple[Tool, ...]) -> str | None:
    """The name of a tool as the request's tools have it; None for one that the host runs. A tool in only one namespace
    may be named without it."""
    if kind not in ("function", "custom"):
        declared = ((tool.name, dict(tool.extra).get(client_tools.DECLARED)) for tool in tools)
        of_type = dump(kind)
        return next((name for name, raw in declared if raw and members(raw).get("type") == of_type), None)
    inner = bytes(raw_members(raw).get(kind, b""))
    shape = decode(inner if inner[:1] == b"{" else raw, _Choice, "tool_choice")
    name = wire.flat_name(shape.namespace, shape.name)
    if any(tool.name == name for tool in tools):
        return name
    within = [
        tool.name
        for tool in tools
        if (space := dict(tool.extra).get("namespace")) is not None
        and tool.name == wire.flat_name(msgspec.json.decode(space, type=str), name)
    ]
    return within[0] if len(within) == 1 else name
