"""Streamed Responses answers: what a chat client hears, by two readers, and which frames keep their bytes."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest

from tests.named_rows import each_row
from tests.providers.openai_responses.responses_upstream import (
    added,
    arguments,
    call,
    called,
    completed,
    created,
    custom,
    done,
    event,
    fragment,
    incomplete,
    item,
    message,
    part,
    reasoning,
    response,
    said,
    seen,
    stream,
    summary,
    text,
)
from toolwire.framing.sse import SseDecoder
from toolwire.model.events import (
    Batch,
    Finish,
    OpaquePart,
    ReasoningEnd,
    ResponseStart,
    StreamEvent,
    ToolCallEnd,
    ToolCallStart,
    Usage,
    UsageUpdate,
)
from toolwire.providers.decoder_context import DecoderContext
from toolwire.providers.openai_responses.answer import INCOMPLETE, ResponsesDecoder
from toolwire.stream.order import OrderCheck
from toolwire.wire.plain import plain

PARIS = '{"city":"Paris"}'
OSLO = '{"city":"Oslo"}'
WEATHER = call("fc_1", "call_a", "weather", PARIS)


def decoded(*events: Any) -> list[Batch]:
    """The decoder's batches, in a legal order, its end included."""
    decoder, order = ResponsesDecoder(DecoderContext()), OrderCheck()
    batches = [decoder.decode(frame) for frame in SseDecoder().feed(stream(*events))]
    batches.append(decoder.end())
    for batch in batches:
        order.check(batch)
    assert order.state == "ended"
    return batches


def events_of(*events: Any) -> list[StreamEvent]:
    return [event for batch in decoded(*events) for event in batch.events]


# ---------------------------------------------------------------- as the API writes

IN_PROGRESS = event("in_progress", response=response())

#: Two calls whose deltas come in turn, and the second first.
PARALLEL = [
    added(0, "function_call", "fc_1", call_id="call_a", name="weather"),
    added(1, "function_call", "fc_2", call_id="call_b", name="weather"),
    fragment(1, "fc_2", OSLO[:5]),
    fragment(0, "fc_1", PARIS),
    fragment(1, "fc_2", OSLO[5:]),
    arguments(0, "fc_1", PARIS),
    done(0, WEATHER),
    arguments(1, "fc_2", OSLO),
    done(1, call("fc_2", "call_b", "weather", OSLO)),
]

THOUGHT = [
    added(0, "reasoning", "rs_1"),
    event("reasoning_summary_part.added", output_index=0, item_id="rs_1", summary_index=0,
          part={"type": "summary_text", "text": ""}),
    summary(0, "rs_1", "Hm"),
    summary(0, "rs_1", "m."),
    event("reasoning_summary_text.done", output_index=0, item_id="rs_1", summary_index=0, text="Hmm."),
    event("reasoning_summary_part.done", output_index=0, item_id="rs_1", summary_index=0,
          part={"type": "summary_text", "text": "Hmm."}),
    done(0, reasoning("rs_1", "Hmm.", encrypted_content="gAAA")),
]  # fmt: skip

REFUSED = item("message", "m", role="assistant", content=[{"type": "refusal", "refusal": "No."}], status="completed")

Heard = tuple[str, str, list[tuple[str, str]], str]

