"""What the native door writes: each event, the JSON answer, warnings and errors."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.corpus.driver import answer, open_exchange
from tests.named_rows import each_row
from tests.native_client import Call, frames, read_answer, read_stream
from tests.providers.openai_chat.chat_upstream import chunk, opening
from tests.providers.openai_chat.chat_upstream import stream as chat_stream
from tests.providers.openai_chat.chat_upstream import whole as chat_whole
from toolwire.doors import AnswerContext
from toolwire.doors.native.document import render_response
from toolwire.doors.native.errors import render_error
from toolwire.doors.native.stream import NativeEncoder
from toolwire.model.call_faults import CallFault
from toolwire.model.errors import GatewayError, InternalError, RequestError, UpstreamError, UpstreamProtocolError
from toolwire.model.events import (
    Batch,
    Finish,
    FinishReason,
    OpaquePart,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    ResponseEnd,
    ResponseStart,
    StreamEvent,
    StreamFailed,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    Usage,
    UsageUpdate,
)
from toolwire.model.http import HttpRequest
from toolwire.model.request import ChatRequest
from toolwire.model.warnings import Warnings
from toolwire.stream.fold import Fold

ID = "call_" + "a" * 32
START = ResponseStart("native_1", "some-model", 1_700_000_000)
USAGE = Usage(7, 5, 2, 1, 3)


def context(*warnings: str) -> AnswerContext:
    return AnswerContext("req-1", "conv_1", "upstream", ChatRequest("m", ()), Warnings(warnings))


def called(text: str, *, name: str = "f", index: int = 0, signature: str | None = None) -> list[StreamEvent]:
    return [ToolCallStart(index, ID, name), ToolCallDelta(index, text), ToolCallEnd(index, signature)]


def ended(reason: FinishReason = "stop", raw: str | None = "end") -> list[StreamEvent]:
    return [Finish(reason, raw), ResponseEnd(USAGE)]


def streamed(events: list[StreamEvent], its: AnswerContext | None = None, size: int = 100) -> bytes:
    """The stream of these events, `size` of them in a batch."""
    encoder, shown = NativeEncoder(its or context()), []
    try:
        for at in range(0, len(events), size):
            shown.append(encoder.encode(Batch(tuple(events[at : at + size]))))
    except UpstreamProtocolError as error:  # as the exchange does
        shown.append(encoder.fail(error, "req-1"))
    return b"".join(shown)


def document(events: list[StreamEvent], its: AnswerContext | None = None) -> bytes:
    fold = Fold()
    fold.take(Batch(tuple(events)))
    return render_response(fold.response(), its or context())


#: (events of the parts, the frames that show them)
PARTS: list[tuple[list[StreamEvent], list[tuple[str, str]]]] = [
    (
        [TextStart(0), TextDelta(0, 'a"é\n'), TextEnd(0)],
        [
            ("text.start", '{"type":"text.start","index":0}'),
            ("text.delta", '{"type":"text.delta","index":0,"text":"a\\"é\\n"}'),
            ("text.end", '{"type":"text.end","index":0}'),
        ],
    ),
    (
        [TextStart(0, True), TextEnd(0, "s")],
        [
            ("text.start", '{"type":"text.start","index":0,"refusal":true}'),
            ("text.end", '{"type":"text.end","index":0,"signature":"s"}'),
        ],
    ),
    (
        [ReasoningStart(0), ReasoningDelta(0, "hm"), ReasoningEnd(0, "s")],
        [
            ("reasoning.start", '{"type":"reasoning.start","index":0}'),
            ("reasoning.delta", '{"type":"reasoning.delta","index":0,"text":"hm"}'),
            ("reasoning.end", '{"type":"reasoning.end","index":0,"signature":"s"}'),
        ],
    ),
    (
        called('{"id": 9007199254740993123, "r": 1.10}', signature="s"),
        [
            ("tool_call.start", f'{{"type":"tool_call.start","index":0,"call_index":0,"id":"{ID}","name":"f"}}'),
            (
                "tool_call.delta",
                '{"type":"tool_call.delta","index":0,"fragment":"{\\"id\\": 9007199254740993123, \\"r\\": 1.10}"}',
            ),
            (
                "tool_call.end",
                f'{{"type":"tool_call.end","index":0,"call_index":0,"id":"{ID}","name":"f",'
                '"arguments":{"id": 9007199254740993123, "r": 1.10},"signature":"s"}',
            ),
        ],
    ),
    (
        [OpaquePart(0, "k", "d", b'{"n":1.0}')],
        [("opaque", '{"type":"opaque","index":0,"kind":"k","dialect":"d","data":{"n":1.0}}')],
    ),
]


@pytest.mark.parametrize(("events", "expected"), PARTS)
def test_one_class_is_one_event(events: list[StreamEvent], expected: list[tuple[str, str]]) -> None:
    shown = frames(streamed([START, *events, *ended()]))
    assert [(name, data.decode()) for name, data in shown[1:-1]] == expected


def test_the_first_and_the_last_event() -> None:
    first, usage, last = frames(streamed([START, UsageUpdate(USAGE), *ended("length", "max_tokens")]))
    assert json.loads(first[1]) == {
        "type": "response.start",
        "id": "native_1",
        "model": "some-model",
        "created": 1_700_000_000,
        "provider": "upstream",
        "conversation_id": "conv_1",
        "request_id": "req-1",
    }
    tokens = json.loads(usage[1])["usage"]
    assert tokens == {
        "prompt_tokens": 7,
        "completion_tokens": 5,
        "total_tokens": 12,
        "prompt_tokens_details": {"cached_tokens": 2, "cache_write_tokens": 1},
        "completion_tokens_details": {"reasoning_tokens": 3},
    }
    end = {"type": "response.end", "finish_reason": "length", "provider_finish_reason": "max_tokens", "usage": tokens}
    assert json.loads(last[1]) == end


def test_usage_is_zero_where_nobody_told_it() -> None:
    (_, last) = frames(streamed([START, Finish("stop"), ResponseEnd()]))
    assert json.loads(last[1])["usage"]["total_tokens"] == 0


def test_white_space_in_arguments_breaks_no_frame() -> None:
    said = read_stream(streamed([START, *called('{\n"a":\n\n1}'), *ended("tool_calls")]))
    assert said.calls == [Call(ID, "f", '{\n"a":\n\n1}')]


def test_the_later_reason_counts() -> None:
    events: list[StreamEvent] = [START, Finish("tool_calls"), *called('{"a'), Finish("length"), ResponseEnd()]
    assert read_stream(streamed(events)).finish == "length"


@pytest.mark.parametrize("size", [1, 2, 100])
def test_a_message_goes_into_the_history_as_it_is(size: int) -> None:
    from toolwire.doors.native.request import DOOR

    events: list[StreamEvent] = [
        START, ReasoningStart(0), ReasoningDelta(0, "hm"), ReasoningEnd(0, "s"), TextStart(1), TextDelta(1, "a"),
        TextEnd(1, "t"), *called('{"a":1.0}', index=2, signature="u"), OpaquePart(3, "k", "d", b"{}"),
        *ended("tool_calls"),
    ]  # fmt: skip
    body = document(events)
    raw = body[body.index(b'"message":') + 10 : body.index(b',"finish_reason"')]
    request = DOOR.parse_request(
        HttpRequest("POST", "/", {}, b'{"model":"m","messages":[{"role":"user","content":"x"},%b]}' % raw)
    )

    said = read_stream(streamed(events, size=size))
    assert said.signatures == ["s", "t", "u"]
    assert sorted(read_answer(body).signatures) == said.signatures
    parts = request.messages[1].parts
    assert [getattr(part, "signature", None) for part in parts] == ["s", "t", None, "u"]
    assert [type(part).__name__ for part in parts] == ["ReasoningPart", "TextPart", "OpaquePart", "ToolCallPart"]


# ---------------------------------------------------------------- arguments that are no object

BROKEN = ['{"city":"Pa', "", "[1]", '"{}"', "null", "{} {}", '{"a":NaN}']


@each_row("text", BROKEN)
@each_row("reason", ["stop", "tool_calls"])
@each_row("size", [1, 100])
def test_broken_arguments_are_an_error(text: str, reason: FinishReason, size: int) -> None:
    its = context("not_supported:seed")
    events = [START, *called("{}"), *called(text, index=1), *ended(reason)]
    said = read_stream(streamed(events, its, size))
    assert said.error is not None
    assert (said.error["code"], said.error["type"], said.finish) == ("malformed_tool_arguments", "upstream_error", None)
    assert said.calls == [Call(ID, "f", "{}")], "what was whole before it is shown"
    assert said.warnings == [SEED]
    with pytest.raises(UpstreamProtocolError, match="'f' are no JSON object") as caught:
        document(events)
    assert (caught.value.status, caught.value.code) == (502, "malformed_tool_arguments")
    if text.strip():
        assert text not in caught.value.message


@pytest.mark.parametrize(
    ("stream", "streams"), [(True, True), (False, False), (True, False)], ids=["streamed", "whole", "stream ignored"]
)
def test_broken_arguments_through_an_exchange(stream: bool, streams: bool) -> None:
    """`streams`: the host does. Where nothing was sent yet, the status tells of the error too."""
    tool = {"name": "f", "description": "d", "parameters": {"type": "object", "properties": {}}}
    body = {"model": "m", "messages": [{"role": "user", "content": "x"}], "stream": stream}
    exchange = open_exchange(
        json.dumps(body | {"tools": [{"type": "function", "function": tool}]}).encode(), door="native"
    )
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a'}}
    upstream = chat_stream(opening(0, "c1", "f", '{"a'), chunk(finish="tool_calls"))
    if streams:
        said = read_stream(answer(exchange, [upstream]).body)
        assert len(said.head) > 0
    else:
        whole = answer(exchange, [chat_whole({"tool_calls": [call]}, "tool_calls")], content_type="application/json")
        said = read_answer(whole.body)
        assert whole.status == 502
    assert said.error is not None
    assert said.error["code"] == "malformed_tool_arguments"
    assert exchange.figures.error is not None
    assert exchange.figures.error.code == "malformed_tool_arguments"


@each_row("text", BROKEN)
@each_row("reason", ["length", "content_filter"])
@each_row("size", [1, 100])
def test_a_cut_call_is_shown_as_cut(text: str, reason: FinishReason, size: int) -> None:
    events = [START, *called("{}"), *called(text, index=1), *ended(reason)]
    for said in (read_stream(streamed(events, size=size)), read_answer(document(events))):
        assert said.finish == reason
        assert said.calls == [Call(ID, "f", "{}"), Call(ID, "f", None, text)]
        assert said.warnings == []


def test_half_a_surrogate_pair_is_escaped() -> None:
    (end,) = [data for name, data in frames(streamed([START, *called('{"a":"\ud83d"}'), *ended()])) if "l.end" in name]
    assert b'"arguments":{"a":"\\ud83d"}' in end
    assert b'"arguments":{"a":"\\ud83d"}' in document([START, *called('{"a":"\ud83d"}'), *ended()])


# ---------------------------------------------------------------- warnings

EXECUTE = {
    "code": "contains_tool_calls",
    "message": "The response contains tool calls. Execute the tools and send their results to continue.",
}
SEED = {"code": "not_supported:seed", "message": "The provider has no word for `seed`, so it was left out."}


@pytest.mark.parametrize(
    ("warnings", "reason", "expected"),
    [
        ((), "stop", []),
        ((), "tool_calls", [EXECUTE]),
        (("not_supported:seed",), "stop", [SEED]),
        (("not_supported:seed",), "tool_calls", [SEED, EXECUTE]),
    ],
)
def test_warnings(warnings: tuple[str, ...], reason: FinishReason, expected: list[dict[str, str]]) -> None:
    events = [START, *called("{}"), *ended(reason)]
    assert read_answer(document(events, context(*warnings))).warnings == expected
    for size in (1, 100):
        assert read_stream(streamed(events, context(*warnings), size)).warnings == expected


def test_a_late_warning_is_told_once_and_before_the_end() -> None:
    its = context("a_first")
    encoder = NativeEncoder(its)
    out = encoder.encode(Batch((START,)))
    its.warnings.add("a_second")
    out += encoder.encode(Batch((TextStart(0),))) + encoder.encode(Batch((TextEnd(0),)))
    out += encoder.encode(Batch(tuple(ended())))
    names = [name for name, _ in frames(out)]
    assert names == ["response.start", "warning", "text.start", "warning", "text.end", "response.end"]
    assert [warning["message"] for warning in read_stream(out).warnings] == ["a first", "a second"]


def test_what_validation_found_says_where() -> None:
    its = context("invalid_tool_arguments:f", "not_supported:seed")
    its.faults.append(CallFault(0, ID, "f", "invalid_tool_arguments", "/city", "a string", "a number"))
    fault = {"code": "invalid_tool_arguments", "tool_call_id": ID, "tool": "f", "path": "/city"}
    fault |= {"expected": "a string", "got": "a number"}
    events = [START, *called('{"city":5}'), *ended("tool_calls")]
    for said in (read_stream(streamed(events, its)), read_answer(document(events, its))):
        assert [warning["code"] for warning in said.warnings] == [
            "not_supported:seed",
            "invalid_tool_arguments",
            "contains_tool_calls",
        ]
        assert {name: said.warnings[1][name] for name in fault} == fault


# ---------------------------------------------------------------- errors

ERRORS: list[tuple[GatewayError, dict[str, Any]]] = [
    (RequestError("no", param="tools", code="x"), {"type": "invalid_request_error", "code": "x", "param": "tools"}),
    (RequestError("no", status=401, code="x"), {"type": "authentication_error", "code": "x", "param": None}),
    (RequestError("no", status=403, code="x"), {"type": "permission_error", "code": "x", "param": None}),
    (RequestError("no", status=404, code="x"), {"type": "not_found_error", "code": "x", "param": None}),
    (RequestError("no", status=413, code="x"), {"type": "request_too_large", "code": "x", "param": None}),
    (UpstreamError("no", status=429, code="x"), {"type": "rate_limit_error", "code": "x", "param": None}),
    (UpstreamError("no", status=400, code="x"), {"type": "invalid_request_error", "code": "x", "param": None}),
    (UpstreamError("no"), {"type": "upstream_error", "code": "upstream_error", "param": None}),
    (InternalError("no"), {"type": "api_error", "code": "internal_error", "param": None}),
    (
        RequestError("no", code="tool_schema_incompatible", features=("oneOf", "not")),
        {
            "type": "semantic_error",
            "code": "tool_schema_incompatible",
            "param": None,
            "incompatible_features": ["oneOf", "not"],
        },
    ),
]


@each_row(("error", "expected"), ERRORS)
def test_errors(error: GatewayError, expected: dict[str, Any]) -> None:
    body = json.loads(render_error(error, "req-1"))
    assert body == {"type": "error", "error": {"message": "no", **expected}, "request_id": "req-1"}
    encoder = NativeEncoder(context())
    start = encoder.encode(Batch((START,)))
    assert encoder.encode(Batch((StreamFailed(error.code, error.message, error.status),))) == b""
    ((name, data),) = frames(encoder.fail(error, "req-1"))
    assert (name, json.loads(data)) == ("error", body)
    assert read_stream(start + encoder.fail(error, "req-1")).finish is None


def test_a_sign_of_life_is_no_event() -> None:
    assert NativeEncoder(context()).keep_alive().startswith(b":")
