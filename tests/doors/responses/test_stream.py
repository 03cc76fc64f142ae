"""The Responses door's streams, event by event."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.doors.responses.responses_reader import Said, events, read, sdk_events, sdk_stream
from tests.named_rows import each_row
from toolwire.doors import AnswerContext, StreamEncoder
from toolwire.doors.responses.request import DOOR, parse_request
from toolwire.model.errors import RequestError, UpstreamError, UpstreamTruncated
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
)
from toolwire.model.request import RequestOptions

START = ResponseStart("resp_1", "some-model", 1_700_000_000)
END = ResponseEnd(Usage(9, 8, 4, 0, 2))
TOOLS: list[dict[str, Any]] = [
    {"type": "function", "name": "get_weather", "parameters": {"type": "object"}},
    {"type": "custom", "name": "patch"},
    {"type": "namespace", "name": "agents", "description": "Helpers.", "tools": [{"type": "function", "name": "stop"}]},
]

CREATED = ["response.created", "response.in_progress"]
MESSAGE = [
    "response.output_item.added", "response.content_part.added", "response.output_text.delta",
    "response.output_text.done", "response.content_part.done", "response.output_item.done",
]  # fmt: skip
CALL = [
    "response.output_item.added", "response.function_call_arguments.delta", "response.function_call_arguments.done",
    "response.output_item.done",
]  # fmt: skip


def encoder(extended: bool = False, **fields: Any) -> StreamEncoder:
    body = json.dumps({"model": "m", "input": "hi", "stream": True, "tools": TOOLS} | fields)
    request = parse_request(body.encode())
    if extended:
        request = type(request)(
            **{name: getattr(request, name) for name in request.__struct_fields__ if name != "options"},
            options=RequestOptions(extended_events=True),
        )
    return DOOR.stream_encoder(request, AnswerContext("req", "conv", "up", request))


def shown(*said: StreamEvent, into: StreamEncoder | None = None) -> bytes:
    """Everything from the start on, an event a batch."""
    into = into or encoder()
    return b"".join(into.encode(Batch((event,))) for event in (START, *said))


def text(index: int, *pieces: str, refusal: bool = False) -> list[StreamEvent]:
    return [TextStart(index, refusal), *(TextDelta(index, piece) for piece in pieces), TextEnd(index)]


def call(index: int, *pieces: str, name: str = "get_weather", id: str = "call_1") -> list[StreamEvent]:
    return [ToolCallStart(index, id, name), *(ToolCallDelta(index, piece) for piece in pieces), ToolCallEnd(index)]


def heard(*said: StreamEvent) -> Said:
    return read(shown(*said))


def test_text_then_a_call_in_full() -> None:
    said = heard(*text(0, "Let me ", "see"), *call(1, '{"city":', '"A"}'), Finish("tool_calls"), END)
    assert said.order() == [*CREATED, *MESSAGE, *CALL, "response.completed"]
    assert said.final is not None
    message, function = said.final["output"]
    assert message == {
        "type": "message", "id": "msg_1_0", "status": "completed", "role": "assistant",
        "content": [{"type": "output_text", "text": "Let me see", "annotations": [], "logprobs": []}],
    }  # fmt: skip
    assert function == {
        "type": "function_call", "id": "fc_1_1", "status": "completed", "call_id": "call_1", "name": "get_weather",
        "arguments": '{"city":"A"}',
    }  # fmt: skip
    assert said.final["usage"] == {
        "input_tokens": 9, "input_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 0},
        "output_tokens": 8, "output_tokens_details": {"reasoning_tokens": 2}, "total_tokens": 17,
    }  # fmt: skip
    deltas = [event for event in said.events if event["type"] == "response.output_text.delta"]
    assert [(event["content_index"], event["logprobs"]) for event in deltas] == [(0, []), (0, [])]


def test_the_message_is_over_before_a_call_begins_and_later_text_is_another() -> None:
    said = heard(TextStart(0), TextDelta(0, "a"), *call(1, "{}"), TextDelta(0, "b"), TextEnd(0), Finish("stop"), END)
    assert said.order() == [*CREATED, *MESSAGE, *CALL, *MESSAGE, "response.completed"]


def test_calls_interleave() -> None:
    said = heard(
        ToolCallStart(0, "call_1", "get_weather"), ToolCallStart(1, "call_2", "get_weather"),
        ToolCallDelta(1, "{"), ToolCallDelta(0, "{"), ToolCallDelta(1, "}"), ToolCallDelta(0, "}"),
        ToolCallEnd(1), ToolCallEnd(0), Finish("tool_calls"), END,
    )  # fmt: skip
    deltas = [event["output_index"] for event in said.events if event["type"].endswith(".delta")]
    assert deltas == [1, 0, 1, 0]
    assert said.final is not None
    assert [item["call_id"] for item in said.final["output"]] == ["call_1", "call_2"]


def test_texts_in_a_row_are_parts_of_one_message() -> None:
    said = heard(*text(0, "a"), *text(1, "no", refusal=True), Finish("stop"), END)
    assert said.final is not None
    (item,) = said.final["output"]
    assert [part["type"] for part in item["content"]] == ["output_text", "refusal"]


def test_reasoning_carries_what_the_provider_wants_back() -> None:
    said = heard(
        ReasoningStart(0), ReasoningDelta(0, "Hm."), ReasoningEnd(0, "ENC"), ReasoningStart(1), ReasoningEnd(1, "E2"),
        ReasoningStart(2), ReasoningEnd(2), *text(3, "a"), Finish("stop"), END,
    )  # fmt: skip
    assert said.final is not None
    first, second, message = said.final["output"]  # the third says nothing and needs nothing
    assert (first["summary"], first["encrypted_content"]) == ([{"type": "summary_text", "text": "Hm."}], "ENC")
    assert (second["summary"], second["encrypted_content"]) == ([], "E2")
    assert message["type"] == "message"


def test_names_of_namespaces_come_back_as_they_were() -> None:
    said = heard(*call(0, "{}", name="agents__stop"), Finish("tool_calls"), END)
    assert (said.done[0]["namespace"], said.done[0]["name"]) == ("agents", "stop")


def test_an_item_of_this_api_goes_whole_and_another_apis_not_at_all() -> None:
    search = b'{"type":"web_search_call","id":"ws_1","status":"completed"}'
    other = OpaquePart(0, "redacted_thinking", "anthropic_messages", b"{}")
    said = heard(other, OpaquePart(1, "web_search_call", "openai_responses", search), Finish("stop"), END)
    assert said.final is not None
    assert said.final["output"] == [json.loads(search)]


CUT = {
    "text": (text(0, "a"), ["incomplete"]),
    "a call": (call(0, '{"ci'), ["incomplete"]),
    "a call that is whole": (call(0, "{}"), ["completed"]),
    "a freeform call": (
        [ToolCallStart(0, "c", "patch", "custom"), ToolCallDelta(0, "+x"), ToolCallEnd(0)],
        ["incomplete"],
    ),
    "text before a call": ([*text(0, "a"), *call(1, "{")], ["completed", "incomplete"]),
}


@pytest.mark.parametrize(("said", "statuses"), CUT.values(), ids=CUT)
def test_the_output_limit_shows_in_the_item_it_cut(said: list[StreamEvent], statuses: list[str]) -> None:
    ending = heard(*said, Finish("length"), END).final
    assert ending is not None
    assert (ending["status"], ending["incomplete_details"]) == ("incomplete", {"reason": "max_output_tokens"})
    assert [item["status"] for item in ending["output"]] == statuses


def test_the_request_is_repeated() -> None:
    body = shown(END, into=encoder(instructions="Be brief.", metadata={"a": "b"}, temperature=0.50))
    response = next(iter(events(body)))["response"]
    assert (response["instructions"], response["metadata"], response["temperature"]) == ("Be brief.", {"a": "b"}, 0.5)
    function = dict(TOOLS[0], description=None, strict=None)
    assert response["tools"] == [function, *TOOLS[1:]]
    assert (response["tool_choice"], response["store"]) == ("auto", False)
    assert response["parallel_tool_calls"] is True


# ---------------------------------------------------------------- failures


def test_a_failure_in_the_middle_never_looks_done() -> None:
    into = encoder()
    body = shown(*text(0, "hi"), ToolCallStart(1, "call_1", "get_weather"), ToolCallDelta(1, '{"ci'), into=into)
    body += into.fail(UpstreamTruncated("it broke off"), "req")
    said = read(body)
    assert said.final is not None
    assert said.final["status"] == "failed"
    assert (said.final["error"]["code"], said.final["error"]["type"]) == ("server_error", "upstream_truncated")
    assert list(said.done) == [0]
    assert [item["status"] for item in said.final["output"]] == ["completed", "incomplete"]
    with pytest.raises(RuntimeError, match="completed"):
        sdk_stream(body)


CODES = {
    "the provider is busy": (UpstreamError("slow down", status=429), "rate_limit_exceeded"),
    "too long": (UpstreamError("too long", code="context_length_exceeded", status=400), "context_length_exceeded"),
    "anything else": (UpstreamError("no"), "server_error"),
}


@pytest.mark.parametrize(("error", "code"), CODES.values(), ids=CODES)
def test_a_failed_response_has_a_code_that_clients_know(error: UpstreamError, code: str) -> None:
    into = encoder()
    assert read(shown(into=into) + into.fail(error, "req")).final["error"]["code"] == code  # type: ignore[index]


def test_a_failure_before_there_is_a_response() -> None:
    body = encoder().fail(RequestError("no such thing", param="input"), "req")
    (event,) = events(body)
    assert (event["type"], event["code"], event["message"], event["param"]) == (
        "error", "invalid_request", "no such thing", "input",
    )  # fmt: skip
    with pytest.raises(Exception, match="no such thing"):
        sdk_events(body)


# ---------------------------------------------------------------- keep-alives

OPEN = {
    "text": ([TextStart(0), TextDelta(0, "a")], "response.output_text.delta"),
    "a refusal": ([TextStart(0, True), TextDelta(0, "a")], "response.refusal.delta"),
    "a call": ([ToolCallStart(0, "c", "get_weather")], "response.function_call_arguments.delta"),
    "a freeform call": ([ToolCallStart(0, "c", "patch", "custom")], "response.custom_tool_call_input.delta"),
    "reasoning": ([ReasoningStart(0), ReasoningDelta(0, "a")], "response.reasoning_summary_text.delta"),
    "nothing": ([], "response.in_progress"),
    "reasoning that is silent": ([ReasoningStart(0)], "response.in_progress"),
    "a call that is over": (call(0, "{}"), "response.in_progress"),
}


@each_row(("said", "kind"), OPEN.values(), ids=OPEN)
def test_a_keep_alive_is_an_event_that_changes_nothing(said: list[StreamEvent], kind: str) -> None:
    into = encoder()
    body = shown(*said, into=into)
    alive = into.keep_alive()
    (event,) = events(alive)
    assert event["type"] == kind
    assert event.get("delta", "") == ""
    rest = b"".join(into.encode(Batch((ending,))) for ending in [*_ends(said), Finish("stop"), END])
    with_it = sdk_stream(body + alive + rest)
    without = sdk_stream(shown(*said, *_ends(said), Finish("stop"), END))
    assert with_it["output"] == without["output"]
    read(body + alive + rest)


def _ends(said: list[StreamEvent]) -> list[StreamEvent]:
    match said:
        case [TextStart(), *_]:
            return [TextEnd(0)]
        case [ReasoningStart(), *_]:
            return [ReasoningEnd(0)]
        case [ToolCallStart()]:
            return [ToolCallEnd(0)]
    return []


def test_before_and_after_the_response_a_keep_alive_is_a_comment() -> None:
    into = encoder()
    assert into.keep_alive().startswith(b":")
    shown(Finish("stop"), END, into=into)
    assert into.keep_alive().startswith(b":")


# ---------------------------------------------------------------- the reference document's own events


def test_the_reference_documents_events_are_added_where_they_are_asked_for() -> None:
    turn = [*call(0, '{"a":', "1}"), Finish("tool_calls"), END]
    assert heard(*turn).extra == []
    said = read(shown(*turn, into=encoder(extended=True)))
    place = {"item_id": "fc_1_1", "output_index": 1}
    assert [{name: value for name, value in event.items() if name != "sequence_number"} for event in said.extra] == [
        {"type": "response.output_tool_call.begin", **place, "call_id": "call_1", "name": "get_weather"},
        {"type": "response.output_tool_call.delta", **place, "delta": '{"a":'},
        {"type": "response.output_tool_call.delta", **place, "delta": "1}"},
        {"type": "response.output_tool_call.end", **place, "name": "get_weather", "arguments": '{"a":1}'},
        {"type": "response.done", "response": said.final},
    ]


@pytest.mark.parametrize(
    ("turn", "kinds", "words"),
    [
        ([*call(0, "{}"), *call(1, "{}", id="call_2")], ["message", "function_call", "function_call"], ""),
        ([*text(0, "Let me ", "see."), *call(1, "{}")], ["message", "function_call"], "Let me see."),
        ([*call(0, "{}"), *text(1, "Done.")], ["message", "function_call"], "Done."),
        ([*text(0, "A"), *call(1, "{}"), *text(2, "B")], ["message", "function_call"], "AB"),
        ([ReasoningStart(0), ReasoningDelta(0, "hm"), ReasoningEnd(0), *call(1, "{}")],
         ["message", "reasoning", "function_call"], ""),
        ([*text(0, "No.", refusal=True)], ["message"], ""),
        ([], ["message"], ""),
    ],
)  # fmt: skip
def test_in_the_reference_documents_order_the_message_is_item_0(
    turn: list[StreamEvent], kinds: list[str], words: str
) -> None:
    body = shown(*turn, Finish("stop"), END, into=encoder(extended=True))
    said = read(body)
    assert said.final is not None
    assert [item["type"] for item in said.final["output"]] == kinds
    parts = said.final["output"][0]["content"]
    assert "".join(part["text"] for part in parts if part["type"] == "output_text") == words
    whole = [event for event in events(body) if event["type"].startswith("response.output_item.")]
    assert [event["output_index"] for event in whole if event["type"].endswith("added")] == list(range(len(kinds)))
    assert all(event["item_id"] == event["item"]["id"] for event in whole)
    first = ["response.output_item.added", "response.content_part.added"]
    assert said.types[2:4] == first
