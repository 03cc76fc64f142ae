"""Custom tools as functions with one string, and back: whatever the cuts, nothing is lost and nothing is added."""

from __future__ import annotations

import json
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from tests.corpus import driver
from tests.doors.responses.responses_reader import read as read_responses
from tests.matrix.anthropic_host import anthropic
from tests.matrix.chat_hosts import compatible
from tests.matrix.gemini_host import gemini
from tests.matrix.responses_host import responses
from tests.matrix.scenarios import Call, Scenario, Text
from tests.named_rows import each_row
from tests.providers.openai_chat.chat_reader import sdk_stream
from toolwire.model.events import Batch, StreamEvent, ToolCallDelta, ToolCallEnd, ToolCallStart
from toolwire.model.request import ChatRequest, Message, TextPart, Tool, ToolCallPart
from toolwire.model.warnings import Warnings
from toolwire.rewrite.custom_tools import CustomCalls, InputText, bridged

GRAMMAR = b'{"name":"patch","format":{"type":"grammar","grammar":{"syntax":"lark","definition":"start: /.+/"}}}'
PATCH = Tool("patch", "Edits files.", kind="custom", extra=(("custom", GRAMMAR),))
PING = Tool("ping", None, b'{"type":"object"}')
USER = Message("user", (TextPart("go"),))


def read(*pieces: str) -> str:
    text = InputText()
    return "".join(map(text.feed, pieces)) + text.end()


@given(
    st.text(max_size=30), st.booleans(), st.lists(st.integers(0, 400), max_size=6), st.sampled_from(["", " ", "\n "])
)
def test_the_text_is_the_same_whatever_the_cuts(text: str, ascii_only: bool, cuts: list[int], space: str) -> None:
    encoded = json.dumps({"input": text}, ensure_ascii=ascii_only, separators=("," + space, space + ":" + space))
    encoded = space + encoded + space
    edges = [0, *sorted(min(cut, len(encoded)) for cut in cuts), len(encoded)]
    assert read(*(encoded[begin:end] for begin, end in pairwise(edges))) == text


FORMS = {
    "nothing": ("", ""),
    "an empty object": ("{}", ""),
    "an object of one string under another name": ('{"patch": "a\\nb"}', "a\nb"),
    "plain text": ("*** Begin Patch\n+x", "*** Begin Patch\n+x"),
    "another object": ('{"input": 1}', '{"input": 1}'),
    "behind another member": ('{"why": "y", "input": "a\\nb", "n": {"input": "z"}}', "a\nb"),
    "two strings": ('{"a": "x", "b": "y"}', '{"a": "x", "b": "y"}'),
    "cut within the text": ('{"input": "abc', "abc"),
    "cut within an escape": ('{"input": "abc\\u00e', "abc"),
    "cut within a pair": ('{"input": "abc\\ud83c', "abc"),
    "half a pair that stands alone": ('{"input": "\\ud83cx"}', "\ud83cx"),
    "an escape that is none": ('{"input": "\\d+\\u12"}', "\\d+\\u12"),
    "a line break as it is": ('{"input": "a\nb"}', "a\nb"),
}


@each_row(("arguments", "text"), FORMS.values(), ids=FORMS)
def test_arguments_of_any_form(arguments: str, text: str) -> None:
    assert read(arguments) == read(*arguments) == text


def test_a_streamed_call_becomes_one_of_the_custom_tool() -> None:
    warnings = Warnings()
    calls = CustomCalls(ChatRequest("m", (USER,), tools=(PATCH, PING)), warnings)
    events: list[StreamEvent] = [
        ToolCallStart(0, "call_1", "patch"),
        ToolCallStart(1, "call_2", "ping"),
        ToolCallDelta(0, '{"input"'),
        ToolCallDelta(1, "{}"),
        ToolCallDelta(0, ':"+x\\'),
        ToolCallDelta(0, 'n"}'),
        ToolCallEnd(0),
        ToolCallEnd(1),
    ]
    assert calls.take(Batch(tuple(events)))[0].events == (
        ToolCallStart(0, "call_1", "patch", "custom"),
        events[1],
        events[3],
        ToolCallDelta(0, "+x"),
        ToolCallDelta(0, "\n"),
        ToolCallEnd(0),
        ToolCallEnd(1),
    )
    assert warnings == []


def test_what_concerns_no_custom_tool_is_the_same_batch() -> None:
    calls = CustomCalls(ChatRequest("m", (USER,), tools=(PATCH, PING)), Warnings())
    batch = Batch((ToolCallStart(0, "call_1", "ping"), ToolCallDelta(0, "{}"), ToolCallEnd(0)))
    assert calls.take(batch)[0] is batch
    own = Batch((ToolCallStart(1, "call_2", "patch", "custom"), ToolCallDelta(1, "+x"), ToolCallEnd(1)))
    assert calls.take(own)[0] is own


