"""The neutral history written as Gemini's `contents` and `systemInstruction`.

Google wants the results of a turn's calls in one content right after them, one for each call and in their order, and
tells them apart by name and place: the gateway's ids stay out of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import msgspec

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
from toolwire.providers.gemini.models import Family
from toolwire.wire import openai_chat
from toolwire.wire.gemini import DIALECT
from toolwire.wire.json import dump, is_object, write_array, write_object

#: Google's documented stand-in for the signature of a call that none of its models made, or whose signature is lost.
PLACEHOLDER_SIGNATURE = "skip_thought_signature_validator"

#: File name endings -> media type, for files in Google's own storage.
_MEDIA_TYPES = {
    "gif": "image/gif", "heic": "image/heic", "jpeg": "image/jpeg", "jpg": "image/jpeg", "png": "image/png",
    "webp": "image/webp",
}  # fmt: skip
#: Addresses that Google's models read by themselves.
_GOOGLE_FILES = ("gs://", "https://generativelanguage.googleapis.com/v1beta/files/")


@dataclass(slots=True)
class _Content:
    role: str
    parts: list[bytes] = field(default_factory=list)
    #: Place among `parts` of each function call, and whether it is signed.
    calls: list[tuple[int, bool]] = field(default_factory=list)
    #: Whether these are function responses: a content of their own.
    responses: bool = False


class HistoryWriter:
    """Writes the messages of one request. Every call must have its result, and every id be used once.

    Raises RequestError (`unsupported_content`) for content that Google's models cannot be sent.
    """

    def __init__(self, request: ChatRequest, family: Family, provider: str) -> None:
        self._family, self._provider = family, provider
        self._messages = request.messages
        self._results = {
            part.tool_call_id: (number, part)
            for number, message in enumerate(request.messages)
            for part in message.parts
            if type(part) is ToolResultPart
        }
        self._contents: list[_Content] = []
        self._turn = 0  # contents before the user's last message
        self.warnings: dict[str, None] = {}

    def members(self) -> Iterator[tuple[str, bytes]]:
        """`systemInstruction`, where there is one, and `contents`."""
        leading = 0
        while leading < len(self._messages) and self._messages[leading].role in ("system", "developer"):
            leading += 1
        system = [part for number in range(leading) for part in self._shown(number)]
        for number in range(leading, len(self._messages)):
            self._message(number)
        if not self._contents:  # instructions alone are what the model is asked
            self._contents, system = [_Content("user", system or [_text("")])], []
        self._sign()
        if system:
            yield "systemInstruction", write_object([("parts", write_array(system))])
        contents = (
            write_object([("role", dump(content.role)), ("parts", write_array(content.parts))])
            for content in self._contents
        )
        yield "contents", write_array(contents)

    def _message(self, number: int) -> None:
        message = self._messages[number]
        if message.name is not None and message.role != "tool":
            self.warnings["not_supported:name"] = None
        if message.role == "assistant":
            self._assistant(number, message)
        elif message.role == "user":
            self._add("user", self._shown(number))
            self._turn = len(self._contents)
        elif message.role != "tool":  # there is no such role inside a conversation: told by the user, and marked
            shown = self._shown(number)
            self._add("user", [_text("<system>"), *shown, _text("</system>")] if shown else [])

    def _add(self, role: str, parts: list[bytes]) -> _Content:
        """The parts behind those of the same role, or as a content of their own."""
        last = self._contents[-1] if self._contents else None
        if last is not None and last.role == role and not last.responses:
            last.parts += parts
            return last
        content = _Content(role, parts)
        if parts:
            self._contents.append(content)
        return content

    # ------------------------------------------------------------ calls and results

    def _assistant(self, number: int, message: Message) -> None:
        calls = message.tool_calls
        parts: list[bytes] = []
        places: list[tuple[int, bool]] = []
        for part in message.parts:
            if type(part) is ToolCallPart:
                places.append((len(parts), part.signature is not None))
                parts.append(self._call(part))
            elif (written := self._said(part, number)) is not None:
                parts.append(written)
        content = self._add("model", parts)
        begin = len(content.parts) - len(parts)
        content.calls += [(begin + place, signed) for place, signed in places]
        if calls:
            self._answer(calls)

    def _call(self, call: ToolCallPart) -> bytes:
        if not call.arguments.strip():
            arguments = b"{}"
        elif is_object(call.arguments):
            arguments = call.arguments.encode("utf-8", "surrogatepass")
        else:
            arguments = dump({"_raw_arguments": call.arguments})
            self.warnings["history_arguments_wrapped"] = None
        own = [("id", dump(call.id))] if call.own_id else []
        inner = write_object([*own, ("name", dump(call.name)), ("args", arguments)])
        return _signed([("functionCall", inner)], call.signature)

    def _answer(self, calls: tuple[ToolCallPart, ...]) -> None:
        """The results of one message's calls, in their order, wherever the client has put them."""
        responses, lifted = [], []
        for call in calls:
            number, result = self._results[call.id]
            response, outside = self._response(call, result, number)
            responses.append(response)
            lifted += outside
        self._contents.append(_Content("user", responses, responses=True))
        if lifted:
            self._add("user", lifted)

    def _response(self, call: ToolCallPart, result: ToolResultPart, number: int) -> tuple[bytes, list[bytes]]:
        """One functionResponse, and what of the result has to stand outside.

        Text is always a string under "output" (or "error"): Google keeps an object as a protobuf Struct, which turns
        every number into a double, and gives the names "output" and "error" a meaning.
        """
        text = "\n".join(part.text for part in result.content if type(part) is TextPart)
        inside, outside = [], []
        for part in result.content:
            if type(part) is ImagePart and part.data is not None and self._family.images_in_results:
                inside.append(self._part(part, number))
            elif type(part) is not TextPart:
                outside.append(self._part(part, number))
        response = [("id", dump(call.id))] if call.own_id else []
        response += [("name", dump(call.name)), ("response", dump({"error" if result.is_error else "output": text}))]
        response += [("parts", write_array(inside))] if inside else []
        if outside:
            outside.insert(0, _text(f"Content of the result of {call.name}:"))
        return write_object([("functionResponse", write_object(response))]), outside

    def _sign(self) -> None:
        """The stand-in for the signatures of the current turn, which newer models insist on: on the first call of each
        step. Earlier turns are not looked at, and a stand-in costs quality."""
        if not self._family.wants_signatures:
            return
        for content in self._contents[self._turn :]:
            first, signed = content.calls[0] if content.calls else (0, True)
            if not signed:
                signature = b',"thoughtSignature":' + dump(PLACEHOLDER_SIGNATURE) + b"}"
                content.parts[first] = content.parts[first][:-1] + signature

    # ------------------------------------------------------------ content

    def _shown(self, number: int) -> list[bytes]:
        """A message's content but its calls."""
        return [written for part in self._messages[number].parts if (written := self._said(part, number)) is not None]

    def _said(self, part: Part, number: int) -> bytes | None:
        """A part that is no call and no result; None for what says nothing. Reasoning without its signature is worth
        nothing, and a signed part without text goes back as it came: as no thought."""
        match part:
            case TextPart() | RefusalPart():
                signature = part.signature if type(part) is TextPart else None
                return _text(part.text, signature) if part.text else None
            case ReasoningPart(text, signature):
                thought = [("thought", b"true")] if text else []
                return _signed([("text", dump(text)), *thought], signature) if signature else None
            case ImagePart() | OpaquePart():
                return self._part(part, number)
            case _:
                return None

    def _part(self, part: Part, number: int) -> bytes:
        """An image, or what else has bytes."""
        if type(part) is ImagePart:
            if part.detail not in (None, "auto"):
                self.warnings["not_supported:detail"] = None
            if part.data is not None:
                return _inline(part.media_type or "image/png", part.data)
            if part.url is not None and part.url.startswith(_GOOGLE_FILES):
                ending = part.url.rpartition(".")[2].lower()
                file = [("mimeType", dump(_MEDIA_TYPES[ending]))] if ending in _MEDIA_TYPES else []
                return write_object([("fileData", write_object([*file, ("fileUri", dump(part.url))]))])
            raise self._refused("an image by URL", number, "send the image itself as a data: URL")
        if type(part) is OpaquePart and part.dialect == DIALECT:
            return part.raw
        if type(part) is OpaquePart and part.dialect == openai_chat.DIALECT:
            found = _chat_media(part)
            if found is not None:
                return _inline(*found)
        kind = part.kind if type(part) is OpaquePart else type(part).__name__
        raise self._refused(f"content of the type {kind!r}", number, "send it as text, an image or inline data")

    def _refused(self, what: str, number: int, fix: str) -> RequestError:
        path = f"messages[{number}].content"
        return RequestError(
            f"`{path}` holds {what}, which cannot be sent to {self._provider}: {fix}",
            param=path,
            code="unsupported_content",
        )


def _chat_media(part: OpaquePart) -> tuple[str, str] | None:
    """(media type, base64 data) of Chat's audio and file parts; None where they only name a file."""
    match msgspec.json.decode(part.raw):
        case {"type": "input_audio", "input_audio": {"data": str(data), "format": str(format)}}:
            return f"audio/{format}", data
        case {"type": "file", "file": {"file_data": str(url)}}:
            head, comma, data = url.partition(",")
            if head.startswith("data:") and head.endswith(";base64") and comma:
                return head[5:-7] or "application/octet-stream", data
    return None


def _inline(media_type: str, data: str) -> bytes:
    return write_object([("inlineData", dump({"mimeType": media_type, "data": data}))])


def _text(text: str, signature: str | None = None) -> bytes:
    return _signed([("text", dump(text))], signature)


def _signed(members: list[tuple[str, bytes]], signature: str | None) -> bytes:
    """A part with the signature that belongs on it and on no other."""
    return write_object([*members, ("thoughtSignature", dump(signature))] if signature else members)
