"""The messages door's stream, event by event, and its JSON answers and errors."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.doors.messages.messages_reader import events, read, sdk_stream
from tests.named_rows import each_row
from toolwire.doors import AnswerContext
from toolwire.doors.messages.request import DOOR
from toolwire.doors.messages.stream import MessagesEncoder
from toolwire.model.errors import GatewayError, InternalError, RequestError, UpstreamError, UpstreamProtocolError
from toolwire.model.events import (
    Batch,
    Finish,
    OpaquePart,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    ResponseEnd,
    ResponseStart,
    StreamEvent,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    Usage,
    UsageUpdate,
)
from toolwire.model.request import ChatRequest
from toolwire.model.response import ChatResponse, OutputPart, TextOutput, ToolCallOutput
from toolwire.model.source import Source, with_source
from toolwire.model.warnings import Warnings

START = ResponseStart("msg_1", "model-1", 1)
DIALECT = "anthropic_messages"
CALLED = Finish("tool_calls")


def context(*warnings: str) -> AnswerContext:
    return AnswerContext("req_1", "conv_1", "p", ChatRequest("m", ()), Warnings(warnings))


def encoded(*given: StreamEvent, usage: Usage | None = None) -> bytes:
    encoder = MessagesEncoder()
    return b"".join(encoder.encode(Batch((event,))) for event in (START, *given, ResponseEnd(usage)))


def call(index: int, id: str, *fragments: str) -> list[StreamEvent]:
    deltas = [ToolCallDelta(index, fragment) for fragment in fragments]
    return [ToolCallStart(index, id, "f"), *deltas, ToolCallEnd(index)]


def test_overlapping_calls_leave_one_after_the_other() -> None:
    """On the Chat wire only the upstream's end ends a call: the second one waits, and loses nothing."""
    given: list[StreamEvent] = [
        ToolCallStart(0, "call_a", "f"),
        ToolCallStart(1, "call_b", "g"),
        ToolCallDelta(1, '{"b":'),
        ToolCallDelta(0, '{"a":'),
        ToolCallDelta(1, "2}"),
        Finish("tool_calls"),
        ToolCallDelta(0, "1}"),
        ToolCallEnd(0),
        ToolCallEnd(1),
    ]
    said = read(encoded(*given))
    assert said.calls == [("call_a", "f", '{"a":1}'), ("call_b", "g", '{"b":2}')]
    assert said.stop_reason == "tool_use"


def test_deltas_flow_as_they_come() -> None:
    encoder = MessagesEncoder()
    encoder.encode(Batch((START, ToolCallStart(0, "call_a", "f"))))
    assert b'"partial_json":"{\\"a\\""' in encoder.encode(Batch((ToolCallDelta(0, '{"a"'),)))


def test_a_block_that_says_nothing_is_none() -> None:
    given: list[StreamEvent] = [
        TextStart(0), TextDelta(0, ""), TextEnd(0), ReasoningStart(1), ReasoningEnd(1), *call(2, "call_a", "{}"),
        Finish("tool_calls"),
    ]  # fmt: skip
    assert [block["type"] for block in read(encoded(*given)).blocks] == ["tool_use"]


def test_thinking_has_its_signature_behind_it_and_may_be_nothing_else() -> None:
    given: list[StreamEvent] = [
        ReasoningStart(0), ReasoningDelta(0, "hm"), ReasoningEnd(0, "S1"), ReasoningStart(1), ReasoningEnd(1, "S2"),
        ReasoningStart(2), ReasoningDelta(2, "bare"), ReasoningEnd(2), Finish("stop"),
    ]  # fmt: skip
    body = encoded(*given)
    said = read(body)
    assert (said.texts, said.signatures) == (["hm", "", "bare"], ["S1", "S2", None])
    blocks = sdk_stream(body)["content"]
    assert [(block["thinking"], block["signature"]) for block in blocks] == [("hm", "S1"), ("", "S2"), ("bare", "")]


def test_blocks_of_this_api_are_shown_whole_and_no_others() -> None:
    raw = b'{"type":"redacted_thinking","data":"R"}'
    given: list[StreamEvent] = [
        OpaquePart(0, "redacted_thinking", DIALECT, raw),
        OpaquePart(1, "audio", "openai_chat", b"{}"),
        Finish("stop"),
    ]
    assert read(encoded(*given)).blocks == [json.loads(raw)]


