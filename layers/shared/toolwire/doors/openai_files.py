"""Images, files and recordings as the OpenAI APIs name them: an address, the bytes as a `data:` URL, or an id."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import msgspec

from toolwire.model.media_types import media_type_of, plain_base64, split_data_url
from toolwire.model.request import FilePart, ImagePart
from toolwire.model.source import Members
from toolwire.wire.openai_chat import InputAudio

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


def image_part(
    url: str, detail: str | None, extra: Members = (), *, kind: str = "image_url", path: str
) -> ImagePart | FilePart:
    """An image by its URL. A `data:` URL is split into media type and base64. If it holds another file, such as a PDF,
    it becomes a file: clients send files so, since many hosts have no other part for them."""
    given = split_data_url(url)
    if given is None:
        return ImagePart(url=url, detail=detail, extra=extra, kind=kind, path=path)
    said, data = given
    media_type = media_type_of(said, data=data)
    if media_type is not None and not media_type.startswith("image/"):
        return FilePart(media_type, data=data, extra=extra, kind=kind, path=path)
    return ImagePart(data=data, media_type=media_type, detail=detail, extra=extra, kind=kind, path=path)


def address_in(given: object) -> str | None:
    """A URL, alone or in an object of its own, as the two APIs have it."""
    url = given.get("url") if isinstance(given, dict) else given
    return url if isinstance(url, str) and url else None


def media_part(url: str, *, kind: str, path: str) -> FilePart:
    """A video or a recording by its address or as a `data:` URL, as vLLM, Qwen and OpenRouter have them."""
    given = split_data_url(url)
    if given is None:
        return FilePart(media_type_of(None, urlsplit(url).path), url=url, kind=kind, path=path)
    said, data = given
    return FilePart(media_type_of(said, data=data), data=data, kind=kind, path=path)


def file_part(
    file_data: str | None,
    name: str | None,
    file_id: str | None,
    url: str | None,
    *,
    dialect: str,
    kind: str,
    path: str,
    extra: Members = (),
) -> FilePart | ImagePart | None:
    """A file, by its bytes, an address, or the id that OpenAI's storage gave it; None without any of these."""
    if file_data and not _ADDRESS.match(file_data):
        return file_of_bytes(file_data, name, kind=kind, path=path, extra=extra)
    if address := file_data or url:
        return FilePart(media_type_of(None, name), name, url=address, kind=kind, path=path, extra=extra)
    if file_id:
        return FilePart(name=name, file_id=file_id, dialect=dialect, kind=kind, path=path, extra=extra)
    return None


def file_of_bytes(
    file_data: str, name: str | None, *, kind: str, path: str, extra: Members = ()
) -> FilePart | ImagePart | None:
    """A file by its bytes, which are a `data:` URL or plain base64. An image becomes an image part. None for a `data:`
    URL without base64."""
    said, data = split_data_url(file_data) or (None, plain_base64(file_data))
    if data.startswith("data:"):
        return None
    media_type = media_type_of(said, name, data)
    if media_type is not None and media_type.startswith("image/"):
        return ImagePart(data=data, media_type=media_type, extra=extra, kind=kind, path=path)
    return FilePart(media_type, name, data=data, kind=kind, path=path, extra=extra)


def stored_image(file_id: str, *, dialect: str, kind: str, path: str, extra: Members = ()) -> FilePart:
    """An image in its vendor's storage."""
    return FilePart("image/*", file_id=file_id, dialect=dialect, kind=kind, path=path, extra=extra)


def audio_part(data: str, audio_format: str, *, path: str, extra: Members = ()) -> FilePart:
    """An audio recording, given its format ("wav", "mp3")."""
    data = plain_base64(data)
    return FilePart(media_type_of(f"audio/{audio_format}"), data=data, kind="input_audio", path=path, extra=extra)


def raw_audio_part(raw: bytes, *, path: str, extra: Members) -> FilePart | None:
    """An audio recording, given the raw `input_audio` member; None if that does not describe one."""
    try:
        audio = msgspec.json.decode(raw, type=InputAudio)
    except msgspec.DecodeError:
        return None
    return audio_part(audio.data, audio.format, path=path, extra=extra)
