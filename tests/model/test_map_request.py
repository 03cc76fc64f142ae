"""What a rewrite of messages and parts changes, drops, and leaves as the same object."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from toolwire.model.map_request import map_each, map_messages, map_parts, with_parts
from toolwire.model.request import ChatRequest, Message, Part, TextPart
from toolwire.model.source import replace

ONE, TWO = TextPart("one"), TextPart("two")
REQUEST = ChatRequest(model="m", messages=(Message("user", (ONE,)), Message("user", (ONE, TWO))))


def _louder(part: Part) -> Part:
    return replace(part, text="TWO") if part is TWO else part


def _without_two(part: Part) -> Part | None:
    return None if part is TWO else part


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (_louder, [["one"], ["one", "TWO"]]),
        (_without_two, [["one"], ["one"]]),
        (lambda part: replace(part), [["one"], ["one", "two"]]),
    ],
    ids=["a part changes", "a part is dropped", "equal parts that are other objects"],
)
def test_what_changes_is_another_object(function: Callable[[Part], Part | None], expected: list[list[str]]) -> None:
    changed = map_messages(REQUEST, lambda message: map_parts(message, function))
    assert changed is not REQUEST
    assert [[part.text for part in m.parts if isinstance(part, TextPart)] for m in changed.messages] == expected


def test_the_rest_stays_the_same_object() -> None:
    assert map_messages(REQUEST, lambda message: map_parts(message, lambda part: part)) is REQUEST
    changed = map_messages(REQUEST, lambda message: map_parts(message, _louder))
    assert changed.messages[0] is REQUEST.messages[0]
    assert changed.messages[1].parts[0] is ONE
    assert map_each(REQUEST.messages, lambda message: message) is REQUEST.messages


def test_a_message_can_be_dropped() -> None:
    changed = map_messages(REQUEST, lambda message: message if len(message.parts) == 1 else None)
    assert changed.messages == REQUEST.messages[:1]


def test_the_order_of_parts_counts() -> None:
    message = REQUEST.messages[1]
    assert with_parts(message, [ONE, TWO]) is message
    assert with_parts(message, [TWO, ONE]).parts == (TWO, ONE)
    assert with_parts(message, [ONE]).parts == (ONE,)