@each_row(
    ("finish", "word"),
    [
        (Finish("stop"), "end_turn"),
        (Finish("stop", "stop"), "end_turn"),
        (Finish("tool_calls", "stop"), "tool_use"),
        (Finish("length", "MAX_TOKENS"), "max_tokens"),
        (Finish("content_filter", "SAFETY"), "refusal"),
        (Finish("stop", "pause_turn"), "pause_turn"),
        (Finish("stop", "stop_sequence"), "stop_sequence"),
        (Finish("length", "model_context_window_exceeded"), "model_context_window_exceeded"),
        (Finish("tool_calls", "end_turn"), "tool_use"),
    ],
)
def test_stop_reasons(finish: Finish, word: str) -> None:
    assert read(encoded(TextStart(0), TextDelta(0, "x"), TextEnd(0), finish)).stop_reason == word
    document = json.loads(DOOR.render_response(response(TextOutput("x"), finish=finish), Batch(()), context()))
    assert document["stop_reason"] == word


def test_a_refusal_in_words_is_a_refusal() -> None:
    body = encoded(TextStart(0, refusal=True), TextDelta(0, "No."), TextEnd(0), Finish("stop", "stop"))
    assert (read(body).of("text"), read(body).stop_reason) == ("No.", "refusal")


def test_the_last_word_on_the_reason_counts() -> None:
    text = (TextStart(0), TextDelta(0, "x"), TextEnd(0))
    said = read(encoded(*text, Finish("stop"), Finish("length"), UsageUpdate(Usage(5, 7))))
    assert (said.stop_reason, said.usage["output_tokens"]) == ("max_tokens", 7)


def test_usage_is_there_early_and_corrected_late() -> None:
    """The input leaves out what the cache held, and is never below zero."""
    encoder = MessagesEncoder()
    body = encoder.encode(Batch((START, UsageUpdate(Usage(9, 1)))))
    body += encoder.encode(Batch((Finish("stop"), UsageUpdate(Usage(100, 8, 75, 5, 3)), ResponseEnd())))
    said = read(body)
    assert said.message["usage"]["input_tokens"] == 9
    assert said.usage == {
        "input_tokens": 20,
        "cache_creation_input_tokens": 5,
        "cache_read_input_tokens": 75,
        "output_tokens": 8,
        "output_tokens_details": {"thinking_tokens": 3},
    }
    broken = read(encoded(Finish("stop"), UsageUpdate(Usage(10, 1, 50))))
    assert broken.usage["input_tokens"] == 0


def test_a_ping_keeps_alive_at_any_moment() -> None:
    encoder = MessagesEncoder()
    body = encoder.keep_alive()
    for event in (START, TextStart(0), TextDelta(0, "x"), TextEnd(0), Finish("stop"), ResponseEnd()):
        body += encoder.encode(Batch((event,))) + (b"" if type(event) is ResponseEnd else encoder.keep_alive())
    assert read(body).pings == 6
    assert sdk_stream(body)["content"][0]["text"] == "x"


def test_a_failure_ends_without_a_stop() -> None:
    encoder = MessagesEncoder()
    body = encoder.encode(Batch((START, TextStart(0), TextDelta(0, "par"), Finish("stop"))))
    body += encoder.fail(UpstreamError("upstream died"), "req_1")
    said = read(body)
    assert (said.of("text"), said.stop_reason) == ("par", None)
    assert said.error == {
        "type": "error",
        "error": {"type": "api_error", "message": "upstream died", "details": {"error_code": "upstream_error"}},
        "request_id": "req_1",
    }


# ---------------------------------------------------------------- the upstream's own events


def own(event: dict[str, Any], *found: StreamEvent) -> Batch:
    return with_source(Batch(found), Source(DIALECT, json.dumps(event).encode()))


def test_an_own_event_that_does_not_fit_is_written_anew() -> None:
    """The upstream's index is one too high: an empty block before it was left out here."""
    encoder = MessagesEncoder()
    body = encoder.encode(Batch((START, TextStart(0), TextEnd(0))))
    begin = {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": "", "new": 1}}
    body += encoder.encode(own(begin, TextStart(1)))
    delta = {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "x"}}
    body += encoder.encode(own(delta, TextDelta(1, "x")))
    body += encoder.encode(own({"type": "content_block_stop", "index": 1}, TextEnd(1)))
    body += encoder.encode(Batch((Finish("stop"), ResponseEnd())))
    assert read(body).of("text") == "x"


def test_content_behind_the_stop_reason_comes_before_it() -> None:
    encoder = MessagesEncoder()
    body = encoder.encode(Batch((START,)))
    stop = {"type": "message_delta", "delta": {"stop_reason": "end_turn", "new": 1}, "usage": {"output_tokens": 1}}
    held = encoder.encode(own(stop, Finish("stop", "end_turn")))
    body += held + encoder.encode(Batch((TextStart(0), TextDelta(0, "late"), TextEnd(0))))
    body += encoder.encode(own({"type": "message_stop"}, ResponseEnd()))
    said = read(body)
    assert (held, said.of("text"), said.stop) == (b"", "late", {"stop_reason": "end_turn", "new": 1})


