"""What is looked up, and what becomes of a history with what was found."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.named_rows import each_row
from toolwire.conversation import NOTHING_FOUND, Found, TurnRecord, origin_of, partition_of, restored, tagged, wanted
from toolwire.conversation.restore import MOST_CONVERSATIONS, MOST_STATES
from toolwire.conversation.tool_call_ids import mint
from toolwire.model.events import (
    OpaquePart as OpaqueEvent,
)
from toolwire.model.events import (
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    StreamEvent,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
)
from toolwire.model.request import (
    ChatRequest,
    Message,
    OpaquePart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from toolwire.model.settings import ProviderConfig, Target
from toolwire.model.source import replace
from toolwire.model.stored import Item, Key

TARGET = Target(ProviderConfig("acme", "gemini", "http://up", "env:KEY"), "m-1")
OTHERS = (
    replace(TARGET, model="m-2"),
    replace(TARGET, provider=replace(TARGET.provider, name="other")),
    replace(TARGET, provider=replace(TARGET.provider, credential="env:OTHER")),
)
ORIGIN = origin_of(TARGET)
TOKEN = "T" * 10
EXPIRES = 2_000_000_000


def our(number: int, token: str = TOKEN) -> str:
    return mint(token, str(number).rjust(20, "0"))


def call(id: str, **more: Any) -> ToolCallPart:
    return ToolCallPart(id, "f", "{}", **more)


def said(*parts: Part) -> Message:
    return Message("assistant", parts)


def result(id: str) -> Message:
    return Message("tool", (ToolResultPart(id, (TextPart("ok"),)),))


USER = Message("user", (TextPart("hi"),))


def request(*messages: Message) -> ChatRequest:
    return ChatRequest("acme/m-1", messages)


def record(**options: Any) -> TurnRecord:
    return TurnRecord(TARGET, partition_of("t", TOKEN), EXPIRES, **options)


def mapping(id: str, provider_id: str = "", target: Target = TARGET, **more: Any) -> Item:
    made_by = {"provider": target.provider.name, "origin": origin_of(target)}
    values = {**made_by, "provider_call_id": provider_id, "v": 1, **more}
    return Item(Key(partition_of("t", TOKEN), id), values, EXPIRES)


def known(part: Part) -> tuple[Any, ...]:
    """A part as the provider is to see it."""
    match part:
        case ToolCallPart():
            return ("call", part.id, part.signature)
        case TextPart():
            return ("text", part.text, part.signature)
        case ReasoningPart():
            return ("reasoning", part.text, part.signature)
        case OpaquePart():
            return ("opaque", part.raw)
        case _:
            raise AssertionError(part)


# ---------------------------------------------------------------- looking up


def test_a_history_without_our_ids_looks_nothing_up() -> None:
    history = request(USER, said(call("call_abc"), call("toolu_1")), result("call_abc"), result("toolu_1"))
    assert wanted(history, "t") == wanted(request(USER), "t")
    assert not wanted(history, "t").partitions
    assert restored(history, NOTHING_FOUND, TARGET, shares_state=True).request is history


def test_each_conversation_of_a_history_once_and_newest_first() -> None:
    tokens = [f"{number:010d}" for number in range(MOST_CONVERSATIONS + 4)]
    turns = [message for token in tokens for message in (said(call(our(1, token))), result(our(1, token)))]
    partitions = wanted(request(USER, *turns, *turns[-4:]), "acme").partitions
    assert partitions == tuple(f"acme#{token}" for token in reversed(tokens))[:MOST_CONVERSATIONS]


def test_states_are_those_of_every_loop_and_of_each_turns_first_call() -> None:
    """Also of loops that are over: without them the prompt would change in its middle, and miss the cache."""
    history = request(
        USER, said(call(our(1))), result(our(1)), said(TextPart("done")),
        USER, said(call(our(2)), call(our(3))), result(our(2)), result(our(3)),
        said(call("call_foreign"), call(our(4))), result("call_foreign"), result(our(4)),
        Message("system", (TextPart("be quick"),)), said(call(our(5))), result(our(5)),
    )  # fmt: skip
    sorts = [key.sort for key in wanted(history, "t").states]
    assert sorts == [f"state#{our(5)}", f"state#{our(2)}", f"state#{our(1)}"]


def test_states_of_a_long_history_are_bounded_and_begin_alike() -> None:
    """What was sent before is sent again, so that a prompt cache hits: the oldest go by the hundred."""

    def first(steps: int) -> tuple[int, str]:
        turns = [message for number in range(steps) for message in (said(call(our(number))), result(our(number)))]
        states = wanted(request(USER, *turns), "t").states
        return len(states), states[-1].sort.removeprefix("state#")

    assert first(MOST_STATES) == (MOST_STATES, our(0))
    assert {first(MOST_STATES + over)[1] for over in (1, 50, 100)} == {our(100)}
    assert first(MOST_STATES + 101) == (MOST_STATES - 99, our(200))


# ---------------------------------------------------------------- ids


def test_both_ends_of_a_pair_get_the_providers_id() -> None:
    found = Found.of([mapping(our(1), "p-1"), mapping(our(2), "p-2")])
    history = request(USER, said(call(our(1)), call(our(2))), result(our(2)), result(our(1)))
    turn = restored(history, found, TARGET, shares_state=False)
    calls = turn.request.messages[1].tool_calls
    assert [(part.id, part.own_id) for part in calls] == [("p-1", True), ("p-2", True)]
    assert [message.parts[0].tool_call_id for message in turn.request.messages[2:]] == ["p-2", "p-1"]  # type: ignore[union-attr]
    assert turn.warnings == ()


@pytest.mark.parametrize(
    ("items", "ids"),
    [
        pytest.param([mapping(our(1), "p"), mapping(our(2), "p")], ["p", our(2)], id="used again by the provider"),
        pytest.param([mapping(our(1), "call_x")], [our(1), our(2)], id="used by another call of the history"),
        pytest.param([mapping(our(1), ""), mapping(our(2), "p")], [our(1), "p"], id="no id of its own"),
        pytest.param([mapping(our(1), "p", OTHERS[0])], ["p", our(2)], id="of another model of the provider"),
        pytest.param([mapping(our(1), "p", OTHERS[2])], ["p", our(2)], id="of another account at the provider"),
        pytest.param([mapping(our(1), "p", OTHERS[1])], [our(1), our(2)], id="of another provider"),
    ],
)
def test_the_provider_is_sent_its_own_ids_and_no_others(items: list[Item], ids: list[str]) -> None:
    history = request(USER, said(call(our(1))), result(our(1)), said(call(our(2)), call("call_x")), result(our(2)))
    turn = restored(history, Found.of(items), TARGET, shares_state=False)
    got = [part.id for message in turn.request.messages for part in message.tool_calls]
    assert got == [*ids, "call_x"]
    assert turn.request.messages[2].parts[0].tool_call_id == ids[0]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("made_by", "own"), [(TARGET, True), (OTHERS[0], False), (OTHERS[2], False)], ids=["itself", "model", "account"]
)
def test_only_what_made_an_id_must_take_it_back(made_by: Target, own: bool) -> None:
    """Hosts with many models behind them, a router's, have models with other rules for ids."""
    history = request(USER, said(call(our(1))), result(our(1)))
    turn = restored(history, Found.of([mapping(our(1), "p", made_by)]), TARGET, shares_state=False)
    assert turn.request.messages[1].tool_calls[0].own_id is own


