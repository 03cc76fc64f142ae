"""Writes neutral tools and tool_choice as Responses: flat, and with `strict` even if the client did not send it."""

from __future__ import annotations

from collections.abc import Sequence

from toolwire.model.request import ChatRequest, Tool, ToolChoice
from toolwire.model.source import Members, raw_in
from toolwire.wire.json import dump, raw_members, write_array, write_object
from toolwire.wire.openai_client_tools import DECLARED
from toolwire.wire.openai_responses import DIALECT, flat_format

_EMPTY = b'{"type":"object","properties":{}}'
_STRICT_EMPTY = b'{"type":"object","properties":{},"required":[],"additionalProperties":false}'


def write_tools(request: ChatRequest, *, same_dialect: bool) -> bytes:
    """The value of `tools` as JSON. `same_dialect`: the client speaks this API."""
    return write_array(_tool(tool, same_dialect) for tool in request.tools)


def _tool(tool: Tool, same_dialect: bool) -> bytes:
    raw = raw_in(tool, DIALECT)
    if raw is not None:
        return raw
    if same_dialect and (declared := dict(tool.extra).get(DECLARED)) is not None:
        return declared
    members = [("type", dump(tool.kind)), ("name", dump(tool.name))]
    members += [("description", dump(tool.description))] if tool.description is not None else []
    if tool.kind == "custom":
        return write_object([*members, *_format(tool.extra)])
    parameters = tool.parameters or (_STRICT_EMPTY if tool.strict else _EMPTY)
    members.append(("parameters", parameters))
    if tool.strict is not None or not same_dialect:
        # Left out, the server makes a schema strict that qualifies; with every other API the word means no.
        members.append(("strict", dump(bool(tool.strict))))
    # The mark of a namespace is the door's: written alone, a tool goes by a name of its own.
    extra = (pair for pair in tool.extra if same_dialect and pair[0] != "namespace")
    return write_object([*members, *extra])


def _format(extra: Members) -> Members:
    """A custom tool's format, which the neutral tool has in its Chat form."""
    given = bytes(raw_members(dict(extra).get("custom", b"{}")).get("format", b"null"))
    return () if given == b"null" else (("format", flat_format(given)),)


def write_tool_choice(choice: ToolChoice, tools: Sequence[Tool]) -> bytes:
    """The value of `tool_choice` as JSON, given the tools that are sent."""
    if choice.names is None:
        return dump(choice.mode)
    custom = {tool.name for tool in tools if tool.kind == "custom"}
    named = [{"type": "custom" if name in custom else "function", "name": name} for name in choice.names]
    if choice.named:
        return dump(named[0])
    return dump({"type": "allowed_tools", "mode": choice.mode, "tools": named})
