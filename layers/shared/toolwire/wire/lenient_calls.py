"""Reads tool calls in all forms that hosts write: in the words of other APIs, as JSON text in a string, one call
without a list. The result has the shape of the Chat API's calls. For the slow paths of the wires (`*_lenient.py`)."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from toolwire.wire.cross_api_names import CALL_PARTS
from toolwire.wire.json import members
from toolwire.wire.lenient_values import listed, number_of, parts_of, text_of
from toolwire.wire.openai_chat import CustomDelta, FunctionDelta, ToolCallDelta

#: The object around a call, where it is not `function`: in a part of a content, or in the words of Bedrock and Gemini.
_AROUND_CALL = ("tool_use", "tool_call", "function_call", "toolUse", "functionCall")
#: The members for a call's id and name: of OpenAI, Snowflake, Cohere, Bedrock, and the AI SDK.
_IDS = ("id", "call_id", "tool_call_id", "tool_use_id", "toolUseId", "toolCallId")
_NAMES = ("name", "tool_name", "toolName")


def read_calls(raw: bytes) -> list[ToolCallDelta] | None:
    """The calls in a list, or the one call that a host sent without a list; either may be a text."""
    calls = listed(_unquoted(raw))
    return [read_call(entry) for entry in calls if entry != b"null"] if calls is not None else None


def _unquoted(raw: bytes) -> bytes:
    """The JSON that a string holds; anything else as it is."""
    inner = (text_of(raw) or "").strip() if raw[:1] == b'"' else ""
    return inner.encode("utf-8", "surrogatepass") if inner[:1] in ("{", "[") else raw


def calls_in_parts(content: bytes, kind: str | None = None) -> list[ToolCallDelta]:
    """The calls among the parts of a content: blocks as other APIs have them. `kind`: the type of parts without one."""
    return [read_call(part) for part, own, found in parts_of(content) if is_call(own or kind, found)]


def is_call(kind: str | None, found: dict[str, bytes]) -> bool:
    """Whether a part is a call: by its type, or, without one, by the object in it."""
    return kind in CALL_PARTS if kind else any(found.get(name, b"")[:1] == b"{" for name in _AROUND_CALL)


def read_call(raw: bytes) -> ToolCallDelta:
    """The call in an entry of `tool_calls`, or in what another API has for one. Raises ValueError."""
    call = members(raw)
    custom = call.get("custom", b"null")
    index, call_id = number_of(call.get("index")), _first(call, _IDS)
    within = next((call[name] for name in _AROUND_CALL if call.get(name, b"")[:1] == b"{"), None)
    if within is not None:
        delta = read_call(within)
        delta.id = delta.id or call_id
        delta.index = index if delta.index is None else delta.index
        return delta
    delta = ToolCallDelta(index, call_id, text_of(call["type"]) if "type" in call else "")
    for state in ("extra_content", "provider_specific_fields"):
        setattr(delta, state, msgspec.Raw(call.get(state, b"")))
    delta.function = function_of(_unquoted(call.get("function", b"")))
    delta.name, delta.arguments = _first(call, _NAMES), _arguments(call.get("arguments"))
    for name in ("parameters", "input", "args"):
        setattr(delta, name, msgspec.Raw(call.get(name, b"")))
    if custom[:1] == b"{":
        inner = members(custom)
        delta.custom = CustomDelta(text_of(inner.get("name")), text_of(inner.get("input")))
    return delta


def function_of(raw: bytes) -> FunctionDelta | None:
    """The function of a call; None for a value that is no object."""
    if raw[:1] != b"{":
        return None
    function = members(raw)
    names = (msgspec.Raw(function.get(name, b"")) for name in ("parameters", "input", "args"))
    return FunctionDelta(_first(function, _NAMES), _arguments(function.get("arguments")), *names)


def _first(found: dict[str, bytes], names: Sequence[str]) -> str | None:
    """The first of these members that is not empty, else the first one that is present."""
    told = [text for name in names if (text := text_of(found.get(name))) is not None]
    return next(filter(None, told), told[0] if told else None)


def _arguments(raw: bytes | None) -> str | None:
    """Arguments as text; an empty list, as PHP writes an empty object, is none."""
    return None if raw is not None and raw[:1] == b"[" and not raw[1:-1].strip() else text_of(raw)
