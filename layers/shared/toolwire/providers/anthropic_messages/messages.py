"""Neutral messages written as Anthropic Messages: system text, and turns that alternate
(`providers/user_and_model_turns.py`).

A client of the same API keeps each message that the gateway has not changed: it follows the API's rules itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import is_

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
    RequestFields,
    Role,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    split_instructions,
)
from toolwire.model.source import Members, Source, raw_in
from toolwire.model.warnings import Warnings
from toolwire.providers.anthropic_messages.models import Family
from toolwire.providers.user_and_model_turns import (
    Turn,
    Turns,
    arguments_object,
    marked_instructions,
)
from toolwire.rewrite.history import NO_TEXT
from toolwire.rewrite.images_and_files import ContentRules, Refusal, not_of_type, of_this_role, only_bytes, written_out
from toolwire.rewrite.prompt_cache import marks_of
from toolwire.wire.anthropic_messages import DIALECT
from toolwire.wire.json import dump, write_array, write_object

_IMAGES = ("image/jpeg", "image/png", "image/gif", "image/webp")


def _refusal(part: ImagePart | FilePart, role: Role) -> Refusal | None:
    if role not in ("user", "tool"):
        return of_this_role(part, role)
    if part.url is not None and not part.url.startswith("https://"):
        return only_bytes(part, "what has an address but no https URL")
    if isinstance(part, FilePart):
        return _file_refusal(part)
    taken = part.data is None or _media_type(part) in _IMAGES
    return None if taken else not_of_type(part, f"one of {', '.join(_IMAGES)}")


def _file_refusal(part: FilePart) -> Refusal | None:
    if part.file_id is not None:
        return only_bytes(part, "a file of another vendor's storage")
    if part.url is not None:
        taken = part.media_type in (PDF, None)
    else:
        taken = part.media_type == PDF or written_out(part) is not None
    return None if taken else not_of_type(part, "a PDF or an image")


#: Any document of text is one there too.
CONTENT = ContentRules(DIALECT, as_text=lambda _: False, refusal=_refusal, has_context=True)


def _media_type(part: ImagePart) -> str:
    return part.media_type or "image/png"


# ---------------------------------------------------------------- turns


@dataclass(slots=True)
class Written:
    """A history as the API takes it. `system` is None where there is none."""

    system: bytes | None
    messages: bytes
    warnings: Warnings = field(default_factory=Warnings)


def write_messages(request: ChatRequest, family: Family) -> Written:
    """The system text that leads the history, and its turns."""
    if (fields := request.fields_in(DIALECT)) is not None:
        return _own_messages(request, fields, family)
    leading, history = split_instructions(request.messages)
    system = [block for message in leading for block in _blocks(message)]
    writer = _Writer(family)
    for message in history:
        writer.add(message)
    return Written(write_array(system) if system else None, writer.end(), writer.warnings)


def _own_messages(request: ChatRequest, fields: RequestFields, family: Family) -> Written:
    """The messages of a client of the same API: the raw member if nothing has changed, else message by message."""
    members, parsed = dict(fields.members), fields.parsed
    if request.messages is parsed.messages:
        return Written(members.get("system"), members["messages"])
    writer = _Writer(family, keeps_extra=True)
    groups = _groups(parsed.messages)
    messages = list(request.messages)
    if "system" in members and messages and messages[0].source == Source(DIALECT, members["system"]):
        del messages[0]
    while messages:
        raw = raw_in(messages[0], DIALECT)
        group = groups.get(id(messages[0].source), ())
        if raw is not None and group and len(group) <= len(messages) and all(map(is_, messages, group)):
            writer.add_whole(group, raw)
            del messages[: len(group)]
        else:
            writer.add(messages.pop(0))
    return Written(members.get("system"), writer.end(), writer.warnings)


def _groups(messages: tuple[Message, ...]) -> dict[int, tuple[Message, ...]]:
    """Groups the neutral messages that were read from one message of the client's, by the source they share."""
    groups: dict[int, tuple[Message, ...]] = {}
    for message in messages:
        groups[id(message.source)] = (*groups.get(id(message.source), ()), message)
    return groups


