"""Streamed Messages answers: what a chat client hears, by two readers, and which frames keep their bytes."""

from __future__ import annotations

import json
from typing import Any

from tests.named_rows import each_row
from tests.providers.anthropic_messages.messages_upstream import (
    CALLS,
    HELLO,
    PING,
    STOP,
    TURN,
    begin,
    call,
    delta,
    end,
    finish,
    fragment,
    seen,
    signature,
    start,
    stream,
    text,
    thinking,
)
from toolwire.framing import Frame
from toolwire.framing.sse import SseDecoder
from toolwire.model.events import (
    Batch,
    Finish,
    OpaquePart,
    ReasoningEnd,
    StreamEvent,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    Usage,
    UsageUpdate,
)
from toolwire.providers.anthropic_messages.answer import MessagesDecoder
from toolwire.providers.decoder_context import DecoderContext
from toolwire.stream.order import OrderCheck
from toolwire.wire.anthropic_messages import STOP_REASONS
from toolwire.wire.json import members

PARIS = '{"city":"Paris"}'


def decoded(*events: Any) -> list[Batch]:
    """The decoder's batches, in a legal order, its end included."""
    decoder, order = MessagesDecoder(DecoderContext()), OrderCheck()
    batches = [decoder.decode(frame) for frame in SseDecoder().feed(stream(*events))]
    batches.append(decoder.end())
    for batch in batches:
        order.check(batch)
    assert order.state == "ended"
    return batches


def events_of(*events: Any) -> list[StreamEvent]:
    return [event for batch in decoded(*events) for event in batch.events]


# ---------------------------------------------------------------- as the API writes

ANSWERS: dict[str, tuple[list[Any], str, str, list[tuple[str, str]], str]] = {
    # name: events, content, reasoning, calls, finish
    "text": ([*HELLO, *TURN], "Hello", "", [], "stop"),
    "one call": (
        [start(), call(0, "toolu_a", "weather"), fragment(0, ""), fragment(0, PARIS[:5]), PING, fragment(0, PARIS[5:]),
         end(0), *CALLS],
        "", "", [("weather", PARIS)], "tool_calls",
    ),
    "text, then parallel calls": (
        [*HELLO, call(1, "toolu_a", "weather"), fragment(1, PARIS), end(1), call(2, "toolu_b", "time"), fragment(2, ""),
         end(2), *CALLS],
        "Hello", "", [("weather", PARIS), ("time", "{}")], "tool_calls",
    ),
    "thinking, then a call": (
        [start(), begin(0, "thinking"), thinking(0, "Hm"), thinking(0, "m."), signature(0, "EqQB"), end(0),
         call(1, "toolu_a", "time"), end(1), *CALLS],
        "", "Hmm.", [("time", "{}")], "tool_calls",
    ),
    "thinking that is not shown": (
        [start(), begin(0, "thinking"), signature(0, "EqQB"), end(0), begin(1, "text"), text(1, "Hi"), end(1), *TURN],
        "Hi", "", [], "stop",
    ),
    "thinking that is redacted": (
        [start(), begin(0, "redacted_thinking", data="xyz"), end(0), begin(1, "text"), text(1, "Hi"), end(1), *TURN],
        "Hi", "", [], "stop",
    ),
    "a server's tool": (
        [start(), begin(0, "server_tool_use", id="srvtoolu_1", name="web_search", input={}), fragment(0, '{"query":'),
         fragment(0, '"x"}'), end(0), begin(1, "web_search_tool_result", tool_use_id="srvtoolu_1", content=[]), end(1),
         begin(2, "text"), delta(2, "citations_delta", citation={"cited_text": "y"}), text(2, "Found"), end(2), *TURN],
        "Found", "", [], "stop",
    ),
    "a call that begins with its input": (
        [start(), call(0, "toolu_a", "weather", {"city": "Paris"}), end(0), *CALLS],
        "", "", [("weather", '{"city": "Paris"}')], "tool_calls",
    ),
    "a stop sequence": ([*HELLO, finish("stop_sequence"), STOP], "Hello", "", [], "stop"),
    "a paused turn": ([*HELLO, finish("pause_turn"), STOP], "Hello", "", [], "stop"),
    "the output limit": ([*HELLO, finish("max_tokens"), STOP], "Hello", "", [], "length"),
    "a full context": ([*HELLO, finish("model_context_window_exceeded"), STOP], "Hello", "", [], "length"),
    "a refusal": ([*HELLO, finish("refusal"), STOP], "Hello", "", [], "content_filter"),
    "a reason that is new": ([*HELLO, finish("enough"), STOP], "Hello", "", [], "stop"),
    "calls, whatever the reason": (
        [start(), call(0, "toolu_a", "weather"), fragment(0, PARIS), end(0), *CALLS],
        "", "", [("weather", PARIS)], "tool_calls",
    ),
    "a call cut by the output limit": (
        [start(), call(0, "toolu_a", "weather"), fragment(0, '{"ci'), end(0), finish("max_tokens"), STOP],
        "", "", [("weather", '{"ci')], "length",
    ),
    "a call cut before its arguments": (
        [start(), call(0, "toolu_a", "time"), end(0), call(1, "toolu_b", "weather"), fragment(1, ""), end(1),
         finish("max_tokens"), STOP],
        "", "", [("time", "{}"), ("weather", "")], "length",
    ),
    "two message_deltas": ([*HELLO, finish(None), finish("end_turn"), STOP], "Hello", "", [], "stop"),
    "a later reason": ([*HELLO, finish("end_turn"), finish("max_tokens"), STOP], "Hello", "", [], "length"),
    "a reason that truncation wins over": (
        [*HELLO, finish("max_tokens"), finish("end_turn"), STOP], "Hello", "", [], "length",
    ),
    "events, deltas and blocks that are new": (
        [start(), {"type": "news"}, begin(0, "text"), delta(0, "news_delta", text="no"), text(0, "Hi"), end(0),
         begin(1, "news", text=[1], id=7), delta(1, "news_delta"), end(1), *TURN],
        "Hi", "", [], "stop",
    ),
}  # fmt: skip


