"""The messages door's history: system text, turns and their blocks, each with the client's own bytes.

The neutral history has one message for each tool result. So a user's message with results becomes several messages, the
results first: every provider wants them right behind their calls. Each has the bytes of the whole message as its
`source`; together, unchanged and in this order, they are written as that message again.
"""

from __future__ import annotations

from typing import Any, cast

import msgspec

from toolwire.doors.typed_json import decode, member, required_messages
from toolwire.model.errors import RequestError
from toolwire.model.media_types import PDF, media_type_of, plain_base64, split_data_url
from toolwire.model.request import (
    FilePart,
    ImagePart,
    Message,
    OpaquePart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolReferencePart,
    ToolResultPart,
)
from toolwire.model.source import Source, replace, with_source
from toolwire.wire import anthropic_messages as wire
from toolwire.wire.json import dump, unnamed

_ROLES = ("user", "assistant", "system")

_MESSAGE = frozenset({"role", "content"})
#: Kinds of blocks that the neutral model has -> the members it names. Other kinds become opaque parts.
_BLOCKS = {
    "text": frozenset({"type", "text"}),
    "thinking": frozenset({"type", "thinking", "signature"}),
    "image": frozenset({"type", "source"}),
    "document": frozenset({"type", "source", "title", "context"}),
    "search_result": frozenset({"type", "source", "title", "content"}),
    "tool_use": frozenset({"type", "id", "name", "input"}),
    "tool_result": frozenset({"type", "tool_use_id", "content", "is_error"}),
    "tool_reference": frozenset({"type", "tool_name"}),
}
#: Kinds of blocks that only one role may have.
_ROLE_OF = {"tool_use": "assistant", "thinking": "assistant", "tool_result": "user"}


def read_history(top: dict[str, bytes]) -> tuple[Message, ...]:
    """The system text and the messages of a request, given its raw members. Raises RequestError."""
    history = _system(top)
    for number, raw in enumerate(required_messages(top)):
        history += _messages(raw, f"messages[{number}]")
    return tuple(history)


def _system(top: dict[str, bytes]) -> list[Message]:
    """The system text in front of the messages, as one message; none if it is empty."""
    content = member(top, "system", cast("type[str | list[msgspec.Raw]]", str | list[msgspec.Raw]))
    if not content:
        return []
    parts = tuple(own for part in _parts(content, "system", "system") for own in _accounting_apart(part))
    return [with_source(Message("system", parts), Source(wire.DIALECT, top["system"]))]


def _accounting_apart(part: Part) -> tuple[Part, ...]:
    """Splits a part of the system text that begins with Claude Code's billing line into that line and the rest."""
    if type(part) is not TextPart or not part.text.startswith(wire.BILLING):
        return (part,)
    line, _, text = part.text.partition("\n")
    apart = OpaquePart(wire.BILLING, wire.DIALECT, dump({"type": "text", "text": line}))
    return (apart, replace(part, text=text)) if text else (apart,)


def _messages(raw: bytes, path: str) -> list[Message]:
    """One message of the client's, as neutral ones: see the module."""
    shape = decode(raw, wire.RequestMessage, path)
    if shape.role not in _ROLES:
        raise RequestError(
            f"`{path}.role` must be one of {', '.join(_ROLES)}, not {shape.role!r}: system text goes into `system`, "
            "tool results into a user's message",
            param=f"{path}.role",
            code="invalid_value",
        )
    parts = _parts(shape.content, shape.role, f"{path}.content")
    results = [part for part in parts if type(part) is ToolResultPart]
    others = tuple(part for part in parts if type(part) is not ToolResultPart)
    extra = unnamed(raw, _MESSAGE)
    made = [Message("tool", (result,), extra=extra) for result in results]
    if others or not results:
        made.append(Message(shape.role, others, extra=extra))
    source = Source(wire.DIALECT, raw)
    return [with_source(message, source) for message in made]


def _parts(content: str | list[msgspec.Raw], role: str, path: str) -> tuple[Part, ...]:
    if isinstance(content, str):
        return (TextPart(content),)
    return tuple(_part(bytes(raw), role, f"{path}[{number}]") for number, raw in enumerate(content))


def _part(raw: bytes, role: str, path: str) -> Part:
    kind = decode(raw, wire.AnyBlock, path).type
    wanted = _ROLE_OF.get(kind, role)
    if wanted != role:
        raise RequestError(
            f"`{path}`: a block of the type {kind!r} belongs into a message of role {wanted}, not {role}",
            param=f"{path}.type",
            code="invalid_value",
        )
    read = _READERS.get(kind, _opaque)
    return with_source(read(raw, path), Source(wire.DIALECT, raw))


def _opaque(raw: bytes, path: str) -> OpaquePart:
    """A block that only Anthropic's own API understands: server tools, new kinds."""
    return OpaquePart(decode(raw, wire.AnyBlock, path).type, wire.DIALECT, raw, path=path)


def _text(raw: bytes, path: str) -> Part:
    return TextPart(decode(raw, wire.TextBlock, path).text, unnamed(raw, _BLOCKS["text"]))


