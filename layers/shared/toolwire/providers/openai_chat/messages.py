"""Neutral messages written as Chat Completions. A node that came unchanged from a client of the same dialect is its own
bytes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from toolwire.model.errors import RequestError
from toolwire.model.map_request import map_messages, map_parts
from toolwire.model.media_types import data_url, file_name
from toolwire.model.request import (
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
)
from toolwire.model.source import Members, raw_in, replace
from toolwire.model.warnings import Warnings
from toolwire.providers.openai_chat.state import CALL_STATE, MESSAGE_STATE, state_members
from toolwire.providers.openai_chat.tools import split_members
from toolwire.rewrite.images_and_files import ContentRules, Refusal, is_audio, of_this_role, only_bytes
from toolwire.wire import openai_responses
from toolwire.wire.json import dump, elements, raw_members, write_array, write_object
from toolwire.wire.openai_chat import DIALECT, OPAQUE_PARTS


def write_message(message: Message, reasoning_field: str | None) -> bytes:
    """The message as JSON. `reasoning_field`: the member for reasoning that the host wants back; None: it wants
    none."""
    raw = raw_in(message, DIALECT)
    return raw if raw is not None else write_object(_message(message, reasoning_field))


def _message(message: Message, reasoning_field: str | None) -> Iterator[tuple[str, bytes]]:
    yield "role", dump(message.role)
    first = message.parts[0] if message.parts else None
    if type(first) is ToolResultPart:
        yield from _tool_result(first)
    else:
        yield from _content(message, reasoning_field)
        if message.name is not None:
            yield "name", dump(message.name)
    yield from message.extra


def _tool_result(part: ToolResultPart) -> Iterator[tuple[str, bytes]]:
    yield "tool_call_id", dump(part.tool_call_id)
    content = part.content
    first = content[0] if content else None
    if part.is_error and type(first) is TextPart:  # the Chat API has no error flag
        content = content if first.text.startswith("Error") else (TextPart(f"Error: {first.text}"), *content[1:])
    elif part.is_error:
        content = (TextPart("Error: "), *content)
    yield "content", _content_value(content, "\n")
    if part.name is not None:
        yield "name", dump(part.name)


def with_files_apart(request: ChatRequest) -> ChatRequest:
    """The request with the images and files of tool results moved to a user's message behind the results: a message of
    role tool holds only text."""
    if not any(map(_files, request.messages)):
        return request
    messages: list[Message] = []
    behind: list[Part] = []
    for message in request.messages:
        if message.role != "tool" and behind:
            messages.append(Message("user", tuple(behind)))
            behind = []
        if files := _files(message):
            part = message.parts[0]
            assert type(part) is ToolResultPart
            behind += (TextPart(f"What the tool call {part.tool_call_id} returned:"), *files)
            texts = tuple(item for item in part.content if not isinstance(item, ImagePart | FilePart))
            what = "An image" if all(type(item) is ImagePart for item in files) else "A file"
            content = (*texts, TextPart(f"({what}: it follows the tool results.)"))
            message = replace(message, parts=(replace(part, content=content),))
        messages.append(message)
    return replace(request, messages=(*messages, *([Message("user", tuple(behind))] if behind else [])))


def _files(message: Message) -> list[ImagePart | FilePart]:
    """The images and files of a tool's result."""
    part = message.parts[0] if message.parts else None
    if type(part) is not ToolResultPart:
        return []
    return [item for item in part.content if isinstance(item, ImagePart | FilePart)]


def _refusal(part: ImagePart | FilePart, role: Role) -> Refusal | None:
    if isinstance(part, ImagePart):
        return None
    if role not in ("user", "tool"):
        return of_this_role(part, role)
    if part.data is None and not _is_stored(part):
        return only_bytes(part, "a file by its address" if part.url else "a file of another vendor's storage")
    return None


def _is_stored(part: FilePart) -> bool:
    """Whether the file is in OpenAI's storage. A message cannot refer to an image there."""
    return part.dialect in (DIALECT, openai_responses.DIALECT) and part.media_type != "image/*"


CONTENT = ContentRules(DIALECT, as_text=lambda _: True, refusal=_refusal)


def _refusal_of_documents(part: ImagePart | FilePart, role: Role) -> Refusal | None:
    has_address = isinstance(part, FilePart) and part.url is not None and role in ("user", "tool")
    return None if has_address else _refusal(part, role)


#: At a host whose files are parts of the type `document_url`.
DOCUMENT_URLS = ContentRules(DIALECT, as_text=lambda _: True, refusal=_refusal_of_documents)


def with_document_urls(request: ChatRequest) -> ChatRequest:
    """The request with its files as parts of the type `document_url`: Mistral's."""
    return map_messages(request, lambda message: map_parts(message, _document_url))


def _document_url(part: Part) -> Part:
    if type(part) is not FilePart or is_audio(part) or part.file_id is not None:
        return part
    url = part.url or data_url(part.media_type, part.data or "")
    named = {"document_name": part.name} if part.name else {}
    return OpaquePart("document_url", DIALECT, dump({"type": "document_url", "document_url": url, **named}))


def with_known_members(request: ChatRequest, known: frozenset[str], warnings: Warnings) -> ChatRequest:
    """The request without members of messages, their parts and calls that a host does not know and refuses, with a
    warning for each that says something. `known`: what it takes beside what every host has."""

    def left_out(members: Members) -> None:
        warnings.add(*(f"not_supported:{name.rpartition('.')[2]}" for name, raw in members if raw not in _NOTHING))

    def known_part(part: Part) -> Part:
        left_out(part.extra)
        return replace(part, extra=()) if part.extra or _is_numbered(part) else part

    def known_message(message: Message) -> Message:
        message = map_parts(message, known_part)
        extra = tuple(member for member in message.extra if member[0] in known)
        name = message.name if "name" in known else None
        if extra == message.extra and name == message.name:
            return message
        left_out(tuple(member for member in message.extra if member not in extra))
        left_out((("name", b""),) if name != message.name else ())
        return replace(message, name=name, extra=extra)

    return map_messages(request, known_message)