@each_row("name", ANSWERS)
def test_a_client_hears_what_was_said(name: str) -> None:
    events, content, reasoning, calls, finished = ANSWERS[name]
    said = seen(*events)
    assert (said.content, said.reasoning, said.asked, said.finish) == (content, reasoning, calls, finished)


@each_row("name", [name for name in ANSWERS if name != "a call that begins with its input"])
def test_a_frame_that_needs_no_repair_keeps_its_bytes(name: str) -> None:
    events = ANSWERS[name][0]
    batches = decoded(*events)[:-1]
    assert [batch.source is not None for batch in batches] == [True] * len(events)


def test_every_stop_reason_of_the_api_is_known() -> None:
    from typing import get_args

    from anthropic.types import StopReason

    assert STOP_REASONS.keys() == set(get_args(StopReason))


def test_ids_are_ours_and_the_models_name_is_the_hosts() -> None:
    said = seen(start(), call(0, "toolu_a", "weather"), fragment(0, PARIS), end(0), *CALLS)
    assert said.chunks[0]["model"] == "claude-host"
    assert said.chunks[0]["id"].startswith("chatcmpl-")
    assert said.calls[0][0].startswith("call_")
    assert len(said.calls[0][0]) == 37


def test_arguments_stay_what_they_are() -> None:
    exact = '{ "id": 12345678901234567890, "f": 1.10, "s": "\\u00e9\\/\u2028\U0001f600" }'
    pieces = [exact[at : at + 3] for at in range(0, len(exact), 3)]
    said = seen(start(), call(0, "t", "weather"), *(fragment(0, piece) for piece in pieces), end(0), *CALLS)
    assert said.asked == [("weather", exact)]


def test_arguments_that_are_no_json_are_passed_on() -> None:
    said = seen(start(), call(0, "t", "weather"), fragment(0, '{"a": nope'), end(0), *CALLS)
    assert (said.asked, said.finish) == ([("weather", '{"a": nope')], "tool_calls")


def test_why_the_model_refused() -> None:
    details = {"type": "refusal", "category": "cyber", "explanation": "Not that."}
    said = seen(*HELLO, finish("refusal", stop_details=details), STOP)
    assert (said.content, said.refusal, said.finish) == ("Hello", "Not that.", "content_filter")


# ---------------------------------------------------------------- events


