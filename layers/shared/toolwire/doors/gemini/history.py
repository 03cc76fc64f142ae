"""The gemini door's history: `contents` and `systemInstruction`, each node with the client's own bytes.

Successive contents of the model are one turn, since a client that streams keeps a content for each chunk. The neutral
history has one message for each result; the results of a content come first.

Calls need no id in this API. A call without an id gets one by its place. A result without an id, or with an unknown
one, answers the first open call of its name. If no call has had its name, the name is an id of the client's, or means
nothing: Google matches such results by their place (mozilla-ai/any-llm#1318), and Goose sends only such ones.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from toolwire.doors.gemini.json_forms import own_members
from toolwire.doors.gemini.parts import PART_DATA, check_data, read_content, read_signature, rest
from toolwire.doors.typed_json import decode, member
from toolwire.model.errors import RequestError
from toolwire.model.request import (
    FilePart,
    ImagePart,
    Message,
    OpaquePart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from toolwire.model.source import Members, Source, with_source
from toolwire.wire.gemini import DIALECT, PLACE_ID
from toolwire.wire.json import is_object

#: The role of a content -> the neutral one. The last two are older roles for results.
_ROLES: dict[str, Any] = {"user": "user", "model": "assistant", "function": "user", "tool": "user"}


def read_history(top: dict[str, bytes]) -> tuple[Message, ...]:
    """The system text and the contents of a request, given its raw members. Raises RequestError."""
    raw = top.get("contents", b"null")
    contents = [raw] if raw[:1] == b"{" else list(map(bytes, member(top, "contents", list[msgspec.Raw]) or ()))
    if not contents:
        raise RequestError(
            "`contents` is required and must hold at least one content",
            param="contents",
            code="missing_required_parameter",
        )
    reader = _Reader()
    for number, content in enumerate(contents):
        reader.read(content, f"contents[{number}]")
    return (*_system(top), *reader.messages())


def _system(top: dict[str, bytes]) -> list[Message]:
    """The system text, which may be a content, a part, or a text."""
    path = "systemInstruction"
    raw = top.get(path, b"null")
    if raw == b"null":
        return []
    extra: Members = ()
    if raw[:1] == b'"':
        parts: list[Part] = [TextPart(decode(raw, str, path))]
    else:
        content = own_members(raw, path)
        if content.keys() & PART_DATA:  # a part alone
            content = {"parts": raw}
        parts = [read_content(part, own_members(part, at), at) for part, at in _parts_of(content, path)]
        extra = _rest(content)
    said = [part for part in parts if type(part) is not TextPart or part.text]
    if extra and not said:
        raise RequestError(f"`{path}` holds no `parts`", param=path, code="missing_required_parameter")
    return [with_source(Message("system", tuple(said), extra=extra), Source(DIALECT, raw))] if said else []


def _rest(content: dict[str, bytes]) -> Members:
    """The members of a content that the neutral model does not name."""
    return tuple((name, value) for name, value in content.items() if name not in ("role", "parts"))


def _parts_of(content: dict[str, bytes], path: str) -> list[tuple[bytes, str]]:
    """The raw parts of a content, each with its path. A single part may stand without an array."""
    raw = content.get("parts", b"null")
    at = f"{path}.parts"
    if raw[:1] == b"{":
        return [(raw, at)]
    found = decode(raw, list[msgspec.Raw] | None, at) or ()
    return [(bytes(part), f"{at}[{number}]") for number, part in enumerate(found)]


class _Reader:
    def __init__(self) -> None:
        self._messages: list[Message] = []
        self._turn: list[Part] = []  # of the model's contents that follow each other
        self._sources: list[bytes] = []  # these contents
        self._extra: Members = ()
        self._open: list[ToolCallPart] = []  # calls without their result yet
        self._called: set[str] = set()  # the names of all calls
        self._calls = 0

    def messages(self) -> list[Message]:
        """What was read."""
        self._end_turn()
        return self._messages

    def read(self, raw: bytes, path: str) -> None:
        """The next content. Raises RequestError."""
        content = own_members(raw, path)
        word = decode(content.get("role", b"null"), str | None, f"{path}.role") or "user"
        if word not in _ROLES:
            raise RequestError(
                f"`{path}.role` must be user or model, not {word!r}: system text goes into `systemInstruction`",
                param=f"{path}.role",
                code="invalid_value",
            )
        parts = [self._part(part, at) for part, at in _parts_of(content, path)]
        extra = _rest(content)
        results = [part for part in parts if type(part) is ToolResultPart]
        has_calls = any(type(part) is ToolCallPart for part in parts)
        if results and has_calls:
            raise RequestError(
                f"`{path}.parts` holds calls and results: send the results in a content of their own",
                param=f"{path}.parts",
                code="invalid_value",
            )
        if has_calls or (_ROLES[word] == "assistant" and not results):  # only the model makes calls
            for part in parts:
                self._add(part)
            self._sources.append(raw)
            self._extra += extra
            return
        self._end_turn()
        source = Source(DIALECT, raw)
        made = [Message("tool", (result,), extra=extra) for result in results]
        others = tuple(part for part in parts if type(part) is not ToolResultPart)
        if others or not results:
            made.append(Message("user", others, extra=extra))
        self._messages += [with_source(message, source) for message in made]

    def _add(self, part: Part) -> None:
        """Adds a part of the model's. The pieces of a thought become one part, up to the signature."""
        last = self._turn[-1] if self._turn else None
        if type(part) is TextPart and not (part.text or part.signature or part.extra):
            return  # an empty part: the end of a stream, as a client keeps it
        if type(part) is ReasoningPart and type(last) is ReasoningPart and last.signature is None:
            self._turn[-1] = ReasoningPart(last.text + part.text, part.signature, (*last.extra, *part.extra))
        else:
            self._turn.append(part)

    def _end_turn(self) -> None:
        if not self._sources:
            return
        message = Message("assistant", tuple(self._turn), extra=self._extra)
        if len(self._sources) == 1:
            message = with_source(message, Source(DIALECT, self._sources[0]))
        self._messages.append(message)
        self._turn, self._sources, self._extra = [], [], ()

    # ------------------------------------------------------------ parts

    def _part(self, raw: bytes, path: str) -> Part:
        found = own_members(raw, path)
        check_data(found, path)
        source = Source(DIALECT, raw)
        if found.get("functionCall", b"null") != b"null":
            return with_source(self._call(found, path), source)
        if found.get("functionResponse", b"null") != b"null":
            return with_source(self._result(found["functionResponse"], f"{path}.functionResponse"), source)
        return with_source(read_content(raw, found, path), source)

    def _call(self, found: dict[str, bytes], path: str) -> ToolCallPart:
        at = f"{path}.functionCall"
        call = own_members(found["functionCall"], at)
        name, id = _named(call, at)
        arguments = call.get("args", b"null")
        if arguments == b"null":
            arguments = b"{}"
        elif not is_object(arguments):
            raise RequestError(f"`{at}.args` must be an object", param=f"{at}.args", code="invalid_type")
        self._calls += 1
        signature = read_signature(found, path)
        id = id or f"{PLACE_ID}{self._calls}"
        extra = (*rest(found), *_others(call, _CALL))
        part = ToolCallPart(id, name, arguments.decode(), extra=extra, signature=signature)
        self._open.append(part)
        self._called.add(name)
        return part

    def _result(self, raw: bytes, path: str) -> ToolResultPart:
        result = own_members(raw, path)
        name, id = _named(result, path)
        content, is_error = _content(result.get("response", b"null"), path)
        files = [
            part
            for one, at in _parts_of(result, path)
            if not isinstance(part := read_content(one, own_members(one, at), at), ReasoningPart)
        ]
        return ToolResultPart(
            self._answered(id, name), (*content, *files), is_error, name, _others(result, _RESULT), path
        )

    def _answered(self, id: str | None, name: str) -> str:
        """The id of the call that a result answers."""
        call = next((call for call in self._open if call.id == id), None)
        call = call or next((call for call in self._open if call.name == name), None)
        if call is None and name not in self._called:
            call = next((call for call in self._open if call.id == name), self._open[0] if self._open else None)
        if call is None:
            return id or f"a call of {name}"
        self._open.remove(call)
        return call.id