# ---------------------------------------------------------------- state: there and back

signatures = st.none() | st.text("abc", min_size=1)
texts = st.text(max_size=9)
turns = st.lists(
    st.builds(ReasoningPart, texts, st.text("abc", min_size=1))
    | st.builds(TextPart, st.text(min_size=1, max_size=9), signature=signatures)
    | st.builds(OpaquePart, st.just("redacted_thinking"), st.just("d"), st.binary(min_size=1, max_size=9))
    | st.builds(ToolCallPart, st.just(""), st.just("f"), st.just("{}"), signature=signatures),
    max_size=8,
)


def played(parts: list[Part], into: TurnRecord) -> list[Part]:
    """An answer of these parts, each call under a minted id. Returns the parts as the provider will see them."""
    shown: list[Part] = []
    for index, part in enumerate(parts):
        events: list[StreamEvent]
        match part:
            case ReasoningPart(text, signature):
                events = [ReasoningStart(index), ReasoningDelta(index, text), ReasoningEnd(index, signature)]
            case TextPart(text):
                events = [TextStart(index), *(TextDelta(index, char) for char in text), TextEnd(index, part.signature)]
            case OpaquePart(kind, dialect, raw):
                events = [OpaqueEvent(index, kind, dialect, raw)]
            case ToolCallPart():
                part = replace(part, id=our(index))
                events = [ToolCallStart(index, part.id, "f", provider_id=f"p-{index}"), ToolCallDelta(index, "{}")]
                events.append(ToolCallEnd(index, part.signature))
            case _:
                raise AssertionError(part)
        for event in events:
            into.note(event)
        shown.append(part)
    return shown


def remembered(parts: list[Part]) -> list[Part]:
    """What a client of a plain API keeps of them: one text, and its calls."""
    text = "".join(part.text for part in parts if type(part) is TextPart)
    calls = [replace(part, signature=None) for part in parts if type(part) is ToolCallPart]
    return [*([TextPart(text)] if text else []), *calls]


