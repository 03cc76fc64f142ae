"""The slow path for Responses answers: events and items whose members have other types than OpenAI's.

Seen at hosts: items of other kinds with a member of the same name but another type (`arguments` as an object in a tool
search, `delta` as an object in a shell's output), numbers as strings, arguments as an object, half a surrogate pair,
calls as other APIs have them. All that can be read is read. Arguments that are an object keep their text.
"""

from __future__ import annotations

import msgspec

from toolwire.wire.cross_api_names import misnamed_arguments
from toolwire.wire.json import elements, raw_members
from toolwire.wire.lenient_calls import calls_in_parts, read_call, read_calls
from toolwire.wire.lenient_values import number_of, readable, reasoning_of, text_of
from toolwire.wire.openai_chat import ToolCallDelta
from toolwire.wire.openai_responses import Event, IncompleteDetails, OutputItem, OutputPart, Response

#: Types of items that are calls in other APIs' words.
OTHER_CALLS = frozenset({"tool_call", "tool_use", "function"})


def read_other_call(raw: bytes, item: OutputItem) -> OutputItem:
    """The item, which says its name and its arguments as an entry of Chat's `tool_calls` does; as it is, if it says no
    name there either. Raises ValueError if it is no JSON object."""
    call = read_call(readable(raw))
    told = call.function or call
    if told.name:
        given = told.arguments if told.arguments is not None else misnamed_arguments(told)
        item.type, item.name, item.arguments = "function_call", told.name, given
        item.call_id = item.call_id or call.id
    return item


def calls_in_message(raw: bytes) -> list[OutputItem]:
    """The calls that stand in a message, an event or a response: in `tool_calls`, as in Chat's, or among the parts of
    its content, as in the Messages API's. Raises ValueError if it is no JSON object."""
    found = _members(readable(raw))
    calls = read_calls(found.get("tool_calls", b"")) or []
    known = {call.id for call in calls if call.id}
    calls += [call for call in calls_in_parts(found.get("content", b"")) if call.id not in known]
    return [_item_of(call) for call in calls]


def _item_of(call: ToolCallDelta) -> OutputItem:
    told = call.function or call
    given = told.arguments if told.arguments is not None else misnamed_arguments(told)
    return OutputItem("function_call", call_id=call.id, name=told.name, arguments=given)


def read_event(raw: bytes) -> Event:
    """The event in a document. Raises ValueError if it is no JSON object (msgspec's errors are ValueErrors)."""
    found = _members(readable(raw))
    event = Event()
    for name in ("type", "item_id", "text", "refusal", "arguments", "input"):
        setattr(event, name, text_of(found.get(name)))
    event.delta = reasoning_of(found.get("delta")) or text_of(found.get("delta"))
    for name in ("output_index", "content_index", "summary_index"):
        setattr(event, name, number_of(found.get(name)))
    for name in ("item", "response", "error", "tool_calls"):
        setattr(event, name, msgspec.Raw(found.get(name, b"")))
    event.part = _part(found["part"]) if "part" in found else None
    return event


def read_item(raw: bytes) -> OutputItem:
    """The item in a document. Raises ValueError if it is no JSON object."""
    found = _members(readable(raw))
    item = OutputItem(text_of(found.get("type")) or "")
    for name in OutputItem.__struct_fields__:
        if name in ("reasoning_content", "thinking"):
            setattr(item, name, reasoning_of(found.get(name)))
        elif name in ("content", "summary"):
            setattr(item, name, _parts(found.get(name)))
        elif name == "tool_calls":
            item.tool_calls = msgspec.Raw(found.get(name, b""))
        elif name != "type":
            setattr(item, name, text_of(found.get(name)))
    return item


def read_response(raw: bytes) -> Response:
    """The response in a document. Raises ValueError if it is no JSON object."""
    found = _members(readable(raw))
    details = found.get("incomplete_details", b"null")
    output = found.get("output", b"null")
    return Response(
        object=text_of(found.get("object")),
        id=text_of(found.get("id")),
        created_at=number_of(found.get("created_at")),
        model=text_of(found.get("model")),
        status=text_of(found.get("status")),
        error=msgspec.Raw(found.get("error", b"")),
        incomplete_details=IncompleteDetails(text_of(_members(details).get("reason"))) if details[:1] == b"{" else None,
        output=[msgspec.Raw(item) for item in elements(output)] if output[:1] == b"[" else None,
        output_text=text_of(found.get("output_text")),
        usage=msgspec.Raw(found.get("usage", b"")),
        tool_calls=msgspec.Raw(found.get("tool_calls", b"")),
    )


def _members(raw: bytes) -> dict[str, bytes]:
    raw.decode("utf-8", "surrogatepass")
    return {name: bytes(value) for name, value in raw_members(raw).items()}


def _parts(raw: bytes | None) -> list[OutputPart] | None:
    """The parts of a list; a plain text is one part."""
    if raw is None or raw == b"null":
        return None
    if raw[:1] == b"[":
        return [_part(element) for element in elements(raw)]
    return [OutputPart("output_text", text_of(raw))]


def _part(raw: bytes) -> OutputPart:
    if raw[:1] != b"{":
        return OutputPart("output_text", text_of(raw))
    found = _members(raw)
    return OutputPart(text_of(found.get("type")) or "", text_of(found.get("text")), text_of(found.get("refusal")))
