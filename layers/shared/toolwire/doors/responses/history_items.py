"""Reads one item of a Responses history, or one part of an item's content, as a neutral part."""

from __future__ import annotations

from typing import cast

import msgspec

from toolwire.doors.openai_files import address_in, file_part, image_part, raw_audio_part, stored_image
from toolwire.doors.typed_json import decode
from toolwire.model.errors import RequestError
from toolwire.model.request import Part, ReasoningPart, RefusalPart, TextPart, ToolCallPart, ToolResultPart
from toolwire.model.source import Members, Source, with_source
from toolwire.wire import openai_client_tools as client_tools
from toolwire.wire import openai_responses as wire
from toolwire.wire.json import dump, is_null, members, unnamed, write_array, write_object

#: Type of a part -> the members that its reader names.
_KNOWN_TEXT = frozenset({"type", "text"})
_KNOWN_PART = {
    "refusal": frozenset({"type", "refusal"}),
    "input_image": frozenset({"type", "image_url", "file_id", "detail"}),
    "image_url": frozenset({"type", "image_url"}),
    "input_file": frozenset({"type", "file_data", "filename", "file_id", "file_url"}),
    "input_audio": frozenset({"type", "input_audio"}),
}
#: The members of a call's item that its readers name.
KNOWN_CALL = frozenset({"type", "call_id", "name", "arguments", "input"})
_KNOWN_REASONING = frozenset({"type", "summary", "content", "encrypted_content"})


def known_part(shape: wire.ContentPart, raw: bytes, path: str, phase: Members) -> Part | None:
    """The neutral part; None for a type that only this API knows."""
    extra = unnamed(raw, _KNOWN_PART.get(shape.type, _KNOWN_TEXT))
    match shape.type:
        case "input_text" | "output_text" | "text":
            return TextPart(required(shape.text, f"{path}.text", "the text", may_be_empty=True), extra + phase)
        case "refusal":
            text = required(shape.refusal, f"{path}.refusal", "the text", may_be_empty=True)
            return RefusalPart(text, extra + phase)
        case "input_image" | "image_url" if url := address_in(shape.image_url):
            return image_part(url, shape.detail, extra, kind="input_image", path=path)
        case "input_image" if shape.file_id:
            return stored_image(shape.file_id, dialect=wire.DIALECT, kind="input_image", path=path, extra=extra)
        case "input_file":
            named = (shape.file_data, shape.filename, shape.file_id, shape.file_url)
            return file_part(*named, dialect=wire.DIALECT, kind="input_file", path=path, extra=extra)
        case "input_audio":
            return raw_audio_part(bytes(shape.input_audio), path=path, extra=extra)
    return None


def tool_call(shape: wire.InputItem, kind: str, raw: bytes, path: str) -> ToolCallPart:
    """A call of a function or of a custom tool. Raises RequestError."""
    call_id = required(shape.call_id, f"{path}.call_id", "the id that its output names")
    name = required(shape.name, f"{path}.name", "the tool's name")
    text = (_text(shape.arguments, f"{path}.arguments") if kind == "function_call" else shape.input) or ""
    call = ToolCallPart(
        call_id,
        wire.flat_name(shape.namespace, name),
        text,
        "function" if kind == "function_call" else "custom",
        unnamed(raw, KNOWN_CALL),
    )
    return with_source(call, Source(wire.DIALECT, raw))


def is_said(value: msgspec.Raw | str | None) -> bool:
    """Whether a member is present and not null."""
    return value is not None and (isinstance(value, str) or not is_null(value))


def _text(raw: msgspec.Raw, path: str) -> str | None:
    given = bytes(raw)
    return cast("str | None", decode(given, str, path)) if given not in (b"", b"null") else None


def search_call(shape: wire.InputItem, path: str, raw: bytes) -> ToolCallPart:
    """A call of the client's own search for tools. Raises RequestError."""
    given = bytes(shape.arguments)
    arguments = _text(shape.arguments, path) or "{}" if given[:1] != b"{" else given.decode()
    extra = ((client_tools.ITEM, dump(wire.SEARCH_CALL)),)
    call = ToolCallPart(shape.call_id or "", wire.SEARCH_TOOL, arguments, extra=extra)
    return with_source(call, Source(wire.DIALECT, raw))


def typed_call(kind: str, call_id: str, raw: bytes) -> ToolCallPart:
    """A call of a typed tool that the client runs, as the call of a function."""
    form = client_tools.CALLS[kind]
    extra = (*unnamed(raw, KNOWN_CALL | {form.member, client_tools.ACTIONS}), (client_tools.ITEM, dump(kind)))
    call = ToolCallPart(call_id, form.name, client_tools.call_arguments(kind, members(raw)), extra=extra)
    return with_source(call, Source(wire.DIALECT, raw))


def mcp_call(id: str, name: str, raw: bytes) -> ToolCallPart:
    """A call that the host has made of an MCP server."""
    item = members(raw)
    given = item.get("arguments", b"null")
    arguments = msgspec.json.decode(given, type=str) if given[:1] == b'"' else "{}"
    return with_source(ToolCallPart(id, name, arguments), Source(wire.DIALECT, raw))


def mcp_result(id: str, raw: bytes) -> ToolResultPart:
    """The server's answer as text, or its error."""
    item = members(raw)
    error, output = item.get("error", b"null"), item.get("output", b"null")
    told = error if error != b"null" else output
    text = msgspec.json.decode(told, type=str) if told[:1] == b'"' else "" if told == b"null" else told.decode()
    return ToolResultPart(id, (TextPart(text),), is_error=error != b"null")


def as_image(screenshot: bytes) -> bytes:
    """A computer's screenshot in the form of a message's part."""
    return write_object((members(screenshot) | {"type": b'"input_image"'}).items())


class _ReasoningText(msgspec.Struct):
    text: str = ""


def reasoning_part(shape: wire.InputItem, raw: bytes, path: str) -> ReasoningPart:
    """An item of reasoning: its text, else its summary, and the encrypted state."""
    content = bytes(shape.content)
    if content[:1] != b"[" or content == b"[]":
        content = write_array(bytes(part) for part in shape.summary or ())
    texts = decode(content, list[_ReasoningText], f"{path}.content")
    part = ReasoningPart(
        "\n\n".join(piece.text for piece in texts), shape.encrypted_content or None, unnamed(raw, _KNOWN_REASONING)
    )
    return with_source(part, Source(wire.DIALECT, raw))


def required(value: str | None, path: str, what: str, may_be_empty: bool = False) -> str:
    """The value of a required member. Raises RequestError (`missing_required_parameter`) if it is absent; `what`
    describes it."""
    if value is None or (not value and not may_be_empty):
        raise RequestError(f"`{path}` is required: {what}", param=path, code="missing_required_parameter")
    return value
