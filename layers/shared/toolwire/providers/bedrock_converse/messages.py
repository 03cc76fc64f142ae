"""Neutral messages written as Converse's: `system`, and turns that alternate (`providers/user_and_model_turns.py`).

The API also wants at least one block in a result.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import msgspec

from toolwire.model.map_request import map_messages, map_parts
from toolwire.model.media_types import PDF
from toolwire.model.request import (
    INSTRUCTIONS,
    ChatRequest,
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
    split_instructions,
)
from toolwire.model.source import Members
from toolwire.model.warnings import Warnings
from toolwire.providers.bedrock_converse.answer_blocks import REDACTED
from toolwire.providers.bedrock_converse.models import Family
from toolwire.providers.user_and_model_turns import (
    Turns,
    arguments_object,
    marked_instructions,
)
from toolwire.rewrite.history import NO_TEXT
from toolwire.rewrite.images_and_files import ContentRules, Refusal, not_of_type, of_this_role, only_bytes, written_out
from toolwire.rewrite.prompt_cache import marks_of
from toolwire.wire.bedrock_converse import DIALECT
from toolwire.wire.json import dump, members, write_array, write_object

#: Media type -> the API's word for an image's format.
_IMAGES = {
    "image/gif": "gif", "image/jpeg": "jpeg", "image/png": "png", "image/webp": "webp",
}  # fmt: skip


@dataclass(slots=True)
class Written:
    """A history as the API takes it. `system` is None where there is none."""

    system: bytes | None
    messages: bytes
    has_tool_blocks: bool
    warnings: Warnings = field(default_factory=Warnings)


#: Media type -> the API's word for a document's format. What is text is sent as text.
_DOCUMENTS = {
    PDF: "pdf", "application/msword": "doc", "application/vnd.ms-excel": "xls",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
}  # fmt: skip

#: What the name of a document may not hold. The API allows letters, digits, single spaces, hyphens and brackets.
_UNFIT = re.compile(r"[^A-Za-z0-9()\[\] -]+")


def _refusal(part: ImagePart | FilePart, role: Role) -> Refusal | None:
    if role not in ("user", "tool"):
        return of_this_role(part, role)
    if isinstance(part, ImagePart):
        if part.data is None:
            return only_bytes(part, "an image by its address")
        return (
            None if (part.media_type or "image/png") in _IMAGES else not_of_type(part, f"one of {', '.join(_IMAGES)}")
        )
    if part.file_id is not None or part.url is not None:
        return only_bytes(part, "a file by its address or its id")
    taken = part.media_type in _DOCUMENTS or written_out(part) is not None
    return None if taken else not_of_type(part, "a PDF, a document of an office program, or an image")


def _has_images(part: FilePart) -> bool:
    return any(type(item) is ImagePart for item in part.content)


#: The content that Converse knows. It has no form for a document that the client wrote out with images, whose parts are
#: sent.
CONTENT = ContentRules(DIALECT, as_text=_has_images, refusal=_refusal, has_context=True)


def with_own_redacted(request: ChatRequest) -> ChatRequest:
    """The request with a Messages client's redacted thinking in this API's form; the same object if it has none."""

    def adapted(part: Part) -> Part:
        if type(part) is not OpaquePart or part.kind != "redacted_thinking":
            return part
        data = members(part.raw).get("data", b'""')
        return ReasoningPart("", REDACTED + msgspec.json.decode(data, type=str))

    return map_messages(request, lambda message: map_parts(message, adapted))


def write_messages(request: ChatRequest, family: Family, instruction: str | None = None) -> Written:
    """Writes the leading system text, with an instruction of the gateway's behind it, and the turns. The request must
    hold only content that the API knows: see `CONTENT`."""
    leading, history = split_instructions(request.messages)
    writer = _Writer(family)
    system = [block for message in leading for block in writer.blocks(message)]
    if instruction is not None:
        system.append(_text(instruction))
    if system and not family.system:
        writer.turns.open("user").blocks += system
        writer.warnings.add("system_message_in_user_turn")
        system = []
    for message in history:
        writer.add(message)
    return Written(
        write_array(system) if system else None,
        writer.end(),
        writer.has_tool_blocks,
        writer.warnings,
    )


class _Writer:
    """Joins messages into turns."""

    def __init__(self, family: Family) -> None:
        self._family = family
        self.turns = Turns()
        self._names: set[str] = set()  # of documents
        self.has_tool_blocks = False
        self.warnings = Warnings()

    def add(self, message: Message) -> None:
        """The next message of the history."""
        if message.name is not None:
            self.warnings.add("not_supported:name")
        if message.role in INSTRUCTIONS:
            self._add_system(message)
        elif message.role == "assistant":
            self._add_assistant(message)
        elif message.parts and type(message.parts[0]) is ToolResultPart:
            self._add_result(message.parts[0])
        else:
            self.turns.open("user").blocks += self._needed_text(message) + self.blocks(message)

    def end(self) -> bytes:
        """The turns as JSON."""
        return self.turns.end(_text(NO_TEXT), self.warnings)

    def blocks(self, message: Message) -> list[bytes]:
        """The blocks of everything but results, each with its cache point behind it."""
        return [block for part in message.parts for block in (*self._block(part), *cache_point(part.extra))]

    def _needed_text(self, message: Message) -> list[bytes]:
        """The text that the API wants beside a document, if the client has written none."""
        has_text = any(type(part) is TextPart and part.text.strip() for part in message.parts)
        has_file = any(type(part) is FilePart for part in message.parts)
        return [_text(NO_TEXT)] if has_file and not has_text else []

    def _add_system(self, message: Message) -> None:
        """Writes an instruction into the user's turn, marked: a conversation has no system role here."""
        if any(type(part) is TextPart and part.text.strip() for part in message.parts):
            points = [point for part in message.parts for point in cache_point(part.extra)]
            self.turns.open("user").blocks += (_text(marked_instructions(message)), *points[-1:])
            self.warnings.add("system_message_in_user_turn")

    def _add_assistant(self, message: Message) -> None:
        blocks = self.blocks(message)
        if blocks:
            turn = self.turns.open("assistant")
            turn.blocks += blocks
            self.turns.note_calls(turn, message.tool_calls)

    def _add_result(self, part: ToolResultPart) -> None:
        turn = self.turns.answer_to(part.tool_call_id)
        turn.results += (self._result(part), *cache_point(part.extra))
        self.has_tool_blocks = True

    # ------------------------------------------------------------ blocks

    def _block(self, part: Part) -> list[bytes]:
        """The block of a part; none for an empty part, or one that the API does not take back."""
        match part:
            case TextPart() | RefusalPart():
                return [_text(part.text)] if part.text.strip() else []
            case ImagePart():
                return [_image(part)]
            case FilePart():
                return [_document(part, self._name(part))]
            case ReasoningPart():
                return _reasoning(part)
            case ToolCallPart():
                self.has_tool_blocks = True
                return [self._call(part)]
            case OpaquePart():
                return [part.raw]
            case _:
                return []

    def _call(self, call: ToolCallPart) -> bytes:
        given = arguments_object(call, self.warnings)
        use = [("toolUseId", dump(call.id)), ("name", dump(call.name)), ("input", given)]
        return write_object([("toolUse", write_object(use))])

    def _name(self, part: FilePart) -> str:
        """A name for a document: valid for the API, and unique in the request."""
        base = " ".join(_UNFIT.sub(" ", part.name or "document").split())[:180] or "document"
        name, number = base, 1
        while name in self._names:
            number += 1
            name = f"{base} {number}"
        self._names.add(name)
        return name

    def _result(self, part: ToolResultPart) -> bytes:
        items = [block for item in part.content for block in self._block(item)]
        told = part.is_error and self._family.result_status
        if part.is_error and not told and not _says_error(part):
            items.insert(0, _text("Error:"))
        use = [
            ("toolUseId", dump(part.tool_call_id)),
            ("content", write_array(items or [_text(NO_TEXT)])),
            *([("status", b'"error"')] if told else []),
        ]
        return write_object([("toolResult", write_object(use))])


