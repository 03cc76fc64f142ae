"""What a turn leaves in the store."""

from __future__ import annotations

import random
import zlib
from typing import Any

from tests.conversation.test_restore import EXPIRES, ORIGIN, TARGET, our, played, record, stored
from toolwire.conversation.stored_form import STATE_BYTES
from toolwire.model.events import ReasoningDelta, ReasoningEnd, ReasoningStart, ToolCallEnd, ToolCallStart
from toolwire.model.request import OpaquePart, Part, ReasoningPart, TextPart, ToolCallPart
from toolwire.model.stored import Key

CALL = ToolCallPart("", "f", "{}")


def noise(size: int) -> str:
    """Text that no compression makes smaller."""
    return random.Random(1).randbytes(size).hex()


def test_items() -> None:
    mapping, state = stored([TextPart("secret words"), ReasoningPart("hm", "sig"), CALL])
    assert mapping.key == Key("t#TTTTTTTTTT", our(2))
    assert mapping.values == {
        "provider": TARGET.provider.name, "origin": ORIGIN, "v": 1, "provider_call_id": "p-2", "tool_name": "f",
        "has_state": 1,
    }  # fmt: skip
    assert state.key == Key("t#TTTTTTTTTT", f"state#{our(2)}")
    assert {mapping.expires_at, state.expires_at} == {EXPIRES}


def test_no_message_is_stored() -> None:
    """Not even packed: of a text its length is enough."""
    items = stored(
        [TextPart("secret words"), ReasoningPart("hm", "sig"), ToolCallPart("", "f", '{"a":"secret words"}')]
    )
    data = items[-1].values["data"]
    assert isinstance(data, bytes)
    assert b"secret" not in zlib.decompress(data)
    assert b"sig" in zlib.decompress(data)


def test_a_turn_without_minted_ids_leaves_nothing() -> None:
    assert stored([ReasoningPart("hm", "sig"), TextPart("x")]) == ()
    turn = record()
    for event in (ReasoningStart(0), ReasoningEnd(0, "sig"), ToolCallStart(1, "call_kept", "f"), ToolCallEnd(1)):
        turn.note(event)
    assert turn.items() == ()


def test_a_turn_whose_first_id_was_kept_stores_no_state() -> None:
    """It could not be found again: a kept id does not lead to the conversation."""
    turn = record()
    for event in (
        ReasoningStart(0),
        ReasoningEnd(0, "sig"),
        ToolCallStart(1, "call_kept", "f"),
        ToolCallStart(2, our(1), "f", provider_id="call_kept"),
    ):
        turn.note(event)
    assert [item.key.sort for item in turn.items()] == [our(1)]


def test_reasoning_without_a_signature_is_stored_where_it_is_wanted_back() -> None:
    plain: list[Part] = [ReasoningPart("hm"), CALL]
    assert [item.key.sort for item in stored(plain)] == [our(1)]
    assert [item.key.sort for item in stored(plain, keeps_plain_reasoning=True)] == [our(1), f"state#{our(1)}"]


def test_nothing_is_handed_out_twice() -> None:
    turn = record()
    played([ReasoningPart("hm", "sig"), CALL], turn)
    assert len(turn.items()) == 2
    assert turn.items() == ()


def test_state_that_comes_after_the_finish_is_stored_too() -> None:
    turn = record()
    played([CALL], turn)
    first = turn.items()
    assert [(item.key.sort, item.values["has_state"]) for item in first] == [(our(0), 0)]
    for event in (ReasoningStart(1), ReasoningDelta(1, "x"), ReasoningEnd(1, "late")):
        turn.note(event)
    mapping, state = turn.items()
    assert (mapping.key.sort, mapping.values["has_state"]) == (our(0), 1)
    assert state.key.sort == f"state#{our(0)}"


def test_what_is_too_large_is_left_out_and_said() -> None:
    cases: list[list[Part]] = [
        [OpaquePart("k", "d", noise(STATE_BYTES).encode()), CALL],
        [ReasoningPart(noise(STATE_BYTES), "sig"), CALL],
        [ReasoningPart("x" * (5 << 20), "sig"), CALL],
        [ReasoningPart("half \ud83d of a pair", "sig"), CALL],
    ]
    for parts in cases:
        turn = record()
        played(parts, turn)
        assert [item.key.sort for item in turn.items()] == [our(1)]
        assert turn.warnings == ["state_not_stored"]
    within = record()
    played([ReasoningPart(noise(STATE_BYTES // 2 - 9_000), "sig"), CALL], within)
    data: Any = within.items()[-1].values["data"]
    assert len(data) <= STATE_BYTES


def test_a_tenant_that_keeps_no_state_keeps_ids() -> None:
    assert [item.key.sort for item in stored(keeps_state=False)] == [our(1)]
