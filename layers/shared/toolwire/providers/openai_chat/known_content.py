"""Writes the content of messages in the form that a host takes, once it has refused another: lists of texts, null, or
nothing at all. OpenAI takes them all, and so a client's history may have any of them."""

from __future__ import annotations

from toolwire.model.map_request import map_content, map_messages, map_parts
from toolwire.model.request import (
    ChatRequest,
    FilePart,
    ImagePart,
    Message,
    OpaquePart,
    Part,
    RefusalPart,
    TextPart,
    ToolResultPart,
)
from toolwire.model.source import raw_in, replace
from toolwire.model.warnings import Warnings
from toolwire.providers.profiles import Profile
from toolwire.rewrite.history import NO_TEXT
from toolwire.wire.json import raw_members
from toolwire.wire.openai_chat import DIALECT


def with_known_content(request: ChatRequest, profile: Profile, warnings: Warnings) -> ChatRequest:
    """The request with each message's content in a form that the host takes, as far as its refusals have told it.
    Content with an image or a file stays a list."""
    if not profile.content_lists:
        request = map_messages(request, lambda message: _as_one_text(message, warnings))
    if not profile.empty_content:
        request = map_messages(request, _unless_empty)
    if not profile.null_content:
        nothing = "" if profile.empty_content else NO_TEXT
        request = map_messages(request, lambda message: _not_null(message, nothing))
    return request


# ---------------------------------------------------------------- lists


def _as_one_text(message: Message, warnings: Warnings) -> Message:
    """A message with nothing but texts in its content: they are written as one string, since none is a part of a list
    any more."""

    def plain(part: Part) -> Part:
        if type(part) is not TextPart or (part.source is None and not part.extra):
            return part
        warnings.add(*(f"not_supported:{name}" for name, _ in part.extra))
        return replace(part, extra=())

    def of_result(part: Part) -> Part:
        return map_content(part, plain) if type(part) is ToolResultPart and _is_text(part.content) else part

    if message.role == "tool":
        return map_parts(message, of_result)
    return map_parts(message, plain) if _is_text(message.parts) else message


def _is_text(parts: tuple[Part, ...]) -> bool:
    """Whether what is shown of the parts is text only."""
    return not any(isinstance(part, ImagePart | FilePart | OpaquePart) for part in parts)


# ---------------------------------------------------------------- nothing


def _unless_empty(message: Message) -> Message:
    """The message written anew where its content is an empty string beside calls, which is no part of it."""
    return replace(message) if message.tool_calls and _raw_content(message) == b'""' else message


def _not_null(message: Message, nothing: str) -> Message:
    """The message with a string for content that would be null, or left out. `nothing`: the string."""
    if message.tool_calls:
        has_text = any(isinstance(part, TextPart | RefusalPart) for part in message.parts)
        return message if has_text else replace(message, parts=(TextPart(nothing), *message.parts))
    return replace(message) if _raw_content(message) == b"null" else message  # written anew, it is a string


def _raw_content(message: Message) -> bytes | None:
    """The content as the client wrote it, `null` where it left it out; None where the message is written anew."""
    raw = raw_in(message, DIALECT)
    return bytes(raw_members(raw).get("content", b"null")) if raw is not None else None