def test_a_signature_comes_with_the_end_of_its_thinking() -> None:
    events = events_of(start(), begin(0, "thinking"), thinking(0, "x"), signature(0, "Eq"), signature(0, "QB"), end(0),
                       *TURN)  # fmt: skip
    assert ReasoningEnd(0, "EqQB") in events


def test_what_only_the_api_knows_goes_whole() -> None:
    events = events_of(
        start(), begin(0, "server_tool_use", id="s", name="web_search", input={}), fragment(0, '{"query":'),
        fragment(0, "12345678901234567890}"), end(0), begin(1, "redacted_thinking", data="xyz"), end(1), *TURN,
    )  # fmt: skip
    tool, redacted = (event for event in events if isinstance(event, OpaquePart))
    assert (tool.index, tool.kind, tool.dialect) == (0, "server_tool_use", "anthropic_messages")
    assert members(tool.raw)["input"] == b'{"query":12345678901234567890}'
    assert json.loads(redacted.raw) == {"type": "redacted_thinking", "data": "xyz"}


def test_the_raw_reason_is_kept() -> None:
    assert Finish("stop", "pause_turn") in events_of(*HELLO, finish("pause_turn"), STOP)


def test_a_bare_call_ends_when_it_is_known_to_be_whole() -> None:
    batches = decoded(start(), call(0, "a", "time"), end(0), call(1, "b", "time"), end(1), *CALLS)
    assert [batch.events for batch in batches[1:5]] == [
        (ToolCallStart(0, "a", "time"),),
        (),
        (ToolCallDelta(0, "{}"), ToolCallEnd(0), ToolCallStart(1, "b", "time")),
        (),
    ]
    assert batches[5].events[1:] == (ToolCallDelta(1, "{}"), ToolCallEnd(1), Finish("tool_calls", "tool_use"))


def test_usage_is_replaced_never_added() -> None:
    first = {"input_tokens": 10, "cache_creation_input_tokens": 3, "cache_read_input_tokens": 5, "output_tokens": 1}
    last = {"input_tokens": 11, "output_tokens": 30, "output_tokens_details": {"thinking_tokens": 12}}
    events = events_of(start(usage=first), *HELLO[1:], finish(None, usage={"output_tokens": 9}),
                       finish("end_turn", usage=last), STOP)  # fmt: skip
    usages = [event.usage for event in events if isinstance(event, UsageUpdate)]
    assert [(usage.input_tokens, usage.output_tokens) for usage in usages] == [(18, 1), (18, 9), (19, 30)]
    assert usages[-1] == Usage(19, 30, cache_read_tokens=5, cache_write_tokens=3, reasoning_tokens=12)


@each_row(
    ("first", "last", "counted"),
    [
        ({"input_tokens": 10, "cache_read_input_tokens": 5}, {"input_tokens": 0}, (15, 5)),
        ({"input_tokens": 10}, {"input_tokens": 0, "cache_read_input_tokens": 0}, (10, 0)),
        ({"input_tokens": 0}, {"input_tokens": 10, "cache_read_input_tokens": 5}, (15, 5)),  # Z.ai
        ({"input_tokens": 15}, {"input_tokens": 0, "cache_read_input_tokens": 15}, (15, 15)),
        ({"input_tokens": 0}, {"input_tokens": 0}, (0, 0)),
    ],
)
def test_a_counted_prompt_does_not_become_empty(
    first: dict[str, int], last: dict[str, int], counted: tuple[int, int]
) -> None:
    events = events_of(start(usage={**first, "output_tokens": 1}), *HELLO[1:],
                       finish("end_turn", usage={**last, "output_tokens": 9}), STOP)  # fmt: skip
    usage = [event.usage for event in events if isinstance(event, UsageUpdate)][-1]
    assert (usage.input_tokens, usage.cache_read_tokens, usage.output_tokens) == (*counted, 9)


# ---------------------------------------------------------------- repairs

