"""The neutral history written as Gemini's `contents` and `systemInstruction`.

Google wants the results of a turn's calls in one content right behind the calls, one for each call and in their order.
It matches them by name and place, so no ids are sent.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from urllib.parse import urlsplit

from toolwire.model.media_types import PDF, media_type_of
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
    split_instructions,
)
from toolwire.model.source import raw_in
from toolwire.model.warnings import Warnings
from toolwire.providers.gemini.models import Family
from toolwire.providers.user_and_model_turns import arguments_object
from toolwire.rewrite.history import NO_TEXT
from toolwire.rewrite.images_and_files import ContentRules, Refusal, not_of_type, of_this_role, only_bytes
from toolwire.wire.gemini import DIALECT
from toolwire.wire.json import dump, write_array, write_object

#: Google's documented placeholder for the signature of a call that another model made, or whose signature is lost.
PLACEHOLDER_SIGNATURE = "skip_thought_signature_validator"

#: Addresses that all of Google's models read by themselves.
_GOOGLE_FILES = ("gs://", "https://generativelanguage.googleapis.com/v1beta/files/")


@dataclass(slots=True)
class _Content:
    role: str
    parts: list[bytes] = field(default_factory=list)
    #: Place among `parts` of each function call, and whether it is signed.
    calls: list[tuple[int, bool]] = field(default_factory=list)
    #: Whether these are function responses, which need a content of their own.
    responses: bool = False


class HistoryWriter:
    """Writes the messages of one request, which has only content that `content_rules` allow. Every call must have its
    result, and no id may be used twice."""

    def __init__(self, request: ChatRequest, family: Family) -> None:
        self._family = family
        self._messages = request.messages
        self._results = {
            part.tool_call_id: part
            for message in request.messages
            for part in message.parts
            if type(part) is ToolResultPart
        }
        self._contents: list[_Content] = []
        self._turn = 0  # contents before the user's last message
        self.warnings = Warnings()

    def members(self) -> Iterator[tuple[str, bytes]]:
        """`systemInstruction`, where there is one, and `contents`."""
        leading, history = split_instructions(self._messages)
        system = [part for message in leading for part in self._shown(message)]
        for message in history:
            self._message(message)
        if not self._contents:  # a request of instructions only: they become the user's turn
            if not system:  # Vertex AI refuses an empty text
                self.warnings.add("empty_message")
            self._contents, system = [_Content("user", system or [_text(NO_TEXT)])], []
        elif self._contents[0].role != "user":  # Google wants the user's content first
            self._contents.insert(0, _Content("user", [_text(NO_TEXT)]))
            self._turn += self._turn > 0
            self.warnings.add("empty_message")
        self._sign()
        if system:
            yield "systemInstruction", write_object([("parts", write_array(system))])
        contents = (
            write_object([("role", dump(content.role)), ("parts", write_array(content.parts))])
            for content in self._contents
        )
        yield "contents", write_array(contents)

    def _message(self, message: Message) -> None:
        if message.name is not None and message.role != "tool":
            self.warnings.add("not_supported:name")
        if message.role == "assistant":
            self._assistant(message)
        elif message.role == "user":
            self._add("user", self._shown(message))
            self._turn = len(self._contents)
        elif message.role != "tool":  # no such role inside a conversation: marked text of the user's
            shown = self._shown(message)
            self._add("user", [_text("<system>"), *shown, _text("</system>")] if shown else [])
            if shown:
                self.warnings.add("system_message_in_user_turn")

    def _add(self, role: str, parts: list[bytes]) -> _Content:
        """Adds the parts to the last content if it has this role, else as a new content."""
        last = self._contents[-1] if self._contents else None
        if last is not None and last.role == role and not last.responses:
            last.parts += parts
            return last
        content = _Content(role, parts)
        if parts:
            self._contents.append(content)
        return content

    # ------------------------------------------------------------ calls and results

    def _assistant(self, message: Message) -> None:
        calls = message.tool_calls
        parts: list[bytes] = []
        places: list[tuple[int, bool]] = []
        for part in message.parts:
            if type(part) is ToolCallPart:
                places.append((len(parts), part.signature is not None))
                parts.append(self._call(part))
            elif (written := self._said(part)) is not None:
                parts.append(written)
        content = self._add("model", parts)
        begin = len(content.parts) - len(parts)
        content.calls += [(begin + place, signed) for place, signed in places]
        if calls:
            self._answer(calls)

    def _call(self, call: ToolCallPart) -> bytes:
        arguments = arguments_object(call, self.warnings)
        own = [("id", dump(call.id))] if call.own_id else []
        inner = write_object([*own, ("name", dump(call.name)), ("args", arguments)])
        return _signed([("functionCall", inner)], call.signature)

    def _answer(self, calls: tuple[ToolCallPart, ...]) -> None:
        """Adds the results of one message's calls, in the order of the calls, wherever the client has put them."""
        responses, lifted = [], []
        for call in calls:
            response, outside = self._response(call, self._results[call.id])
            responses.append(response)
            lifted += outside
        self._contents.append(_Content("user", responses, responses=True))
        if lifted:
            self._add("user", lifted)

    def _response(self, call: ToolCallPart, result: ToolResultPart) -> tuple[bytes, list[bytes]]:
        """One functionResponse, and the parts of the result that it cannot hold.

        Text is always a string under "output" (or "error"): Google keeps an object as a protobuf Struct, which turns
        every number into a double, and gives the names "output" and "error" a meaning.
        """
        text = "\n".join(part.text for part in result.content if type(part) is TextPart)
        inside, outside = [], []
        for part in result.content:
            if isinstance(part, ImagePart | FilePart) and self._fits_result(part):
                inside.append(self._part(part))
            elif type(part) is not TextPart:
                outside.append(self._part(part))
        response = [("id", dump(call.id))] if call.own_id else []
        response += [("name", dump(call.name)), ("response", dump({"error" if result.is_error else "output": text}))]
        response += [("parts", write_array(inside))] if inside else []
        if outside:
            outside.insert(0, _text(f"Content of the result of {call.name}:"))
        return write_object([("functionResponse", write_object(response))]), outside

    def _fits_result(self, part: ImagePart | FilePart) -> bool:
        """Whether a function response may hold it."""
        if part.data is None or not self._family.files_in_results:
            return False
        return type(part) is ImagePart or part.media_type in (PDF, "text/plain")

    def _sign(self) -> None:
        """Puts the placeholder on the first call of each step of the current turn, if its signature is missing: newer
        models refuse it otherwise. They do not check earlier turns, and a placeholder costs quality."""
        if not self._family.wants_signatures:
            return
        for content in self._contents[self._turn :]:
            first, signed = content.calls[0] if content.calls else (0, True)
            if not signed:
                signature = b',"thoughtSignature":' + dump(PLACEHOLDER_SIGNATURE) + b"}"
                content.parts[first] = content.parts[first][:-1] + signature

    # ------------------------------------------------------------ content

    def _shown(self, message: Message) -> list[bytes]:
        """The content of a message, without its calls."""
        return [written for part in message.parts if (written := self._said(part)) is not None]

    def _said(self, part: Part) -> bytes | None:
        """Writes a part that is neither a call nor a result; None for an empty one. Reasoning without a signature is
        left out. A signed part without text is sent back as it came, which is not as a thought."""
        raw = raw_in(part, DIALECT)
        if raw is not None:
            return raw
        match part:
            case TextPart() | RefusalPart():
                signature = part.signature if type(part) is TextPart else None
                return _text(part.text, signature) if part.text else None
            case ReasoningPart(text, signature):
                thought = [("thought", b"true")] if text else []
                return _signed([("text", dump(text)), *thought], signature) if signature else None
            case ImagePart() | FilePart() | OpaquePart():
                return self._part(part)
            case _:
                return None

    def _part(self, part: Part) -> bytes:
        """Writes an image or a file, or a part of another host of this API."""
        if isinstance(part, ImagePart | FilePart):
            if type(part) is ImagePart and part.detail not in (None, "auto"):
                self.warnings.add("not_supported:detail")
            if part.data is not None:
                return _inline(part.media_type or "image/png", part.data)
            address = part.url or ""
            media_type = part.media_type or media_type_of(None, urlsplit(address).path)
            if media_type is None and type(part) is ImagePart:
                media_type = "image/jpeg"  # Google wants one, and reads the file itself
            file = [("mimeType", dump(media_type))] if media_type is not None else []
            return write_object([("fileData", write_object([*file, ("fileUri", dump(address))]))])
        assert type(part) is OpaquePart
        return part.raw


