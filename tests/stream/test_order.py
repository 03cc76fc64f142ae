"""The legal order of events: every pair of a state and an event, and walks through both tables at once."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.named_rows import each_row
from toolwire.model.errors import InternalError
from toolwire.model.events import (
    Batch,
    Finish,
    OpaquePart,
    ReasoningDelta,
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
    UsageUpdate,
)
from toolwire.model.events import Usage as Tokens
from toolwire.stream.order import PART, RESPONSE, OrderCheck, table

KINDS: tuple[type[Any], ...] = get_args(StreamEvent)

#: Events that bring each state of the response about, all parts ended.
RESPONSE_STATES: dict[str, list[StreamEvent]] = {
    "new": [],
    "open": [ResponseStart(None, None)],
    "finished": [ResponseStart(None, None), Finish("stop")],
    "ended": [ResponseStart(None, None), Finish("stop"), ResponseEnd()],
    "failed": [StreamFailed("upstream_error", "")],
}

#: Events that bring each state of part 0 about.
PART_STATES: dict[str | None, list[StreamEvent]] = {
    None: [],
    "text": [TextStart(0)],
    "reasoning": [ReasoningStart(0)],
    "tool call": [ToolCallStart(0, None, "f")],
    "ended": [TextStart(0), TextEnd(0)],
}


def event(kind: type[Any], index: int = 0) -> StreamEvent:
    made: dict[type[Any], StreamEvent] = {
        ResponseStart: ResponseStart(None, None),
        TextDelta: TextDelta(index, "x"),
        ReasoningDelta: ReasoningDelta(index, "x"),
        ToolCallStart: ToolCallStart(index, None, "f"),
        ToolCallDelta: ToolCallDelta(index, "{"),
        OpaquePart: OpaquePart(index, "server_tool", "anthropic_messages", b"{}"),
        UsageUpdate: UsageUpdate(Tokens()),
        Finish: Finish("stop"),
        ResponseEnd: ResponseEnd(),
        StreamFailed: StreamFailed("upstream_error", ""),
    }
    simple: StreamEvent = made[kind] if kind in made else kind(index)
    return simple


def is_part(kind: type[Any]) -> bool:
    return hasattr(event(kind), "index")


def check(*events: StreamEvent) -> OrderCheck:
    order = OrderCheck()
    order.check(Batch(events))
    return order


def test_every_event_has_a_place_and_nothing_else() -> None:
    assert {kind for row in RESPONSE.values() for kind in row} == set(KINDS)
    assert {kind for row in PART.values() for kind in row} == {kind for kind in KINDS if is_part(kind)}


def test_every_state_can_be_reached_and_left_for_another_of_the_table() -> None:
    assert (
        set(RESPONSE)
        == set(RESPONSE_STATES)
        == {after for row in RESPONSE.values() for after in row.values()} | {"new"}
    )
    assert set(PART) == set(PART_STATES) == {after for row in PART.values() for after in row.values()} | {None}


@each_row("kind", KINDS)
@each_row("state", RESPONSE_STATES)
def test_every_response_state_and_event(state: str, kind: type[Any]) -> None:
    order = check(*RESPONSE_STATES[state])
    assert order.state == state
    first = Batch((event(kind),))

    after = RESPONSE[state].get(kind)
    if after is None or (is_part(kind) and kind not in PART[None]):
        with pytest.raises(InternalError, match=kind.__name__):
            order.check(first)
    else:
        order.check(first)
        assert order.state == after


@each_row("finished", [False, True])
@each_row("kind", [kind for kind in KINDS if is_part(kind)])
@each_row("state", PART_STATES)
def test_every_part_state_and_event(state: str | None, kind: type[Any], finished: bool) -> None:
    order = check(*RESPONSE_STATES["open"], *PART_STATES[state], *([Finish("stop")] if finished else []))

    after = PART[state].get(kind)
    if after is None:
        with pytest.raises(InternalError, match=kind.__name__):
            order.check(Batch((event(kind),)))
        return
    order.check(Batch((event(kind),)))
    for follower in (kind for kind in KINDS if is_part(kind)):  # the part is now in the state of the table
        again = check(*RESPONSE_STATES["open"], *PART_STATES[state], event(kind))
        if follower in PART[after]:
            again.check(Batch((event(follower),)))
        else:
            with pytest.raises(InternalError):
                again.check(Batch((event(follower),)))


@pytest.mark.parametrize("state", PART_STATES)
def test_the_response_ends_only_when_every_part_has(state: str | None) -> None:
    order = check(*RESPONSE_STATES["open"], *PART_STATES[state], Finish("stop"))
    ended = state in (None, "ended")

    if ended:
        order.check(Batch((ResponseEnd(),)))
        assert order.state == "ended"
    else:
        with pytest.raises(InternalError, match="1 open parts"):
            order.check(Batch((ResponseEnd(),)))


@pytest.mark.parametrize("state", PART_STATES)
def test_a_failure_needs_no_ends(state: str | None) -> None:
    assert check(*RESPONSE_STATES["open"], *PART_STATES[state], StreamFailed("x", "")).state == "failed"


@pytest.mark.parametrize(
    "events",
    [
        [TextStart(1)],
        [TextStart(0), TextStart(2)],
        [TextStart(0), TextEnd(0), ToolCallStart(2, None, "f")],
        [TextStart(0), TextDelta(1, "x")],
        [OpaquePart(1, "server_tool", "anthropic_messages", b"")],
    ],
)
def test_parts_are_numbered_without_gaps(events: list[StreamEvent]) -> None:
    with pytest.raises(InternalError):
        check(ResponseStart(None, None), *events)


def test_parts_may_overlap_and_go_on_after_the_finish() -> None:
    order = check(
        ResponseStart("id", "model"),
        ToolCallStart(0, "a", "f"),
        ToolCallStart(1, "b", "g"),
        ToolCallDelta(0, "{"),
        ToolCallDelta(1, "{}"),
        Finish("tool_calls"),
        ToolCallDelta(0, "}"),
        ToolCallEnd(1),
        UsageUpdate(Tokens()),
        ToolCallEnd(0),
        Finish("tool_calls"),
        ResponseEnd(),
    )

    assert order.state == "ended"


def test_the_message_names_event_and_state_and_no_content() -> None:
    with pytest.raises(InternalError) as caught:
        check(ResponseStart(None, None), TextStart(0), ToolCallDelta(0, "secret"))

    assert "ToolCallDelta for part 0 in state 'text'" in caught.value.message
    assert "secret" not in caught.value.message


class Model:
    """The tables read a second time, in the simplest way: what is legal after a walk."""

    def __init__(self) -> None:
        self.state = "new"
        self.parts: list[str] = []

    def legal(self) -> list[StreamEvent]:
        steps = [kind for kind in RESPONSE[self.state] if not is_part(kind)]
        if any(part != "ended" for part in self.parts):
            steps = [kind for kind in steps if kind is not ResponseEnd]
        legal = [event(kind) for kind in steps]
        if TextStart in RESPONSE[self.state]:
            legal += [event(kind, len(self.parts)) for kind in PART[None]]
            legal += [event(kind, index) for index, part in enumerate(self.parts) for kind in PART[part]]
        return legal

    def take(self, taken: StreamEvent) -> None:
        self.state = RESPONSE[self.state][type(taken)]
        index: int | None = getattr(taken, "index", None)
        if index is None:
            return
        if index == len(self.parts):
            self.parts.append(PART[None][type(taken)])
        else:
            self.parts[index] = PART[self.parts[index]][type(taken)]


@given(st.data())
def test_walks(data: st.DataObject) -> None:
    order, model = OrderCheck(), Model()
    for _ in range(data.draw(st.integers(0, 15))):
        legal = model.legal()
        if not legal:
            break
        taken = data.draw(st.sampled_from(legal))
        order.check(Batch((taken,)))
        model.take(taken)
        assert order.state == model.state
    wrong = event(data.draw(st.sampled_from(KINDS)), data.draw(st.integers(0, len(model.parts) + 1)))
    if wrong in model.legal():
        order.check(Batch((wrong,)))
    else:
        with pytest.raises(InternalError):
            order.check(Batch((wrong,)))


def test_the_tables_can_be_printed() -> None:
    lines = table().splitlines()

    assert len(lines) == 2 + sum(map(len, RESPONSE.values())) + sum(map(len, PART.values()))
    assert "  unseen     --ToolCallStart--> tool call" in lines
    assert "  finished   --ResponseEnd--> ended" in lines