_CALL = frozenset({"id", "name", "args"})
_RESULT = frozenset({"id", "name", "response", "parts"})


def _others(found: dict[str, bytes], read: frozenset[str]) -> Members:
    return tuple((name, value) for name, value in found.items() if name not in read)


def _named(found: dict[str, bytes], path: str) -> tuple[str, str | None]:
    """The name and the id of a call or a result. Raises RequestError."""
    name = decode(found.get("name", b'""'), str | None, f"{path}.name")
    if not name:
        raise RequestError(f"`{path}.name` is required", param=f"{path}.name", code="missing_required_parameter")
    return name, decode(found.get("id", b"null"), str | None, f"{path}.id") or None


def _content(raw: bytes, path: str) -> tuple[Iterable[TextPart | ImagePart | FilePart | OpaquePart], bool]:
    """A result as text, and whether it is an error. By convention, an object's `output` or `error` is the result;
    without these the whole object is."""
    if raw == b"null":
        return (), False
    response = _own_members_of(raw)
    if response is not None and len(response) == 1:
        ((name, value),) = response.items()
        if name in ("output", "error"):
            return (TextPart(_as_text(value, path)),), name == "error"
    return (TextPart(_as_text(raw, path)),), False


def _own_members_of(raw: bytes) -> dict[str, bytes] | None:
    """The members of an object, None for anything else."""
    return own_members(raw, "") if raw[:1] == b"{" else None


def _as_text(raw: bytes, path: str) -> str:
    return str(decode(raw, str, path)) if raw[:1] == b'"' else raw.decode()