ANSWERS: dict[str, tuple[list[Any], Heard]] = {
    # name: events, (content, reasoning, calls, finish)
    "text": (
        [created(), IN_PROGRESS, *said(0, "m", "Hel", "lo"), completed(message("m", "Hello"))],
        ("Hello", "", [], "stop"),
    ),
    "one call": (
        [created(), *called(0, "fc_1", "call_a", "weather", PARIS[:5], PARIS[5:]), completed(WEATHER)],
        ("", "", [("weather", PARIS)], "tool_calls"),
    ),
    "calls in turn": (
        [created(), *PARALLEL, completed(WEATHER, call("fc_2", "call_b", "weather", OSLO))],
        ("", "", [("weather", PARIS), ("weather", OSLO)], "tool_calls"),
    ),
    "reasoning, text, a call": (
        [created(), *THOUGHT, *said(1, "m", "Well"), *called(2, "fc_1", "call_a", "weather", PARIS),
         completed(reasoning("rs_1", "Hmm."), message("m", "Well"), WEATHER)],
        ("Well", "Hmm.", [("weather", PARIS)], "tool_calls"),
    ),
    "reasoning that is not shown": (
        [created(), added(0, "reasoning", "rs_1"), done(0, reasoning("rs_1", encrypted_content="gAAA")),
         *said(1, "m", "Hi"), completed(reasoning("rs_1"), message("m", "Hi"))],
        ("Hi", "", [], "stop"),
    ),
    "reasoning as text": (
        [created(), added(0, "reasoning", "rs_1"),
         event("reasoning_text.delta", output_index=0, item_id="rs_1", content_index=0, delta="Hmm."),
         event("reasoning_text.done", output_index=0, item_id="rs_1", content_index=0, text="Hmm."),
         done(0, reasoning("rs_1", content=[{"type": "reasoning_text", "text": "Hmm."}])), *said(1, "m", "Hi"),
         completed(reasoning("rs_1"), message("m", "Hi"))],
        ("Hi", "Hmm.", [], "stop"),
    ),
    "reasoning as text, in Open Responses' words": (
        [created(), added(0, "reasoning", "rs_1"),
         event("reasoning.delta", output_index=0, item_id="rs_1", content_index=0, delta="Hmm."),
         event("reasoning.done", output_index=0, item_id="rs_1", content_index=0, text="Hmm."),
         done(0, reasoning("rs_1", content=[{"type": "reasoning_text", "text": "Hmm."}])), *said(1, "m", "Hi"),
         completed(reasoning("rs_1"), message("m", "Hi"))],
        ("Hi", "Hmm.", [], "stop"),
    ),
    "a summary in two paragraphs": (
        [created(), added(0, "reasoning", "rs_1"), summary(0, "rs_1", "One."), summary(0, "rs_1", "Two.", 1),
         done(0, reasoning("rs_1", "One.", "Two.")), *said(1, "m", "Hi"), completed(reasoning("rs_1"), message("m"))],
        ("Hi", "One.\n\nTwo.", [], "stop"),
    ),
    "a refusal": (
        [created(), added(0, "message", "m"),
         event("content_part.added", output_index=0, item_id="m", content_index=0,
               part={"type": "refusal", "refusal": ""}),
         event("refusal.delta", output_index=0, item_id="m", content_index=0, delta="No."),
         event("refusal.done", output_index=0, item_id="m", content_index=0, refusal="No."),
         done(0, REFUSED), completed(REFUSED)],
        ("", "", [], "stop"),
    ),
    "a hosted tool, annotations and what is new": (
        [created(), added(0, "web_search_call", "ws_1", status="in_progress"),
         event("web_search_call.searching", output_index=0, item_id="ws_1"),
         event("shell_call_output_content.delta", output_index=0, item_id="ws_1", delta={"stdout": "x"}),
         done(0, item("web_search_call", "ws_1", status="completed", action={"type": "search", "query": "x"})),
         added(1, "tool_search_call", "ts_1", arguments={}),
         done(1, item("tool_search_call", "ts_1", arguments={"a": 1})),
         *said(2, "m", "Found")[:3],
         event("output_text.annotation.added", output_index=2, item_id="m", content_index=0, annotation_index=0,
               annotation={"type": "url_citation"}),
         done(2, message("m", "Found")), {"type": "news"},
         completed(item("web_search_call", "ws_1"), item("tool_search_call", "ts_1"), message("m", "Found"))],
        ("Found", "", [], "stop"),
    ),
    "the output limit": (
        [created(), *said(0, "m", "Hel"), incomplete("max_output_tokens", message("m", "Hel"))],
        ("Hel", "", [], "length"),
    ),
    "a filter": (
        [created(), *said(0, "m", "Hel"), incomplete("content_filter", message("m", "Hel"))],
        ("Hel", "", [], "content_filter"),
    ),
    "an end that is new": (
        [created(), *said(0, "m", "Hel"), incomplete("enough", message("m", "Hel"))],
        ("Hel", "", [], "length"),
    ),
    "a call cut by the output limit": (
        [created(), added(0, "function_call", "fc_1", call_id="call_a", name="weather"), fragment(0, "fc_1", '{"ci'),
         done(0, call("fc_1", "call_a", "weather", '{"ci', status="incomplete")),
         incomplete("max_output_tokens", call("fc_1", "call_a", "weather", '{"ci', status="incomplete"))],
        ("", "", [("weather", '{"ci')], "length"),
    ),
    "a call without arguments": (
        [created(), added(0, "function_call", "fc_1", call_id="call_a", name="time"),
         arguments(0, "fc_1", "{}", "time"), done(0, call("fc_1", "call_a", "time", "{}")),
         completed(call("fc_1", "call_a", "time", "{}"))],
        ("", "", [("time", "{}")], "tool_calls"),
    ),
}  # fmt: skip

