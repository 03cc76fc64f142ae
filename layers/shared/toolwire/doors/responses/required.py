"""Members that Open Responses, the standard of this API, requires, put in where a host of the API leaves them out.

What a host says stays as it came: members are added behind its own. A null stands for nothing said where the standard
has no null.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from toolwire.doors.responses.items import item_id
from toolwire.wire.json import dump, elements, raw_members, write_array, write_object

_NULL = b"null"

#: Members of a response that may be null in the standard. In any other one a null says nothing.
NULLABLE = frozenset({
    "completed_at", "error", "incomplete_details", "instructions", "max_output_tokens", "max_tool_calls", "metadata",
    "previous_response_id", "prompt_cache_key", "reasoning", "safety_identifier", "usage",
})  # fmt: skip

#: Type of a part of a message -> its members.
_PARTS: dict[str, dict[str, bytes]] = {
    "output_text": {"text": b'""', "annotations": b"[]"},
    "refusal": {"refusal": b'""'},
}
_TOOL = {"description": _NULL, "parameters": _NULL, "strict": _NULL}
_REASONING = {"effort": _NULL, "summary": _NULL}
_FORMATS: dict[str, dict[str, bytes]] = {
    "json_schema": {"description": _NULL, "schema": _NULL, "strict": b"false"},
}
#: Type of an item -> its members beside id and status.
_ITEMS: dict[str, dict[str, bytes]] = {
    "message": {"role": b'"assistant"', "content": b"[]"},
    "function_call": {},
    "reasoning": {"summary": b"[]"},
}


class _Typed(msgspec.Struct):
    type: object = None


def type_of(raw: bytes) -> str:
    """The `type` of an object; empty where it has none."""
    kind = msgspec.json.decode(raw, type=_Typed).type
    return kind if isinstance(kind, str) else ""


def with_members(raw: bytes, required: Mapping[str, bytes], changed: Mapping[str, bytes] | None = None) -> bytes:
    """The object with those of the required members that it lacks, and with some of its own changed; itself where
    nothing is to be done."""
    given = raw_members(raw)
    missing = {
        name: value
        for name, value in required.items()
        if name not in given or (value != _NULL and name not in NULLABLE and bytes(given[name]) == _NULL)
    }
    replaced = {name: value for name, value in (changed or {}).items() if bytes(given[name]) != value}
    replaced |= {name: value for name, value in missing.items() if name in given}
    if replaced:
        return write_object(({name: bytes(value) for name, value in given.items()} | replaced | missing).items())
    if not missing:
        return raw
    # Its own bytes stay, with their layout.
    added = write_object(missing.items())[1:]
    return raw.rstrip()[:-1].rstrip() + (b"," if given else b"") + added


def whole_part(raw: bytes) -> bytes:
    """A part of a message."""
    required = _PARTS.get(type_of(raw), {})
    if bytes(raw_members(raw).get("logprobs", b"")) == _NULL:
        required = required | {"logprobs": b"[]"}
    return with_members(raw, required)


def whole_item(raw: bytes, status: str, response_id: str, index: int) -> bytes:
    """The item of the output at this index. `status` is that of one that does not say it. An item that only its host
    knows, or that is of no form that the API has, stays as it came."""
    kind = type_of(raw)
    required = _ITEMS.get(kind)
    if required is None:
        return raw
    required = {"id": dump(item_id(kind, response_id, index))} | required
    if kind != "reasoning":
        required["status"] = dump(status)
    try:
        content = bytes(raw_members(raw).get("content", b"")) if kind == "message" else b""
        changed = {"content": _each(content, whole_part)} if content[:1] == b"[" else {}
        return with_members(raw, required, changed)
    except ValueError:
        return raw


def whole_output(raw: bytes, status: str, response_id: str) -> bytes:
    """The list of items."""
    given = elements(raw)
    written = [whole_item(item, status, response_id, index) for index, item in enumerate(given)]
    return raw if written == given else write_array(written)


def whole_tools(raw: bytes) -> bytes:
    """A list of tools. A function in the Chat API's form, which clients send too, becomes flat."""

    def whole(tool: bytes) -> bytes:
        if type_of(tool) != "function":
            return tool
        given = raw_members(tool)
        nested = bytes(given.get("function", b""))
        if "name" not in given and nested[:1] == b"{":
            tool = write_object([("type", b'"function"'), *((n, bytes(v)) for n, v in raw_members(nested).items())])
        return with_members(tool, _TOOL)

    return _each(raw, whole)


def whole_reasoning(raw: bytes) -> bytes:
    """The settings for reasoning."""
    return with_members(raw, _REASONING)


def whole_text(raw: bytes) -> bytes:
    """The settings for text."""
    whole = with_members(raw, {"format": b'{"type":"text"}'})
    shape = bytes(raw_members(whole)["format"])
    return with_members(whole, {}, {"format": with_members(shape, _FORMATS.get(type_of(shape), {}))})


def _each(raw: bytes, whole: Callable[[bytes], bytes]) -> bytes:
    """A list with each element made whole; itself where all are."""
    given = elements(raw)
    written = [whole(one) for one in given]
    return raw if written == given else write_array(written)