def test_a_corrected_stop_reason_keeps_its_other_members() -> None:
    encoder = MessagesEncoder()
    body = encoder.encode(Batch((START,)))
    stop = {"type": "message_delta", "delta": {"stop_reason": "end_turn", "new": 1}, "usage": {"output_tokens": 1}}
    encoder.encode(own(stop, Finish("stop", "end_turn")))
    body += encoder.encode(Batch((*call(0, "call_a", "{}"), Finish("tool_calls", "end_turn"), ResponseEnd())))
    assert (read(body).stop_reason, read(body).stop["new"]) == ("tool_use", 1)


def test_usage_so_far_passes_at_once() -> None:
    encoder = MessagesEncoder()
    encoder.encode(Batch((START,)))
    shown = encoder.encode(own({"type": "message_delta", "delta": {}, "usage": {"output_tokens": 3}}))
    assert [event["type"] for event in events(shown)] == ["message_delta"]


# ---------------------------------------------------------------- JSON answers and errors


def response(*parts: OutputPart, finish: Finish = CALLED) -> ChatResponse:
    return ChatResponse("msg_1", "model-1", 1, parts, finish, Usage(3, 4))


def rendered(*parts: OutputPart, finish: Finish = CALLED) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(DOOR.render_response(response(*parts, finish=finish), Batch(()), context()))
    return document


@pytest.mark.parametrize(("text", "given"), [("", "{}"), (" ", "{}"), ('{"a": 1.10}', '{"a": 1.10}'), ("{}", "{}")])
def test_arguments_are_an_object_to_the_byte(text: str, given: str) -> None:
    body = DOOR.render_response(response(ToolCallOutput("call_a", "f", text)), Batch(()), context())
    assert b'"input":' + given.encode() + b"}" in body


@pytest.mark.parametrize("text", ['{"a":', "[1]", '"x"', "1", "{}{}"])
def test_arguments_that_are_no_object_are_an_error(text: str) -> None:
    with pytest.raises(UpstreamProtocolError) as caught:
        rendered(ToolCallOutput("call_a", "f", text))
    assert (caught.value.status, caught.value.code) == (502, "malformed_tool_arguments")


def test_a_call_cut_by_the_output_limit_is_not_completed() -> None:
    told = context()
    cut = ToolCallOutput("call_a", "f", '{"a":', complete=False)
    body = DOOR.render_response(response(TextOutput("x"), cut, finish=Finish("length")), Batch(()), told)
    document = json.loads(body)
    assert document["stop_reason"] == "max_tokens"
    assert document["content"][1]["input"] == {"_raw_arguments": '{"a":'}
    assert told.warnings == ["tool_call_cut:f"]


@each_row(
    ("error", "kind"),
    [
        (RequestError("m"), "invalid_request_error"),
        (RequestError("m", status=401), "authentication_error"),
        (UpstreamError("m", status=402), "billing_error"),
        (RequestError("m", status=403), "permission_error"),
        (RequestError("m", status=404), "not_found_error"),
        (UpstreamError("m", status=409), "conflict_error"),
        (RequestError("m", status=413), "request_too_large"),
        (RequestError("m", status=422), "invalid_request_error"),
        (UpstreamError("m", status=429), "rate_limit_error"),
        (InternalError("m"), "api_error"),
        (UpstreamError("m", status=502), "api_error"),
        (UpstreamError("m", status=503), "overloaded_error"),
        (UpstreamError("m", status=504), "timeout_error"),
        (UpstreamError("m", status=529), "overloaded_error"),
    ],
)
def test_error_types(error: GatewayError, kind: str) -> None:
    document = json.loads(DOOR.render_error(error, "req_1"))
    assert (document["type"], document["error"]["type"], document["request_id"]) == ("error", kind, "req_1")
    assert (document["error"]["message"], document["error"]["details"]["error_code"]) == ("m", error.code)


def test_places_within_tools_are_named_in_this_apis_words() -> None:
    """The rules on tools are one for all doors, and speak of a Chat client's members."""
    error = RequestError(
        "`tools[3].function.parameters.type` is no", param="tools[3].function.name", features=("oneOf",)
    )
    shown = json.loads(DOOR.render_error(error, "req_1"))["error"]
    assert shown["message"] == "`tools[3].input_schema.type` is no"
    assert shown["details"] == {
        "error_code": "invalid_request",
        "param": "tools[3].name",
        "incompatible_features": ["oneOf"],
    }
