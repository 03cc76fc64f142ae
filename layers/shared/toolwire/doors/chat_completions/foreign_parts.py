"""Reads parts of other APIs in Chat messages. LangChain and the AI SDK send them when a history moves to another
provider; others are results of MCP, and videos and recordings as vLLM, Qwen and OpenRouter have them.

A provider of the same API gets them as they are; any other one gets their content.
"""

from __future__ import annotations

from typing import Any

import msgspec

from toolwire.doors.openai_files import address_in, file_of_bytes, file_part, image_part, media_part, stored_image
from toolwire.model.media_types import data_url
from toolwire.model.request import Part, TextPart
from toolwire.wire import openai_chat as wire


class _Resource(msgspec.Struct):
    """A resource of MCP, by its text or its bytes."""

    uri: str | None = None
    text: str | None = None
    blob: str | None = None
    mime_type: str | None = msgspec.field(default=None, name="mimeType")


class _Source(msgspec.Struct):
    """The source of an image in Anthropic's form."""

    type: str = ""
    media_type: str | None = None
    data: str | None = None
    url: str | None = None


class _Part(msgspec.Struct):
    text: str | None = None
    image_url: Any = None
    video_url: Any = None
    audio_url: Any = None
    file_data: str | None = None
    file_url: str | None = None
    filename: str | None = None
    file_id: str | None = None
    detail: str | None = None
    source: _Source | None = None  # Anthropic's
    data: str | None = None  # of MCP
    mime_type: str | None = msgspec.field(default=None, name="mimeType")
    resource: _Resource | None = None
    uri: str | None = None
    name: str | None = None


def foreign_part(kind: str, raw: bytes, path: str) -> Part | None:
    """The neutral part for this kind; None for an unknown kind, or a part without its required members."""
    try:
        shape = msgspec.json.decode(raw, type=_Part)
    except msgspec.DecodeError:
        return None
    match kind:
        case "input_text" | "output_text":
            return TextPart(shape.text or "")
        case "input_image":
            return _input_image(shape, path)
        case "input_file":
            named = (shape.file_data, shape.filename, shape.file_id, shape.file_url)
            return file_part(*named, dialect=wire.DIALECT, kind=kind, path=path)
        case "video_url" | "input_video" | "audio_url" if url := address_in(shape.video_url or shape.audio_url):
            return media_part(url, kind=kind, path=path)
        case "image":
            return _image(shape, path)
        case "audio" if shape.data:
            return media_part(data_url(shape.mime_type, shape.data), kind=kind, path=path)
        case "resource" if shape.resource is not None:
            return _resource(shape.resource, path)
        case "resource_link" if shape.uri:
            return TextPart(f"{shape.name}: {shape.uri}" if shape.name else shape.uri)
    return None


def _image(shape: _Part, path: str) -> Part | None:
    """An image in Anthropic's form, or in MCP's."""
    media_type, data, url = shape.mime_type, shape.data, None
    if shape.source is not None:
        media_type, data, url = shape.source.media_type, shape.source.data, shape.source.url
    if data:
        url = data_url(media_type, data)
    return image_part(url, None, kind="image", path=path) if url else None


def _input_image(shape: _Part, path: str) -> Part | None:
    if url := address_in(shape.image_url):
        return image_part(url, shape.detail, kind="input_image", path=path)
    if shape.file_id:
        return stored_image(shape.file_id, dialect=wire.DIALECT, kind="input_image", path=path)
    return None


def _resource(resource: _Resource, path: str) -> Part | None:
    if resource.text is not None:
        return TextPart(resource.text)
    if resource.blob is None:
        return None
    url = data_url(resource.mime_type or "application/octet-stream", resource.blob)
    return file_of_bytes(url, (resource.uri or "").rpartition("/")[2] or None, kind="resource", path=path)
