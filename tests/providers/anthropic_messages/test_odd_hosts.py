"""What odd hosts of the Messages wire say: other words for the end, other inputs, calls that were cut.

Every row goes through every door, streamed and as a document.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.corpus.driver import Answer, answer, open_exchange
from tests.named_rows import each_row
from tests.providers import every_door
from tests.providers.anthropic_messages.messages_upstream import (
    HELLO,
    STOP,
    USAGE,
    begin,
    call,
    end,
    finish,
    fragment,
    start,
    stream,
    text,
)
from tests.providers.every_door import REQUESTS, events_in

PARIS = '{"city":"Paris"}'
#: Neutral end -> how each of these doors has it.
DOORS = ("chat_completions", "responses", "messages", "gemini", "native")
ENDS = {
    "stop": ("stop", "completed", "end_turn", "STOP", "stop"),
    "calls": ("tool_calls", "completed", "tool_use", "STOP", "tool_calls"),
    "limit": ("length", "incomplete", "max_tokens", "MAX_TOKENS", "length"),
    "refusal": ("content_filter", "incomplete", "refusal", "SAFETY", "content_filter"),
    "pause": ("stop", "incomplete", "pause_turn", "STOP", "stop"),
}


def asked(door: str, upstream: bytes, *, streamed: bool) -> Answer:
    return every_door.asked(door, upstream, streamed=streamed, wire="anthropic_messages")


def end_of(door: str, body: bytes, *, streamed: bool) -> str:
    """How a door's answer says that it ended."""
    documents = events_in(body) if streamed else [json.loads(body)]
    match door:
        case "responses":
            return str((documents[-1]["response"] if streamed else documents[0])["status"])
        case "gemini":
            return str(documents[-1]["candidates"][0]["finishReason"])
        case "messages":
            reasons = [doc.get("delta", doc).get("stop_reason") for doc in documents]
            return str(next(reason for reason in reasons if reason))
        case "chat_completions":
            return str(next(filter(None, (doc["choices"][0]["finish_reason"] for doc in documents if doc["choices"]))))
        case _:
            found = documents[-1] if streamed else documents[0]["choices"][0]
            return str(found.get("finish_reason") or found["choices"][0]["finish_reason"])


def whole(content: list[dict[str, Any]], reason: str | None) -> bytes:
    """A JSON answer."""
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-host"}
    return json.dumps(
        {**head, "content": content, "stop_reason": reason, "stop_sequence": None, "usage": USAGE}
    ).encode()


