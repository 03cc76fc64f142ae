"""A request of a client of the same API: its own bytes, member by member, but what had to change.

The client gets the API's own refusals, except for the contents that an SDK keeps of a stream: see `joined`. A history
is written anew as a whole if the gateway has changed some of it, or if another provider has made calls in it: such
calls have ids, and lack signatures that this API wants.
"""

from __future__ import annotations

from collections.abc import Iterator

from toolwire.conversation.tool_call_ids import token_of
from toolwire.model.map_request import map_messages, map_parts
from toolwire.model.request import ChatRequest, Part, RequestFields, Tool, ToolCallPart
from toolwire.model.source import raw_in, replace
from toolwire.providers.gemini.tools import calling_config
from toolwire.wire.gemini import DIALECT, PLACE_ID
from toolwire.wire.json import dump, elements, members, write_array, write_object

#: The members that hold the history.
HISTORY = frozenset({"systemInstruction", "contents"})


def has_own_history(request: ChatRequest, fields: RequestFields) -> bool:
    """Whether the history can be sent as the client wrote it."""
    if request.messages is not fields.parsed.messages:
        return False
    return all(token_of(call.id) is None for call in request.tool_calls)


def joined(request: ChatRequest, fields: RequestFields) -> dict[str, bytes]:
    """Joins each turn of the model with calls that stands in several contents into one: Google takes a call only right
    behind the user's content. Every part, and every other content, keeps the client's bytes. Returns the members that
    hold the history; none if no turn had to be joined."""
    turns = (message for message in request.messages if message.role == "assistant" and message.tool_calls)
    if all(raw_in(turn, DIALECT) is not None for turn in turns):
        return {}
    own = {name: raw for name, raw in fields.members if name in HISTORY}
    contents: list[tuple[bool, list[bytes]]] = []  # whether it is the model's; the contents that are one turn
    for raw in elements(own["contents"]):
        is_models = members(raw).get("role") == b'"model"'
        if is_models and contents and contents[-1][0]:
            contents[-1][1].append(raw)
        else:
            contents.append((is_models, [raw]))
    return own | {"contents": write_array(_one(turn) for _, turn in contents)}


def _one(contents: list[bytes]) -> bytes:
    """Contents of one turn as one content."""
    if len(contents) == 1:
        return contents[0]
    found = [members(content) for content in contents]
    each = (content["parts"] for content in found if content.get("parts", b"null") != b"null")
    parts = [part for raw in each for part in ([raw] if raw[:1] == b"{" else elements(raw))]
    own = {name: value for content in found for name, value in content.items()}
    return write_object((own | {"parts": write_array(parts)}).items())


def with_own_ids(request: ChatRequest) -> ChatRequest:
    """The request, in which calls keep the ids that this API gave them, for a history that is written anew. Minted ids,
    and those that replace a missing id, are not kept."""

    def own(part: Part) -> Part:
        if type(part) is not ToolCallPart or token_of(part.id) is not None or part.id.startswith(PLACE_ID):
            return part
        return replace(part, own_id=True)

    return map_messages(request, lambda message: map_parts(message, own))


def own_members(request: ChatRequest, fields: RequestFields, history: dict[str, bytes]) -> Iterator[tuple[str, bytes]]:
    """The members in the client's order. `history`: the members of a history that was written anew."""
    parsed = fields.parsed
    written = dict(history)
    if written and "systemInstruction" not in dict(fields.members) and "systemInstruction" in written:
        yield "systemInstruction", written.pop("systemInstruction")
    for name, raw in fields.members:
        value: bytes | None = raw
        if history and name in HISTORY:
            value = written.pop(name, None)
        elif name == "tools" and request.tools is not parsed.tools:
            value = _tools(request.tools) if request.tools else None
        elif name == "toolConfig" and not (request.tool_choice is parsed.tool_choice and request.tools is parsed.tools):
            config = calling_config(request.tool_choice, is_strict=False)
            value = dump({"functionCallingConfig": config}) if config is not None and request.tools else None
        if value is not None:
            yield name, value


def _tools(tools: tuple[Tool, ...]) -> bytes:
    declared = [_declaration(tool) for tool in tools if tool.kind != "opaque"]
    entries = [write_object([("functionDeclarations", write_array(declared))])] if declared else []
    return write_array([*entries, *(raw for tool in tools if tool.kind == "opaque" and (raw := raw_in(tool, DIALECT)))])


def _declaration(tool: Tool) -> bytes:
    raw = raw_in(tool, DIALECT)
    if raw is not None:
        return raw
    pairs = [("name", dump(tool.name))]
    pairs += [("description", dump(tool.description))] if tool.description is not None else []
    pairs += [("parametersJsonSchema", tool.parameters)] if tool.parameters is not None else []
    return write_object([*pairs, *tool.extra])
