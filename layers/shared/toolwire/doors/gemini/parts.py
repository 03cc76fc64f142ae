"""Reads one part of a content as a neutral part. A part without a neutral form becomes an opaque part.

A signature is base64. Another provider's signature was shown as base64 with its origin in front (see
`conversation.state_origin`), and is unpacked here. Google's own stays character for character.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable

from toolwire.conversation.state_origin import is_tagged
from toolwire.doors.gemini.json_forms import own_members
from toolwire.doors.typed_json import decode
from toolwire.model.errors import RequestError
from toolwire.model.media_types import media_type_of, plain_base64
from toolwire.model.request import FilePart, ImagePart, OpaquePart, ReasoningPart, TextPart
from toolwire.model.source import Members
from toolwire.wire.gemini import DIALECT, PART_FLAGS

#: Members of a part that the model reads.
_READ = frozenset({"text", "thought", "thoughtSignature", "inlineData", "fileData", "functionCall", "functionResponse"})

#: Members of inlineData and fileData that the model reads.
_BLOB = frozenset({"data", "fileUri", "displayName", "mimeType"})

#: The members of which a part has exactly one.
PART_DATA = frozenset(
    {"text", "inlineData", "fileData", "functionCall", "functionResponse", "executableCode", "codeExecutionResult"}
)

#: Google's documented placeholders for the signature of a call that another model made.
_STAND_INS = frozenset({"skip_thought_signature_validator", "context_engineering_is_the_way_to_go"})

Content = TextPart | ReasoningPart | ImagePart | FilePart | OpaquePart


def shown_signature(signature: str) -> str:
    """A signature as clients of this API can hold it."""
    return base64.b64encode(signature.encode()).decode() if is_tagged(signature) else signature


def read_signature(found: dict[str, bytes], path: str) -> str | None:
    """The signature of a part, as its provider made it or with its origin's tag; None for a placeholder. Raises
    RequestError."""
    given: str | None = decode(found.get("thoughtSignature", b"null"), str | None, f"{path}.thoughtSignature")
    if not given or given in _STAND_INS:
        return None
    try:
        text = base64.b64decode(_padded(given), validate=True).decode()
    except (binascii.Error, ValueError):
        return given
    return text if is_tagged(text) else given


def _padded(text: str) -> str:
    """Base64 with its padding, which Python needs and Google does not."""
    text = plain_base64(text).rstrip("=")
    return text + "=" * (-len(text) % 4)


def check_data(found: dict[str, bytes], path: str) -> None:
    """Raises RequestError for a part with more than one kind of data: some of it would not be read."""
    held = [name for name in found if name in PART_DATA and found[name] not in (b"null", b'""')]
    if len(held) > 1:
        message = f"`{path}` holds {' and '.join(held)}: send a part for each"
        raise RequestError(message, param=path, code="invalid_value")


def read_content(raw: bytes, found: dict[str, bytes], path: str) -> Content:
    """Reads a part that is neither a call nor a result, given its members. Raises RequestError."""
    extra = rest(found)
    for name, read in _READERS.items():
        if found.get(name, b"null") != b"null":
            return read(found[name], extra, f"{path}.{name}")
    kind = next((name for name in found if name not in PART_FLAGS), None)
    if kind is not None and found.get("text", b"null") == b"null":
        return OpaquePart(kind, DIALECT, raw, path=path)
    if "text" not in found and "thoughtSignature" not in found:
        raise RequestError(f"`{path}` holds no data: a part has `text`, or another", param=path, code="invalid_value")
    text = decode(found.get("text", b'""'), str | None, f"{path}.text") or ""
    signature = read_signature(found, path)
    if found.get("thought") == b"true" or (not text and signature is not None):
        return ReasoningPart(text, signature, extra)
    return TextPart(text, extra, signature)


def rest(found: dict[str, bytes]) -> Members:
    """The members of a part that the model does not name."""
    return tuple((name, value) for name, value in found.items() if name not in _READ)


def _inline(raw: bytes, extra: Members, path: str) -> ImagePart | FilePart:
    blob = own_members(raw, path)
    data = _padded(_required(blob, "data", path))
    name, given, more = _described(blob, path)
    extra = (*extra, *more)
    media_type = media_type_of(given, name, data)
    if (media_type or "").startswith("image/"):
        return ImagePart(data=data, media_type=media_type, extra=extra, kind="inlineData", path=path)
    return FilePart(media_type, name, data=data, extra=extra, kind="inlineData", path=path)


def _file(raw: bytes, extra: Members, path: str) -> ImagePart | FilePart:
    file = own_members(raw, path)
    url = _required(file, "fileUri", path)
    name, media_type, more = _described(file, path)
    extra = (*extra, *more)
    if (media_type or "").startswith("image/"):
        return ImagePart(url=url, media_type=media_type, extra=extra, kind="fileData", path=path)
    return FilePart(media_type, name, url=url, extra=extra, kind="fileData", path=path)


def _required(found: dict[str, bytes], name: str, path: str) -> str:
    """A required member about the place or the kind of the data. Raises RequestError."""
    value: str | None = decode(found.get(name, b"null"), str | None, f"{path}.{name}")
    if not value:
        raise RequestError(f"`{path}.{name}` is required", param=f"{path}.{name}", code="missing_required_parameter")
    return value


def _described(found: dict[str, bytes], path: str) -> tuple[str | None, str | None, Members]:
    """A file's name, its media type, and the members that the model does not name."""
    name = decode(found.get("displayName", b"null"), str | None, f"{path}.displayName")
    media_type = decode(found.get("mimeType", b"null"), str | None, f"{path}.mimeType")
    return name, media_type, tuple((key, value) for key, value in found.items() if key not in _BLOB)


_READERS: dict[str, Callable[[bytes, Members, str], ImagePart | FilePart]] = {"inlineData": _inline, "fileData": _file}
