"""One part at a time: whatever overlaps goes in, nothing that overlaps comes out."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.named_rows import each_row
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
from toolwire.stream.order import OrderCheck
from toolwire.stream.sequential import Sequential

START, FINISH, END = ResponseStart("id", "model"), Finish("tool_calls"), ResponseEnd()
USAGE = UsageUpdate(Usage(1, 2))


def call(index: int) -> ToolCallStart:
    return ToolCallStart(index, f"id{index}", f"f{index}")


def opaque(index: int) -> OpaquePart:
    return OpaquePart(index, "server_tool", "anthropic_messages", b"{}")


#: What goes in one by one, and what comes out at each.
TABLE: dict[str, list[tuple[StreamEvent, list[StreamEvent]]]] = {
    "parts that do not overlap flow": [
        (START, [START]),
        (TextStart(0), [TextStart(0)]),
        (TextDelta(0, "x"), [TextDelta(0, "x")]),
        (TextEnd(0), [TextEnd(0)]),
        (call(1), [call(1)]),
        (ToolCallDelta(1, "{}"), [ToolCallDelta(1, "{}")]),
        (ToolCallEnd(1), [ToolCallEnd(1)]),
        (FINISH, [FINISH]),
        (END, [END]),
    ],
    "the first call flows, the second leaves when it has ended": [
        (call(0), [call(0)]),
        (call(1), []),
        (ToolCallDelta(1, "{"), []),
        (ToolCallDelta(0, "{"), [ToolCallDelta(0, "{")]),
        (ToolCallDelta(1, "}"), []),
        (ToolCallDelta(0, "}"), [ToolCallDelta(0, "}")]),
        (ToolCallEnd(0), [ToolCallEnd(0), call(1), ToolCallDelta(1, "{"), ToolCallDelta(1, "}")]),
        (ToolCallDelta(1, " "), [ToolCallDelta(1, " ")]),
        (ToolCallEnd(1), [ToolCallEnd(1)]),
    ],
    "parts that ended while held leave with the one before": [
        (call(0), [call(0)]),
        (call(1), []),
        (ToolCallEnd(1), []),
        (opaque(2), []),
        (call(3), []),
        (ToolCallEnd(0), [ToolCallEnd(0), call(1), ToolCallEnd(1), opaque(2), call(3)]),
        (ToolCallEnd(3), [ToolCallEnd(3)]),
    ],
    "an opaque part is over at once": [(opaque(0), [opaque(0)]), (TextStart(1), [TextStart(1)])],
    "the finish waits for the one call that is open": [
        (call(0), [call(0)]),
        (FINISH, []),
        (ToolCallDelta(0, "}"), [ToolCallDelta(0, "}")]),
        (ToolCallEnd(0), [ToolCallEnd(0), FINISH]),
        (END, [END]),
    ],
    "the finish waits for the calls that are held": [
        (call(0), [call(0)]),
        (call(1), []),
        (FINISH, []),
        (ToolCallEnd(0), [ToolCallEnd(0), call(1)]),
        (ToolCallEnd(1), [ToolCallEnd(1), FINISH]),
    ],
    "usage waits for nothing": [(call(0), [call(0)]), (call(1), []), (USAGE, [USAGE])],
    "a failure waits for nothing": [
        (call(0), [call(0)]),
        (call(1), []),
        (StreamFailed("x", ""), [StreamFailed("x", "")]),
    ],
}


@each_row("steps", TABLE.values(), ids=TABLE)
def test_step_by_step(steps: list[tuple[StreamEvent, list[StreamEvent]]]) -> None:
    sequential = Sequential()

    assert [sequential.take(event) for event, _ in steps] == [out for _, out in steps]


@st.composite
def responses(draw: st.DrawFn) -> list[StreamEvent]:
    """A legal response whose parts overlap in every way."""
    scripts: list[list[StreamEvent]] = []
    for index in range(draw(st.integers(0, 5))):
        pieces = [f"{index}.{number}" for number in range(draw(st.integers(0, 3)))]
        scripts.append(
            draw(
                st.sampled_from(
                    [
                        [TextStart(index), *(TextDelta(index, text) for text in pieces), TextEnd(index)],
                        [ReasoningStart(index), *(ReasoningDelta(index, text) for text in pieces), ReasoningEnd(index)],
                        [call(index), *(ToolCallDelta(index, text) for text in pieces), ToolCallEnd(index)],
                        [opaque(index)],
                    ]
                )
            )
        )
    events: list[StreamEvent] = [START]
    running: list[list[StreamEvent]] = []
    finished = False
    while scripts or running:
        choices = [*running, *scripts[:1]]
        script = draw(st.sampled_from(choices))
        if script not in running:
            running.append(scripts.pop(0))
        events.append(script.pop(0))
        if not script:
            running.remove(script)
        if draw(st.integers(0, 9)) == 0:
            events.append(USAGE)
        if not finished and draw(st.integers(0, 9)) == 0:
            finished = True
            events.append(FINISH)
    return [*events, *([] if finished else [FINISH]), END]


def index_of(event: StreamEvent) -> int | None:
    return getattr(event, "index", None)


@given(responses())
def test_any_response(events: list[StreamEvent]) -> None:
    OrderCheck().check(Batch(tuple(events)))  # the strategy keeps to the tables
    sequential = Sequential()

    out = [event for taken in events for event in sequential.take(taken)]

    assert sorted(map(repr, out)) == sorted(map(repr, events))  # nothing lost, nothing twice
    parts = [index for event in out if (index := index_of(event)) is not None]
    assert parts == sorted(parts)  # no overlap
    for part in set(parts):
        assert [event for event in out if index_of(event) == part] == [
            event for event in events if index_of(event) == part
        ]
    for other in (FINISH, END):  # behind every part that began before it
        before = {index_of(event) for event in events[: events.index(other)]} - {None}
        assert before.isdisjoint({index_of(event) for event in out[out.index(other) :]})
    assert out.index(START) == 0
    assert out.index(END) == len(out) - 1
    OrderCheck().check(Batch(tuple(out)))


@given(responses())
def test_the_part_whose_turn_it_is_never_waits(events: list[StreamEvent]) -> None:
    sequential = Sequential()
    ended: set[int | None] = set()
    for event in events:
        out = sequential.take(event)
        index = index_of(event)
        if index is not None and ended.issuperset(range(index)):
            assert event in out
        if isinstance(event, TextEnd | ReasoningEnd | ToolCallEnd | OpaquePart):
            ended.add(index)