def block(given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": given}


CALL = [start(), call(0, "toolu_1", "weather"), fragment(0, PARIS), end(0)]
CALL_BLOCK = [block(json.loads(PARIS))]
TEXT_BLOCK = [{"type": "text", "text": "Hello"}]
#: The events before the end, the blocks of a document, the host's word, the end as it is shown.
WORDS: dict[str, tuple[list[Any], list[Any], str | None, str]] = {
    "calls beside end_turn": (CALL, CALL_BLOCK, "end_turn", "calls"),
    "calls beside stop_sequence": (CALL, CALL_BLOCK, "stop_sequence", "calls"),
    "calls beside stop": (CALL, CALL_BLOCK, "stop", "calls"),
    "calls beside tool_calls": (CALL, CALL_BLOCK, "tool_calls", "calls"),
    "calls beside nothing": (CALL, CALL_BLOCK, None, "calls"),
    "calls beside a new word": (CALL, CALL_BLOCK, "enough", "calls"),
    "tool_use and no call": (HELLO, TEXT_BLOCK, "tool_use", "stop"),
    "tool_calls and no call": (HELLO, TEXT_BLOCK, "tool_calls", "stop"),
    "stop": (HELLO, TEXT_BLOCK, "stop", "stop"),
    "length": (HELLO, TEXT_BLOCK, "length", "limit"),
    "a pause": (HELLO, TEXT_BLOCK, "pause_turn", "pause"),
    "a refusal": (HELLO, TEXT_BLOCK, "refusal", "refusal"),
}


@each_row("streamed", [True, False])
@each_row("door", REQUESTS)
@each_row("name", WORDS)
def test_the_end(name: str, door: str, streamed: bool) -> None:
    events, blocks, word, expected = WORDS[name]
    ends = [finish(word), STOP] if word else [STOP]
    said = asked(door, stream(*events, *ends) if streamed else whole(blocks, word), streamed=streamed)
    assert said.status == 200
    assert end_of(door, said.body, streamed=streamed) == ENDS[expected][DOORS.index(door)]
    told = said.body.decode() + said.headers.get("x-toolwire-warnings", "")
    assert ("tool_calls_missing" in told) == (word in ("tool_use", "tool_calls") and expected == "stop")
    assert ("turn_paused" in told) == (expected == "pause")


#: An input as a host writes it -> the arguments.
INPUTS: dict[str, tuple[Any, str]] = {
    "an object": (json.loads(PARIS), PARIS),
    "its text": (PARIS, PARIS),
    "null": (None, "{}"),
    "an empty list": ([], "{}"),
    "an empty text": ("", "{}"),
    "an empty object": ({}, "{}"),
}


@each_row("streamed", [True, False])
@each_row("door", REQUESTS)
@each_row("name", INPUTS)
def test_the_input(name: str, door: str, streamed: bool) -> None:
    given, arguments = INPUTS[name]
    opening = begin(0, "tool_use", id="toolu_1", name="weather", input=given)
    upstream = (
        stream(start(), opening, end(0), finish("tool_use"), STOP) if streamed else whole([block(given)], "tool_use")
    )
    said = asked(door, upstream, streamed=streamed).body
    if door != "messages":
        written = json.dumps(arguments) if door not in ("native", "gemini") else arguments
        assert written.replace(" ", "") in said.decode().replace(" ", "")
    elif streamed:
        shown = events_in(said)
        (begun,) = [event["content_block"] for event in shown if event["type"] == "content_block_start"]
        text = "".join(
            event["delta"].get("partial_json", "") for event in shown if event["type"] == "content_block_delta"
        )
        assert (begun["input"], json.loads(text or "{}")) == ({}, json.loads(arguments))
    else:
        assert json.loads(said)["content"][0]["input"] == json.loads(arguments)


#: A call as another API has it.
OTHER_CALLS: dict[str, dict[str, Any]] = {
    "a function within": {"type": "tool_use", "id": "t", "function": {"name": "weather", "arguments": PARIS}},
    "an object within": {
        "type": "tool_use",
        "id": "t",
        "function": {"name": "weather", "arguments": {"city": "Paris"}},
    },
    "an entry of Chat's": {"type": "function", "id": "t", "function": {"name": "weather", "arguments": PARIS}},
    "an item": {"type": "function_call", "call_id": "t", "name": "weather", "arguments": PARIS},
    "another word": {"type": "tool_call", "id": "t", "name": "weather", "input": {"city": "Paris"}},
}


@each_row("streamed", [True, False])
@each_row("door", REQUESTS)
@each_row("name", OTHER_CALLS)
def test_a_call_in_another_apis_words(name: str, door: str, streamed: bool) -> None:
    told = OTHER_CALLS[name]
    opening = {"type": "content_block_start", "index": 0, "content_block": told}
    upstream = stream(start(), opening, end(0), finish("tool_use"), STOP) if streamed else whole([told], "tool_use")
    said = asked(door, upstream, streamed=streamed).body
    ((called, arguments),) = every_door.calls_in(door, said, streamed=streamed)
    assert (called, json.loads(arguments)) == ("weather", json.loads(PARIS))
    assert end_of(door, said, streamed=streamed) == ENDS["calls"][DOORS.index(door)]


@pytest.mark.parametrize(
    "body", [b'{"code":500,"msg":"boom","success":false}', b'{"detail":"boom"}', b'{"error":{"detail":"boom"}}']
)
@pytest.mark.parametrize("streamed", [True, False])
def test_an_error_of_another_form(body: bytes, streamed: bool) -> None:
    said = asked("messages", b"data: " + body + b"\n\n" if streamed else body, streamed=streamed)
    assert (said.status, json.loads(said.body)["error"]["message"]) == (502, "boom")


@each_row("door", REQUESTS)
@each_row(("word", "expected"), [("max_tokens", "limit"), ("refusal", "refusal"), ("pause_turn", "pause")])
def test_a_call_that_was_cut(word: str, expected: str, door: str) -> None:
    upstream = stream(start(), call(0, "toolu_1", "weather"), fragment(0, '{"city": "A'), end(0), finish(word), STOP)
    streamed = asked(door, upstream, streamed=True)
    gathered = answer(
        open_exchange(json.dumps({"model": "m", **REQUESTS[door]}).encode(), door=door, wire="anthropic_messages"),
        [upstream],
        content_type="text/event-stream",
    )
    expected_end = ENDS[expected][DOORS.index(door)]
    if expected == "pause" and door != "responses":
        expected_end = ENDS["calls"][DOORS.index(door)]
    for said, is_stream in ((streamed, True), (gathered, False)):
        assert said.status == 200
        assert b"malformed" not in said.body
        if door == "gemini":  # it has no place for what is no object: the call is named
            assert "tool_call_cut:weather" in said.body.decode() + said.headers.get("x-toolwire-warnings", "")
        else:
            assert "city" in said.body.decode()
        assert end_of(door, said.body, streamed=is_stream) == expected_end


def text_delta(**members: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": 0, "delta": members}


def at(index: Any, *events: dict[str, Any]) -> list[dict[str, Any]]:
    """The events at this index."""
    return [event | {"index": index} for event in events]


OPEN, SAID, OVER = CALL[1:]
HI = [begin(0, "text"), text(0, "Hi"), end(0)]
#: Events that are not as the API has them -> the calls and the text that they mean.
EVENTS: dict[str, tuple[list[Any], list[str], str]] = {
    "an index as text": ([start(), *at("0", *CALL[1:])], [PARIS], ""),
    "an id that is a number": ([start(), call(0, 5, "weather"), SAID, OVER], [PARIS], ""),  # type: ignore[arg-type]
    "a fragment that is an object": ([start(), OPEN, fragment(0, json.loads(PARIS)), OVER], [PARIS], ""),
    "a fragment that is null": (
        [start(), OPEN, text_delta(type="input_json_delta", partial_json=None), SAID, OVER], [PARIS], "",
    ),
    "fragments of index 0 all the time": ([start(), *HI, *at(1, OPEN), SAID, *at(1, OVER)], [PARIS], "Hi"),
    "a fragment of an open text": ([start(), *HI[:2], *at(1, OPEN), SAID, *at(1, OVER), OVER], [PARIS], "Hi"),
    "deltas without a type": ([start(), OPEN, text_delta(partial_json=PARIS), OVER], [PARIS], ""),
    "text without a type": ([start(), HI[0], text_delta(text="Hi"), OVER], [], "Hi"),
    "arguments as a text delta": ([start(), OPEN, text_delta(type="text_delta", text=PARIS), OVER], [PARIS], ""),
    "text within a call, behind its arguments": ([start(), OPEN, SAID, text(0, "Hi"), OVER], [PARIS], "Hi"),
    "text within a call, before its arguments": (
        [start(), OPEN, text(0, "H"), text(0, "i"), SAID, OVER], [PARIS], "Hi",
    ),
    "text within a call, among its arguments": (
        [start(), OPEN, fragment(0, PARIS[:5]), text(0, "Hi"), fragment(0, PARIS[5:]), OVER], [PARIS], "Hi",
    ),
    "text that is null": ([start(), HI[0], text_delta(type="text_delta", text=None), *HI[1:]], [], "Hi"),
    "a block that is null": ([start(), HI[0] | {"content_block": None}, *HI[1:]], [], "Hi"),
    "a block without a type": ([start(), HI[0] | {"content_block": {"text": "H"}}, text(0, "i"), OVER], [], "Hi"),
    "content that is a text": ([start(content=""), *HI], [], "Hi"),
    "counts as texts": ([start(usage={"input_tokens": "10", "output_tokens": 1.0}), *HI], [], "Hi"),
    "arguments in place of the input": (
        [start(), begin(0, "tool_use", id="a", name="weather", arguments=json.loads(PARIS)), OVER], [PARIS], "",
    ),
}  # fmt: skip


@each_row("door", REQUESTS)
@each_row("name", EVENTS)
def test_events_that_are_not_as_the_api_has_them(name: str, door: str) -> None:
    events, calls, words = EVENTS[name]
    upstream = stream(*events, finish("tool_use" if calls else "end_turn"), STOP)
    said = asked(door, upstream, streamed=True)
    shown = every_door.calls_in(door, said.body, streamed=True)
    assert [(tool, json.loads(given)) for tool, given in shown] == [("weather", json.loads(given)) for given in calls]
    assert every_door.text_in(door, said.body) == words
    assert b'"partial_json":null' not in said.body
    assert b'"text":null' not in said.body


#: Documents that are not as the API has them -> the calls and the text.
DOCUMENTS: dict[str, tuple[Any, list[str], str]] = {
    "content that is a text": ("Hi", [], "Hi"),
    "content that is null": (None, [], ""),
    "a text that is null": ([{"type": "text", "text": None}, block(json.loads(PARIS))], [PARIS], ""),
    "a block that is null": ([None, block(json.loads(PARIS))], [PARIS], ""),
    "an id that is a number": ([block(json.loads(PARIS)) | {"id": 5}], [PARIS], ""),
    "arguments in place of the input": (
        [{"type": "tool_use", "id": "a", "name": "weather", "arguments": PARIS}], [PARIS], "",
    ),
}  # fmt: skip


@each_row("door", REQUESTS)
@each_row("name", DOCUMENTS)
def test_documents_that_are_not_as_the_api_has_them(name: str, door: str) -> None:
    content, calls, words = DOCUMENTS[name]
    said = asked(door, whole(content, "tool_use" if calls else "end_turn"), streamed=False)
    shown = every_door.calls_in(door, said.body, streamed=False)
    assert [(tool, json.loads(given)) for tool, given in shown] == [("weather", json.loads(given)) for given in calls]
    assert words in said.body.decode()
    assert b'"text":null' not in said.body