#: Frames that need repair in these: a text that only a `.done` tells, though deltas are the rule.
REPAIRED = {"a call without arguments": {2}}


@each_row("name", ANSWERS)
def test_a_client_hears_what_was_said(name: str) -> None:
    events, heard = ANSWERS[name]
    found = seen(*events)
    assert (found.content, found.reasoning, found.asked, found.finish) == heard
    if name == "a refusal":
        assert found.refusal == "No."


@each_row("name", ANSWERS)
def test_a_frame_that_needs_no_repair_keeps_its_bytes(name: str) -> None:
    events = ANSWERS[name][0]
    batches = decoded(*events)[:-1]
    assert {number for number, batch in enumerate(batches) if batch.source is None} == REPAIRED.get(name, set())
    for batch, sent in zip(batches, events, strict=True):
        assert batch.source is None or json.loads(batch.source.raw) == sent


def test_every_reason_of_the_api_is_known() -> None:
    from openai.types.responses.response import IncompleteDetails

    (reasons,) = (get_args(field.annotation) for field in IncompleteDetails.model_fields.values())
    assert INCOMPLETE.keys() == set(get_args(reasons[0]) or reasons)


def test_every_event_of_the_api_can_be_read() -> None:
    """By its type alone: it is either told in neutral events, or passes."""
    from openai.types.responses import ResponseStreamEvent

    kinds = [get_args(kind.model_fields["type"].annotation)[0] for kind in get_args(get_args(ResponseStreamEvent)[0])]
    assert len(kinds) > 50
    for kind in kinds:
        if kind not in ("error", "response.failed"):
            decoder = ResponsesDecoder(DecoderContext())
            decoder.decode(SseDecoder().feed(stream(created()))[0])
            told = {"type": kind, "item": item("message", "m"), "response": response("completed")}
            assert decoder.decode(SseDecoder().feed(stream(told))[0]) is not None


# ---------------------------------------------------------------- events


def test_ids_are_ours_and_the_models_name_is_the_hosts() -> None:
    found = seen(created(), *called(0, "fc_1", "call_a", "weather", PARIS), completed(WEATHER))
    assert found.chunks[0]["model"] == "gpt-host"
    assert found.chunks[0]["id"].startswith("chatcmpl-")
    assert found.calls[0][0] not in ("call_a", "fc_1")
    assert len(found.calls[0][0]) == 37


def test_a_call_goes_by_its_call_id_and_never_by_its_items() -> None:
    events = events_of(created(), *called(0, "fc_1", "call_a", "weather", PARIS), completed(WEATHER))
    assert ToolCallStart(0, "call_a", "weather") in events


