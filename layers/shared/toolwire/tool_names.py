"""Tool names a provider refuses, mapped and restored.

A wire name is a pure function of the client's name, so it is the same on every turn without any state, and carries a
hash of the whole name, so that two names which share their first 64 characters stay two.
"""

from __future__ import annotations

import hashlib
import re

from toolwire.model.request import ChatRequest

#: What OpenAI, Anthropic and Bedrock accept: CONTRACTS section 9. A wire with another rule has its own pattern.
WIRE_NAME = r"[A-Za-z0-9_-]{1,64}"

_LIMIT = 64
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]")


def wire_name(name: str, pattern: str = WIRE_NAME) -> str:
    """The name itself if it matches the provider's pattern, else a safe one: a readable beginning and ten hex digits.
    It begins with a letter or an underscore, which every provider takes."""
    if re.fullmatch(pattern, name):
        return name
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:10]
    readable = _UNSAFE.sub("_", name)
    begin = "" if readable[:1].isalpha() or readable[:1] == "_" else "_"
    return f"{(begin + readable)[: _LIMIT - 11]}_{digest}"


def renamed(request: ChatRequest, pattern: str = WIRE_NAME) -> dict[str, str]:
    """Client's name -> wire name, for every function or custom tool named in the request that must be renamed."""
    names = {tool.name for tool in request.tools if tool.kind != "opaque"}
    names.update(call.name for message in request.messages for call in message.tool_calls)
    if request.tool_choice and request.tool_choice.names:
        names.update(request.tool_choice.names)
    return {name: wire for name in names if (wire := wire_name(name, pattern)) != name}
