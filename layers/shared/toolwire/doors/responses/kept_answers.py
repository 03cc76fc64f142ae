"""Kept answers in a request: `previous_response_id` (continue from one), `item_reference` (an item of one), `store`
(keep this request's own).

Ids that OpenAI gave are not looked up here: a host that keeps its answers itself gets them as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from toolwire.conversation.kept_answers import KeptAnswer, history_of
from toolwire.doors.responses.errors import OWN_RESPONSE
from toolwire.doors.responses.output_items import answer_of
from toolwire.model.errors import RequestError
from toolwire.model.kept_answers import Keeping
from toolwire.model.request import ChatRequest
from toolwire.model.source import replace
from toolwire.wire.json import elements, write_array, write_object


class _Item(msgspec.Struct):
    type: object = None
    role: object = None
    id: object = None


def named_answers(request: ChatRequest) -> list[str]:
    """The ids of the kept answers that the request names, by themselves or by one of their items."""
    previous = _previous(request)
    places = (place for item in _own_input(request) if (place := _reference(item)) is not None)
    return list(dict.fromkeys([*([previous] if previous else []), *(id for id, _ in places)]))


def continued(
    request: ChatRequest, answers: Mapping[str, KeptAnswer], parse: Callable[[dict[str, bytes]], ChatRequest]
) -> ChatRequest:
    """The request with the history that it continues from, and with what is to be kept of its answer. `answers`: the
    answers that it names and those before them, as far as they were found. `parse` reads a request's members. Raises
    RequestError (`previous_response_not_found`, `item_not_found`)."""
    assert request.fields is not None
    top, previous = dict(request.fields.members), _previous(request)
    before = _before(previous, answers) if previous else ()
    given = _own_input(request)
    own = [_resolved(item, f"input[{place}]", answers) for place, item in enumerate(given)]
    wanted = top.get("store") != b"false"
    keeping = Keeping(wanted, previous, answers[previous].earlier if previous else (), before, tuple(own))
    if previous or own != given:
        top.pop("previous_response_id", None)
        request = parse(top | {"input": write_array([*before, *own])})
    others = tuple(name for name in request.dialect_fields if name != "store" or not wanted)
    return replace(request, kept=keeping, dialect_fields=others)


def _before(id: str, answers: Mapping[str, KeptAnswer]) -> tuple[bytes, ...]:
    """All items of the conversation up to and with this answer."""
    history = history_of(id, answers) if id in answers else None
    if history is None:
        raise RequestError(
            f"Previous response with id {id!r} not found: it was not kept, or has expired.",
            param="previous_response_id",
            code="previous_response_not_found",
        )
    return history


def _previous(request: ChatRequest) -> str | None:
    raw = dict(request.fields.members).get("previous_response_id", b"null") if request.fields is not None else b"null"
    id = msgspec.json.decode(raw)
    return id if isinstance(id, str) and OWN_RESPONSE.fullmatch(id) else None


def _own_input(request: ChatRequest) -> list[bytes]:
    """The items of the request's own input."""
    raw = dict(request.fields.members).get("input", b"null") if request.fields is not None else b"null"
    if raw[:1] == b'"':
        return [write_object([("type", b'"message"'), ("role", b'"user"'), ("content", raw)])]
    return elements(raw) if raw[:1] == b"[" else []


def _reference(item: bytes) -> tuple[str, int] | None:
    """The answer with the item that this item refers to, and the item's place there."""
    shape = msgspec.json.decode(item, type=_Item)
    is_reference = shape.type == "item_reference" or (shape.type is None and shape.role is None)
    return answer_of(shape.id) if is_reference and isinstance(shape.id, str) else None


def _resolved(item: bytes, path: str, answers: Mapping[str, KeptAnswer]) -> bytes:
    """The item, or the one that it refers to. Raises RequestError if that is unknown."""
    place = _reference(item)
    if place is None:
        return item
    output = answers[place[0]].output if place[0] in answers else []
    if place[1] >= len(output):
        raise RequestError(
            f"`{path}`: there is no such item: its answer was not kept, or has expired.",
            param=path,
            code="item_not_found",
        )
    return output[place[1]]
