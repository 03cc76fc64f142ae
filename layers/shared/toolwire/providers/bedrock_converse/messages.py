"""Neutral messages written as Converse's: `system`, and turns that alternate, results first in theirs.

The API wants every result of a turn in the one user message right behind it; no empty text; a user's message first;
at least one block in a result. Nothing is dropped to get there but what the API has no place for.
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
from toolwire.model.source import Members
from toolwire.providers.bedrock_converse.answer import REDACTED
from toolwire.providers.bedrock_converse.models import Family
from toolwire.wire.bedrock_converse import DIALECT
from toolwire.wire.json import dump, is_object, members, write_array, write_object

_SYSTEM = ("system", "developer")

#: Media type -> the API's word for an image's format.
_IMAGES = {
    "image/gif": "gif", "image/jpeg": "jpeg", "image/jpg": "jpeg", "image/png": "png", "image/webp": "webp",
}  # fmt: skip

#: Stands where the API wants a text and the client has none.
_NO_TEXT = "(no text)"

#: The member by which clients mark the end of a prefix that is worth keeping in the prompt cache.
_CACHE_CONTROL = "cache_control"


@dataclass(slots=True)
class Written:
    """A history as the API takes it. `system` is None where there is none."""

    system: bytes | None
    messages: bytes
    has_tool_blocks: bool
    warnings: list[str] = field(default_factory=list)


def write_messages(request: ChatRequest, family: Family, instruction: str | None = None) -> Written:
    """The system text that leads the history, with an instruction of ours behind it, and the turns. Raises RequestError
    (`unsupported_content`), naming the path, for content that the API has no block for."""
    history = request.messages
    leading = next((n for n, message in enumerate(history) if message.role not in _SYSTEM), len(history))
    writer = _Writer(family)
    system = [block for number in range(leading) for block in writer.blocks(number, history[number])]
    if instruction is not None:
        system.append(_text(instruction))
    if system and not family.system:
        writer.turn("user").blocks += system
        writer.warnings.append("system_message_in_user_turn")
        system = []
    for number in range(leading, len(history)):
        writer.add(number, history[number])
    return Written(
        write_array(system) if system else None,
        writer.end(),
        writer.has_tool_blocks,
        list(dict.fromkeys(writer.warnings)),
    )


@dataclass(slots=True)
class _Turn:
    """One message of the API. `answer` is the user's turn behind an assistant's."""

    role: str
    results: list[bytes] = field(default_factory=list)
    blocks: list[bytes] = field(default_factory=list)
    answer: _Turn | None = None

    def written(self) -> bytes:
        return write_object([("role", dump(self.role)), ("content", write_array([*self.results, *self.blocks]))])


class _Writer:
    """Joins messages into turns."""

    def __init__(self, family: Family) -> None:
        self._family = family
        self._turns: list[_Turn] = []
        self._callers: dict[str, _Turn] = {}  # call id -> the turn that made it
        self.has_tool_blocks = False
        self.warnings: list[str] = []

    def add(self, number: int, message: Message) -> None:
        """The message at this place of the history, behind those before it."""
        if message.name is not None:
            self.warnings.append("not_supported:name")
        if message.role in _SYSTEM:
            self._add_system(message)
        elif message.role == "assistant":
            self._add_assistant(number, message)
        elif message.parts and type(message.parts[0]) is ToolResultPart:
            self._add_result(number, message.parts[0])
        else:
            self.turn("user").blocks += self.blocks(number, message)

    def end(self) -> bytes:
        """The turns as JSON. A turn that says nothing, or a user's that is missing at the beginning, says so."""
        if not self._turns or self._turns[0].role != "user":
            self._turns.insert(0, _Turn("user"))
        for turn in self._turns:
            if not turn.results and not turn.blocks:
                turn.blocks.append(_text(_NO_TEXT))
                self.warnings.append("empty_message")
        return write_array(turn.written() for turn in self._turns)

    def turn(self, role: str) -> _Turn:
        """The turn to go on with: the last one if it is of this role, else a new one."""
        if self._turns and self._turns[-1].role == role:
            return self._turns[-1]
        turn = _Turn(role)
        if self._turns:
            self._turns[-1].answer = turn
        self._turns.append(turn)
        return turn

    def blocks(self, number: int, message: Message) -> list[bytes]:
        """The blocks of everything but calls and results, each with its cache point behind it."""
        return [
            block
            for path, part in _content(message.parts, f"messages[{number}].content")
            for block in (*self._block(part, path), *self._cache_point(part.extra))
        ]

    def _add_system(self, message: Message) -> None:
        """There is no such role inside a conversation: told in the user's turn, and marked."""
        text = "\n".join(part.text for part in message.parts if type(part) is TextPart)
        if text.strip():
            self.turn("user").blocks.append(_text(f"<system>\n{text}\n</system>"))
            self.warnings.append("system_message_in_user_turn")

    def _add_assistant(self, number: int, message: Message) -> None:
        blocks: list[bytes] = []
        for path, part in _content(message.parts, f"messages[{number}].content"):
            blocks += (*self._block(part, path), *self._cache_point(part.extra))
        if not blocks:
            return
        turn = self.turn("assistant")
        turn.blocks += blocks
        self._callers |= {call.id: turn for call in message.tool_calls}

    def _add_result(self, number: int, part: ToolResultPart) -> None:
        """Into the user's turn right behind the call's own, wherever the client put it."""
        caller = self._callers.get(part.tool_call_id)
        turn = (caller.answer if caller is not None else None) or self.turn("user")
        turn.results += (self._result(number, part), *self._cache_point(part.extra))
        self.has_tool_blocks = True

    # ------------------------------------------------------------ blocks

    def _block(self, part: Part, path: str) -> list[bytes]:
        """The block of a part; none for one that says nothing, or that the API does not want back."""
        match part:
            case TextPart() | RefusalPart():
                return [_text(part.text)] if part.text.strip() else []
            case ImagePart():
                return [_image(part, path)]
            case ReasoningPart():
                return _reasoning(part)
            case ToolCallPart():
                self.has_tool_blocks = True
                return [self._call(part)]
            case OpaquePart():
                if part.dialect == DIALECT:
                    return [part.raw]
                raise _refused(f"content of the kind {part.kind!r}", path, "send it as text or as an image")
            case _:
                return []

    def _call(self, call: ToolCallPart) -> bytes:
        """Its arguments are an object there; the text of one stays what it is, digit by digit."""
        text = call.arguments
        if not text.strip():
            given = b"{}"
        elif is_object(text):
            given = text.encode("utf-8", "backslashreplace")
        else:
            given = dump({"_raw_arguments": text})
            self.warnings.append("history_arguments_wrapped")
        use = [("toolUseId", dump(call.id)), ("name", dump(call.name)), ("input", given)]
        return write_object([("toolUse", write_object(use))])

    def _result(self, number: int, part: ToolResultPart) -> bytes:
        items = [
            block
            for path, item in _content(part.content, f"messages[{number}].content")
            for block in self._block(item, path)
        ]
        told = part.is_error and self._family.result_status
        if part.is_error and not told and not _says_error(part):
            items.insert(0, _text("Error:"))
        use = [
            ("toolUseId", dump(part.tool_call_id)),
            ("content", write_array(items or [_text(_NO_TEXT)])),
            *([("status", b'"error"')] if told else []),
        ]
        return write_object([("toolResult", write_object(use))])

    def _cache_point(self, extra: Members) -> list[bytes]:
        """The block behind what a client has marked for the prompt cache."""
        return cache_point(extra, self._family.cache_points, self.warnings)


