"""GET /responses/{id}/input_items: the input of a kept answer, with the whole history before it, as items in pages.

Items are shown in the standard's full form, with an id, a status and their parts, even if the client wrote a short
form. An item without an id gets one of its place in the conversation, the same in every page.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from toolwire.doors.responses.output_items import token_of
from toolwire.doors.responses.required_members import type_of, whole_item, with_members
from toolwire.model.errors import RequestError
from toolwire.wire.json import dump, elements, members, write_array, write_object

_NULL = b"null"

#: OpenAI's default number of items in a page, and the most.
_ITEMS, _MOST_ITEMS = 20, 100

#: Type of an item -> the prefix of its ids, and its members beside id and status.
_TYPES: dict[str, tuple[str, dict[str, bytes]]] = {
    "message": ("msg", {}),
    "reasoning": ("rs", {}),
    "function_call": ("fc", {}),
    "function_call_output": ("fco", {"output": b'""'}),
    "compaction": ("cmp", {}),
}
#: Types without a status.
_NO_STATUS = ("reasoning", "compaction")

#: Type of a part of a message -> its members.
_PARTS: dict[str, dict[str, bytes]] = {
    "input_image": {"image_url": _NULL, "detail": b'"auto"'},
    "output_text": {"text": b'""', "annotations": b"[]"},
}


def input_items(history: Iterable[bytes], response_id: str, query: Mapping[str, str]) -> bytes:
    """The page of these raw items that the query asks for (`limit`, `order`, `after`). Raises RequestError for a query
    that cannot be met."""
    shown = [_shown(item, token_of(response_id), number) for number, item in enumerate(history)]
    if _one_of(query, "order", ("desc", "asc")) == "desc":
        shown.reverse()
    after, limit = query.get("after"), _limit(query)
    if after is not None:
        places = [place for place, (id, _) in enumerate(shown) if id == after]
        if not places:
            raise _refused("after", f"`after` names no item of this list: {after[:128]!r}")
        shown = shown[places[0] + 1 :]
    page, more = shown[:limit], len(shown) > limit
    ends = [dump(page[place][0]) if page else _NULL for place in (0, -1)]
    return write_object(
        [
            ("object", b'"list"'),
            ("data", write_array(item for _, item in page)),
            ("first_id", ends[0]),
            ("last_id", ends[1]),
            ("has_more", dump(more)),
        ]
    )


def _shown(item: bytes, token: str, number: int) -> tuple[str, bytes]:
    """The item's id, and the item."""
    given = members(item)
    kind = type_of(item) or "message"
    prefix, required = _TYPES.get(kind, ("item", {}))
    own = with_members(item, {"type": dump(kind), "id": dump(f"{prefix}_{token}_in{number}"), **required})
    if kind not in _NO_STATUS:
        own = with_members(own, {"status": b'"completed"'})
    if kind == "message":
        own = with_members(own, {}, {"content": _content(given.get("content", b'""'), given.get("role"))})
    elif given.get("output", _NULL)[:1] == b"[":
        own = with_members(own, {}, {"output": _parts(given["output"])})
    whole = whole_item(own, "completed", "", number)
    return _text(members(whole)["id"]), whole


def _content(raw: bytes, role: bytes | None) -> bytes:
    """The parts of a message. A plain text becomes one part."""
    if raw[:1] != b'"':
        return _parts(raw)
    kind = b'"output_text"' if role == b'"assistant"' else b'"input_text"'
    return _parts(write_array([write_object([("type", kind), ("text", raw)])]))


def _parts(raw: bytes) -> bytes:
    return write_array(with_members(part, _PARTS.get(type_of(part), {})) for part in elements(raw))


def _text(raw: bytes) -> str:
    return msgspec.json.decode(raw, type=str)


def _one_of(query: Mapping[str, str], name: str, known: tuple[str, ...]) -> str:
    """The value of a parameter of the query; the first known one if it is absent."""
    value = query.get(name, known[0])
    if value not in known:
        raise _refused(name, f"`{name}` must be {' or '.join(known)}, not {value[:128]!r}")
    return value


def _limit(query: Mapping[str, str]) -> int:
    value = query.get("limit", str(_ITEMS))
    if not (value.isascii() and value.isdecimal() and len(value) < 4 and 1 <= int(value) <= _MOST_ITEMS):
        raise _refused("limit", f"`limit` must be a number from 1 to {_MOST_ITEMS}, not {value[:128]!r}")
    return int(value)


def _refused(name: str, message: str) -> RequestError:
    return RequestError(message, param=name, code="invalid_value")
