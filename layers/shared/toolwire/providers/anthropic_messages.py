"""Neutral messages written as Anthropic Messages: system text, turns that alternate, results first in theirs.

The API wants every result of a turn in the one user message right behind it, before anything else there; no empty
text; a user's message first. Nothing is dropped or moved to get there but what the API has no place for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from toolwire.model.errors import RequestError
from toolwire.model.request import (
    ChatRequest,
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
from toolwire.model.source import raw_in
from toolwire.providers.anthropic_models import Family
from toolwire.wire.anthropic_messages import DIALECT
from toolwire.wire.json import dump, is_object, write_array, write_object

_SYSTEM = ("system", "developer")
_IMAGES = ("image/jpeg", "image/png", "image/gif", "image/webp")

#: Stands where the API wants a user's text and the client has none.
_NO_TEXT = "(no text)"


def check_content(request: ChatRequest) -> None:
    """Raises RequestError (`unsupported_content`), naming the path, for content that Anthropic has no block for."""
    for number, message in enumerate(request.messages):
        for path, part in _content(message, f"messages[{number}].content"):
            if type(part) is OpaquePart and part.dialect != DIALECT:
                raise _refused(f"content of the kind {part.kind!r}", path, "send it as text or as an image")
            if type(part) is ImagePart:
                _check_image(part, message, path)


def _content(message: Message, path: str) -> Iterator[tuple[str, Part]]:
    """The parts of the message's content, or of its result's, each with its path."""
    parts: tuple[Part, ...] = message.parts
    if parts and type(parts[0]) is ToolResultPart:
        parts = parts[0].content
    shown = [part for part in parts if isinstance(part, TextPart | ImagePart | OpaquePart | RefusalPart)]
    for number, part in enumerate(shown):
        yield f"{path}[{number}]", part


def _check_image(part: ImagePart, message: Message, path: str) -> None:
    if message.role not in ("user", "tool"):
        raise _refused(f"an image in a message of role {message.role}", path, "send it in a message of role user")
    if part.data is not None and _media_type(part) not in _IMAGES:
        raise _refused(f"an image of the type {part.media_type!r}", path, f"send one of {', '.join(_IMAGES)}")
    if part.url is not None and not part.url.startswith("https://"):
        raise _refused("an image at this address", path, "send an https URL, or a base64 data: URL")


def _refused(what: str, path: str, fix: str) -> RequestError:
    return RequestError(
        f"`{path}`: {what} cannot be carried to this provider: {fix}", param=path, code="unsupported_content"
    )


def _media_type(part: ImagePart) -> str:
    return "image/jpeg" if part.media_type == "image/jpg" else part.media_type or "image/png"


# ---------------------------------------------------------------- turns


@dataclass(slots=True)
class Written:
    """A history as the API takes it. `system` is None where there is none."""

    system: bytes | None
    messages: bytes
    warnings: list[str] = field(default_factory=list)


def write_messages(request: ChatRequest, family: Family) -> Written:
    """The system text that leads the history, and its turns."""
    history = request.messages
    leading = next((n for n, message in enumerate(history) if message.role not in _SYSTEM), len(history))
    system = [block for message in history[:leading] for block in _blocks(message)]
    writer = _Writer(family)
    for message in history[leading:]:
        writer.add(message)
    return Written(write_array(system) if system else None, writer.end(), list(dict.fromkeys(writer.warnings)))


@dataclass(slots=True)
class _Turn:
    """One message of the API. `answer` is the user's turn behind an assistant's."""

    role: str
    results: list[bytes] = field(default_factory=list)
    blocks: list[bytes] = field(default_factory=list)
    answer: _Turn | None = None


class _Writer:
    """Joins messages into turns."""

    def __init__(self, family: Family) -> None:
        self._family = family
        self._turns: list[_Turn] = []
        self._callers: dict[str, _Turn] = {}  # call id -> the turn that made it
        self.warnings: list[str] = []

    def add(self, message: Message) -> None:
        if message.name is not None:
            self.warnings.append("not_supported:name")
        if message.role in _SYSTEM:
            self._add_system(message)
        elif message.role == "assistant":
            self._add_assistant(message)
        elif message.parts and type(message.parts[0]) is ToolResultPart:
            self._add_result(message.parts[0])
        else:
            self._turn("user").blocks += _blocks(message)
            if any(type(part) is ImagePart and part.detail not in (None, "auto") for part in message.parts):
                self.warnings.append("not_supported:detail")

    def end(self) -> bytes:
        """The turns as JSON. A turn of the user that says nothing, or that is missing at the beginning, says so."""
        if not self._turns or self._turns[0].role != "user":
            self._turns.insert(0, _Turn("user"))
        for turn in self._turns:
            if not turn.results and not turn.blocks:
                turn.blocks.append(_text(_NO_TEXT))
                self.warnings.append("empty_message")
        return write_array(
            write_object([("role", dump(turn.role)), ("content", write_array([*turn.results, *turn.blocks]))])
            for turn in self._turns
        )

    def _turn(self, role: str) -> _Turn:
        """The turn to go on with: the last one if it is of this role, else a new one."""
        last = self._turns[-1] if self._turns else None
        if last is not None and last.role == role:
            return last
        turn = _Turn(role)
        if last is not None:
            last.answer = turn
        self._turns.append(turn)
        return turn

    def _add_system(self, message: Message) -> None:
        """Where it stands: as a system message in families that have them, which they take behind a user's turn only;
        else as marked text of the user's."""
        blocks = _blocks(message)
        if not blocks:
            return
        if self._family.system_messages and self._turns and self._turns[-1].role != "assistant":
            self._turn("system").blocks += blocks
            return
        text = "\n".join(part.text for part in message.parts if type(part) is TextPart)
        self._turn("user").blocks.append(_text(f"<system>\n{text}\n</system>"))
        self.warnings.append("system_message_in_user_turn")

    def _add_assistant(self, message: Message) -> None:
        blocks = _blocks(message)
        if blocks or message.tool_calls:
            turn = self._turn("assistant")
            turn.blocks += blocks
            for call in message.tool_calls:
                turn.blocks.append(self._call(call))
                self._callers[call.id] = turn

    def _add_result(self, part: ToolResultPart) -> None:
        """Into the user's turn right behind the call's own, wherever the client put it."""
        caller = self._callers[part.tool_call_id]
        turn = caller.answer or self._turn("user")
        turn.results.append(_result(part))

    def _call(self, call: ToolCallPart) -> bytes:
        """Its arguments are an object there; the text of one stays what it is, digit by digit."""
        text = call.arguments
        if call.kind == "custom":
            given = dump({"input": text})
        elif not text.strip():
            given = b"{}"
        elif is_object(text):
            given = text.encode("utf-8", "backslashreplace")
        else:
            given = dump({"_raw_arguments": text})
            self.warnings.append("history_arguments_wrapped")
        return write_object(
            [("type", b'"tool_use"'), ("id", dump(call.id)), ("name", dump(call.name)), ("input", given)]
        )