REPAIRED: dict[str, tuple[list[Any], str, list[tuple[str, str]], str]] = {
    "no message_start": ([*HELLO[1:], *TURN], "Hello", [], "stop"),
    "message_start without a message": ([{"type": "message_start"}, *HELLO[1:], *TURN], "Hello", [], "stop"),
    "message_start twice": ([start(), *HELLO, *TURN], "Hello", [], "stop"),
    "content in message_start": (
        [start(content=[{"type": "text", "text": "Hi"}]), *TURN], "Hi", [], "stop",
    ),
    "no ends of blocks": (
        [*HELLO[:-1], call(1, "a", "weather"), fragment(1, PARIS), call(2, "b", "time"), *CALLS],
        "Hello", [("weather", PARIS), ("time", "{}")], "tool_calls",
    ),
    "one index for all blocks": (
        [*HELLO[:-1], call(0, "a", "weather"), fragment(0, PARIS), call(0, "b", "weather"), fragment(0, PARIS), end(0),
         *CALLS],
        "Hello", [("weather", PARIS)] * 2, "tool_calls",
    ),
    "no indices": (
        [start(), begin(None, "text"), text(None, "Hi"), end(None), call(None, "a", "weather"), fragment(None, PARIS),
         end(None), *CALLS],
        "Hi", [("weather", PARIS)], "tool_calls",
    ),
    "calls whose deltas take turns": (
        [start(), call(0, "a", "weather"), call(1, "b", "time"), fragment(0, PARIS[:4]), fragment(1, "{"),
         fragment(0, PARIS[4:]), fragment(1, "}"), end(0), end(1), *CALLS],
        "", [("weather", PARIS), ("time", "{}")], "tool_calls",
    ),
    "text without a beginning": ([start(), text(0, "Hello"), end(0), *TURN], "Hello", [], "stop"),
    "an end too many": ([*HELLO, end(0), end(5), *TURN], "Hello", [], "stop"),
    "no message_stop": ([*HELLO, TURN[0]], "Hello", [], "stop"),
    "message_stop without a reason": ([*HELLO, STOP], "Hello", [], "stop"),
    "content after the reason": (
        [*HELLO, TURN[0], call(1, "a", "weather"), fragment(1, PARIS), end(1), STOP],
        "Hello", [("weather", PARIS)], "tool_calls",
    ),
    "content after message_stop": ([*HELLO, *TURN, begin(1, "text"), text(1, "more"), end(1)], "Hello", [], "stop"),
    "arguments as text": (
        [start(), call(0, "a", "weather", PARIS), end(0), *CALLS], "", [("weather", PARIS)], "tool_calls",
    ),
    "a call without an id": (
        [start(), begin(0, "tool_use", name="weather", input={}), fragment(0, PARIS), end(0), *CALLS],
        "", [("weather", PARIS)], "tool_calls",
    ),
    "a null error": ([start(), *({**event, "error": None} for event in HELLO[1:]), *TURN], "Hello", [], "stop"),
    "[DONE], comments, empty data": (
        [b": hello\n\n", b"data:\n\n", *HELLO, b"data: : x\n\n", *TURN, b"data: [DONE]\n\n"], "Hello", [], "stop",
    ),
    "a surrogate pair in two": (
        [start(), begin(0, "text"), text(0, "a\ud83d"), text(0, "\ude00b"), end(0), *TURN], "a\U0001f600b", [], "stop",
    ),
}  # fmt: skip


@each_row("name", REPAIRED)
def test_a_deviation_is_repaired(name: str) -> None:
    events, content, calls, finished = REPAIRED[name]
    said = seen(*events)
    text_said = said.content.encode("utf-16", "surrogatepass").decode("utf-16")
    assert (text_said, said.asked, said.finish) == (content, calls, finished)


def test_a_repaired_frame_loses_its_bytes() -> None:
    decoder = MessagesDecoder(DecoderContext())
    sources = [decoder.decode(frame).source for frame in SseDecoder().feed(stream(start(), text(0, "x"), end(3)))]
    assert [source is not None for source in sources] == [True, False, False]


def test_the_type_counts_also_without_an_event_line() -> None:
    decoder = MessagesDecoder(DecoderContext())
    batches = [decoder.decode(Frame(None, json.dumps(event).encode())) for event in [*HELLO, *TURN]]
    assert all(batch.source is not None for batch in batches)
    nameless = {"index": 0, "content_block": {"type": "text", "text": "Hi"}}
    assert (
        MessagesDecoder(DecoderContext()).decode(Frame("content_block_start", json.dumps(nameless).encode())).source
        is None
    )