class _Writer:
    """Joins messages into turns."""

    def __init__(self, family: Family, *, keeps_extra: bool = False) -> None:
        """`keeps_extra`: members that the model does not name are this API's own, and are kept."""
        self._family = family
        self._keeps_extra = keeps_extra
        self._turns = Turns()
        self.warnings = Warnings()

    def add(self, message: Message) -> None:
        if message.name is not None:
            self.warnings.add("not_supported:name")
        if message.role in INSTRUCTIONS:
            self._add_system(message)
        elif message.role == "assistant":
            self._add_assistant(message)
        elif message.parts and type(message.parts[0]) is ToolResultPart:
            self._add_result(message.parts[0], self._extra(message))
        else:
            turn = self._turns.open("user")
            turn.blocks += _blocks(message)
            turn.extra += self._extra(message)
            if any(type(part) is ImagePart and part.detail not in (None, "auto") for part in message.parts):
                self.warnings.add("not_supported:detail")

    def add_whole(self, group: tuple[Message, ...], raw: bytes) -> None:
        """Adds a message of the client's as it came, from which this group was read."""
        role = "user" if group[0].role == "tool" else group[0].role
        turn = self._turns.append(Turn(role, raw=raw))
        for message in group:
            self._turns.note_calls(turn, message.tool_calls)

    def end(self) -> bytes:
        """The turns as JSON."""
        return self._turns.end(_text(NO_TEXT), self.warnings)

    def _extra(self, node: Message | ToolCallPart | ToolResultPart) -> Members:
        return node.extra if self._keeps_extra else marks_of(node.extra)

    def _add_system(self, message: Message) -> None:
        """Writes instructions within the history: as a system message in families that know those, which must follow a
        user's turn; else as marked text in a user's turn."""
        blocks = _blocks(message)
        if not blocks:
            return
        if self._family.system_messages and self._turns.last_role not in (None, "assistant"):
            self._turns.open("system").blocks += blocks
            return
        marks = [mark for part in message.parts for mark in marks_of(part.extra)]
        self._turns.open("user").blocks.append(_text(marked_instructions(message), marks[-1:]))
        self.warnings.add("system_message_in_user_turn")

    def _add_assistant(self, message: Message) -> None:
        written = (self._call(part) if type(part) is ToolCallPart else _block(part) for part in message.parts)
        blocks = [block for block in written if block is not None]
        if blocks:
            turn = self._turns.open("assistant")
            turn.extra += self._extra(message)
            turn.blocks += blocks
            self._turns.note_calls(turn, message.tool_calls)

    def _add_result(self, part: ToolResultPart, extra: Members) -> None:
        turn = self._turns.answer_to(part.tool_call_id)
        turn.results.append(_result(part, self._extra(part)))
        turn.extra += extra

    def _call(self, call: ToolCallPart) -> bytes:
        raw = raw_in(call, DIALECT)
        if raw is not None:
            return raw
        given = arguments_object(call, self.warnings)
        named = [("type", b'"tool_use"'), ("id", dump(call.id)), ("name", dump(call.name)), ("input", given)]
        return write_object([*named, *self._extra(call)])


# ---------------------------------------------------------------- blocks


def _blocks(message: Message) -> list[bytes]:
    """The blocks of everything but calls and results."""
    return [block for part in message.parts if (block := _block(part)) is not None]


def _block(part: Part) -> bytes | None:
    """The block of a part; None for an empty part, or one that the API does not take back."""
    raw = raw_in(part, DIALECT)
    if raw is not None:
        return raw
    match part:
        case TextPart() | RefusalPart():
            return _text(part.text, marks_of(part.extra)) if part.text.strip() else None
        case ImagePart():
            return write_object([("type", b'"image"'), ("source", _image(part)), *marks_of(part.extra)])
        case FilePart():
            return _document(part)
        case ReasoningPart(text, signature):
            if not signature:  # the API takes thinking back only with its own signature
                return None
            return dump({"type": "thinking", "thinking": text, "signature": signature})
        case OpaquePart():
            return part.raw
        case _:
            return None


def _text(text: str, marks: Sequence[tuple[str, bytes]] = ()) -> bytes:
    return write_object([("type", b'"text"'), ("text", dump(text)), *marks])


def _image(part: ImagePart) -> bytes:
    if part.data is not None:
        return dump({"type": "base64", "media_type": _media_type(part), "data": part.data})
    return dump({"type": "url", "url": part.url})


def _document(part: FilePart) -> bytes:
    """A document: a PDF by its bytes or its address, or what a file of text says."""
    written = written_out(part)
    if written is None:
        told: dict[str, object] = {"type": "url", "url": part.url}
        if part.data is not None:
            told = {"type": "base64", "media_type": part.media_type, "data": part.data}
        source = dump(told)
    else:
        source = _written(written.content)
    members = [("type", b'"document"'), ("source", source)]
    members += [("title", dump(part.name))] if part.name else []
    members += [("context", dump(part.context))] if part.context else []
    return write_object([*members, *marks_of(part.extra)])


def _written(content: tuple[TextPart | ImagePart, ...]) -> bytes:
    """The source of a document whose content the client wrote out."""
    if len(content) == 1 and type(content[0]) is TextPart:
        return dump({"type": "text", "media_type": "text/plain", "data": content[0].text})
    blocks = write_array(block for part in content if (block := _block(part)) is not None)
    return write_object([("type", b'"content"'), ("content", blocks)])


def _result(part: ToolResultPart, extra: Members) -> bytes:
    raw = raw_in(part, DIALECT)
    if raw is not None:
        return raw
    members = [("type", b'"tool_result"'), ("tool_use_id", dump(part.tool_call_id))]
    blocks = [block for item in part.content if (block := _block(item)) is not None]
    if blocks:
        members.append(("content", write_array(blocks)))
    if part.is_error:
        members.append(("is_error", b"true"))
    return write_object([*members, *extra])
