"""Rewrites marks for a provider's prompt cache to the provider's form.

Clients mark the end of a prefix that is worth keeping: `cache_control` (Anthropic's API, and Chat Completions hosts
that serve its models), `prompt_cache_breakpoint` (OpenAI's two APIs). Between APIs a mark gets the wire's name, and is
put on the nearest part that can hold one: the part itself, or one before it in the same message. A mark that the wire
cannot hold is named in a warning. In a lane nothing is changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from toolwire.model.map_request import map_each
from toolwire.model.request import (
    ChatRequest,
    FilePart,
    ImagePart,
    Message,
    Part,
    Role,
    TextPart,
    Tool,
    ToolCallPart,
    ToolResultPart,
)
from toolwire.model.source import Members, replace
from toolwire.model.warnings import Warnings
from toolwire.wire.json import is_object, members

CACHE_CONTROL, BREAKPOINT = "cache_control", "prompt_cache_breakpoint"
MARKS = frozenset({CACHE_CONTROL, BREAKPOINT})

_extra_of = attrgetter("extra")

#: Warning: the provider takes fewer marks than the request has.
_CUT = "cache_marks_cut"


@dataclass(frozen=True, slots=True)
class CacheForm:
    """The form of a wire's marks for the end of a prefix, and their places."""

    #: The wire's member for a mark, and the members of clients that become it.
    member: str
    takes: frozenset[str] = MARKS
    #: The kinds of parts that may hold it, and the roles of their messages. A tool's result holds it itself if it is
    #: among the kinds; else the content of the result does.
    parts: tuple[type, ...] = (TextPart, ImagePart, FilePart)
    roles: frozenset[Role] = frozenset({"system", "developer", "user", "tool"})
    tools: bool = False
    #: The most marks of one request; the last ones are kept.
    most: int | None = None


#: Anthropic's form: thinking and empty text may hold no mark, and one request may have four.
ON_BLOCKS = CacheForm(
    CACHE_CONTROL,
    parts=(TextPart, ImagePart, FilePart, ToolCallPart, ToolResultPart),
    roles=frozenset({"system", "developer", "user", "assistant", "tool"}),
    tools=True,
    most=4,
)
#: OpenAI's form: input content may hold marks.
ON_CONTENT = CacheForm(BREAKPOINT)
#: A host of OpenAI's wires whose models are not known to have them: what a client has written itself goes along.
AS_GIVEN = CacheForm(BREAKPOINT, takes=frozenset({BREAKPOINT}))


def with_cache_marks(request: ChatRequest, form: CacheForm | None, warnings: Warnings) -> ChatRequest:
    """The request with only the marks that the wire takes, under its name; those left out are named in a warning. The
    same object if it has none. `form` is None for a wire without marks."""
    if _is_plain(request):  # as nearly all are
        return request
    marks = _Marks(form, Warnings())
    marked = marks.apply(request)
    if form is not None and form.most is not None and marks.count > form.most:
        marks = _Marks(form, marks.warnings, skip=marks.count - form.most)
        marked = marks.apply(request)
        marks.warnings.add(_CUT)
    warnings.add(*marks.warnings)
    return marked


def _is_plain(request: ChatRequest) -> bool:
    """Whether the request has no members that the model does not name, such as marks."""
    if CACHE_CONTROL in request.dialect_fields:
        return False
    for tool in request.tools:
        if tool.extra:
            return False
    for message in request.messages:
        if message.extra:
            return False
        for part in message.parts:
            if part.extra or (type(part) is ToolResultPart and any(map(_extra_of, part.content))):
                return False
    return True


def marks_of(extra: Members) -> Members:
    """The marks among the members of a part or tool: after `with_cache_marks`, those that are sent."""
    return tuple(pair for pair in extra if pair[0] in MARKS) if extra else ()