def test_a_custom_call() -> None:
    events = events_of(
        created(), added(0, "custom_tool_call", "ctc_1", call_id="call_a", name="patch"),
        event("custom_tool_call_input.delta", output_index=0, item_id="ctc_1", delta="*** Be"),
        event("custom_tool_call_input.delta", output_index=0, item_id="ctc_1", delta="gin"),
        event("custom_tool_call_input.done", output_index=0, item_id="ctc_1", input="*** Begin"),
        done(0, custom("ctc_1", "call_a", "patch", "*** Begin")),
        completed(custom("ctc_1", "call_a", "patch", "*** Begin")),
    )  # fmt: skip
    assert ToolCallStart(0, "call_a", "patch", "custom") in events
    assert ToolCallEnd(0) in events
    assert Finish("tool_calls", "completed") in events


def test_a_function_of_a_namespace_has_one_name() -> None:
    finished = call("fc_1", "call_a", "find", "{}", namespace="mcp__docs", caller={"type": "direct"})
    begun = added(0, "function_call", "fc_1", call_id="call_a", name="find", namespace="mcp__docs",
                  caller={"type": "direct"})  # fmt: skip
    batches = decoded(created(), begun, done(0, finished), completed(finished))
    (start,) = batches[1].events
    assert start == ToolCallStart(0, "call_a", "mcp__docs__find")
    assert plain(batches[1]).events == (
        ToolCallStart(0, "call_a", "mcp__docs__find", extra=(("caller", b'{"type": "direct"}'),)),
    )


def test_encrypted_reasoning_is_its_signature() -> None:
    assert ReasoningEnd(0, "gAAA") in events_of(created(), *THOUGHT, completed(reasoning("rs_1", "Hmm.")))


def test_what_only_the_api_knows_goes_whole() -> None:
    events = events_of(*ANSWERS["a hosted tool, annotations and what is new"][0])
    search, tools = (event for event in events if isinstance(event, OpaquePart))
    assert (search.index, search.kind, search.dialect) == (0, "web_search_call", "openai_responses")
    assert json.loads(search.raw)["action"] == {"type": "search", "query": "x"}
    assert json.loads(tools.raw)["arguments"] == {"a": 1}


def test_usage_and_the_beginning() -> None:
    events = events_of(created(), *said(0, "m", "Hi"), completed(message("m", "Hi")))
    assert ResponseStart("resp_1", "gpt-host", 1_700_000_000) in events
    expected = Usage(10, 20, cache_read_tokens=4, cache_write_tokens=1, reasoning_tokens=8)
    assert [event.usage for event in events if isinstance(event, UsageUpdate)] == [expected]


def test_what_a_rewritten_frame_still_says() -> None:
    batch = decoded(created(service_tier="flex", metadata={"a": "b"}), *said(0, "m", "Hi"), completed(message("m")))[0]
    extra = dict(dict(plain(batch).extra)["response"])
    assert (extra["service_tier"], extra["metadata"]) == (b'"flex"', b'{"a": "b"}')


def test_arguments_stay_what_they_are() -> None:
    exact = '{ "id": 12345678901234567890, "f": 1.10, "s": "\\u00e9\\/\u2028\U0001f600" }'
    pieces = [exact[at : at + 3] for at in range(0, len(exact), 3)]
    found = seen(created(), *called(0, "fc", "c", "weather", *pieces), completed(call("fc", "c", "weather", exact)))
    assert found.asked == [("weather", exact)]


# ---------------------------------------------------------------- as lesser hosts write

NO_INDEX = [{name: value for name, value in told.items() if name != "output_index"} for told in PARALLEL]
NO_IDS = [
    added(0, "message", None), text(0, None, "Hi"), done(0, message(None, "Hi")),
    added(1, "function_call", None, call_id="call_a", name="weather"), fragment(1, None, PARIS),
    done(1, call(None, "call_a", "weather", PARIS)),
]  # fmt: skip

