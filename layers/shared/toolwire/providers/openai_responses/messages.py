"""Writes neutral messages as the input items of Responses. Reasoning and calls of a message become items of their own,
in order. An unchanged node of a client of the same dialect keeps its bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from toolwire.model.errors import RequestError
from toolwire.model.media_types import data_url, file_name
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
)
from toolwire.model.source import Members, raw_in
from toolwire.model.warnings import Warnings
from toolwire.rewrite.images_and_files import ContentRules, Refusal, is_audio, not_of_type, of_this_role, only_bytes
from toolwire.rewrite.prompt_cache import marks_of
from toolwire.wire import openai_chat
from toolwire.wire.json import dump, is_object, write_array, write_object
from toolwire.wire.openai_client_tools import CALLS, ITEM, call_members, output_members
from toolwire.wire.openai_responses import DIALECT, FOUND, SEARCH_CALL, SEARCH_OUTPUT, flat_name


@dataclass(slots=True)
class Written:
    """A history as the API takes it. `instructions` is None where there are none."""

    instructions: bytes | None
    input: bytes
    warnings: Warnings = field(default_factory=Warnings)


def write_input(request: ChatRequest, *, same_dialect: bool, reasoning_text: bool) -> Written:
    """Returns the leading instructions, and the items. A client of this dialect has its instructions in its own member.
    `reasoning_text`: the host wants reasoning back that it has not encrypted. Raises RequestError
    (`unsupported_content`), naming the path, for content that this API does not have."""
    writer = _Writer(request, same_dialect, reasoning_text)
    leading = 0 if same_dialect else _leading(request.messages)
    for number, message in enumerate(request.messages):
        if number >= leading:
            writer.add(message, f"messages[{number}]")
    # A block of the text does not run into the next: Claude Code and Gemini's clients send several.
    texts = (_text(message.parts, "\n") for message in request.messages[:leading])
    instructions = "\n\n".join(text for text in texts if text)
    return Written(dump(instructions) if instructions else None, write_array(writer.items), writer.warnings)


def _leading(history: Sequence[Message]) -> int:
    """The number of leading messages that become `instructions`: the first ones of the operator's, if they are plain
    text and other messages follow."""
    for number, message in enumerate(history):
        plain = all(type(part) is TextPart and not part.extra for part in message.parts)
        if message.role not in INSTRUCTIONS or not plain:
            return number
    return 0


def _text(parts: Sequence[Part], between: str = "") -> str:
    return between.join(part.text for part in parts if type(part) is TextPart)


class _Writer:
    """Writes the items."""

    def __init__(self, request: ChatRequest, same_dialect: bool, reasoning_text: bool) -> None:
        self._same_dialect = same_dialect
        self._reasoning_text = reasoning_text
        self._kinds = {call.id: self._kind(call) for call in request.tool_calls}
        self.items: list[bytes] = []
        self.warnings = Warnings()

    def add(self, message: Message, path: str) -> None:
        raw = raw_in(message, DIALECT)
        if raw is not None:
            self.items += [raw] if raw else []  # none: it came from `instructions`
            return
        if message.name is not None:
            self.warnings.add("not_supported:name")
        first = message.parts[0] if message.parts else None
        if type(first) is ToolResultPart:
            self.items.append(self._result(first, message.extra, path))
        elif message.role == "assistant":
            self.items += self._assistant(message, path)
        else:
            content = _content(message.parts, f"{path}.content")
            pairs = [("type", b'"message"'), ("role", dump(message.role)), ("content", content)]
            self.items.append(write_object([*pairs, *self._own(message.extra)]))

    def _own(self, extra: Members) -> Members:
        """The members that the model does not name, if the client speaks this dialect."""
        return extra if self._same_dialect else ()

    def _assistant(self, message: Message, path: str) -> Iterator[bytes]:
        """Writes an assistant's message: each run of text becomes a message, everything else an item of its own, in
        order."""
        run: list[TextPart | RefusalPart] = []
        for number, part in enumerate(message.parts):
            if isinstance(part, TextPart | RefusalPart):
                if run and _phase(run[0]) != _phase(part):
                    yield _said(run)
                    run = []
                run.append(part)
                continue
            if run:
                yield _said(run)
                run = []
            if (item := self._item(part, f"{path}.content[{number}]")) is not None:
                yield item
        if run:
            yield _said(run)

    def _item(self, part: Part, path: str) -> bytes | None:
        raw = raw_in(part, DIALECT)
        if raw is not None:
            return raw
        match part:
            case ToolCallPart():
                return self._call(part)
            case ReasoningPart():
                return self._reasoning(part)
            case OpaquePart(dialect=dialect) if dialect == DIALECT:
                return part.raw
            case _:
                raise _refused(part, path)

    def _kind(self, call: ToolCallPart) -> str:
        """The type of a call's item."""
        own = dict(self._own(call.extra)).get(ITEM)
        if own is not None:
            return str(json.loads(own))
        return "custom_tool_call" if call.kind == "custom" else "function_call"

    def _call(self, call: ToolCallPart) -> bytes:
        kind, extra = self._kind(call), tuple(pair for pair in self._own(call.extra) if pair[0] != ITEM)
        if kind == SEARCH_CALL:
            arguments = call.arguments.encode() if is_object(call.arguments) else dump(call.arguments)
            return write_object([*_search(kind, call.id), ("arguments", arguments)])
        if kind in CALLS:
            head = [("type", dump(kind)), ("call_id", dump(call.id)), *call_members(kind, call.arguments)]
            return write_object((dict(head) | dict(extra)).items())
        name = call.name
        namespace = dict(extra).get("namespace")
        if namespace is not None:
            prefix = flat_name(json.loads(namespace), "")
            if name.startswith(prefix):
                name = name.removeprefix(prefix)
            else:  # its name had to be changed
                extra = tuple(pair for pair in extra if pair[0] != "namespace")
        if call.kind == "custom":
            said = ("input", dump(call.arguments))
        else:
            said = ("arguments", dump(call.arguments if call.arguments.strip() else "{}"))
        return write_object([("type", dump(kind)), ("call_id", dump(call.id)), ("name", dump(name)), said, *extra])

    def _reasoning(self, part: ReasoningPart) -> bytes | None:
        """Writes reasoning, which the API takes back encrypted. It has no id, since answers are not stored."""
        members = [("type", b'"reasoning"')]
        if part.signature:
            summary = [{"type": "summary_text", "text": part.text}] if part.text else []
            return write_object([*members, ("summary", dump(summary)), ("encrypted_content", dump(part.signature))])
        if not self._reasoning_text or not part.text:
            return None
        content = [{"type": "reasoning_text", "text": part.text}]
        return write_object([*members, ("summary", b"[]"), ("content", dump(content))])

    def _result(self, part: ToolResultPart, extra: Members, path: str) -> bytes:
        kind = self._kinds.get(part.tool_call_id, "function_call")
        if kind == SEARCH_CALL:
            found = dict(self._own(part.extra)).get(FOUND, b"[]")
            return write_object([*_search(SEARCH_OUTPUT, part.tool_call_id), ("tools", found)])
        if kind in CALLS:
            head = {"type": dump(f"{kind}_output"), "call_id": dump(part.tool_call_id)}
            return write_object((dict(part.extra) | head | dict(_own_output(kind, part))).items())
        content = part.content
        if part.is_error and not (content and type(content[0]) is TextPart and content[0].text.startswith("Error")):
            content = (TextPart("Error: "), *content)  # the API has no error flag
        output = _content(content, f"{path}.content")
        members = [("type", dump(f"{kind}_output")), ("call_id", dump(part.tool_call_id)), ("output", output)]
        return write_object([*members, *self._own((*part.extra, *extra))])


