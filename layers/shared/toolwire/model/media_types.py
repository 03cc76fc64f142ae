"""Media types of files: as clients write them, and by a file's name or first bytes."""

from __future__ import annotations

import re

PDF = "application/pdf"

#: File name endings -> media type.
_BY_ENDING = {
    "aac": "audio/aac", "aiff": "audio/aiff", "flac": "audio/flac", "m4a": "audio/mp4", "mp3": "audio/mp3",
    "ogg": "audio/ogg", "wav": "audio/wav",
    "gif": "image/gif", "heic": "image/heic", "heif": "image/heif", "jpeg": "image/jpeg", "jpg": "image/jpeg",
    "png": "image/png", "webp": "image/webp",
    "mov": "video/quicktime", "mp4": "video/mp4", "webm": "video/webm",
    "css": "text/css", "csv": "text/csv", "htm": "text/html", "html": "text/html", "log": "text/plain",
    "md": "text/markdown", "py": "text/x-python", "rtf": "text/rtf", "txt": "text/plain", "xml": "text/xml",
    "js": "text/javascript", "json": "application/json", "yaml": "application/yaml", "yml": "application/yaml",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "pdf": PDF,
}  # fmt: skip

_ENDINGS = {media_type: ending for ending, media_type in _BY_ENDING.items()}

#: What clients write -> the registered type.
_MEANT = {"image/jpg": "image/jpeg", "application/x-pdf": PDF, "audio/mpeg": "audio/mp3", "audio/x-wav": "audio/wav"}

#: The first characters of a file's base64 -> its media type.
_BY_BEGINNING = (
    ("JVBERi", PDF), ("iVBORw0KGgo", "image/png"), ("/9j/", "image/jpeg"), ("R0lGOD", "image/gif"),
)  # fmt: skip
#: RIFF, a length, WEBP.
_WEBP = re.compile(r"UklGR.{7}RUJQ")

_URLSAFE = str.maketrans("-_", "+/")

#: Text, beside everything whose type begins with `text/`.
_TEXTS = frozenset({"application/json", "application/xml", "application/yaml", "application/javascript"})


def media_type_of(said: str | None, name: str | None = None, data: str | None = None) -> str | None:
    """The media type of a file, without parameters: the client's own if it means anything, else the one of its name or
    of the beginning of its base64; None if none is known. For an image the bytes decide: clients go by the file's
    ending, and Anthropic refuses a wrong type in this turn and all that follow."""
    given = (said or "").partition(";")[0].strip().lower()
    if given and given != "application/octet-stream":
        told = _told_by(data) if given.startswith("image/") else None
        return told if told and told.startswith("image/") else _MEANT.get(given, given)
    if known := _BY_ENDING.get((name or "").rpartition(".")[2].lower()):
        return known
    return _told_by(data) or given or None


def _told_by(data: str | None) -> str | None:
    """The media type by the beginning of a file's base64."""
    if not data:
        return None
    known = next((kind for beginning, kind in _BY_BEGINNING if data.startswith(beginning)), None)
    return known or ("image/webp" if _WEBP.match(data) else None)


def plain_base64(data: str) -> str:
    """Base64 as every API takes it: in one line, of the usual alphabet. Clients write it in lines, as MIME has it, and
    in the alphabet for URLs, as Google's SDKs do."""
    data = "".join(data.split())
    return data.translate(_URLSAFE) if "-" in data or "_" in data else data


def is_text(media_type: str | None) -> bool:
    """Whether a file of this type can be read as text."""
    if media_type is None:
        return False
    return media_type.startswith("text/") or media_type in _TEXTS or media_type.endswith(("+json", "+xml"))


def file_name(name: str | None, media_type: str | None) -> str:
    """The name with an ending, by which some hosts recognise the type."""
    ending = _ENDINGS.get(media_type or "")
    if name and (ending is None or _BY_ENDING.get(name.rpartition(".")[2].lower()) == media_type):
        return name
    return (name or "file") + (f".{ending}" if ending else "")


def split_data_url(url: str) -> tuple[str | None, str] | None:
    """The media type (as it was written; None for none) and the base64 of a `data:` URL, as every API takes it; None
    for anything else."""
    head, comma, data = url.partition(",")
    if head[:5].lower() != "data:" or not comma or not head.endswith(";base64"):
        return None
    return head[5:-7] or None, plain_base64(data)


def data_url(media_type: str | None, data: str) -> str:
    """The `data:` URL of a file."""
    return f"data:{media_type or 'application/octet-stream'};base64,{data}"