def test_more_than_the_one_argument_is_told() -> None:
    warnings = Warnings()
    calls = CustomCalls(ChatRequest("m", (USER,), tools=(PATCH,)), warnings)
    events = (ToolCallStart(0, "c", "patch"), ToolCallDelta(0, '{"input":"x","why":"y"}'), ToolCallEnd(0))
    assert calls.take(Batch(events))[0].events[1] == ToolCallDelta(0, "x")
    assert warnings == ["custom_tool_arguments_dropped"]


def test_the_request_names_a_function_with_one_string() -> None:
    warnings = Warnings()
    call = ToolCallPart("c1", "patch", '+"x"\n', "custom", (("id", b'"ctc_1"'),))
    request = bridged(ChatRequest("m", (USER, Message("assistant", (call,))), tools=(PING, PATCH)), warnings)
    function = request.tools[1]
    assert (function.name, function.kind, function.strict) == ("patch", "function", None)
    assert function.description is not None
    assert "Edits files." in function.description
    assert "lark grammar:\nstart: /.+/" in function.description
    schema = json.loads(function.parameters or b"")
    assert (list(schema["properties"]), schema["required"]) == (["input"], ["input"])
    assert request.messages[1].parts == (ToolCallPart("c1", "patch", '{"input":"+\\"x\\"\\n"}'),)
    assert warnings == ["custom_tool_as_function"]


def test_a_request_without_custom_tools_is_itself() -> None:
    warnings = Warnings()
    request = ChatRequest("m", (USER, Message("assistant", (ToolCallPart("c", "ping", "{}"),))), tools=(PING,))
    assert bridged(request, warnings) is request
    assert warnings == []


# ---------------------------------------------------------------- every door and every wire

TEXT = '+"x"\n\ttab € \\d'
_ARGUMENTS = json.dumps({"input": TEXT})
PATCHES = Call("patch", (_ARGUMENTS[:11], _ARGUMENTS[11:]))
PINGS = Call("ping", ('{"n":', "1}"))
SCENARIOS = {
    "alone": Scenario("custom", "", (PATCHES,), "tool_calls"),
    "between others": Scenario("custom", "", (Text(("a",)), PINGS, PATCHES, PINGS), "tool_calls"),
}
WIRES = {"openai_chat": compatible, "openai_responses": responses, "anthropic_messages": anthropic, "gemini": gemini}


def asked(door: str, stream: bool) -> bytes:
    """The request of a client of this door that has a custom tool and a function."""
    ping = {"name": "ping", "parameters": {"type": "object"}}
    if door == "chat_completions":
        tools = [{"type": "custom", "custom": {"name": "patch"}}, {"type": "function", "function": ping}]
    else:
        tools = [{"type": "custom", "name": "patch"}, {"type": "function", **ping}]
    history = {"messages" if door == "chat_completions" else "input": [{"role": "user", "content": "go"}]}
    return json.dumps({"model": "m", "stream": stream, "tools": tools, **history}).encode()


def calls_of(door: str, stream: bool, body: bytes) -> list[tuple[str, str, str]]:
    """(kind, name, text) of each call that the client is shown."""
    if door == "chat_completions":
        folded = sdk_stream(body) if stream else json.loads(body)
        made = folded["choices"][0]["message"]["tool_calls"]
        return [
            (c["type"], c[c["type"]]["name"], c[c["type"]].get("input", c[c["type"]].get("arguments"))) for c in made
        ]
    final = read_responses(body).final if stream else json.loads(body)
    kinds = {"function_call": "function", "custom_tool_call": "custom"}
    return [
        (kinds[item["type"]], item["name"], item.get("input", item.get("arguments")))
        for item in (final or {})["output"]
        if item["type"] in kinds
    ]


@each_row("stream", [True, False], ids=["streamed", "whole"])
@each_row("scenario", SCENARIOS.values(), ids=SCENARIOS)
@each_row("wire", WIRES)
@each_row("door", ["chat_completions", "responses"])
def test_a_client_gets_its_custom_tools_calls(door: str, wire: str, scenario: Scenario, stream: bool) -> None:
    """Also in pieces of one byte, and from hosts whose profile says that they have no custom tools."""
    reply = WIRES[wire](scenario, stream)
    pieces = [reply.body[at : at + 1] for at in range(len(reply.body))]
    exchange = driver.open_exchange(asked(door, stream), door=door, wire=wire)
    answer = driver.answer(exchange, pieces, content_type=reply.content_type)
    wanted = [("custom", "patch", TEXT) if c is PATCHES else ("function", "ping", '{"n":1}') for c in scenario.calls]
    assert calls_of(door, stream, answer.body) == wanted