class _Marks:
    """Walks over a request in the order of the prompt: tools, then messages."""

    def __init__(self, form: CacheForm | None, warnings: Warnings, skip: int = 0) -> None:
        self._form = form
        self._skip = skip
        self.count = 0
        self.warnings = warnings

    def apply(self, request: ChatRequest) -> ChatRequest:
        tools = map_each(request.tools, self._tool)
        messages = map_each(request.messages, self._message)
        if tools is not request.tools or messages is not request.messages:
            request = replace(request, tools=tools, messages=messages)
        return self._automatic(request)

    def _automatic(self, request: ChatRequest) -> ChatRequest:
        """Puts the mark of the whole request at its end."""
        form, fields = self._form, request.fields
        if form is None or form.member != CACHE_CONTROL or fields is None:
            return request
        if CACHE_CONTROL not in request.dialect_fields or not request.messages:
            return request
        value = _value(form, CACHE_CONTROL, dict(fields.members).get(CACHE_CONTROL, b"null"))
        *earlier, last = request.messages
        marked = self._set(last, len(last.parts) - 1, value) if value is not None else None
        if marked is None:
            return request
        named = tuple(name for name in request.dialect_fields if name != CACHE_CONTROL)
        return replace(request, messages=(*earlier, marked), dialect_fields=named)

    def _tool(self, tool: Tool) -> Tool:
        found = dict(_found(tool.extra))
        if not found:
            return tool
        tool = _without(tool)
        form = self._form
        if form is None or not form.tools:
            self._leave_out(found)
            return tool
        value = self._taken(found)
        return tool if value is None or self._is_skipped() else replace(tool, extra=(*tool.extra, (form.member, value)))

    def _message(self, message: Message) -> Message:
        if not _is_marked(message):
            return message
        places: dict[int, dict[str, bytes]] = {}
        for number, part in enumerate(message.parts):
            inner = part.content if type(part) is ToolResultPart else ()
            given = [pair for node in (*inner, part) for pair in _found(node.extra)]
            if given:
                places[number] = dict(given)
        if own := dict(_found(message.extra)):
            places.setdefault(max(len(message.parts) - 1, 0), own)
        message = _without(replace(message, parts=map_each(message.parts, _without)))
        for number, marks in sorted(places.items()):
            value = self._taken(marks)
            marked = self._set(message, number, value) if value is not None else message
            if marked is None:
                self._leave_out(marks)
            message = marked or message
        return message

    def _set(self, message: Message, number: int, value: bytes) -> Message | None:
        """The message with a mark on this part, or on the nearest one before it; None if none can hold it."""
        form = self._form
        if form is None or message.role not in form.roles:
            return None
        for at in range(number, -1, -1):
            part = _with_mark(message.parts[at], form, value)
            if part is not None:
                if self._is_skipped():
                    return message
                return replace(message, parts=(*message.parts[:at], part, *message.parts[at + 1 :]))
        return None

    def _is_skipped(self) -> bool:
        self.count += 1
        return self.count <= self._skip

    def _taken(self, given: dict[str, bytes]) -> bytes | None:
        """The value of the wire's mark for these marks of a node; None, with a warning, if it has none."""
        form = self._form
        for name, raw in given.items():
            if form is not None and name in form.takes and (value := _value(form, name, raw)) is not None:
                return value
        self._leave_out(given)
        return None

    def _leave_out(self, given: dict[str, bytes]) -> None:
        self.warnings.add(*(f"ignored:{name}" for name, raw in given.items() if raw != b"null"))


def _found(extra: Members) -> Iterator[tuple[str, bytes]]:
    for path, raw in extra:
        name = path.rpartition(".")[2]
        if name in MARKS:
            yield name, raw


def _is_marked(message: Message) -> bool:
    if message.extra and any(_found(message.extra)):
        return True
    for part in message.parts:
        if part.extra and any(_found(part.extra)):
            return True
        if type(part) is ToolResultPart and any(item.extra and any(_found(item.extra)) for item in part.content):
            return True
    return False


def _without(node: Any) -> Any:
    """The node without marks; the same object if it has none."""
    if type(node) is ToolResultPart:
        content = map_each(node.content, _without)
        node = node if content is node.content else replace(node, content=content)
    kept = tuple(pair for pair in node.extra if pair[0].rpartition(".")[2] not in MARKS)
    return replace(node, extra=kept) if len(kept) < len(node.extra) else node


def _with_mark(part: Part, form: CacheForm, value: bytes) -> Part | None:
    """The part with a mark; None if it cannot hold one."""
    if type(part) is ToolResultPart and ToolResultPart not in form.parts:
        for at in range(len(part.content) - 1, -1, -1):
            item: Any = _with_mark(part.content[at], form, value)
            if item is not None:
                return replace(part, content=(*part.content[:at], item, *part.content[at + 1 :]))
        return None
    if not isinstance(part, form.parts) or (type(part) is TextPart and not part.text.strip()):
        return None
    return replace(part, extra=(*_others(part.extra), (form.member, value)))


def _others(extra: Members) -> Members:
    return tuple(pair for pair in extra if pair[0] not in MARKS)


def _value(form: CacheForm, name: str, raw: bytes) -> bytes | None:
    """The wire's value for a client's mark; None for an empty one. A lifetime becomes the wire's shortest one that is
    not shorter; without one the wire's default holds."""
    if not is_object(raw):
        return None
    given = members(raw)
    if name == CACHE_CONTROL and given.get("type") != b'"ephemeral"':
        return None
    if name == form.member:
        return raw
    if form.member == BREAKPOINT:
        return b'{"mode":"explicit"}'
    return b'{"type":"ephemeral","ttl":"1h"}' if "ttl" in given else b'{"type":"ephemeral"}'
