"""A provider's prompt cache survives the gateway: what it is sent for a turn begins with what it was sent for the turn
before, to the byte, on every pair of door and provider. When it does not, the only symptom is a bill."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.matrix.hosts import HOSTS, Host
from tests.matrix.prefix import NAMES, Conversation, Part
from tests.matrix.scenarios import Call, Reasoning, Text
from toolwire.doors import DOORS

words = st.text('ab é"\\\n', min_size=1, max_size=8).filter(str.strip)
arguments = st.sampled_from(["{}", '{"city": "Bern"}', '{ "city":"Z\\u00fcrich", "n": 1.10 }', ""])
calls = st.builds(lambda name, text: Call(name, (text,) if text else ()), st.sampled_from(NAMES), arguments)


@st.composite
def answers(draw: st.DrawFn) -> tuple[Part, ...]:
    """What a model says in one turn: reasoning, text, calls; at least one of the latter two."""
    reasoning = [Reasoning((text,)) for text in draw(st.lists(words, max_size=1))]
    said = [Text((text,)) for text in draw(st.lists(words, max_size=1))]
    made = draw(st.lists(calls, max_size=3))
    return (*reasoning, *(said or ([] if made else [Text(("ok",))])), *made)


#: What the user says before a turn, if anything, and the turn.
turns = st.lists(st.tuples(st.none() | words, answers()), min_size=2, max_size=5)

_BERN = Call("get_weather", ('{"city": "Bern"}',))
_THINKS = Reasoning(("hm",))
_LOOPS = [
    (None, (_THINKS, _BERN)),
    (None, (_THINKS, Text(("Sunny.",)))),
    ("And then?", (_THINKS, Text(("Let me see.",)), _BERN, _BERN)),
    (None, (Text(("Rain.",)),)),
    ("Thanks", (_THINKS, Text(("Bye.",)))),
]


@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.name)
@pytest.mark.parametrize("door", DOORS)
@settings(max_examples=max(1, settings().max_examples // 20))
@given(turns=turns, system=st.none() | words)
@example(turns=_LOOPS, system="Be brief.")
def test_the_next_turn_goes_on_with_the_bytes_of_this_one(
    door: str, host: Host, turns: list[tuple[str | None, tuple[Part, ...]]], system: str | None
) -> None:
    talk = Conversation(door, host, system)
    talk.say("Hello")
    for said, parts in turns:
        if said is not None or not talk.history[-1:] or _is_assistants(talk):
            talk.say(said or "Go on.")
        talk.ask(_as_said(host, parts))
    assert talk.breaks() == []


def _as_said(host: Host, parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """What the host can say of it: some tell no reasoning, and Claude that reasons by a budget skips none."""
    if host.name == "bedrock" and not isinstance(parts[0], Reasoning):
        return (_THINKS, *parts)
    return tuple(part for part in parts if "reasoning" not in host.lacks or not isinstance(part, Reasoning))


def _is_assistants(talk: Conversation) -> bool:
    last = talk.history[-1]
    return last.get("role") in ("assistant", "model") or last.get("type") in ("message", "reasoning")