def _compaction(raw: bytes, path: str) -> Part:
    """The summary of earlier turns, as text that any model can read."""
    text = decode(raw, wire.CompactionBlock, path).content
    return TextPart(text) if text else _opaque(raw, path)


def _thinking(raw: bytes, path: str) -> Part:
    block = decode(raw, wire.ThinkingBlock, path)
    return ReasoningPart(block.thinking or "", block.signature or None, unnamed(raw, _BLOCKS["thinking"]))


def _image(raw: bytes, path: str) -> Part:
    source = decode(raw, wire.ImageBlock, path).source
    extra = unnamed(raw, _BLOCKS["image"])
    if source.type == "base64" and source.data is not None:
        data = plain_base64(source.data)
        media_type = media_type_of(source.media_type, data=data)
        return ImagePart(data=data, media_type=media_type, extra=extra, kind="image", path=path)
    if source.type == "url" and source.url is not None:
        if (inside := split_data_url(source.url)) is not None:
            media_type = media_type_of(inside[0], data=inside[1])
            return ImagePart(data=inside[1], media_type=media_type, extra=extra, kind="image", path=path)
        return ImagePart(url=source.url, extra=extra, kind="image", path=path)
    if source.type == "file" and source.file_id is not None:
        file_id = source.file_id
        return FilePart("image/*", file_id=file_id, dialect=wire.DIALECT, extra=extra, kind="image", path=path)
    return _opaque(raw, path)


def _document(raw: bytes, path: str) -> Part:
    block = decode(raw, wire.DocumentBlock, path)
    source = block.source
    extra = unnamed(raw, _BLOCKS["document"])
    document = FilePart(name=block.title, context=block.context, extra=extra, kind="document", path=path)
    match source.type:
        case "base64" if source.data is not None:
            data = plain_base64(source.data)
            media_type = media_type_of(source.media_type, block.title, data)
            return replace(document, media_type=media_type, data=data)
        case "url" if source.url is not None:
            return replace(document, media_type=PDF, url=source.url)
        case "file" if source.file_id is not None:
            return replace(document, file_id=source.file_id, dialect=wire.DIALECT)
        case "text" if source.data is not None:
            return replace(document, media_type="text/plain", content=(TextPart(source.data),))
        case "content" if source.content is not None:
            return _written_out(document, source.content, f"{path}.source.content") or _opaque(raw, path)
        case _:
            return _opaque(raw, path)


def _search_result(raw: bytes, path: str) -> Part:
    """A result of the client's own search, as a document with its source as context."""
    block = decode(raw, wire.SearchResultBlock, path)
    extra = unnamed(raw, _BLOCKS["search_result"])
    document = FilePart(name=block.title, context=block.source, extra=extra, kind="search_result", path=path)
    return _written_out(document, block.content, f"{path}.content") or _opaque(raw, path)


def _written_out(document: FilePart, content: str | list[msgspec.Raw], path: str) -> FilePart | None:
    """The document with this content; None if some of it is neither text nor an image."""
    parts = _parts(content, "user", path)
    written = tuple(part for part in parts if isinstance(part, TextPart | ImagePart))
    return replace(document, media_type="text/plain", content=written) if len(written) == len(parts) else None


def _tool_use(raw: bytes, path: str) -> Part:
    block = decode(raw, wire.ToolUseBlock, path)
    given = bytes(block.input)
    if given[:1] == b'"':  # a call that was cut, in histories of several agents
        given = decode(given, str, f"{path}.input").encode("utf-8", "surrogatepass")
    elif given in (b"", b"null"):
        given = b"{}"
    _check_not_empty(block.id, f"{path}.id")
    _check_not_empty(block.name, f"{path}.name")
    return ToolCallPart(
        block.id, block.name, given.decode("utf-8", "surrogatepass"), extra=unnamed(raw, _BLOCKS["tool_use"])
    )


def _tool_result(raw: bytes, path: str) -> Part:
    block = decode(raw, wire.ToolResultBlock, path)
    _check_not_empty(block.tool_use_id, f"{path}.tool_use_id")
    content = cast(Any, _parts(block.content, "tool_result", f"{path}.content") if block.content is not None else ())
    extra = unnamed(raw, _BLOCKS["tool_result"])
    place = f"{path}.tool_use_id"
    return ToolResultPart(block.tool_use_id, content, is_error=bool(block.is_error), extra=extra, path=place)


def _tool_reference(raw: bytes, path: str) -> Part:
    name = decode(raw, wire.ToolReferenceBlock, path).tool_name
    return ToolReferencePart(name, unnamed(raw, _BLOCKS["tool_reference"]))


def _check_not_empty(value: str, path: str) -> None:
    if not value:
        raise RequestError(f"`{path}` must not be empty", param=path, code="missing_required_parameter")


_READERS = {
    "text": _text,
    "compaction": _compaction,
    "thinking": _thinking,
    "image": _image,
    "document": _document,
    "search_result": _search_result,
    "tool_use": _tool_use,
    "tool_result": _tool_result,
    "tool_reference": _tool_reference,
}