# ---------------------------------------------------------------- blocks


def _blocks(message: Message) -> list[bytes]:
    """The blocks of everything but calls and results."""
    return [block for part in message.parts if (block := _block(part)) is not None]


def _block(part: Part) -> bytes | None:
    """One block; None for a part that says nothing, or that the API does not want back."""
    raw = raw_in(part, DIALECT)
    if raw is not None:
        return raw
    match part:
        case TextPart() | RefusalPart():
            return _text(part.text) if part.text.strip() else None
        case ImagePart():
            return write_object([("type", b'"image"'), ("source", _image(part))])
        case ReasoningPart(text, signature):
            if not signature:  # the API takes thinking back only with the proof that it is its own
                return None
            return dump({"type": "thinking", "thinking": text, "signature": signature})
        case OpaquePart():
            return part.raw
        case _:
            return None


def _text(text: str) -> bytes:
    return write_object([("type", b'"text"'), ("text", dump(text))])


def _image(part: ImagePart) -> bytes:
    if part.data is not None:
        return dump({"type": "base64", "media_type": _media_type(part), "data": part.data})
    return dump({"type": "url", "url": part.url})


def _result(part: ToolResultPart) -> bytes:
    members = [("type", b'"tool_result"'), ("tool_use_id", dump(part.tool_call_id))]
    blocks = [block for item in part.content if (block := _block(item)) is not None]
    if blocks:
        members.append(("content", write_array(blocks)))
    if part.is_error:
        members.append(("is_error", b"true"))
    return write_object(members)
