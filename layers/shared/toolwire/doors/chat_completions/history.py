"""The chat door's messages: the history with its parts, calls and results, each with the client's own bytes."""

from __future__ import annotations

from typing import Any, cast

import msgspec

from toolwire.doors.chat_completions.foreign_parts import foreign_part
from toolwire.doors.chat_completions.legacy_functions import FUNCTION_MESSAGE
from toolwire.doors.openai_files import file_part, image_part, raw_audio_part
from toolwire.doors.typed_json import decode, required_messages
from toolwire.model.errors import RequestError
from toolwire.model.request import (
    FilePart,
    ImagePart,
    Message,
    OpaquePart,
    Part,
    ReasoningPart,
    RefusalPart,
    Role,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from toolwire.model.source import Members, Source, with_source
from toolwire.wire import openai_chat as wire
from toolwire.wire.json import raw_members, unnamed

_ROLES = ("system", "developer", "user", "assistant", "tool", "function")

_MESSAGE = frozenset({"role", "content", "name", "tool_calls", "tool_call_id", "refusal", "reasoning_content"})
_CALL = frozenset({"id", "type", "function", "custom", "index"})
_INNER_CALL = frozenset({"name", "arguments", "input"})
_PART = {
    "text": frozenset({"type", "text"}),
    "refusal": frozenset({"type", "refusal"}),
    "image_url": frozenset({"type", "image_url"}),
    "file": frozenset({"type", "file"}),
    "input_audio": frozenset({"type", "input_audio"}),
}


def read_messages(top: dict[str, bytes]) -> tuple[Message, ...]:
    """The messages of a request, given its raw members. Raises RequestError."""
    return tuple(_message(raw, f"messages[{number}]") for number, raw in enumerate(required_messages(top)))


def _message(raw: bytes, path: str) -> Message:
    extra: Members = ()
    source: Source | None = Source(wire.DIALECT, raw)
    shape: Any
    try:
        shape = msgspec.json.decode(raw, type=wire.Message)
    except msgspec.DecodeError:
        shape = decode(raw, wire.LenientMessage, path)
        unread = unnamed(raw, _MESSAGE)
        extra = tuple((name, value) for name, value in unread if value != b"null")
        source = source if len(extra) == len(unread) else None
    if not _is_taken_everywhere(shape):
        source = None
    if shape.role not in _ROLES:
        raise RequestError(
            f"`{path}.role` must be one of system, developer, user, assistant, tool, not {shape.role!r}",
            param=f"{path}.role",
            code="invalid_value",
        )
    if shape.tool_calls and shape.role != "assistant":
        raise RequestError(
            f"`{path}.tool_calls` is only allowed in a message of role assistant",
            param=f"{path}.tool_calls",
            code="invalid_value",
        )
    if shape.tool_call_id and shape.role not in ("tool", "function"):
        raise RequestError(
            f"`{path}.tool_call_id` is only allowed in a message of role tool: it names the call whose result that is",
            param=f"{path}.tool_call_id",
            code="invalid_value",
        )
    if shape.role == "function":  # deprecated: only the lane carries it
        part = OpaquePart(FUNCTION_MESSAGE, wire.DIALECT, raw, path=path)
        return with_source(Message("user", (part,)), Source(wire.DIALECT, raw))
    parts = _parts(shape, path)
    if shape.tool_calls and any(type(part) is ToolCallPart and part.source is None for part in parts):
        source = None
    return with_source(Message(cast(Role, shape.role), parts, _given(shape.name), extra), source)


def _given(name: str | msgspec.UnsetType | None) -> str | None:
    return None if name is msgspec.UNSET else name


def _is_taken_everywhere(shape: wire.LenientMessage) -> bool:
    """Whether hosts take the message as the client wrote it. Several hosts refuse null members, which OpenAI's SDKs
    send back and which mean the same as absent ones. OpenAI, DeepSeek and DashScope refuse empty lists."""
    optional = (shape.name, shape.tool_calls, shape.tool_call_id, shape.refusal, shape.reasoning_content)
    return None not in optional and shape.tool_calls != [] and shape.content != []


def _parts(shape: wire.Message, path: str) -> tuple[Part, ...]:
    if shape.role == "assistant":
        return _assistant_parts(shape, path)
    if shape.content is None or shape.content == []:
        raise RequestError(
            f"`{path}.content` is required in a message of role {shape.role}: a string or a list of content parts",
            param=f"{path}.content",
            code="missing_required_parameter",
        )
    content = _content(shape.content, path)
    if shape.role != "tool":
        return content
    if not shape.tool_call_id:
        raise RequestError(
            f"`{path}.tool_call_id` is required in a message of role tool: the id of the call it answers",
            param=f"{path}.tool_call_id",
            code="missing_required_parameter",
        )
    inner = cast("tuple[TextPart | ImagePart | FilePart | OpaquePart, ...]", content)
    return (ToolResultPart(shape.tool_call_id, inner, name=_given(shape.name)),)


def _assistant_parts(shape: wire.Message, path: str) -> tuple[Part, ...]:
    parts: list[Part] = []
    if shape.reasoning_content:
        parts.append(ReasoningPart(shape.reasoning_content))
    if shape.content:
        parts += _content(shape.content, path)
    if shape.refusal:
        parts.append(RefusalPart(shape.refusal))
    for number, raw in enumerate(shape.tool_calls or ()):
        parts.append(_tool_call(bytes(raw), f"{path}.tool_calls[{number}]"))
    return tuple(parts)


def _content(content: str | list[msgspec.Raw], path: str) -> tuple[Part, ...]:
    if isinstance(content, str):
        return (TextPart(content),)
    return tuple(_content_part(bytes(raw), f"{path}.content[{number}]") for number, raw in enumerate(content))


def _content_part(raw: bytes, path: str) -> Part:
    shape = decode(raw, wire.ContentPart, path)
    source = Source(wire.DIALECT, raw)
    known = _PART.get(shape.type)
    if known is None:
        foreign = foreign_part(shape.type, raw, path)
        return with_source(foreign or OpaquePart(shape.type, wire.DIALECT, raw, path=path), source)
    if isinstance(shape.image_url, str):  # Mistral's form, too
        return with_source(image_part(shape.image_url, None, unnamed(raw, known), path=path), source)
    value = getattr(shape, shape.type)
    if value is None:
        raise RequestError(
            f"`{path}.{shape.type}` is required in a content part of type {shape.type!r}",
            param=f"{path}.{shape.type}",
            code="missing_required_parameter",
        )
    part = _known_part(shape.type, value, unnamed(raw, known), path)
    return with_source(part or OpaquePart(shape.type, wire.DIALECT, raw, path=path), source)


def _known_part(kind: str, value: Any, extra: Members, path: str) -> Part | None:
    """The part of a known type; None if its members do not fit the type."""
    match kind:
        case "text":
            return TextPart(value, extra)
        case "refusal":
            return RefusalPart(value, extra)
        case "image_url":
            return image_part(value.url, value.detail, extra, path=path)
        case "input_audio":
            return raw_audio_part(value, path=path, extra=extra)
    try:
        file = msgspec.json.decode(value, type=wire.File)
    except msgspec.DecodeError:
        return None  # a host's own kind of file
    named = (file.file_data, file.filename, file.file_id, None)
    return file_part(*named, dialect=wire.DIALECT, kind=kind, path=path, extra=extra)


def _tool_call(raw: bytes, path: str) -> ToolCallPart:
    exact = True
    shape: Any
    try:
        shape = msgspec.json.decode(raw, type=wire.ToolCall)
    except msgspec.DecodeError:
        shape = decode(raw, wire.LenientToolCall, path)
        exact = False
    kind = shape.type or "function"
    inner = {"function": shape.function, "custom": shape.custom}.get(kind)
    if inner is None:
        raise RequestError(
            f'`{path}` must have type "function" with a `function`, or type "custom" with a `custom`',
            param=path,
            code="invalid_value",
        )
    if not shape.id:
        raise RequestError(f"`{path}.id` must not be empty", param=f"{path}.id", code="missing_required_parameter")
    if not inner.name:
        raise RequestError(
            f"`{path}.{kind}.name` must not be empty: the name of the tool that was called",
            param=f"{path}.{kind}.name",
            code="missing_required_parameter",
        )
    extra = () if exact else unnamed(raw, _CALL) + within(raw, kind, _INNER_CALL)
    text = inner.arguments if kind == "function" else inner.input
    call = ToolCallPart(shape.id, inner.name, text, cast(Any, kind), extra)
    return with_source(call, Source(wire.DIALECT, raw) if shape.type else None)  # OpenAI wants a type


def within(raw: bytes, kind: str, named: frozenset[str]) -> Members:
    """The unnamed members of a tool's or call's inner object, marked with its name ("function.")."""
    return tuple((f"{kind}.{name}", value) for name, value in unnamed(raw_members(raw)[kind], named))
