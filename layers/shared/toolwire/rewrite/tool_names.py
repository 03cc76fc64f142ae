"""Tool names a provider refuses, mapped and restored.

A wire name is a pure function of the client's name, so it is the same on every turn without any state, and carries a
hash of the whole name, so that two names which share their first 64 characters stay two.
"""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache

from toolwire.model.map_request import map_parts
from toolwire.model.request import ChatRequest, Part, ToolCallPart, ToolResultPart
from toolwire.model.source import replace
from toolwire.wire.json import dump

#: What OpenAI, Anthropic and Bedrock accept. A wire, a host or a family of models with another rule has its pattern.
WIRE_NAME = r"[A-Za-z0-9_-]{1,64}"

_LIMIT = 64
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]")


#: A compiled pattern, cached: the look-up in `re.compile`'s own cache takes longer than the match of a short name.
_compiled = lru_cache(maxsize=64)(re.compile)


def wire_name(name: str, pattern: str = WIRE_NAME) -> str:
    """The name itself if it matches the provider's pattern, else a safe one: a readable beginning and ten hex digits.
    It begins with a letter or an underscore, which most providers take, and is else as all take it."""
    takes = _compiled(pattern).fullmatch
    if takes(name):
        return name
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:10]
    readable = _UNSAFE.sub("_", name)
    begin = "" if readable[:1].isalpha() or readable[:1] == "_" else "_"
    safe = f"{(begin + readable)[: _LIMIT - 11]}_{digest}"
    if takes(safe):
        return safe
    begin = "" if readable[:1].isalpha() else "t"
    return f"{(begin + readable.replace('-', '_'))[: _LIMIT - 11]}_{digest}"


def renamed(request: ChatRequest, pattern: str = WIRE_NAME) -> dict[str, str]:
    """The client's name -> the wire name, for each function or custom tool of the request that must be renamed. What a
    tool of the host's own is called ("$web_search") stays: the calls of it in the history are the host's."""
    names = {tool.name for tool in request.tools if tool.kind != "opaque"}
    names.update([call.name for call in request.tool_calls])
    if request.tool_choice and request.tool_choice.names:
        names.update(request.tool_choice.names)
    changed = {name: wire for name in names if (wire := wire_name(name, pattern)) != name}
    own = [tool.source.raw for tool in request.tools if tool.kind == "opaque" and tool.source] if changed else ()
    for name in [name for name in changed if any(dump(name) in raw for raw in own)]:
        del changed[name]
    return changed


def with_wire_names(request: ChatRequest, pattern: str = WIRE_NAME) -> ChatRequest:
    """The request with each such name replaced everywhere; the same object if there is none."""
    names = renamed(request, pattern)
    if not names:
        return request
    tools = request.tools
    if any(tool.name in names for tool in tools):
        tools = tuple(replace(tool, name=names[tool.name]) if tool.name in names else tool for tool in tools)
    choice = request.tool_choice
    if choice is not None and choice.names is not None and not names.keys().isdisjoint(choice.names):
        choice = replace(choice, names=tuple(names.get(name, name) for name in choice.names))
    # Always another tuple: messages of every turn are written anew, so that a later turn extends an earlier one.
    messages = tuple([map_parts(message, lambda part: _with_name(part, names)) for message in request.messages])
    return replace(request, tools=tools, tool_choice=choice, messages=messages)


def _with_name(part: Part, names: dict[str, str]) -> Part:
    if isinstance(part, ToolCallPart | ToolResultPart) and part.name in names:
        return replace(part, name=names[part.name])
    return part