def cache_point(extra: Members, is_known: bool, warnings: list[str]) -> list[bytes]:
    """The cache point that a node's own members ask for: none, or one. A warning where the model has none."""
    marked = dict(extra).get(_CACHE_CONTROL, b"null")
    if marked == b"null":
        return []
    if not is_known:
        warnings.append(f"not_supported:{_CACHE_CONTROL}")
        return []
    point: list[tuple[str, bytes]] = [("type", b'"default"')]
    if is_object(marked) and (ttl := members(marked).get("ttl")) in (b'"5m"', b'"1h"'):
        point.append(("ttl", ttl))
    return [write_object([("cachePoint", write_object(point))])]


def _content(parts: tuple[Part, ...], path: str) -> Iterator[tuple[str, Part]]:
    """The parts, each with the path at which a client knows it."""
    shown = 0
    for part in parts:
        if isinstance(part, TextPart | ImagePart | OpaquePart | RefusalPart):
            yield f"{path}[{shown}]", part
            shown += 1
        else:
            yield path, part


def _says_error(part: ToolResultPart) -> bool:
    first = part.content[0] if part.content else None
    return type(first) is TextPart and first.text.lower().startswith("error")


def _text(text: str) -> bytes:
    return write_object([("text", dump(text))])


def _reasoning(part: ReasoningPart) -> list[bytes]:
    """Reasoning with the proof that it is the model's own; without one the API refuses it."""
    if not part.signature:
        return []
    if part.signature.startswith(REDACTED):
        content: dict[str, object] = {"redactedContent": part.signature.removeprefix(REDACTED)}
    else:
        content = {"reasoningText": {"text": part.text, "signature": part.signature}}
    return [dump({"reasoningContent": content})]


def _image(part: ImagePart, path: str) -> bytes:
    if part.data is None:
        raise _refused("an image by its address", path, "send the image itself, as base64 (a data: URL)")
    image_format = _IMAGES.get(part.media_type or "image/png")
    if image_format is None:
        raise _refused(f"an image of the type {part.media_type!r}", path, "send image/png, jpeg, gif or webp")
    return dump({"image": {"format": image_format, "source": {"bytes": part.data}}})


def _refused(what: str, path: str, fix: str) -> RequestError:
    return RequestError(
        f"`{path}`: {what} cannot be carried to this provider: {fix}", param=path, code="unsupported_content"
    )
