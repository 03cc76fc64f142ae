"""The fold: what the events of a response say together."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.named_rows import each_row
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
    TextDelta,
    TextEnd,
    TextStart,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    Usage,
    UsageUpdate,
)
from toolwire.model.response import ChatResponse, ReasoningOutput, TextOutput, ToolCallOutput
from toolwire.stream.fold import Fold

OPAQUE = OpaquePart(4, "server_tool", "anthropic_messages", b'{"a":1}')

EVENTS: list[StreamEvent] = [
    ResponseStart("chatcmpl-1", "gpt", 7),
    ReasoningStart(0),
    ReasoningDelta(0, "th"),
    ReasoningDelta(0, "ink"),
    ReasoningEnd(0, "signature"),
    TextStart(1),
    TextDelta(1, "Hello, "),
    TextDelta(1, "world"),
    TextEnd(1),
    ToolCallStart(2, "call_1", "f", extra=(("x", b"1"),)),
    ToolCallStart(3, None, "g"),
    ToolCallDelta(3, '{"n":'),
    ToolCallDelta(2, '{"a":1'),
    ToolCallDelta(3, "1234567890123456789"),
    ToolCallDelta(2, ".10}"),
    OPAQUE,
    TextStart(5, refusal=True),
    TextDelta(5, "No."),
    TextEnd(5),
    UsageUpdate(Usage(1, 1)),
    Finish("tool_calls", "tool_calls"),
    ToolCallDelta(3, "}"),
    ToolCallEnd(2),
    ToolCallEnd(3),
    UsageUpdate(Usage(10, 5, reasoning_tokens=2)),
    ResponseEnd(),
]

RESPONSE = ChatResponse(
    id="chatcmpl-1",
    model="gpt",
    created=7,
    parts=(
        ReasoningOutput("think", "signature"),
        TextOutput("Hello, world"),
        ToolCallOutput("call_1", "f", '{"a":1.10}', extra=(("x", b"1"),)),
        ToolCallOutput("", "g", '{"n":1234567890123456789}'),
        OPAQUE,
        TextOutput("No.", refusal=True),
    ),
    finish=Finish("tool_calls", "tool_calls"),
    usage=Usage(10, 5, reasoning_tokens=2),
)


def fold(*batches: Batch) -> ChatResponse:
    folded = Fold()
    for batch in batches:
        folded.take(batch)
    return folded.response()


@given(st.sets(st.integers(0, len(EVENTS))))
def test_batches_do_not_matter(cuts: set[int]) -> None:
    edges = [0, *sorted(cuts), len(EVENTS)]

    batches = [Batch(tuple(EVENTS[start:end])) for start, end in pairwise(edges)]

    assert fold(*batches) == RESPONSE


def test_the_least_a_response_can_be() -> None:
    assert fold(Batch((ResponseStart(None, None), Finish("stop"), ResponseEnd()))) == ChatResponse(
        id="", model="", created=0, parts=(), finish=Finish("stop"), usage=None
    )


def test_a_part_without_deltas_is_empty_not_missing() -> None:
    events = (ResponseStart(None, None), TextStart(0), TextEnd(0), ReasoningStart(1), ReasoningEnd(1))

    assert fold(Batch(events)).parts == (TextOutput(""), ReasoningOutput(""))


@pytest.mark.parametrize(
    ("updates", "at_the_end", "total"),
    [
        ([], None, None),
        ([Usage(1, 2)], None, 3),
        ([Usage(1, 2), Usage(3, 4)], None, 7),
        ([Usage(1, 2)], Usage(5, 6), 11),
    ],
)
def test_later_usage_replaces(updates: list[Usage], at_the_end: Usage | None, total: int | None) -> None:
    usage = fold(Batch((*map(UsageUpdate, updates), ResponseEnd(at_the_end)))).usage

    assert (usage.total_tokens if usage else None) == total


def test_the_last_finish_counts() -> None:
    assert fold(Batch((Finish("stop"), Finish("length", "max_tokens")))).finish == Finish("length", "max_tokens")


@each_row(
    ("reason", "kind", "arguments", "complete"),
    [
        ("tool_calls", "function", '{"a":', True),  # malformed, but not cut: the model's own doing
        ("length", "function", '{"a":', False),
        ("length", "function", '{"a":1', False),
        ("length", "function", "", False),
        ("length", "function", "12", False),  # a number that parses may be the beginning of a longer one
        ("length", "function", '{"a":1}', True),  # after a whole object nothing can be missing
        ("length", "function", '{"a":"}', False),
        ("content_filter", "function", '{"a":1}', True),
        ("tool_calls", "custom", "anything", True),
        ("length", "custom", "anything", False),
    ],
)
def test_a_call_cut_by_the_limit_is_never_complete(
    reason: FinishReason, kind: str, arguments: str, complete: bool
) -> None:
    start = ToolCallStart(0, "id", "f", "custom" if kind == "custom" else "function")
    (part,) = fold(Batch((start, ToolCallDelta(0, arguments), Finish(reason), ToolCallEnd(0)))).parts

    assert isinstance(part, ToolCallOutput)
    assert (part.arguments, part.complete) == (arguments, complete)


def test_a_custom_call_before_another_part_was_not_cut() -> None:
    first, second = ToolCallStart(0, "a", "f", "custom"), ToolCallStart(1, "b", "f", "custom")
    events = (first, ToolCallDelta(0, "x"), second, ToolCallDelta(1, "y"), Finish("length"))

    assert [getattr(part, "complete", None) for part in fold(Batch(events)).parts] == [True, False]


def test_extra_members_come_along() -> None:
    first = Batch((ResponseStart(None, None),), (("", (("service_tier", b'"x"'),)), ("delta", (("a", b"1"),))))
    second = Batch((), (("delta", (("a", b"2"),)),))

    assert dict(fold(first, second).extra) == {"": (("service_tier", b'"x"'),), "delta": (("a", b"2"),)}
