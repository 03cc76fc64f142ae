"""The native door's messages as the neutral history."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from toolwire.doors.native import request_models
from toolwire.doors.openai_files import audio_part, file_of_bytes, image_part
from toolwire.model.errors import RequestError
from toolwire.model.request import (
    FilePart,
    ImagePart,
    Message,
    OpaquePart,
    Part,
    ReasoningPart,
    RefusalPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)


def read_message(message: request_models.Message, path: str) -> Message:
    """The neutral message. `path` is its JSON path. Raises RequestError for content that cannot be read."""
    match message:
        case request_models.AssistantMessage():
            return Message("assistant", tuple(_assistant_parts(message, path)), message.name)
        case request_models.ToolMessage():
            content = _result(bytes(message.content), f"{path}.content")
            return Message("tool", (ToolResultPart(message.tool_call_id, content, message.is_error, message.name),))
        case _:
            return Message(message.role, tuple(_content(message.content, f"{path}.content")), message.name)


_Content = TextPart | ImagePart | FilePart | OpaquePart


def _content(content: str | Sequence[request_models.ContentPart], path: str) -> list[_Content]:
    if isinstance(content, str):
        return [TextPart(content)]
    return [_content_part(part, f"{path}[{number}]") for number, part in enumerate(content)]


def _content_part(part: request_models.ContentPart, path: str) -> _Content:
    match part:
        case request_models.TextPart():
            return TextPart(part.text, signature=part.signature)
        case request_models.ImagePart():
            return image_part(part.image_url.url, part.image_url.detail, path=path)
        case request_models.AudioPart():
            return audio_part(part.input_audio.data, part.input_audio.format, path=path)
        case request_models.FilePart(file=file):
            read = file_of_bytes(file.file_data, file.filename, kind="file", path=path)
            if read is not None:
                return read
            path += ".file.file_data"
            raise RequestError(f"`{path}` must be a data: URL with base64", param=path, code="invalid_value")


def _assistant_parts(message: request_models.AssistantMessage, path: str) -> list[Part]:
    parts: list[Part] = []
    if message.reasoning_parts:
        parts += [ReasoningPart(part.text, part.signature) for part in message.reasoning_parts]
    elif message.reasoning_content:
        parts.append(ReasoningPart(message.reasoning_content))
    if isinstance(message.content, str):
        if message.content:
            parts.append(TextPart(message.content, signature=message.content_signature))
    elif message.content:
        parts += _content(message.content, f"{path}.content")
    if message.refusal:
        parts.append(RefusalPart(message.refusal))
    opaque = enumerate(message.opaque_parts or ())
    parts += [OpaquePart(p.kind, p.dialect, bytes(p.data), path=f"{path}.opaque_parts[{n}]") for n, p in opaque]
    parts += [_tool_call(call, f"{path}.tool_calls[{n}]") for n, call in enumerate(message.tool_calls or ())]
    return parts


def _tool_call(call: request_models.ToolCall, path: str) -> ToolCallPart:
    function = call.function
    if (function.arguments is None) == (function.raw_arguments is None):
        raise RequestError(
            f"`{path}.function.arguments` must be an object; only arguments that were cut are null, with their text in "
            "`raw_arguments`",
            param=f"{path}.function.arguments",
            code="invalid_value",
        )
    text = function.raw_arguments if function.arguments is None else bytes(function.arguments).decode()
    return ToolCallPart(call.id, function.name, text or "", signature=call.signature)


def _result(raw: bytes, path: str) -> tuple[_Content, ...]:
    """A tool's result as content: a string is text, an array of content parts is those, other JSON is its own text."""
    value = msgspec.json.decode(raw)  # only to see its type
    if isinstance(value, str):
        return (TextPart(value),)
    if not isinstance(value, list) or not value:
        return (TextPart(raw.decode()),)
    parts = [_result_part(item, f"{path}[{number}]") for number, item in enumerate(value)]
    content = tuple(part for part in parts if part is not None)
    return content if len(content) == len(parts) else (TextPart(raw.decode()),)


def _result_part(value: Any, path: str) -> _Content | None:
    match value:
        case {"type": "text", "text": str(text), **rest} if not rest:
            return TextPart(text)
        case {"type": "image_url", "image_url": {"url": str(url), **rest}} if not rest:
            return image_part(url, None, path=path)
        case {"type": "file", "file": {"file_data": str(data), **rest}} if not rest.keys() - {"filename"}:
            name = rest.get("filename")
            return file_of_bytes(data, name if isinstance(name, str) else None, kind="file", path=path)
        case {"type": "input_audio", "input_audio": {"data": str(data), "format": "wav" | "mp3" as audio_format}}:
            return audio_part(data, audio_format, path=path)
    return None