REPAIRS: dict[str, tuple[list[Any], Heard]] = {
    "arguments only when they are done": (
        [created(), added(0, "function_call", "fc_1", call_id="call_a", name="weather"), arguments(0, "fc_1", PARIS),
         done(0, WEATHER), completed(WEATHER)],
        ("", "", [("weather", PARIS)], "tool_calls"),
    ),
    "arguments only in the item": (
        [created(), added(0, "function_call", "fc_1", call_id="call_a", name="weather"), done(0, WEATHER),
         completed(WEATHER)],
        ("", "", [("weather", PARIS)], "tool_calls"),
    ),
    "everything only in the response": (
        [created(), completed(reasoning("rs_1", "Hmm."), message("m", "Hi"), WEATHER)],
        ("Hi", "Hmm.", [("weather", PARIS)], "tool_calls"),
    ),
    "an item that never ends": (
        [created(), added(0, "function_call", "fc_1", call_id="call_a", name="weather"), fragment(0, "fc_1", PARIS[:9]),
         completed(WEATHER)],
        ("", "", [("weather", PARIS)], "tool_calls"),
    ),
    "deltas that leave out the end": (
        [created(), added(0, "function_call", "fc_1", call_id="call_a", name="weather"), fragment(0, "fc_1", PARIS[:9]),
         done(0, WEATHER), completed(WEATHER)],
        ("", "", [("weather", PARIS)], "tool_calls"),
    ),
    "a name that comes with the end": (
        [created(), added(0, "function_call", "fc_1", call_id="call_a"), fragment(0, "fc_1", PARIS), done(0, WEATHER),
         completed(WEATHER)],
        ("", "", [("weather", PARIS)], "tool_calls"),
    ),
    "index 0 on every delta": (
        [created(), *[told | ({"output_index": 0} if "delta" in told else {}) for told in PARALLEL], completed()],
        ("", "", [("weather", PARIS), ("weather", OSLO)], "tool_calls"),
    ),
    "no index at all": (
        [created(), *NO_INDEX, completed()], ("", "", [("weather", PARIS), ("weather", OSLO)], "tool_calls"),
    ),
    "the same index for two items": (
        [created(), *called(0, "fc_1", "call_a", "weather", PARIS), *called(0, "fc_2", "call_b", "time", "{}"),
         completed()],
        ("", "", [("weather", PARIS), ("time", "{}")], "tool_calls"),
    ),
    "no ids": ([created(), *NO_IDS, completed()], ("Hi", "", [("weather", PARIS)], "tool_calls")),
    "an id of its own in every event": (
        [created(), added(0, "message", "a"), text(0, "b", "Hel"), text(0, "c", "lo"), done(0, message("d", "Hello")),
         completed(message("e", "Hello"))],
        ("Hello", "", [], "stop"),
    ),
    "deltas without an item": (
        [created(), summary(0, "rs_1", "Hmm."), text(1, "m", "Hel"), text(1, "m", "lo"), completed()],
        ("Hello", "Hmm.", [], "stop"),
    ),
    "an item that is only ended": (
        [created(), done(0, message("m", "Hi")), done(1, WEATHER), completed()],
        ("Hi", "", [("weather", PARIS)], "tool_calls"),
    ),
    "no beginning": ([*said(0, "m", "Hi"), completed(message("m", "Hi"))], ("Hi", "", [], "stop")),
    "two beginnings": ([created(), created(), *said(0, "m", "Hi"), completed()], ("Hi", "", [], "stop")),
    "a content without part events": (
        [created(), added(0, "message", "m"), text(0, "m", "Hi", None), done(0, message("m", "Hi")), completed()],
        ("Hi", "", [], "stop"),
    ),
    "an item told twice": (
        [created(), *said(0, "m", "Hi"), done(0, message("m", "Hi")), completed(message("m", "Hi"))],
        ("Hi", "", [], "stop"),
    ),
    "what differs from what was said": (
        [created(), *said(0, "m", "Hi")[:3], done(0, message("m", "Ho")), completed(message("m", "Hu"))],
        ("Hi", "", [], "stop"),
    ),
    "response.done for the end": (
        [created(), *said(0, "m", "Hi"), event("done", response=response("completed"))], ("Hi", "", [], "stop"),
    ),
    "[DONE] for the end": ([created(), *said(0, "m", "Hi"), b"data: [DONE]\n\n"], ("Hi", "", [], "stop")),
    "[DONE] behind the end": (
        [created(), *said(0, "m", "Hi"), completed(), b"data: [DONE]\n\n"], ("Hi", "", [], "stop"),
    ),
    "events without a type in the data": (
        [created(), *said(0, "m", "Hi")[:2], b'event: response.output_text.delta\ndata: {"delta":"Hi"}\n\n',
         completed()],
        ("Hi", "", [], "stop"),
    ),
    "no arguments at all": (
        [created(), added(0, "function_call", "fc_1", call_id="call_a", name="time"),
         done(0, call("fc_1", "call_a", "time", "")), completed()],
        ("", "", [("time", "{}")], "tool_calls"),
    ),
    "arguments as an object": (
        [created(), b'data: {"type":"response.output_item.done","output_index":"0","item":{"type":"function_call",'
         b'"id":7,"call_id":"call_a","name":"weather","arguments":{"n": 1.10}}}\n\n', completed()],
        ("", "", [("weather", '{"n": 1.10}')], "tool_calls"),
    ),
    "half a surrogate pair": (
        [created(), *said(0, "m", "x")[:2], b'data: {"type":"response.output_text.delta","delta":"\\ud83d"}\n\n',
         b'data: {"type":"response.output_text.delta","delta":"\\ude00"}\n\n', completed()],
        ("\ud83d\ude00", "", [], "stop"),  # which is one character wherever strings are UTF-16
    ),
    "keep-alives as data": (
        [created(), b"data: \n\n", b"data: : ping\n\n", b"data: ping\n\n", b'data: "Heartbeat"\n\n',
         *said(0, "m", "Hi"), completed()],
        ("Hi", "", [], "stop"),
    ),
}  # fmt: skip