def cache_point(extra: Members) -> list[bytes]:
    """The block behind a node that the client has marked for the prompt cache; none behind other nodes."""
    marks = marks_of(extra)
    if not marks:
        return []
    ttl = members(marks[0][1]).get("ttl")
    point: list[tuple[str, bytes]] = [("type", b'"default"')]
    if ttl in (b'"5m"', b'"1h"'):
        point.append(("ttl", ttl))
    return [write_object([("cachePoint", write_object(point))])]


def _says_error(part: ToolResultPart) -> bool:
    first = part.content[0] if part.content else None
    return type(first) is TextPart and first.text.lower().startswith("error")


def _text(text: str) -> bytes:
    return write_object([("text", dump(text))])


def _reasoning(part: ReasoningPart) -> list[bytes]:
    """Reasoning with its signature; without one the API refuses it."""
    if not part.signature:
        return []
    if part.signature.startswith(REDACTED):
        content: dict[str, object] = {"redactedContent": part.signature.removeprefix(REDACTED)}
    else:
        content = {"reasoningText": {"text": part.text, "signature": part.signature}}
    return [dump({"reasoningContent": content})]


def _image(part: ImagePart) -> bytes:
    image_format = _IMAGES[part.media_type or "image/png"]
    return dump({"image": {"format": image_format, "source": {"bytes": part.data}}})


def _document(part: FilePart, name: str) -> bytes:
    """A document: its bytes, or its text."""
    document: dict[str, object] = {"format": "txt", "name": name}
    written = written_out(part)
    if written is not None:
        said = "\n\n".join(item.text for item in written.content if type(item) is TextPart)
        document["source"] = {"text": said or NO_TEXT}
    else:
        document |= {"format": _DOCUMENTS[part.media_type or ""], "source": {"bytes": part.data}}
    return dump({"document": document | ({"context": part.context} if part.context else {})})