def _is_numbered(part: Part) -> bool:
    """Whether a call has an `index`, as it had in a stream."""
    raw = raw_in(part, DIALECT) if type(part) is ToolCallPart else None
    return raw is not None and "index" in raw_members(raw)


#: Values without content, which SDKs send back.
_NOTHING = (b"null", b"[]", b"{}", b'""')


def without_refusals(request: ChatRequest) -> ChatRequest:
    """The request with the refusals of earlier turns as texts, for a host that has no member for them."""
    return map_messages(request, lambda message: map_parts(message, _refusal_as_text))


def _refusal_as_text(part: Part) -> Part:
    return TextPart(part.text) if type(part) is RefusalPart else part


def _content(message: Message, reasoning_field: str | None) -> Iterator[tuple[str, bytes]]:
    calls: list[ToolCallPart] = []
    reasoning: list[str] = []
    state: dict[str, bytes] = {}
    shown: list[Part] = []
    refusals: list[RefusalPart] = []
    for part in filter(_has_place, message.parts):
        if type(part) is ToolCallPart:
            calls.append(part)
        elif type(part) is ReasoningPart:
            reasoning.append(part.text)
            for name, value in _state(part.signature, MESSAGE_STATE, message.extra).items():
                joins = name in state and value.startswith(b"[")
                state[name] = write_array([*elements(state[name]), *elements(value)]) if joins else value
        elif type(part) is RefusalPart:
            refusals.append(part)
        else:
            shown.append(part)
    if "reasoning_opaque" in state and any(reasoning):
        reasoning_field = "reasoning_text"  # Copilot's name of what it has signed
    if reasoning and reasoning_field is not None:
        yield reasoning_field, dump("".join(reasoning))
    yield from state.items()
    if shown or not (calls or refusals):
        yield "content", _content_value(shown, "" if message.role == "assistant" else "\n")
    elif calls:
        yield "content", b"null"
    if refusals:
        yield "refusal", dump("".join(part.text for part in refusals))
    if calls:
        yield "tool_calls", write_array(_tool_call(call) for call in calls)


def _has_place(part: Part) -> bool:
    """Whether a message can hold the part. It cannot hold pictures and the like of an answer."""
    return not (type(part) is OpaquePart and part.dialect == DIALECT and part.kind in OPAQUE_PARTS)


def _content_value(parts: Sequence[Part], between: str) -> bytes:
    """The content: a plain string if there is only text, since every host takes that. `between` separates the texts."""
    if all(type(part) is TextPart and part.source is None and not part.extra for part in parts):
        return dump(between.join(part.text for part in parts if type(part) is TextPart))
    return write_array(_part(part) for part in parts)


def _part(part: Part) -> bytes:
    raw = raw_in(part, DIALECT)
    if raw is not None:
        return raw
    if type(part) is TextPart:
        return write_object([("type", b'"text"'), ("text", dump(part.text)), *part.extra])
    if type(part) is ImagePart:
        url = part.url or data_url(part.media_type or "image/png", part.data or "")
        image = [("url", dump(url))] + ([("detail", dump(part.detail))] if part.detail is not None else [])
        return write_object([("type", b'"image_url"'), ("image_url", write_object(image)), *part.extra])
    if type(part) is FilePart:
        return _file(part)
    if type(part) is OpaquePart and part.dialect == DIALECT:
        return part.raw
    kind = part.kind if type(part) is OpaquePart else type(part).__name__
    raise RequestError(
        f"this provider cannot take content of the kind {kind!r}; send it as text, or use a provider of the dialect it "
        "comes from",
        code="unsupported_content",
    )


def _file(part: FilePart) -> bytes:
    """A file by its bytes or its id at OpenAI; a recording by its bytes and its format."""
    if part.data is not None and is_audio(part):
        _, _, audio_format = (part.media_type or "").partition("/")
        shown: dict[str, object] = {"data": part.data, "format": audio_format}
        return write_object([("type", b'"input_audio"'), ("input_audio", dump(shown)), *part.extra])
    if part.data is None:
        shown = {"file_id": part.file_id}
    else:
        shown = {"filename": file_name(part.name, part.media_type), "file_data": data_url(part.media_type, part.data)}
    return write_object([("type", b'"file"'), ("file", dump(shown)), *part.extra])


def _tool_call(call: ToolCallPart) -> bytes:
    raw = raw_in(call, DIALECT)
    if raw is not None:
        return raw
    outer, within = split_members(call.extra, call.kind)
    arguments = "input" if call.kind == "custom" else "arguments"
    inner = write_object([("name", dump(call.name)), (arguments, dump(call.arguments)), *within])
    state = _state(call.signature, CALL_STATE, call.extra).items()
    return write_object([("id", dump(call.id)), ("type", dump(call.kind)), (call.kind, inner), *outer, *state])


def _state(signature: str | None, known: dict[str, bytes], given: Members) -> dict[str, bytes]:
    """The members for the state that the host wants back, without those that the client sent itself."""
    if signature is None:
        return {}
    brought = {name for name, _ in given}
    return {name: value for name, value in state_members(signature, known).items() if name not in brought}
