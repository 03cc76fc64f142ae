"""What odd hosts of the Responses wire say of an item's identity: the client of the same API sees one all along."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.corpus.driver import answer, open_exchange
from tests.named_rows import each_row
from tests.providers import every_door
from tests.providers.openai_responses.responses_upstream import (
    added,
    call,
    created,
    done,
    event,
    message,
    response,
    said,
    stream,
    text,
)

PARIS = '{"city":"Paris"}'
CALL = call("fc_1", "call_1", "weather", PARIS)
OPEN = added(0, "function_call", "fc_1", call_id="call_1", name="weather")
ARGUMENTS = event("function_call_arguments.delta", output_index=0, item_id="fc_1", delta=PARIS)
WHOLE = event("function_call_arguments.done", output_index=0, item_id="fc_1", arguments=PARIS, name="weather")
USAGE = {
    "input_tokens": 1, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 1,
    "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 2,
}  # fmt: skip


def completed(*output: Any, **more: Any) -> dict[str, Any]:
    return event("completed", response=response("completed", output, usage=USAGE, **more))


def part(kind: str, index: int, words: str = "") -> dict[str, Any]:
    said = {"type": "output_text", "text": words, "annotations": []}
    return event(f"content_part.{kind}", output_index=0, item_id="msg_1", content_index=index, part=said)


MESSAGE = message("msg_1", "Hello")
HELLO = [
    added(0, "message", "msg_1"), part("added", 1), text(0, "msg_1", "Hel", 1), text(0, "msg_1", "lo", 1),
    event("output_text.done", output_index=0, item_id="msg_1", content_index=1, text="Hello"), part("done", 1, "Hello"),
    done(0, MESSAGE),
]  # fmt: skip
THINKING = {"type": "reasoning_text", "text": ""}
#: A call that says its name and its arguments as an entry of Chat's `tool_calls` does.
WITHIN = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "status": "completed"}
OPEN_WITHIN = event("output_item.added", output_index=0, item=WITHIN | {"function": {"name": "weather"}})
ANSWERS: dict[str, list[Any]] = {
    "as it should be": [OPEN, ARGUMENTS, WHOLE, done(0, CALL), completed(CALL)],
    "other ids at the end": [
        OPEN, ARGUMENTS, WHOLE, done(0, CALL), completed(call("fc_9", "call_9", "weather", PARIS)),
    ],
    "another response at the end": [OPEN, ARGUMENTS, WHOLE, done(0, CALL), completed(CALL, id="resp_2")],
    "nothing at the end": [OPEN, ARGUMENTS, WHOLE, done(0, CALL), completed()],
    "an empty name at first": [
        added(0, "function_call", "fc_1", call_id="call_1", name=""), ARGUMENTS, WHOLE, done(0, CALL), completed(CALL),
    ],
    "a name only in the finished item": [
        added(0, "function_call", "fc_1", call_id="call_1", name=""), ARGUMENTS, done(0, CALL), completed(CALL),
    ],
    "contents that begin at 1": [*HELLO, completed(MESSAGE)],
    "a delta without an item": [
        OPEN, event("function_call_arguments.delta", output_index=0, delta=PARIS), WHOLE, done(0, CALL),
        completed(CALL),
    ],
    "an index that begins at 1": [
        OPEN | {"output_index": 1}, ARGUMENTS | {"output_index": 1}, WHOLE | {"output_index": 1}, done(1, CALL),
        completed(CALL),
    ],
    "contents at an index that begins at 1": [*(said | {"output_index": 1} for said in HELLO), completed(MESSAGE)],
    "a finished call without its arguments": [
        OPEN, ARGUMENTS, done(0, CALL | {"arguments": ""}), completed(CALL | {"arguments": ""}),
    ],
    "a finished message without its text": [
        added(0, "message", "msg_1"), text(0, "msg_1", "Hello", 0), done(0, message("msg_1", "")),
        completed(message("msg_1", "")),
    ],
    "parts without a text": [
        added(0, "message", "msg_1", content=[{"type": "output_text"}]), text(0, "msg_1", "Hello", 0),
        done(0, MESSAGE | {"content": [{"type": "output_text"}]}), completed(),
    ],
    "an item that was not begun": [ARGUMENTS, WHOLE, done(0, CALL), completed(CALL)],
    "contents of an item that was not begun": [*HELLO[1:], completed(MESSAGE)],
    "a call within a call": [
        OPEN_WITHIN, ARGUMENTS, done(0, WITHIN | {"function": {"name": "weather", "arguments": PARIS}}),
        completed(WITHIN | {"function": {"name": "weather", "arguments": PARIS}}),
    ],
    "a total that is not the sum": [
        OPEN, ARGUMENTS, WHOLE, done(0, CALL),
        event("completed", response=response("completed", [CALL], usage=USAGE | {"total_tokens": 9})),
    ],
    "events that no SDK knows": [
        event("reasoning_part.added", output_index=0, item_id="rs_1", content_index=0, part=THINKING),
        event("reasoning_part.done", output_index=0, item_id="rs_1", content_index=0, part=THINKING),
        OPEN, ARGUMENTS, WHOLE, done(0, CALL), completed(CALL),
    ],
}  # fmt: skip


SECOND = [
    added(0, "function_call", None, call_id="call_2", name="weather"),
    event("function_call_arguments.delta", output_index=0, delta=PARIS),
    done(0, call(None, "call_2", "weather", PARIS)),
]  # fmt: skip


def twice_named(index: int) -> list[Any]:
    """Another call under the same item id."""
    return [
        added(index, "function_call", "fc_1", call_id="call_2", name="weather"),
        event("function_call_arguments.delta", output_index=index, item_id="fc_1", delta=PARIS),
        done(index, call("fc_1", "call_2", "weather", PARIS)),
    ]


def bare(kind: str, *output: Any) -> dict[str, Any]:
    """An event that is its own response."""
    return {**response(kind, output, usage=USAGE), "type": f"response.{kind}"}


ENTRY = {"type": "function", "id": "call_1", "function": {"name": "weather", "arguments": PARIS}}
#: A message with a call as Chat's API writes it; one with a call among its parts, as the Messages API does.
HOLDS = message("msg_1", "x") | {"tool_calls": [ENTRY]}
PARTED = message("msg_1", "x")
PARTED["content"] = [*PARTED["content"],
                     {"type": "tool_use", "id": "call_1", "name": "weather", "input": PARIS}]  # fmt: skip
TWO = [CALL, call("fc_1", "call_2", "weather", PARIS)]
#: Events -> how many calls of `weather` in Paris they tell.
CALLS: dict[str, tuple[list[Any], int]] = {
    "index 0 and no id, twice": ([created(), *ANSWERS["as it should be"][:-1], *SECOND, completed()], 2),
    "one item id for two": ([created(), *ANSWERS["as it should be"][:-1], *twice_named(1), completed(*TWO)], 2),
    "begun twice": ([created(), OPEN, *ANSWERS["as it should be"]], 1),
    "null among the output": ([created(), OPEN, ARGUMENTS, done(0, CALL), completed(None, CALL)], 1),
    "no response around the response": (
        [bare("in_progress"), OPEN, ARGUMENTS, done(0, CALL), bare("completed", CALL)], 1,
    ),
    "a type of another API": (
        [created(), done(0, CALL | {"type": "tool_call"}), completed(CALL | {"type": "tool_call"})], 1,
    ),
    "an entry of Chat's": ([created(), done(0, ENTRY), completed(ENTRY)], 1),
    "an item of another kind": ([created(), done(0, {"type": "tool_call", "id": "tc_1"}), completed()], 0),
    "within a message": ([created(), *said(0, "msg_1", "x"), completed(HOLDS)], 1),
    "within a message, and an item before": ([created(), OPEN, ARGUMENTS, done(0, CALL), completed(CALL, HOLDS)], 1),
    "within a message, and an item behind": (
        [created(), done(0, HOLDS), OPEN | {"output_index": 1}, ARGUMENTS | {"output_index": 1}, done(1, CALL),
         completed(HOLDS, CALL)], 1,
    ),
    "within a message, told thrice": (
        [created(), added(0, "message", "msg_1", tool_calls=[ENTRY]), done(0, HOLDS), completed(HOLDS)], 1,
    ),
    "within a message, two": ([created(), done(0, HOLDS | {"tool_calls": [ENTRY, ENTRY | {"id": "c2"}]}),
                               completed()], 2),
    "within a message, no end": ([created(), done(0, HOLDS), b"data: [DONE]\n\n"], 1),
    "among its parts": ([created(), done(0, PARTED), completed(PARTED)], 1),
    "among its parts and within it": (
        [created(), done(0, PARTED | {"tool_calls": [ENTRY]}), completed(PARTED)], 1,
    ),
    "none within a message": ([created(), done(0, HOLDS | {"tool_calls": []}), completed()], 0),
    "arguments with other spaces at the end": (
        [created(), OPEN, ARGUMENTS, done(0, CALL | {"arguments": '{"city": "Paris"}'}), completed(CALL)], 1,
    ),
}  # fmt: skip


@pytest.mark.parametrize("door", every_door.REQUESTS)
@each_row("name", CALLS)
def test_which_call_is_meant(name: str, door: str) -> None:
    events, count = CALLS[name]
    upstream = stream(*events)
    for step in (every_door.STEP, len(upstream)):
        said = every_door.asked(door, upstream, streamed=True, wire="openai_responses", step=step)
        assert every_door.calls_in(door, said.body, streamed=True) == [("weather", PARIS)] * count


#: An item of a document -> its arguments.
ITEMS: dict[str, tuple[Any, str]] = {
    "null": (CALL | {"arguments": None}, "{}"),
    "empty": (CALL | {"arguments": ""}, "{}"),
    "an object": (CALL | {"arguments": json.loads(PARIS)}, PARIS),
    "in a string": (CALL | {"arguments": json.dumps(PARIS)}, PARIS),
    "twice": (CALL | {"arguments": PARIS + PARIS}, PARIS),
    "within a call": (WITHIN | {"function": {"name": "weather", "arguments": PARIS}}, PARIS),
    "within a call, an object": (WITHIN | {"function": {"name": "weather", "arguments": json.loads(PARIS)}}, PARIS),
    "within a call, as a text": (WITHIN | {"function": json.dumps({"name": "weather", "arguments": PARIS})}, PARIS),
    "as input": (WITHIN | {"name": "weather", "type": "tool_use", "input": json.loads(PARIS)}, PARIS),
    "an entry of Chat's": (ENTRY, PARIS),
}


@each_row("door", every_door.REQUESTS)
@each_row("name", ITEMS)
def test_arguments_of_a_document(name: str, door: str) -> None:
    item, arguments = ITEMS[name]
    body = json.dumps(response("completed", [None, item], usage=USAGE)).encode()
    said = every_door.asked(door, body, streamed=False, wire="openai_responses")
    ((_, shown),) = every_door.calls_in(door, said.body, streamed=False)
    assert json.loads(shown) == json.loads(arguments)


#: Output, and the members of its response -> the calls and the text that a client sees, in a document and a stream.
ELSEWHERE: dict[str, tuple[list[Any], dict[str, Any], int, str]] = {
    "a call in a message": ([HOLDS], {}, 1, "x"),
    "a call in a message without text": ([HOLDS | {"content": []}], {}, 1, ""),
    "a call in a message and its item": ([HOLDS, CALL], {}, 1, "x"),
    "a call among the parts": ([PARTED], {}, 1, "x"),
    "text on top alone": ([], {"output_text": "x"}, 0, "x"),
    "text on top beside a call": ([CALL], {"output_text": "x"}, 1, "x"),
    "text on top beside an empty message": ([message("msg_1", "")], {"output_text": "x"}, 0, "x"),
    "text on top beside itself": ([message("msg_1", "x")], {"output_text": "x"}, 0, "x"),
    "no text on top": ([message("msg_1", "x")], {"output_text": None}, 0, "x"),
}


@each_row("door", every_door.REQUESTS)
@each_row("name", ELSEWHERE)
def test_what_stands_in_another_place_is_shown(name: str, door: str) -> None:
    output, more, calls, words = ELSEWHERE[name]
    whole = response("completed", output, usage=USAGE, **more)
    said = every_door.asked(door, json.dumps(whole).encode(), streamed=False, wire="openai_responses")
    shown = every_door.calls_in(door, said.body, streamed=False)
    assert [(tool, json.loads(arguments)) for tool, arguments in shown] == [("weather", json.loads(PARIS))] * calls
    assert said.body.count(b'"x"') == (1 + (more.get("output_text") == "x" and door == "responses") if words else 0)
    upstream = stream(created(), event("completed", response=whole))
    told = every_door.asked(door, upstream, streamed=True, wire="openai_responses")
    assert every_door.calls_in(door, told.body, streamed=True) == [("weather", PARIS)] * calls
    assert every_door.text_in(door, told.body) == words


@each_row("name", ANSWERS)
def test_an_item_keeps_its_identity(name: str) -> None:
    tool = {"type": "function", "name": "weather", "parameters": {"type": "object"}, "strict": False}
    body = json.dumps({"model": "m", "input": "hi", "tools": [tool], "stream": True}).encode()
    exchange = open_exchange(body, door="responses", wire="openai_responses")
    upstream = stream(created(), *ANSWERS[name])
    said = answer(exchange, [upstream[at : at + 1] for at in range(len(upstream))])
    events = [json.loads(line[6:]) for line in said.body.split(b"\n") if line.startswith(b"data: {")]

    kinds = [event["type"] for event in events]
    assert not any("reasoning_part" in kind for kind in kinds)
    assert (kinds[0], kinds[-1]) == ("response.created", "response.completed")
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    assert events[0]["response"]["id"] == events[-1]["response"]["id"]
    begun = [event["item"] for event in events if event["type"] == "response.output_item.added"]
    ended = [event["item"] for event in events if event["type"] == "response.output_item.done"]
    final = events[-1]["response"]["output"]
    assert events[-1]["response"]["usage"]["total_tokens"] == 2
    assert (
        [identity(item) for item in begun] == [identity(item) for item in ended] == [identity(item) for item in final]
    )
    assert len(final) == 1
    assert {event["item_id"] for event in events if "item_id" in event} == {final[0]["id"]}
    if final[0]["type"] == "message":
        assert [part["text"] for part in final[0]["content"]] == ["Hello"]
        deltas = [event for event in events if event["type"] == "response.output_text.delta"]
        assert ("".join(event["delta"] for event in deltas), {event["content_index"] for event in deltas}) == (
            "Hello",
            {0},
        )
    else:
        assert (final[0]["name"], final[0]["arguments"]) == ("weather", PARIS)
        deltas = [event["delta"] for event in events if event["type"].endswith("arguments.delta")]
        assert "".join(deltas) == PARIS


def identity(item: dict[str, Any]) -> tuple[Any, ...]:
    return item["type"], item["id"], item.get("call_id"), item.get("name")


@pytest.mark.parametrize("delta_names_its_item", [True, False])
def test_a_call_without_arguments_is_ended_once(delta_names_its_item: bool) -> None:
    """`{}` may stand for what comes later, so it is held; the client is still told once that the arguments are over."""
    item = call("fc_1", "call_1", "now", "{}")
    opened = added(0, "function_call", "fc_1", call_id="call_1", name="now")
    named = {"item_id": "fc_1"} if delta_names_its_item else {}
    delta = event("function_call_arguments.delta", output_index=0, delta="{}", **named)
    whole = event("function_call_arguments.done", output_index=0, item_id="fc_1", arguments="{}", name="now")
    upstream = stream(created(), opened, delta, whole, done(0, item), completed(item))
    tool = {"type": "function", "name": "now", "parameters": {"type": "object"}, "strict": False}
    body = json.dumps({"model": "m", "input": "hi", "tools": [tool], "stream": True}).encode()
    said = answer(open_exchange(body, door="responses", wire="openai_responses"), [upstream])
    kinds = [json.loads(line[6:])["type"] for line in said.body.split(b"\n") if line.startswith(b"data: {")]
    assert [kind.removeprefix("response.") for kind in kinds] == [
        "created", "output_item.added", "function_call_arguments.delta", "function_call_arguments.done",
        "output_item.done", "completed",
    ]  # fmt: skip
