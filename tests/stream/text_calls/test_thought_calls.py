"""Calls at the end of reasoning that nothing follows (vllm#33646, vllm#32216, Kimi-K2#89): the model has gone over to
them without ending its thought, and an agent would stop. Through every door, streamed and as a document."""

from __future__ import annotations

import json
from typing import Any

from tests.named_rows import each_row
from tests.providers import every_door
from tests.providers.anthropic_messages import messages_upstream as messages
from tests.providers.openai_chat.chat_upstream import CALLS, ROLE, STOP, TOTAL, chunk, opening, stream, text, whole

KIMI = (
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.weather:0<|tool_call_argument_begin|>"
    '{"city": "Rome"}<|tool_call_end|><|tool_calls_section_end|>'
)
QWEN = "<tool_call>\n<function=weather>\n<parameter=city>\nRome\n</parameter>\n</function>\n</tool_call>"
HERMES = '<tool_call>{"name": "weather", "arguments": {"city": "Rome"}}</tool_call>'
ROME = ("weather", '{"city": "Rome"}')


def calls(door: str, upstream: bytes, *, streamed: bool) -> list[tuple[str, Any]]:
    answer = every_door.asked(door, upstream, streamed=streamed, wire="openai_chat", step=len(upstream))
    assert answer.status == 200
    return [(name, json.loads(raw)) for name, raw in every_door.calls_in(door, answer.body, streamed=streamed)]


def thought(words: str) -> dict[str, Any]:
    return chunk({"reasoning_content": words})


@each_row("door", every_door.REQUESTS)
@each_row("markup", [KIMI, QWEN, HERMES, HERMES + "\n</think>\n", f"Maybe `<tool_call>`. {HERMES}"])
def test_they_are_calls(markup: str, door: str) -> None:
    said = "The user wants the weather. " + markup
    pieces = [thought(said[at : at + 9]) for at in range(0, len(said), 9)]
    for end in (STOP, CALLS):
        upstream = stream(ROLE, *pieces, text("\n\n"), end, TOTAL)
        assert calls(door, upstream, streamed=True) == [("weather", {"city": "Rome"})]
    document = whole({"content": "", "reasoning_content": said})
    assert calls(door, document, streamed=False) == [("weather", {"city": "Rome"})]


@each_row("door", every_door.REQUESTS)
def test_the_turn_ends_with_calls_and_the_reasoning_stays(door: str) -> None:
    upstream = stream(ROLE, thought("I look. "), thought(HERMES), STOP, TOTAL)
    answer = every_door.asked(door, upstream, streamed=True, wire="openai_chat", step=len(upstream))
    assert every_door.reasoning_in(door, answer.body, streamed=True) == "I look. " + HERMES
    end = {"chat_completions": b'"tool_calls"', "messages": b'"tool_use"', "native": b'"tool_calls"'}.get(door, b"")
    assert end in answer.body
    assert b"text_calls_recovered" in answer.body


#: What is behind or beside the call -> the chunks of the answer.
OTHERS: dict[str, list[Any]] = {
    "text": [thought(HERMES), text("It is dry."), STOP],
    "more reasoning": [thought(HERMES + " No, I know it."), STOP],
    "the output limit": [thought(HERMES), chunk(finish="length")],
    "a filter": [thought(HERMES), chunk(finish="content_filter")],
    "in a fence": [thought(f"```\n{HERMES}"), STOP],
    "in backticks": [thought(f"I write `{HERMES}"), STOP],
    "an unknown tool": [thought(HERMES.replace("weather", "other")), STOP],
    "cut": [thought(HERMES[:-20]), STOP],
}


@each_row("door", every_door.REQUESTS)
@each_row(("what", "chunks"), OTHERS.items())
def test_others_are_thoughts(what: str, chunks: list[Any], door: str) -> None:
    assert calls(door, stream(ROLE, *chunks, TOTAL), streamed=True) == []


@each_row("door", every_door.REQUESTS)
def test_the_hosts_own_call_is_the_call(door: str) -> None:
    own = opening(0, "call_a", "time", "{}")
    assert calls(door, stream(ROLE, thought(HERMES), own, CALLS, TOTAL), streamed=True) == [("time", {})]


@each_row("door", every_door.REQUESTS)
def test_only_the_last_are_calls(door: str) -> None:
    said = HERMES.replace("Rome", "Oslo") + " or rather " + HERMES + HERMES.replace("Rome", "Paris")
    found = calls(door, stream(ROLE, thought(said), STOP, TOTAL), streamed=True)
    assert found == [("weather", {"city": "Rome"}), ("weather", {"city": "Paris"})]


@each_row("door", ["chat_completions", "messages"])
def test_hosts_of_the_messages_api_are_read_alike(door: str) -> None:
    thinking = (messages.begin(0, "thinking"), messages.thinking(0, HERMES), messages.end(0))
    upstream = messages.stream(messages.start(), *thinking, *messages.TURN)
    answer = every_door.asked(door, upstream, streamed=True, wire="anthropic_messages", step=len(upstream))
    found = every_door.calls_in(door, answer.body, streamed=True)
    assert [(name, json.loads(raw)) for name, raw in found] == [("weather", {"city": "Rome"})]
