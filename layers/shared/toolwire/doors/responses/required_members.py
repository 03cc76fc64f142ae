"""Adds members that Open Responses, the standard of this API, requires and a host of the API leaves out.

A host's own members stay as they came; members are added behind them. A null counts as absent if the standard allows no
null there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from toolwire.doors.responses.output_items import item_id
from toolwire.wire.json import dump, elements, raw_members, write_array, write_object

_NULL = b"null"

#: Members of a response that may be null in the standard. A null in any other member counts as absent.
NULLABLE = frozenset({
    "completed_at", "error", "incomplete_details", "instructions", "max_output_tokens", "max_tool_calls", "metadata",
    "previous_response_id", "prompt_cache_key", "reasoning", "safety_identifier", "usage",
})  # fmt: skip

#: Members of every response.
REQUIRED = NULLABLE | {
    "background", "created_at", "frequency_penalty", "id", "model", "object", "output", "parallel_tool_calls",
    "presence_penalty", "service_tier", "status", "store", "temperature", "text", "tool_choice", "tools",
    "top_logprobs", "top_p", "truncation",
}  # fmt: skip
_NEVER_NULL = REQUIRED - NULLABLE

#: Type of a part of a message -> its members.
_PARTS: dict[bytes, dict[str, bytes]] = {
    b'"output_text"': {"text": b'""', "annotations": b"[]"},
    b'"refusal"': {"refusal": b'""'},
}
_TOOL = {"description": _NULL, "parameters": _NULL, "strict": _NULL}
_REASONING = {"effort": _NULL, "summary": _NULL}
_FORMATS: dict[str, dict[str, bytes]] = {
    "json_schema": {"description": _NULL, "schema": _NULL, "strict": b"false"},
}
#: Type of an item -> its members beside id and status.
_ITEMS: dict[bytes, dict[str, bytes]] = {
    b'"message"': {"role": b'"assistant"', "content": b"[]"},
    b'"function_call"': {},
    b'"reasoning"': {"summary": b"[]"},
}


_NO_PARTS = msgspec.Raw(b"[]")


class _Typed(msgspec.Struct):
    type: object = None


def type_of(raw: bytes) -> str:
    """The `type` of an object; empty where it has none."""
    kind = msgspec.json.decode(raw, type=_Typed).type
    return kind if isinstance(kind, str) else ""


def is_null(raw: msgspec.Raw) -> bool:
    """Whether a raw value is null."""
    return len(raw) == len(_NULL) and bytes(raw) == _NULL


def with_members(raw: bytes, required: Mapping[str, bytes], changed: Mapping[str, bytes] | None = None) -> bytes:
    """The object with the required members that it lacks, and with the `changed` ones of its own; the same object if
    nothing changes."""
    return _completed(raw, raw_members(raw), required, changed or {})


def _completed(
    raw: bytes, given: dict[str, msgspec.Raw], required: Mapping[str, bytes], changed: Mapping[str, bytes]
) -> bytes:
    missing = {
        name: value
        for name, value in required.items()
        if name not in given or (value != _NULL and name not in NULLABLE and is_null(given[name]))
    }
    replaced = {name: value for name, value in changed.items() if name not in missing and bytes(given[name]) != value}
    replaced |= {name: value for name, value in missing.items() if name in given}
    if replaced:
        return write_object(({name: bytes(value) for name, value in given.items()} | replaced | missing).items())
    if not missing:
        return raw
    # The host's own bytes stay, with their layout.
    added = write_object(missing.items())[1:]
    return raw.rstrip()[:-1].rstrip() + (b"," if given else b"") + added


def says_all(given: Mapping[str, msgspec.Raw]) -> bool:
    """Whether a response has all required members."""
    return given.keys() >= REQUIRED and not any(is_null(given[name]) for name in _NEVER_NULL)


def whole_part(raw: bytes) -> bytes:
    """A part of a message."""
    given = raw_members(raw)
    required = _PARTS.get(bytes(given.get("type", b"")), {})
    if "logprobs" in given:  # which need not be there
        required = required | {"logprobs": b"[]"}
    return _completed(raw, given, required, {})


def whole_item(raw: bytes, status: str, response_id: str, index: int) -> bytes:
    """The item of the output at this index. `status` is used for an item without one. An item of an unknown type or
    form stays as it came."""
    try:
        given = raw_members(raw)
        kind = bytes(given.get("type", b""))
        required = _ITEMS.get(kind)
        if required is None:
            return raw
        changed = {}
        if kind == b'"message"' and bytes(content := given.get("content", _NO_PARTS))[:1] == b"[":
            changed["content"] = _each(bytes(content), whole_part)
        if "id" not in given or is_null(given["id"]):
            required = {"id": dump(item_id(kind[1:-1].decode(), response_id, index))} | required
        if kind != b'"reasoning"':
            required = required | {"status": dump(status)}
        return _completed(raw, given, required, changed)
    except ValueError:
        return raw


def whole_output(raw: bytes, status: str, response_id: str) -> bytes:
    """The list of items."""
    given = elements(raw)
    written = [whole_item(item, status, response_id, index) for index, item in enumerate(given)]
    return raw if written == given else write_array(written)


def whole_tools(raw: bytes) -> bytes:
    """A list of tools. A function in the Chat API's form, which clients also send, becomes flat."""

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
    """A list with `whole` applied to each element; the same bytes if that changes none."""
    given = elements(raw)
    written = [whole(one) for one in given]
    return raw if written == given else write_array(written)
