"""Parallel calls of a Chat Completions host, which ends no call before the answer: a door that shows one part at a time
must not hold the second call back until then."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.corpus.driver import answer, open_exchange, sent
from tests.named_rows import each_row
from tests.providers import every_door
from tests.providers.openai_chat import chat_upstream as chat
from toolwire.exchange.actions import Send

PARIS = '{"city":"Paris"}'
TOKYO = ['{"city":', '"Tokyo', '"}']
DOORS = [door for door in every_door.REQUESTS if door != "chat_completions"]  # chat shows the host's own chunks
#: What may still come of the first call, once the second has begun, without a change of its arguments.
NOTHING_NEW: dict[str, list[dict[str, Any]]] = {
    "nothing": [],
    "white space": [chat.fragment(0, "\n ")],
    "an empty fragment": [chat.fragment(0, "")],
    "the same object": [chat.fragment(0, PARIS)],
    "the call whole": [chat.opening(0, "call_1", "weather", PARIS)],
}


def exchange_for(door: str) -> Any:
    return open_exchange(json.dumps({"model": "m", "stream": True, **every_door.REQUESTS[door]}).encode(), door=door)


@pytest.mark.parametrize("door", ["messages", "responses", "native"])
def test_each_fragment_of_the_second_call_is_shown_when_it_comes(door: str) -> None:
    exchange = exchange_for(door)
    sent(exchange, exchange.receive_head(200, {"content-type": "text/event-stream"}))
    sent(exchange, exchange.receive_data(chat.stream(
        chat.ROLE, chat.opening(0, "call_1", "weather", PARIS), chat.opening(1, "call_2", "weather"), done=False
    )))  # fmt: skip
    for fragment in TOKYO:
        actions = sent(exchange, exchange.receive_data(chat.stream(chat.fragment(1, fragment), done=False)))
        shown = b"".join(action.data for action in actions if isinstance(action, Send))
        assert json.dumps(fragment)[1:-1].encode() in shown


@each_row("late", NOTHING_NEW.values(), ids=NOTHING_NEW)
@each_row("door", DOORS)
def test_what_adds_nothing_to_a_call_may_come_late(door: str, late: list[dict[str, Any]]) -> None:
    upstream = chat.stream(
        chat.ROLE, chat.opening(0, "call_1", "weather", PARIS), chat.opening(1, "call_2", "weather", TOKYO[0]),
        *late, *(chat.fragment(1, fragment) for fragment in TOKYO[1:]), chat.CALLS, chat.TOTAL,
    )  # fmt: skip
    shown = answer(exchange_for(door), [upstream])
    assert every_door.calls_in(door, shown.body, streamed=True) == [("weather", PARIS), ("weather", "".join(TOKYO))]


@pytest.mark.parametrize("door", DOORS)
def test_calls_that_alternate_are_shown_whole(door: str) -> None:
    pieces = zip(['{"city":', '"Paris', '"}'], TOKYO, strict=True)
    upstream = chat.stream(
        chat.ROLE, chat.opening(0, "call_1", "weather"), chat.opening(1, "call_2", "weather"),
        *(chat.fragment(index, piece) for pair in pieces for index, piece in enumerate(pair)), chat.CALLS, chat.TOTAL,
    )  # fmt: skip
    shown = answer(exchange_for(door), [upstream])
    assert every_door.calls_in(door, shown.body, streamed=True) == [("weather", PARIS), ("weather", "".join(TOKYO))]


@pytest.mark.parametrize("door", DOORS)
def test_more_of_a_call_that_has_ended_fails_loudly(door: str) -> None:
    upstream = chat.stream(
        chat.ROLE, chat.opening(0, "call_1", "weather", PARIS), chat.opening(1, "call_2", "weather", TOKYO[0]),
        chat.fragment(0, ',"more"'), chat.CALLS, chat.TOTAL,
    )  # fmt: skip
    shown = answer(exchange_for(door), [upstream]).body
    assert b"after their end" in shown
