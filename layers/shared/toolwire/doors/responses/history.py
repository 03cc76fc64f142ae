"""The Responses door's input: items, each with the client's own bytes, as the messages of a history.

A turn of the assistant comes as several items (reasoning, messages, calls). Successive items of the assistant become
one neutral message, so that results belong to their turn at every provider. `wire/openai_responses.py` says where each
member of an item is kept.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast

import msgspec

from toolwire.doors.responses.history_items import (
    KNOWN_CALL,
    as_image,
    is_said,
    known_part,
    mcp_call,
    mcp_result,
    reasoning_part,
    required,
    search_call,
    tool_call,
    typed_call,
)
from toolwire.doors.responses.tools import read_tool_list
from toolwire.doors.typed_json import decode
from toolwire.model.errors import RequestError
from toolwire.model.request import (
    Message,
    OpaquePart,
    Part,
    Role,
    TextPart,
    Tool,
    ToolReferencePart,
    ToolResultPart,
)
from toolwire.model.source import Members, Source, with_source
from toolwire.wire import openai_client_tools as client_tools
from toolwire.wire import openai_responses as wire
from toolwire.wire.json import dump, members, unnamed, write_array, write_object

_ROLES = ("system", "developer", "user", "assistant")
_CALLS = ("function_call", "custom_tool_call")
_RESULTS = ("function_call_output", "custom_tool_call_output")

#: Item -> the member that clients leave out if it is empty, and its empty value. Vercel's AI SDK leaves out the
#: arguments of a call without any, and the output of a tool that returns nothing.
_NOTHING = {
    "function_call": ("arguments", b'"{}"'),
    "custom_tool_call": ("input", b'""'),
    **dict.fromkeys(_RESULTS, ("output", b'""')),
}


@dataclass(slots=True)
class History:
    """The messages, and the items that only this API knows, as a path with a type: "input[3] (item_reference)". The
    provider decides about these."""

    messages: tuple[Message, ...]
    foreign: list[str] = field(default_factory=list)
    #: Tools that the history has loaded.
    tools: list[Tool] = field(default_factory=list)
    #: Whether references to items that are not kept were left out.
    left_out: bool = False
    #: Whether a call lacked its arguments, or a result its output.
    completed: bool = False


def read_input(top: dict[str, bytes]) -> History:
    """The history of a request, given its raw members. `instructions` come first. Raises RequestError."""
    reader = _Reader()
    instructions = top.get("instructions", b"null")
    if instructions != b"null":
        text = TextPart(decode(instructions, str, "instructions"))
        reader.add(Message("system", (text,)), Source(wire.DIALECT, b""))
    given = top.get("input", b"null")
    if given[:1] == b'"':
        text = TextPart(decode(given, str, "input"))
        item = write_object([("role", b'"user"'), ("content", given)])
        reader.add(Message("user", (text,)), Source(wire.DIALECT, item))
    elif given != b"null":
        for number, raw in enumerate(decode(given, list[msgspec.Raw], "input")):
            reader.item(bytes(raw), f"input[{number}]")
    return reader.end()


class _Reader:
    """Joins items into messages."""

    def __init__(self) -> None:
        self._messages: list[Message] = []
        self._foreign: list[str] = []
        self._tools: list[Tool] = []
        self._left_out = self._completed = False
        self._parts: list[Part] = []  # of the assistant's turn that is being read
        self._raws: list[bytes] = []
        self._ids: dict[str, str] = {}  # id or call id of a call of the client's own tools -> its call id
        self._exact = True  # a provider may see its items as they are

    def end(self) -> History:
        self._end_turn()
        return History(tuple(self._messages), self._foreign, self._tools, self._left_out, self._completed)

    def add(self, message: Message, source: Source | None) -> None:
        """Adds a message that is not the assistant's."""
        self._end_turn()
        self._messages.append(with_source(message, source))

    def item(self, raw: bytes, path: str) -> None:
        shape = decode(raw, wire.InputItem, path)
        kind = shape.type or ("message" if shape.role is not None else "item_reference")
        lacked, nothing = _NOTHING.get(kind, ("", b""))
        if lacked and not is_said(getattr(shape, lacked)):
            raw, self._completed = write_object((members(raw) | {lacked: nothing}).items()), True
            shape = decode(raw, wire.InputItem, path)
        if kind == "message":
            self._message(shape, raw, path)
        elif kind == wire.SEARCH_CALL and shape.call_id and shape.execution != "server":
            self._say([search_call(shape, path, raw)], raw)
        elif kind == wire.SEARCH_OUTPUT and shape.call_id and shape.execution != "server":
            self.add(Message("tool", (self._found(shape, path),)), Source(wire.DIALECT, raw))
        elif kind in _CALLS:
            self._say([tool_call(shape, kind, raw, path)], raw)
        elif kind in _RESULTS and shape.call_id is None:
            self.add(Message("user", tuple(self._unasked(shape, path))), Source(wire.DIALECT, raw))
        elif kind in _RESULTS:
            self.add(Message("tool", (self._result(shape, path),)), Source(wire.DIALECT, raw))
        elif kind == "reasoning":
            self._say([reasoning_part(shape, raw, path)], raw)
        elif kind == "item_reference" and wire.is_own_id(shape.id):
            self._left_out = True
        elif not self._own_item(kind, shape, raw, path):
            self._foreign_item(kind, raw, path, has_status=bool(shape.status))

    def _own_item(self, kind: str, shape: wire.InputItem, raw: bytes, path: str) -> bool:
        """Takes an item of a typed tool of the client's or of an MCP server, or one that adds tools. Returns whether
        the item is such."""
        if kind == wire.MORE_TOOLS:
            self.add(Message("developer", (self._more_tools(shape, path),)), Source(wire.DIALECT, raw))
            return True
        if kind in client_tools.CALLS and shape.call_id:
            self._ids |= {shape.call_id: shape.call_id, shape.id or shape.call_id: shape.call_id}
            self._say([typed_call(kind, shape.call_id, raw)], raw)
            return True
        if kind == wire.MCP_CALL and shape.id and shape.name:
            self._say([mcp_call(shape.id, shape.name, raw)], raw)
            self.add(Message("tool", (mcp_result(shape.id, raw),)), Source(wire.DIALECT, b""))  # it is in the item
            return True
        call_id = shape.call_id or self._ids.get(shape.id or "")
        if kind not in client_tools.OUTPUTS or not call_id:
            return False
        part = self._own_result(kind, call_id, shape, raw, path)
        self.add(Message("tool", (part,)), Source(wire.DIALECT, raw))
        return True

    def _foreign_item(self, kind: str, raw: bytes, path: str, *, has_status: bool) -> None:
        """Takes an item that only this API knows. An item with a status is a host's output, except results of the
        client's own tools and references to a history."""
        is_put_out = has_status and kind not in client_tools.OUTPUTS and kind != "compaction"
        leavable = kind in wire.SERVER_TOOL_ITEMS or is_put_out
        if not leavable:
            self._foreign.append(f"{path} ({kind})")
        part = with_source(OpaquePart(kind, wire.DIALECT, raw), Source(wire.DIALECT, raw))
        if leavable or kind.endswith("_call"):  # a call that the host itself has run
            self._say([part], raw)
        else:
            self.add(Message("user", (part,)), Source(wire.DIALECT, raw))

    # ------------------------------------------------------------ turns

    def _say(self, parts: list[Part], raw: bytes, exact: bool = True) -> None:
        self._parts += parts
        self._raws.append(raw)
        self._exact = self._exact and exact

    def _end_turn(self) -> None:
        if self._raws:
            source = Source(wire.DIALECT, b",".join(self._raws)) if self._exact else None
            self._messages.append(with_source(Message("assistant", tuple(self._parts)), source))
        self._parts, self._raws, self._exact = [], [], True

    # ------------------------------------------------------------ items

    def _message(self, shape: wire.InputItem, raw: bytes, path: str) -> None:
        if shape.role not in _ROLES:
            raise RequestError(
                f"`{path}.role` must be one of {', '.join(_ROLES)}, not {shape.role!r}",
                param=f"{path}.role",
                code="invalid_value",
            )
        phase = (("phase", dump(shape.phase)),) if shape.phase is not None else ()
        content = bytes(shape.content) or b"null"
        if shape.role == "assistant":
            parts = [] if content in (b"null", b'""') else self._content(content, f"{path}.content", phase)
            self._say(parts, raw)
            return
        if content in (b"null", b"[]"):
            raise RequestError(
                f"`{path}.content` is required in a message of role {shape.role}: a string or a list of content parts",
                param=f"{path}.content",
                code="missing_required_parameter",
            )
        parts = self._content(content, f"{path}.content")
        self.add(Message(cast(Role, shape.role), tuple(parts)), Source(wire.DIALECT, raw))

    def _result(self, shape: wire.InputItem, path: str) -> ToolResultPart:
        call_id = required(shape.call_id, f"{path}.call_id", "the id of the call it answers")
        content = cast(Any, tuple(self._output(shape, path)))
        return ToolResultPart(call_id, content, name=shape.name, path=f"{path}.call_id")

    def _unasked(self, shape: wire.InputItem, path: str) -> list[Part]:
        """Takes an output without a call, with which a client's tool tells the model something unasked (a goal, in
        Codex). Other APIs get it as a user's message."""
        name = wire.flat_name(shape.namespace, shape.name or "")
        said = f"Output of the tool `{name}`, unasked:" if name else "Output of a tool, unasked:"
        return [TextPart(said), *self._output(shape, path)]

    def _output(self, shape: wire.InputItem, path: str) -> list[Part]:
        output = bytes(shape.output)
        if output[:1] not in (b'"', b"["):
            return [TextPart(output.decode("utf-8", "surrogatepass"))]  # any JSON value, as its text
        return self._content(output, f"{path}.output")

    def _own_result(self, kind: str, call_id: str, shape: wire.InputItem, raw: bytes, path: str) -> ToolResultPart:
        """The result of a typed tool: a text, a list of commands' outputs, or a screenshot."""
        extra = unnamed(raw, KNOWN_CALL | {"output"})
        output, failed = bytes(shape.output), shape.status == "failed"
        content: list[Part]
        if kind == "computer_call_output" and output[:1] == b"{":
            content = [self._part(as_image(output), f"{path}.output", ())]
        elif output[:1] == b'"':
            content = self._content(output, f"{path}.output")
        else:
            told = output not in (b"", b"null")
            content = [TextPart(output.decode("utf-8", "surrogatepass") if told else shape.status or "")]
        return ToolResultPart(call_id, tuple(cast(Any, content)), failed, extra=extra, path=f"{path}.call_id")

    def _found(self, shape: wire.InputItem, path: str) -> ToolResultPart:
        """Takes the result of the client's own search: tools that the request has from here on."""
        tools = read_tool_list(shape.tools or (), f"{path}.tools")
        self._tools += tools
        found = ((wire.FOUND, write_array(bytes(raw) for raw in shape.tools or ())),)
        return ToolResultPart(shape.call_id or "", tuple(ToolReferencePart(tool.name) for tool in tools), extra=found)

    def _more_tools(self, shape: wire.InputItem, path: str) -> TextPart:
        """Takes an item that adds tools. Other APIs declare them with all others."""
        tools = read_tool_list(shape.tools or (), f"{path}.tools")
        self._tools += tools
        return TextPart(f"More tools can be called now: {', '.join(f'`{tool.name}`' for tool in tools)}.")

    # ------------------------------------------------------------ content

    def _content(self, content: bytes, path: str, phase: Members = ()) -> list[Part]:
        """The content of a message, which is a string or a list of parts."""
        if content[:1] == b'"':
            return [TextPart(decode(content, str, path), phase)]
        parts = decode(content, list[msgspec.Raw], path)
        return [self._part(bytes(raw), f"{path}[{number}]", phase) for number, raw in enumerate(parts)]

    def _part(self, raw: bytes, path: str, phase: Members) -> Part:
        shape = decode(raw, wire.ContentPart, path)
        part = known_part(shape, raw, path, phase)
        if part is None:
            self._foreign.append(f"{path} ({shape.type})")
            part = OpaquePart(shape.type, wire.DIALECT, raw, path=path)
        return with_source(part, Source(wire.DIALECT, raw))