def _search(kind: str, call_id: str) -> Iterator[tuple[str, bytes]]:
    """The first members of the items of a tool search that the client has run."""
    said = {"type": kind, "call_id": call_id, "execution": "client", "status": "completed"}
    return ((name, dump(value)) for name, value in said.items())


def _own_output(kind: str, part: ToolResultPart) -> list[tuple[str, bytes]]:
    """The output of a typed tool of this API's client, in the form of that tool."""
    images = [content for content in part.content if type(content) is ImagePart]
    url = images[0].url or data_url(images[0].media_type or "image/png", images[0].data or "") if images else None
    return output_members(kind, _text(part.content), url, is_error=part.is_error)


# ---------------------------------------------------------------- content


def _phase(part: TextPart | RefusalPart) -> bytes | None:
    return dict(part.extra).get("phase")


def _said(run: Sequence[TextPart | RefusalPart]) -> bytes:
    """A message of the assistant's. Its content is a plain string if there is only text."""
    if all(type(part) is TextPart and part.source is None for part in run):
        content = dump("".join(part.text for part in run))
    else:
        content = write_array(_said_part(part) for part in run)
    members = [("type", b'"message"'), ("role", b'"assistant"'), ("content", content)]
    phase = _phase(run[0])
    return write_object([*members, *([("phase", phase)] if phase is not None else [])])


