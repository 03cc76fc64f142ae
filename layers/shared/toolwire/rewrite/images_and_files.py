"""Rewrites images and files to the forms that a wire has. Others become text, or are refused with their exact path.

Nothing is left out in silence: either the bytes of a part arrive, or an error names the part and what to send instead,
in the words of the client's own API.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from toolwire.model.errors import RequestError
from toolwire.model.map_request import map_messages, same_if_unchanged, with_parts
from toolwire.model.media_types import is_text
from toolwire.model.request import (
    ChatRequest,
    FilePart,
    ImagePart,
    Message,
    OpaquePart,
    Part,
    Role,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from toolwire.model.source import replace
from toolwire.model.warnings import Warnings
from toolwire.rewrite.unseen_images import IMAGES_IN_WORDS, in_words, newest_turn
from toolwire.wire.server_tools import is_reasoning_part

#: The fault of a part, and what to send instead.
Refusal = tuple[str, str]

#: Warning: a document was sent as text.
DOCUMENT_AS_TEXT = "document_as_text"

#: The client's word for a part -> how to send its bytes in that API.
_WITH_BYTES = {
    "document": 'send the file itself in a `source` of the type "base64"',
    "image": 'send the image itself in a `source` of the type "base64"',
    "file": "send the file itself in `file.file_data`, as a data: URL",
    "input_file": "send the file itself in `file_data`, as a data: URL",
    "image_url": "send the image itself in `image_url.url`, as a data: URL",
    "input_image": "send the image itself in `image_url`, as a data: URL",
}


@dataclass(frozen=True, slots=True)
class ContentRules:
    """The content that a wire can carry."""

    dialect: str
    #: Whether a text file is sent as a text part, with its title in front.
    as_text: Callable[[FilePart], bool]
    #: Returns the refusal of a part in a message of this role; None if it is allowed. A tool's results have the role
    #: "tool".
    refusal: Callable[[ImagePart | FilePart, Role], Refusal | None]
    #: Whether a document can have the client's note about it; else the note becomes a text in front of the document.
    has_context: bool = False


def with_carried_content(request: ChatRequest, rules: ContentRules, provider: str, warnings: Warnings) -> ChatRequest:
    """The request with only content that the wire can carry; the same object if it has no other. Other content of
    tools' results and earlier turns becomes words. In the user's newest turn, and in a system message, it raises
    RequestError (`unsupported_content`), naming the path."""
    carrier = _Carrier(rules, provider, warnings, newest_turn(request.messages))
    return map_messages(request, carrier.message)


@dataclass(slots=True)
class _Carrier:
    rules: ContentRules
    provider: str
    warnings: Warnings
    #: How many messages are before the user's newest turn.
    earlier: int

    def message(self, message: Message) -> Message:
        self.earlier -= 1
        return with_parts(message, self._parts(message.parts, message.role))

    def _parts(self, parts: tuple[Any, ...], role: Role) -> tuple[Any, ...]:
        return same_if_unchanged(parts, [new for part in parts for new in self._part(part, role)])

    def _part(self, part: Part, role: Role) -> tuple[Part, ...]:
        if type(part) is TextPart or type(part) is ToolCallPart:  # nearly all
            return (part,)
        match part:
            case ToolResultPart(content=content):
                carried = self._parts(content, "tool")
                return (part if carried is content else replace(part, content=carried),)
            case ImagePart():
                return (self._checked(part, role),)
            case FilePart():
                written = written_out(part) if self.rules.as_text(part) else None
                if written is not None:
                    self.warnings.add(DOCUMENT_AS_TEXT)
                    return tuple(self._checked(new, role) for new in _as_text(written))
                checked = self._checked(part, role)
                if part.context and not self.rules.has_context:
                    return TextPart("\n\n".join(_about(part))), replace(checked, context=None)
                return (checked,)
            case OpaquePart() if part.dialect != self.rules.dialect:
                if is_reasoning_part(part.dialect, part.kind):
                    self.warnings.add("state_left_out")
                    return ()
                raise self._refused(part, f"content of the type {part.kind!r}", "send it as text, an image or a file")
            case _:
                return (part,)

    def _checked(self, part: Any, role: Role) -> Any:
        refusal = self.rules.refusal(part, role) if isinstance(part, ImagePart | FilePart) else None
        if refusal is None:
            return part
        if self.earlier >= 0 and role not in ("system", "developer"):
            self.warnings.add(IMAGES_IN_WORDS)
            return TextPart(in_words(refusal[0], part))
        raise self._refused(part, *refusal)

    def _refused(self, part: ImagePart | FilePart | OpaquePart, what: str, fix: str) -> RequestError:
        path = part.path or "messages"
        return RequestError(
            f"`{path}`: {what} cannot be sent to {self.provider}: {fix}", param=path, code="unsupported_content"
        )


def written_out(part: FilePart) -> FilePart | None:
    """The file with its text as `content`; None for a file that is no text."""
    if part.content:
        return part
    if part.data is None or not is_text(part.media_type):
        return None
    try:
        text = base64.b64decode(part.data, validate=True).decode("utf-8-sig")
    except (binascii.Error, UnicodeDecodeError):
        return None
    return replace(part, data=None, content=(TextPart(text),))


def _as_text(document: FilePart) -> tuple[TextPart | ImagePart, ...]:
    """The document with its title: one text if it is only text, else the title in front of its parts."""
    told = _about(document)
    content = document.content
    if all(type(part) is TextPart for part in content):
        return (TextPart("\n\n".join([*told, *(part.text for part in content if type(part) is TextPart)])),)
    return (*([TextPart("\n\n".join(told))] if told else []), *content)


def _about(document: FilePart) -> list[str]:
    """What the client says about a document: its title, and what the title leaves open."""
    return [text for text in (document.name, document.context) if text]


# ---------------------------------------------------------------- refusals


def of_this_role(part: ImagePart | FilePart, role: Role) -> Refusal:
    """The refusal of a part that is only allowed in a user's message."""
    what = "an image" if type(part) is ImagePart else "a file"
    return f"{what} in a message of role {role}", "send it in a message of role user"


def only_bytes(part: ImagePart | FilePart, what: str) -> Refusal:
    """The refusal of a part that refers to its bytes in a way that the provider cannot resolve."""
    return what, _WITH_BYTES.get(part.kind, "send the file itself")


def not_of_type(part: ImagePart | FilePart, taken: str) -> Refusal:
    """The refusal of a type of file. `taken`: the types that the provider takes, in words."""
    kinds = {"audio": "a recording", "video": "a video"}
    what = "an image" if type(part) is ImagePart else kinds.get((part.media_type or "").partition("/")[0], "a file")
    said = f"of the type {part.media_type!r}" if part.media_type else "whose type is not said"
    text = "input_text" if part.path.startswith("input") else "text"
    return f"{what} {said}", f"send {taken}, or what it says as a part of the type {text!r}"


def is_audio(part: ImagePart | FilePart) -> bool:
    """Whether the part is an audio recording."""
    return part.media_type is not None and part.media_type.startswith("audio/")
