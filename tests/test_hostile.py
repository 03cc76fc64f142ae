"""Clients and upstreams that mean harm: nesting, size, work that grows faster than the input, a quoted credential."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import pytest

from tests.corpus.driver import Answer, answer, open_exchange
from tests.exchange.test_exchange import opened, told
from tests.matrix.cells import CELLS, Cell
from tests.named_rows import each_row
from tests.providers.openai_chat.chat_upstream import (
    CALLS,
    ROLE,
    STOP,
    TOTAL,
    ask,
    chunk,
    fragment,
    opening,
    request,
    stream,
    text,
)
from toolwire.doors import DOORS
from toolwire.model.errors import RequestError
from toolwire.model.limits import ANSWER_BYTES

# ---------------------------------------------------------------- nesting

#: Around the depth that a parser takes, which differs with where it is called: what one reader takes, the next may not.
DEPTHS = [10, *range(940, 1000), 5_000, 200_000]


def nested(depth: int) -> bytes:
    return b"[" * depth + b"]" * depth


REQUEST_PLACES: dict[str, bytes] = {
    "an unknown field": b'"x":@',
    "stream options": b'"stream":true,"stream_options":{"x":@}',
    "a tool": b'"tools":[{"type":"function","function":{"name":"a b"},"x":@}]',
    "a custom tool": b'"tools":[{"type":"custom","custom":{"name":"a b","format":@}}]',
    "parameters": b'"tools":[{"type":"function","function":{"name":"a","parameters":{"x":@}}}]',
    "a part": b'"messages":[{"role":"user","content":[{"type":"text","text":"a","x":@}],"refusal":null}]',
    "a call": (
        b'"messages":[{"role":"assistant","tool_calls":'
        b'[{"id":"a b","function":{"name":"a b","arguments":"{}"},"x":@}]}]'
    ),
}


@pytest.mark.parametrize("place", REQUEST_PLACES.values(), ids=REQUEST_PLACES)
def test_a_request_may_be_nested_in_any_way(place: bytes) -> None:
    refused = []
    for depth in DEPTHS:
        body = b'{"model":"p/m","messages":[{"role":"user","content":"a"}],' + place.replace(b"@", nested(depth)) + b"}"
        try:
            open_exchange(body)
        except RequestError as error:
            refused.append((depth, error.code))

    assert (DEPTHS[-1], "invalid_json") in refused
    assert all(depth != 10 for depth, _ in refused)


_HEAD = b'"id":"c","object":"chat.completion.chunk","created":1,"model":"m"'
ANSWER_PLACES: dict[str, bytes] = {
    "the top": b'"choices":[{"index":0,"delta":{"content":"a"}}],"x":@',
    "a choice": b'"choices":[{"index":0,"delta":{"content":"a"},"x":@}]',
    "a delta": b'"choices":[{"index":0,"delta":{"role":"assistant","content":"a","x":@}}]',
    "content": b'"choices":[{"index":0,"delta":{"content":@}}]',
    "arguments": b'"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"name":"a","arguments":@}}]}}]',
    "a call": b'"choices":[{"index":0,"delta":{"tool_calls":[{"id":"a","function":{"name":"a"},"x":@}]}}]',
    "usage": b'"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2,"x":@}',
    "an error": b'"error":{"message":"a","x":@}',
}


#: How an answer comes that has this chunk in it.
WAYS: list[Callable[[bytes], Answer]] = [
    lambda frame: ask(stream(ROLE, frame, STOP)),
    lambda frame: ask(stream(ROLE, frame, STOP), streamed=False, content_type="text/event-stream"),
    lambda frame: ask(frame.replace(b'"delta"', b'"message"'), streamed=False),
    lambda frame: ask(frame, streamed=False, status=400),
]


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.integration)])
@each_row("name", ANSWER_PLACES)
def test_an_answer_may_be_nested_in_any_way(name: str, every: bool) -> None:
    """Each place at each depth; in each way, or, in `make test`, in two of them."""
    for turn, depth in enumerate(DEPTHS, list(ANSWER_PLACES).index(name)):
        frame = b"{" + _HEAD + b"," + ANSWER_PLACES[name].replace(b"@", nested(depth)) + b"}"
        for way in WAYS if every else WAYS[turn % 2 :: 2]:
            assert b"internal_error" not in way(frame).body, depth


# ---------------------------------------------------------------- work


def work(act: Callable[[], object]) -> int:
    """How many calls the interpreter made: a measure of the work that is the same every time."""
    calls = 0

    def count(*_: object) -> None:
        nonlocal calls
        calls += 1

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        act()
    finally:
        sys.setprofile(before)
    return calls


def turns(count: int, id: Callable[[int], str]) -> list[dict[str, Any]]:
    history: list[dict[str, Any]] = [{"role": "user", "content": "a"}]
    for number in range(count):
        call = {"id": id(number), "type": "function", "function": {"name": "a.b", "arguments": "{}"}}
        history += [{"role": "assistant", "content": None, "tool_calls": [call]}]
        history += [{"role": "tool", "tool_call_id": id(number), "content": "a"}]
    return history


REQUESTS: dict[str, Callable[[int], dict[str, Any]]] = {
    "turns": lambda n: {"messages": turns(n, lambda number: f"call_{number}")},
    "turns with one id": lambda n: {"messages": turns(n, lambda _: "call_a")},
    "turns with ids that are rewritten": lambda n: {"messages": turns(n, lambda number: f"a.{number}")},
    "calls without results": lambda n: {
        "messages": [message for message in turns(n, lambda number: f"call_{number}") if message["role"] != "tool"]
    },
    "parts": lambda n: {"messages": [{"role": "user", "content": [{"type": "text", "text": "a"}] * n}]},
    "unknown fields": lambda n: {f"x{number}": number for number in range(n)},
    "brackets": lambda n: {
        "tools": [{"type": "function", "function": {"name": "a", "parameters": {"default": "{" * n + '"' * n}}}]
    },
}

ANSWERS: dict[str, Callable[[int], list[Any]]] = {
    "text": lambda n: [text("a")] * n,
    "reasoning and text in turns": lambda n: [chunk({"reasoning_content": "a"}), text("a")] * n,
    "arguments": lambda n: [opening(0, "call_a", "time"), *[fragment(0, "a")] * n, CALLS],
    "ends of objects": lambda n: [opening(0, "call_a", "time", '{"a":['), *[fragment(0, "{},")] * n, CALLS],
    "ends of objects in a string": lambda n: [opening(0, "call_a", "time", '{"a":"'), *[fragment(0, "} {")] * n],
    "boundaries in one fragment": lambda n: [opening(0, "call_a", "time", '{"a":"' + "} {" * n + '"}'), CALLS],
    "calls without a name": lambda n: [fragment(number, "a") for number in range(n)],
    "usage": lambda n: [*[TOTAL] * n, STOP],
    "usage after the finish": lambda n: [STOP, *[TOTAL] * n],
    "finishes": lambda n: [STOP] * n,
    "text after a finish": lambda n: [STOP, text("a")] * n,
    "members that nobody knows": lambda n: [chunk({f"x{number}": 1}, role="assistant") for number in range(n)],
}


@pytest.mark.parametrize("fields", REQUESTS.values(), ids=REQUESTS)
def test_the_work_of_a_request_grows_with_its_size(fields: Callable[[int], dict[str, Any]]) -> None:
    small, large = (request(**fields(n)) for n in (50, 200))
    open_exchange(small)  # what is done once

    assert work(lambda: open_exchange(large)) < 5 * work(lambda: open_exchange(small))


@each_row("streamed", [True, False])
@each_row("chunks", ANSWERS.values(), ids=ANSWERS)
def test_the_work_of_an_answer_grows_with_its_size(chunks: Callable[[int], list[Any]], streamed: bool) -> None:
    small, large = (stream(ROLE, *chunks(n)) for n in (50, 200))

    def told_all(upstream: bytes) -> Answer:
        return ask(upstream, streamed=streamed, usage=streamed, content_type="text/event-stream")

    told_all(small)
    assert work(lambda: told_all(large)) < 5 * work(lambda: told_all(small))


# ---------------------------------------------------------------- size


@pytest.mark.parametrize("kind", ["application/json", "text/event-stream"])
def test_what_is_kept_until_its_end_is_bounded(kind: str) -> None:
    exchange = open_exchange(request(streamed=False))
    piece = stream(text("a" * 1_000_000), done=False)

    answered = answer(exchange, [piece] * (ANSWER_BYTES // len(piece) + 1), content_type=kind)

    assert (answered.status, json.loads(answered.body)["error"]["code"]) == (502, "upstream_protocol_error")


# ---------------------------------------------------------------- text that is none

WITH_A_CALL = [cell for cell in CELLS if cell.scenario.name == "text_and_call"]


#: Of all places, which of them a door has in `make test`: each door others.
IN_TURN = {door: slice(number, None, 2 * len(DOORS)) for number, door in enumerate(DOORS)}


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.integration)])
@each_row("cell", WITH_A_CALL, ids=lambda cell: cell.id)
def test_a_byte_that_is_no_text_reaches_no_client(cell: Cell, every: bool) -> None:
    """Wherever it stands, also in what only travels on: clients' parsers throw at it."""
    reply = cell.reply()
    places = range(0, len(reply.body), max(1, len(reply.body) // 60))
    for at in places if every else places[IN_TURN[cell.door]]:
        broken = reply.body[:at] + b"\x80" + reply.body[at:]

        answered = answer(cell.open(), [broken], status=reply.status, content_type=reply.content_type)

        answered.body.decode()
        assert "internal_error" not in answered.body.decode(), at


# ---------------------------------------------------------------- the credential


SECRET = "sk-provider/secret"
QUOTED = {"message": f"no such key: {SECRET}", "type": "x", "param": SECRET, "code": SECRET}


@each_row(
    "error", [{"error": QUOTED}, {"error": QUOTED["message"]}, [{"error": QUOTED}], {"detail": QUOTED["message"]}]
)
@each_row("status", [200, 400, 401, 500])
@each_row("streamed", [True, False])
def test_a_credential_that_an_upstream_quotes_stays_here(error: Any, status: int, streamed: bool) -> None:
    exchange = opened(request(streamed=streamed), credential=SECRET)

    answered = answer(exchange, [json.dumps(error).encode()], status=status, content_type="application/json")

    assert answered.status >= 400
    assert SECRET not in f"{answered.body.decode()} {answered.headers} {exchange.figures}"
    failure = exchange.figures.error
    assert failure is not None
    assert SECRET not in f"{failure} {failure.code} {failure.param} {failure.source}"


def test_a_credential_quoted_in_the_middle_of_a_stream_stays_here() -> None:
    answered = told(opened(request(), credential=SECRET), stream(ROLE, text("a"), {"error": QUOTED}))

    assert SECRET.encode() not in answered.body
    assert b"no such key: ***" in answered.body


def test_a_word_that_serves_as_a_credential_is_no_secret() -> None:
    error = json.dumps({"error": {"message": "ollama has no such model"}}).encode()

    answered = answer(opened(request(), credential="ollama"), [error], status=404, content_type="application/json")

    assert answered.body == error