@each_row("name", REPAIRS)
def test_repairs(name: str) -> None:
    events, heard = REPAIRS[name]
    usage = name in ("response.done for the end", "[DONE] for the end")
    found = seen(*events) if not usage else _without_usage(*events)
    assert (found.content, found.reasoning, found.asked, found.finish) == heard


def _without_usage(*events: Any) -> Any:
    from tests.providers.openai_chat.chat_reader import read
    from tests.providers.openai_responses.responses_upstream import ask

    return read(ask(stream(*events), stream_options=None).body)


@pytest.mark.parametrize(
    ("name", "repaired"),
    [
        ("arguments only when they are done", {2}),
        ("an item that never ends", {3}),
        ("index 0 on every delta", {3, 5, 10}),
        ("an id of its own in every event", {2, 3, 4, 5}),
        ("deltas without an item", {1, 2, 4}),
    ],
)
def test_a_frame_that_a_strict_client_could_not_read_loses_its_bytes(name: str, repaired: set[int]) -> None:
    batches = decoded(*REPAIRS[name][0])[:-1]
    assert {number for number, batch in enumerate(batches) if batch.source is None} == repaired


def test_parts_of_a_message_follow_one_another() -> None:
    events = events_of(
        created(), added(0, "message", "m"),
        part("added", 0, "m", ""), text(0, "m", "One"), part("done", 0, "m", "One"),
        part("added", 0, "m", "", 1), text(0, "m", "Two", 1), part("done", 0, "m", "Two", 1),
        done(0, message("m", "One", "Two")), completed(message("m", "One", "Two")),
    )  # fmt: skip
    assert [type(event).__name__ for event in events[1:7]] == ["TextStart", "TextDelta", "TextEnd"] * 2