def content_rules(family: Family) -> ContentRules:
    """The kinds of content that models of this family take."""
    return ContentRules(DIALECT, as_text=_goes_as_text, refusal=partial(_refusal, family))


def _refusal(family: Family, part: ImagePart | FilePart, role: Role) -> Refusal | None:
    if type(part) is FilePart and role not in ("user", "tool"):
        return of_this_role(part, role)
    if part.data is None:
        read = ("https://", *_GOOGLE_FILES) if family.reads_urls else _GOOGLE_FILES
        if part.url is not None and part.url.startswith(read):
            return None
        what = "an image" if type(part) is ImagePart else "a file"
        return only_bytes(part, f"{what} by URL" if part.url is not None else f"{what} of another vendor's storage")
    if type(part) is ImagePart or _is_taken(part.media_type):
        return None
    return not_of_type(part, "a PDF, audio or video")


def _is_taken(media_type: str | None) -> bool:
    return media_type == PDF or (media_type or "").startswith(("audio/", "text/", "video/"))


def _goes_as_text(part: FilePart) -> bool:
    """Whether a file is sent as text: a document that the client wrote out, or text of a type that Google does not
    know."""
    return bool(part.content) or not _is_taken(part.media_type)


def _inline(media_type: str, data: str) -> bytes:
    return write_object([("inlineData", dump({"mimeType": media_type, "data": data}))])


def _text(text: str, signature: str | None = None) -> bytes:
    return _signed([("text", dump(text))], signature)


def _signed(members: list[tuple[str, bytes]], signature: str | None) -> bytes:
    """A part's members with its signature."""
    return write_object([*members, ("thoughtSignature", dump(signature))] if signature else members)
