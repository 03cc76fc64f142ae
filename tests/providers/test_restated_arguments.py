"""Arguments that a host says again, all so far with every fragment, or `{}` first: one rule on every wire."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.named_rows import each_row
from tests.providers import every_door
from tests.providers.anthropic_messages import messages_upstream as messages
from tests.providers.bedrock_converse import converse_upstream as bedrock
from tests.providers.openai_chat import chat_upstream as chat
from tests.providers.openai_responses import responses_upstream as responses

PARIS, ROME = '{"city":"Paris"}', '{"city":"Rome"}'
NOTES = ("tool_arguments_restated", "tool_arguments_unwrapped")
INNER = '{"a":{"a":1}}'


def _chat(fragments: Sequence[str]) -> bytes:
    said = [chat.fragment(0, text) for text in fragments]
    return chat.stream(chat.ROLE, chat.opening(0, "call_a", "weather"), *said, chat.CALLS, chat.TOTAL)


def _messages(fragments: Sequence[str]) -> bytes:
    said = [messages.fragment(0, text) for text in fragments]
    opening = [messages.start(), messages.call(0, "toolu_1", "weather")]
    return messages.stream(*opening, *said, messages.end(0), messages.finish("tool_use"), messages.STOP)


def _bedrock(fragments: Sequence[str]) -> bytes:
    said = [bedrock.fragment(0, text) for text in fragments]
    ends = [bedrock.end(0), bedrock.stop("tool_use"), bedrock.USAGE]
    return bedrock.stream(bedrock.BEGIN, bedrock.call(0, "tooluse_1", "weather"), *said, *ends)


def _responses(fragments: Sequence[str], whole: str | None = None) -> bytes:
    """The end tells what the deltas have told, or `whole`."""
    said = [responses.fragment(0, "fc_1", text) for text in fragments]
    finished = responses.call("fc_1", "call_a", "weather", "".join(fragments) if whole is None else whole)
    opening = responses.added(0, "function_call", "fc_1", call_id="call_a", name="weather")
    ends = [responses.done(0, finished), responses.completed(finished)]
    return responses.stream(responses.created(), opening, *said, *ends)


WIRES: dict[str, Callable[[Sequence[str]], bytes]] = {
    "openai_chat": _chat,
    "anthropic_messages": _messages,
    "bedrock_converse": _bedrock,
    "openai_responses": _responses,
}

#: Fragments -> the arguments of each call, and whether something was said twice, or in a string.
FRAGMENTS: dict[str, tuple[list[str], list[str], bool]] = {
    "in a string": ([json.dumps(PARIS)[:7], json.dumps(PARIS)[7:]], [PARIS], True),
    "pieces": ([PARIS[:5], PARIS[5:]], [PARIS], False),
    "nothing": ([], ["{}"], False),
    "an empty object": (["{}"], ["{}"], False),
    "an empty object in pieces": (["{", "}"], ["{}"], False),
    "the whole again": ([PARIS[:5], PARIS[5:], PARIS], [PARIS], True),
    "all so far each time": ([PARIS[:end] for end in (2, 7, len(PARIS))], [PARIS], True),
    "all so far each time, and again": ([PARIS[:7], PARIS, PARIS], [PARIS], True),
    "`{}` first": (["{}", PARIS], [PARIS], True),
    "`{}` first, then pieces": (["{}", PARIS[:5], PARIS[5:]], [PARIS], True),
    "`{}` and the real one at once": (["{}" + PARIS], [PARIS], True),
    "an inner object like the outer": ([INNER[:5], INNER[5:]], [INNER], False),
    "another object": ([PARIS, ROME], [PARIS, ROME], False),
    "three at once": ([PARIS + ROME + PARIS], [PARIS, ROME, PARIS], False),
}


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.integration)])
@each_row("door", every_door.REQUESTS)
@pytest.mark.parametrize("wire", WIRES)
@each_row("name", FRAGMENTS)
def test_streamed(name: str, wire: str, door: str, every: bool) -> None:
    """Whole and in pieces, or, in `make test`, in one of the ways: at each door in either."""
    fragments, arguments, restated = FRAGMENTS[name]
    upstream = WIRES[wire](fragments)
    turn = list(FRAGMENTS).index(name) + list(every_door.REQUESTS).index(door)
    steps = (every_door.STEP, len(upstream))
    for step in steps if every else steps[turn % 2 :][:1]:
        said = every_door.asked(door, upstream, streamed=True, wire=wire, step=step)
        assert every_door.calls_in(door, said.body, streamed=True) == [("weather", text) for text in arguments]
        told = said.body.decode() + said.headers.get("x-toolwire-warnings", "")
        assert any(note in told for note in NOTES) == restated or step == every_door.STEP  # then the headers are gone


@each_row("door", every_door.REQUESTS)
@each_row("name", FRAGMENTS)
def test_the_finished_item_tells_the_arguments_once(name: str, door: str) -> None:
    fragments, arguments, restated = FRAGMENTS[name]
    upstream = _responses(fragments, "".join(arguments))
    said = every_door.asked(door, upstream, streamed=True, wire="openai_responses", step=len(upstream))
    assert every_door.calls_in(door, said.body, streamed=True) == [("weather", text) for text in arguments]
    told = said.body.decode() + said.headers.get("x-toolwire-warnings", "")
    assert any(note in told for note in NOTES) == restated


#: What a Messages host says at a call's beginning, its fragments -> the arguments, and whether something came twice.
BEGUN: dict[str, tuple[object, list[str], str, bool]] = {
    "the input alone": (json.loads(PARIS), [], PARIS, False),
    "the input and the same in deltas": (json.loads(PARIS), [PARIS[:5], PARIS[5:]], PARIS, True),
    "the input and `{}` in deltas": (json.loads(PARIS), ["{}"], PARIS, True),
    "half of the input": ({"city": "P"}, [PARIS], PARIS, True),
    "its text": (PARIS, [PARIS], PARIS, True),
    "an empty input": ({}, ["{}", PARIS], PARIS, True),
}


@each_row("door", every_door.REQUESTS)
@each_row("name", BEGUN)
def test_the_input_at_the_beginning_of_a_block(name: str, door: str) -> None:
    given, fragments, arguments, restated = BEGUN[name]
    said = [messages.fragment(0, text) for text in fragments]
    opening = [messages.start(), messages.call(0, "toolu_1", "weather", given)]
    upstream = messages.stream(*opening, *said, messages.end(0), messages.finish("tool_use"), messages.STOP)
    shown = every_door.asked(door, upstream, streamed=True, wire="anthropic_messages", step=len(upstream))
    ((_, text),) = every_door.calls_in(door, shown.body, streamed=True)
    assert json.loads(text) == json.loads(arguments)
    told = shown.body.decode() + shown.headers.get("x-toolwire-warnings", "")
    assert ("tool_arguments_restated" in told) == restated


PIECES = ["", "{", "}", "{}", '"', ":", "1", ",", "[", "]", "a", '{"a":1}', '{"a":', '{"a', "null", '"{\\"a']


@given(st.lists(st.sampled_from(PIECES), max_size=8))
def test_no_wire_loses_bytes_without_a_word(fragments: list[str]) -> None:
    for wire, upstream in WIRES.items():
        said = every_door.asked("chat_completions", upstream(fragments), streamed=True, wire=wire, step=1 << 20)
        told = said.body.decode() + said.headers.get("x-toolwire-warnings", "")
        if '"error":{' not in told and not any(note in told for note in NOTES):
            calls = every_door.calls_in("chat_completions", said.body, streamed=True)
            assert "".join(text for _, text in calls) == ("".join(fragments) or "{}"), wire