def _said_part(part: TextPart | RefusalPart) -> bytes:
    raw = raw_in(part, DIALECT)
    if raw is not None:
        return raw
    if type(part) is RefusalPart:
        return dump({"type": "refusal", "refusal": part.text})
    return dump({"type": "output_text", "text": part.text, "annotations": []})


def _content(parts: Sequence[Part], path: str) -> bytes:
    """The content: a plain string if there is only text."""
    if all(type(part) is TextPart and part.source is None and not marks_of(part.extra) for part in parts):
        return dump(_text(parts))
    return write_array(_part(part, f"{path}[{number}]") for number, part in enumerate(parts))


def _part(part: Part, path: str) -> bytes:
    raw = raw_in(part, DIALECT)
    if raw is not None:
        return raw
    match part:
        case TextPart():
            return write_object([("type", b'"input_text"'), ("text", dump(part.text)), *marks_of(part.extra)])
        case ImagePart():
            url = part.url or data_url(part.media_type or "image/png", part.data or "")
            shown = [("type", b'"input_image"'), ("image_url", dump(url)), ("detail", dump(part.detail or "auto"))]
            return write_object([*shown, *marks_of(part.extra)])
        case OpaquePart(dialect=dialect) if dialect == DIALECT:
            return part.raw
        case FilePart():
            return _file(part)
        case _:
            raise _refused(part, path)


def _file(part: FilePart) -> bytes:
    """A file by its bytes, its address, or its id at OpenAI."""
    if part.file_id is not None:
        named = {"file_id": part.file_id}
    elif part.url is not None:
        named = {"file_url": part.url}
    else:
        url = data_url(part.media_type, part.data or "")
        named = {"filename": file_name(part.name, part.media_type), "file_data": url}
    members = [(name, dump(value)) for name, value in named.items()]
    return write_object([("type", b'"input_file"'), *members, *marks_of(part.extra)])


def _refusal(part: ImagePart | FilePart, role: Role) -> Refusal | None:
    if role == "assistant":
        return of_this_role(part, role)
    if isinstance(part, ImagePart):
        return None
    if is_audio(part):
        return not_of_type(part, "a PDF or an image")
    is_own = part.dialect in (DIALECT, openai_chat.DIALECT) and part.media_type != "image/*"
    if part.file_id is not None and not is_own:
        return only_bytes(part, "a file of another vendor's storage")
    return None


CONTENT = ContentRules(DIALECT, as_text=lambda part: bool(part.content), refusal=_refusal)


def _refused(part: Part, path: str) -> RequestError:
    kind = part.kind if type(part) is OpaquePart else type(part).__name__.removesuffix("Part").lower()
    return RequestError(
        f"`{path}`: content of the kind {kind!r} cannot be carried to this provider here: send it as text, as an image "
        "or as a file in a message of role user",
        param=path,
        code="unsupported_content",
    )