@given(turns)
def test_a_turn_comes_back_as_its_provider_wrote_it(parts: list[Part]) -> None:
    turn = record()
    shown = played(parts, turn)
    history = request(USER, said(*remembered(shown)))
    again = restored(history, Found.of(turn.items()), TARGET, shares_state=False)
    got = [known(part) for part in again.request.messages[1].parts]
    if not any(type(part) is ToolCallPart for part in parts):
        assert again.request is history
        return
    wanted_parts = [known(part) for part in shown]
    has_state = any(part[0] in ("reasoning", "opaque") or part[2] for part in wanted_parts)
    assert again.has_state == has_state
    expected = wanted_parts if has_state else [known(part) for part in remembered(shown)]
    assert _with_ours(got) == expected


def _with_ours(parts: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return [("call", our(int(part[1][2:])), part[2]) if part[0] == "call" else part for part in parts]


@given(turns, st.data())
def test_what_a_client_has_changed_is_not_lost(parts: list[Part], data: st.DataObject) -> None:
    """Its text and its calls are there, each once, whatever the state says."""
    turn = record()
    mine = remembered(played(parts, turn))
    calls = [part for part in mine if type(part) is ToolCallPart]
    kept = data.draw(st.permutations(calls))[: data.draw(st.integers(0, len(calls)))]
    text = TextPart(data.draw(st.text(min_size=1, max_size=20)))
    history = request(USER, said(text, *kept, call("call_new")))
    again = restored(history, Found.of(turn.items()), TARGET, shares_state=False)
    got = again.request.messages[1].parts
    assert "".join(part.text for part in got if type(part) is TextPart) == text.text
    ids = [known(part) for part in got if type(part) is ToolCallPart]
    assert sorted(id for _, id, _ in ids) == sorted([*(f"p-{int(part.id[15:35])}" for part in kept), "call_new"])


# ---------------------------------------------------------------- state that is not to be had

STATE: list[Part] = [ReasoningPart("hm", "sig"), ToolCallPart("", "f", "{}")]


def stored(parts: list[Part] = STATE, **options: Any) -> tuple[Item, ...]:
    turn = record(**options)
    played(parts, turn)
    return turn.items()


HISTORY = request(USER, said(call(our(1))), result(our(1)))


def _damaged(items: tuple[Item, ...], **values: Any) -> Found:
    return Found.of([replace(item, values=item.values | values) if "data" in item.values else item for item in items])


@each_row(
    ("found", "target", "warnings"),
    [
        (Found.of(stored()[:1]), TARGET, ("state_missing",)),
        (Found.of(stored()[1:]), TARGET, ("id_mapping_missing",)),
        (Found.of(()), TARGET, ("id_mapping_missing",)),
        (Found.of((), available=False), TARGET, ("store_unavailable",)),
        (Found.of(stored()[:1], available=False), TARGET, ("state_missing", "store_unavailable")),
        (Found.of(stored()), OTHERS[0], ("state_left_out",)),
        (_damaged(stored(), data=b"x"), TARGET, ("state_missing",)),
        (_damaged(stored(), v=2), TARGET, ("state_missing",)),
        (Found.of(stored(keeps_state=False)), TARGET, ()),
    ],
)
def test_what_is_missing_is_said_and_done_without(found: Found, target: Target, warnings: tuple[str, ...]) -> None:
    turn = restored(HISTORY, found, target, shares_state=False)
    assert turn.warnings == warnings
    state_of_mapping_missing = found.states and not found.mappings
    assert turn.has_state == bool(state_of_mapping_missing)
    assert [part.name for part in turn.request.messages[1].tool_calls] == ["f"]


def test_a_provider_that_refuses_its_state_gets_none() -> None:
    history = request(USER, said(ReasoningPart("x", tagged("s", ORIGIN)), call(our(1))), result(our(1)))
    turn = restored(history, Found.of(stored()), TARGET, shares_state=False, with_state=False)
    assert [known(part) for part in turn.request.messages[1].parts] == [("reasoning", "x", None), ("call", "p-1", None)]
    assert not turn.has_state


# ---------------------------------------------------------------- state that the client brings

REDACTED = OpaquePart("redacted_thinking", "anthropic_messages", b"{}")


@each_row(
    ("brought", "shares_state", "kept", "warns"),
    [
        (ReasoningPart("x", "own"), True, ("reasoning", "x", "own"), False),
        (ReasoningPart("x", "of another API"), False, ("reasoning", "x", None), True),
        (ReasoningPart("x", tagged("sig", ORIGIN)), False, ("reasoning", "x", "sig"), False),
        (ReasoningPart("x", tagged("a.b", ORIGIN)), True, ("reasoning", "x", "a.b"), False),
        (ReasoningPart("x", tagged("sig", origin_of(OTHERS[0]))), True, None, True),
        (ReasoningPart("", tagged("sig", origin_of(OTHERS[0]))), False, None, True),
        (ReasoningPart("x"), False, ("reasoning", "x", None), False),
        (ReasoningPart("", tagged("", ORIGIN)), False, None, True),
        (TextPart("x", signature="s"), True, ("text", "x", "s"), False),
        (TextPart("x", signature=tagged("s", ORIGIN)), False, ("text", "x", "s"), False),
        (TextPart("x", signature="s"), False, ("text", "x", None), True),
        (TextPart("x", signature=tagged("s", origin_of(OTHERS[1]))), False, ("text", "x", None), True),
        (call("c", signature=tagged("s", ORIGIN)), False, ("call", "c", "s"), False),
        (call("c", signature="s"), False, ("call", "c", None), True),
        (call("c", signature=tagged("s", origin_of(OTHERS[2]))), True, ("call", "c", None), True),
        (REDACTED, True, ("opaque", b"{}"), False),
        (REDACTED, False, None, True),
    ],
)
def test_signatures_that_the_client_brings(
    brought: Part, shares_state: bool, kept: tuple[Any, ...] | None, warns: bool
) -> None:
    history = request(USER, said(brought, TextPart("so")))
    turn = restored(history, NOTHING_FOUND, TARGET, shares_state=shares_state)
    got = [known(part) for part in turn.request.messages[1].parts]
    assert got == [*([kept] if kept else []), ("text", "so", None)]
    assert turn.warnings == (("state_left_out",) if warns else ())
    assert turn.has_state == (kept is not None and kept[-1] is not None)


@pytest.mark.parametrize(
    ("shares_state", "kept"),
    [(True, [("reasoning", "mine", "own")]), (False, [("reasoning", "hm", "sig")])],
)
def test_what_is_stored_is_whole_but_in_the_lane_the_clients_own_counts(shares_state: bool, kept: list[Any]) -> None:
    history = request(USER, said(ReasoningPart("mine", tagged("own", ORIGIN)), call(our(1))), result(our(1)))
    turn = restored(history, Found.of(stored()), TARGET, shares_state=shares_state)
    assert [known(part) for part in turn.request.messages[1].parts] == [*kept, ("call", "p-1", None)]
    assert turn.has_state


@pytest.mark.parametrize(("made_by", "kept"), [(TARGET, True), (OTHERS[1], False)])
def test_reasoning_of_a_turn_that_another_origin_made_is_left_out(made_by: Target, kept: bool) -> None:
    """It has no signature that would tell whose it is: the call beside it does."""
    history = request(USER, said(ReasoningPart("hm"), call(our(1))), result(our(1)))
    turn = restored(history, Found.of([mapping(our(1), "p-1", made_by)]), TARGET, shares_state=False)
    assert any(type(part) is ReasoningPart for part in turn.request.messages[1].parts) == kept
    assert turn.warnings == (() if kept else ("state_left_out",))


def test_a_client_that_brings_some_of_it_gets_all_of_it_back_once_and_in_order() -> None:
    """Doors without a field for a kind of state, or for the order of the parts, show the rest of it."""
    turn = record()
    image = OpaqueEvent(2, "inlineData", "gemini", b'{"a":1}')
    answer: list[StreamEvent] = [
        ReasoningStart(0), ReasoningDelta(0, "hm"), ReasoningEnd(0, "s0"),
        OpaqueEvent(1, "redacted_thinking", "anthropic_messages", b"{}"), image,
        TextStart(3), TextDelta(3, "so"), TextEnd(3, "s3"),
        ToolCallStart(4, our(1), "f", provider_id="p-1"), ToolCallEnd(4, "s4"),
    ]  # fmt: skip
    for event in answer:
        turn.note(event)
    brought: list[Part] = [
        ReasoningPart("hm", tagged("s0", ORIGIN)),
        TextPart("so"),
        OpaquePart("inlineData", "gemini", b'{ "a": 1 }'),
        OpaquePart("redacted_thinking", "anthropic_messages", b"{}"),
        call(our(1), signature=tagged("s4", ORIGIN)),
    ]
    history = request(USER, said(*brought), result(our(1)))
    back = restored(history, Found.of(turn.items()), TARGET, shares_state=False)
    assert [known(part) for part in back.request.messages[1].parts] == [
        ("reasoning", "hm", "s0"), ("opaque", b"{}"), ("opaque", b'{"a":1}'),
        ("text", "so", "s3"), ("call", "p-1", "s4"),
    ]  # fmt: skip
    assert back.warnings == ()
