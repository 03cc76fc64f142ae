"""The rules of a history: pairs of call and result, whole and with ids the provider takes."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.clients.sending import send
from tests.named_rows import each_row
from toolwire.conversation.tool_call_ids import rewrite
from toolwire.model.errors import RequestError
from toolwire.model.request import ChatRequest, Message, Part, TextPart, ToolCallPart, ToolResultPart
from toolwire.model.source import Source, replace, with_source
from toolwire.model.warnings import Warnings
from toolwire.rewrite.history import (
    NO_RESULT,
    check_results,
    lacks_results,
    with_call_names,
    with_legal_ids,
    with_results,
)

LEGAL = r"[A-Za-z0-9]{9}"

USER = Message("user", (TextPart("hi"),))
ANSWER = Message("assistant", (TextPart("so"),))


def calls(*ids: str) -> Message:
    return Message("assistant", (TextPart("let me see"), *(ToolCallPart(id, f"tool_{id}", "{}") for id in ids)))


def joined(*ids: str, times: int) -> Message:
    """A message with calls, and what is said behind them."""
    return Message("assistant", (*calls(*ids).parts, *(TextPart("\n\nso"),) * times))


def result(id: str) -> Message:
    return Message("tool", (ToolResultPart(id, (TextPart("42"),)),))


def lost(id: str) -> Message:
    return Message("tool", (ToolResultPart(id, (TextPart(NO_RESULT),), is_error=True, name=f"tool_{id}"),))


def request(*messages: Message) -> ChatRequest:
    return ChatRequest("model", messages)


# ------------------------------------------------------------ check_results


@each_row(
    "messages",
    [
        [],
        [USER, ANSWER],
        [calls("a"), result("a")],
        [calls("a", "b"), result("b"), result("a")],
        [calls("a"), USER],
        [calls("a"), USER, result("a")],
        [calls("a"), result("a"), calls("a"), result("a")],
        [calls("a", "a"), result("a"), result("a")],
        [calls(""), result("")],
    ],
)
def test_pairs_are_fine(messages: list[Message]) -> None:
    check_results(request(*messages))


@pytest.mark.parametrize(
    ("messages", "param", "code"),
    [
        ([result("a")], "messages[0].tool_call_id", "unknown_tool_call_id"),
        ([USER, calls("a"), result("b")], "messages[2].tool_call_id", "unknown_tool_call_id"),
        ([result("a"), calls("a")], "messages[0].tool_call_id", "unknown_tool_call_id"),
        ([calls("a"), result("a"), result("a")], "messages[2].tool_call_id", "duplicate_tool_result"),
        ([calls("a"), result("a"), USER, ANSWER, result("a")], "messages[4].tool_call_id", "duplicate_tool_result"),
    ],
)
def test_a_result_without_its_call_is_named(messages: list[Message], param: str, code: str) -> None:
    with pytest.raises(RequestError) as caught:
        check_results(request(*messages))

    error = caught.value
    assert (error.status, error.code, error.param, error.retry) == (400, code, param, False)
    assert "send one result after" in error.message
    assert "42" not in error.message


OUTPUT = {"type": "function_call_output", "call_id": "a", "output": "42"}
USE: dict[str, Any] = {"type": "tool_use", "id": "a", "name": "f", "input": {}}
USED: dict[str, Any] = {"type": "tool_result", "tool_use_id": "a"}
PLACES: dict[str, tuple[str, dict[str, Any]]] = {
    "messages[1].tool_call_id": (
        "chat_completions",
        {"messages": [{"role": "user", "content": "x"}, {"role": "tool", "tool_call_id": "a", "content": ""}]},
    ),
    "input[1].call_id": ("responses", {"input": [{"role": "user", "content": "x"}, OUTPUT]}),
    "messages[0].content[1].tool_use_id": (
        "messages", {"max_tokens": 9, "messages": [{"role": "user", "content": [{"type": "text", "text": "x"}, USED]}]},
    ),
    "messages[1].content[1].tool_use_id": (
        "messages", {"max_tokens": 9, "messages": [{"role": "assistant", "content": [USE]},
                                                   {"role": "user", "content": [USED, USED]}]},
    ),
}  # fmt: skip


@each_row("place", PLACES)
def test_it_is_named_by_its_place_in_the_clients_own_request(place: str) -> None:
    door, members = PLACES[place]
    with pytest.raises(RequestError) as caught:
        send(door, "gemini", **members)
    assert caught.value.param == place


# ------------------------------------------------------------ with_call_names


@pytest.mark.parametrize(
    ("name", "sent", "codes"),
    [
        (None, None, []),
        ("tool_a", "tool_a", []),
        ("another", "tool_a", ["tool_result_name_corrected"]),
        ("", "tool_a", ["tool_result_name_corrected"]),
    ],
)
def test_a_result_has_the_name_of_its_call(name: str | None, sent: str | None, codes: list[str]) -> None:
    call, result = ToolCallPart("a", "tool_a", "{}"), ToolResultPart("a", (TextPart("x"),), name=name)
    given = request(Message("assistant", (call,)), Message("tool", (result,)))
    warnings = Warnings()
    (part,) = with_call_names(given, warnings).messages[1].parts
    assert isinstance(part, ToolResultPart)
    assert (part.name, list(warnings)) == (sent, codes)
    if not codes:
        assert with_call_names(given, warnings) is given


# ------------------------------------------------------------ with_results


@each_row(
    ("messages", "whole"),
    [
        ([calls("a")], [calls("a"), lost("a")]),
        ([calls("a"), USER], [calls("a"), lost("a"), USER]),
        ([calls("a"), ANSWER], [calls("a"), lost("a"), ANSWER]),
        ([calls("a", "b"), result("b"), USER], [calls("a", "b"), result("b"), lost("a"), USER]),
        ([calls("a", "b"), USER], [calls("a", "b"), lost("a"), lost("b"), USER]),
        ([calls("a"), calls("b"), result("b")], [calls("a"), lost("a"), calls("b"), result("b")]),
        # A result that comes late is still the result, and stands where the provider looks for it.
        ([calls("a", "b"), USER, result("a")], [calls("a", "b"), result("a"), lost("b"), USER]),
        ([calls("a"), USER, result("a")], [calls("a"), result("a"), USER]),
        ([calls("a", "b"), result("b"), USER, result("a")], [calls("a", "b"), result("b"), result("a"), USER]),
        ([calls("a"), calls("b"), result("a"), result("b")], [calls("a"), result("a"), calls("b"), result("b")]),
        # What the assistant says between its calls and their results is of the turn with the calls.
        ([calls("a"), ANSWER, result("a")], [joined("a", times=1), result("a")]),
        (
            [calls("a", "b"), ANSWER, ANSWER, result("b"), USER],
            [joined("a", "b", times=2), result("b"), lost("a"), USER],
        ),
        (
            [calls("a"), ANSWER, calls("b"), result("a"), result("b")],
            [joined("a", times=1), result("a"), calls("b"), result("b")],
        ),
        ([calls("a"), result("a"), ANSWER, USER], [calls("a"), result("a"), ANSWER, USER]),
        # Calls that share an id: each has its own result.
        ([calls("a", "a"), result("a"), USER], [calls("a", "a"), result("a"), lost("a"), USER]),
        ([calls("a"), USER, calls("a"), result("a")], [calls("a"), lost("a"), USER, calls("a"), result("a")]),
    ],
)
def test_a_call_without_a_result_gets_one(messages: list[Message], whole: list[Message]) -> None:
    warnings = Warnings()
    out = with_results(request(*messages), warnings)

    assert list(out.messages) == whole
    added = sum(part.is_error for message in whole for part in message.parts if type(part) is ToolResultPart)
    assert list(warnings) == (["tool_result_missing"] if added else [])
    assert lacks_results(request(*messages)) == (added > 0)


@pytest.mark.parametrize(
    "messages",
    [
        [],
        [USER],
        [calls("a"), result("a")],
        [calls("a", "b"), result("b"), result("a")],
    ],
)
def test_a_whole_history_is_left_alone(messages: list[Message]) -> None:
    given = request(*messages)

    warnings = Warnings()

    assert with_results(given, warnings) is given
    assert not warnings
    assert not lacks_results(given)


# ------------------------------------------------------------ with_legal_ids


def ids(request: ChatRequest) -> list[str]:
    found = []
    for message in request.messages:
        for part in message.parts:
            if isinstance(part, ToolCallPart):
                found.append(part.id)
            elif isinstance(part, ToolResultPart):
                found.append(part.tool_call_id)
    return found


GOOD, BAD = "abcdefghi", "call_1"


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([calls(GOOD), result(GOOD)], [GOOD, GOOD]),
        ([calls(BAD), result(BAD)], [rewrite(BAD, 0, 9)] * 2),
        ([calls(BAD, GOOD), result(GOOD), result(BAD)], [rewrite(BAD, 0, 9), GOOD, GOOD, rewrite(BAD, 0, 9)]),
        (
            [calls(GOOD), result(GOOD), calls(GOOD), result(GOOD)],
            [GOOD, GOOD, rewrite(GOOD, 1, 9), rewrite(GOOD, 1, 9)],
        ),
        (
            [calls(GOOD, GOOD), result(GOOD), result(GOOD)],
            [GOOD, rewrite(GOOD, 1, 9), GOOD, rewrite(GOOD, 1, 9)],
        ),
        (
            [calls(BAD), result(BAD), calls(BAD), result(BAD)],
            [rewrite(BAD, 0, 9), rewrite(BAD, 0, 9), rewrite(BAD, 1, 9), rewrite(BAD, 1, 9)],
        ),
        ([calls(GOOD + "\n"), result(GOOD + "\n")], [rewrite(GOOD + "\n", 0, 9)] * 2),
    ],
)
def test_ids_are_rewritten_on_both_ends(messages: list[Message], expected: list[str]) -> None:
    assert ids(with_legal_ids(request(*messages), LEGAL, 9)) == expected


def test_legal_ids_change_nothing() -> None:
    given = request(USER, calls(GOOD), result(GOOD), ANSWER)

    assert with_legal_ids(given, LEGAL, 9) is given


def test_only_the_message_with_the_id_loses_its_bytes() -> None:
    messages = [
        with_source(message, Source("openai_chat", b"{}")) for message in map(replace, (USER, calls(BAD), result(BAD)))
    ]

    out = with_legal_ids(request(*messages), LEGAL, 9).messages

    assert [message.source is None for message in out] == [False, True, True]
    assert out[0] is messages[0]


IDS = st.sampled_from([GOOD, BAD, "x", ""])


@st.composite
def histories(draw: st.DrawFn) -> ChatRequest:
    """Turns of calls with few ids, so that many are shared; some results are missing, some are in another order."""
    messages: list[Message] = [USER]
    for _ in range(draw(st.integers(0, 4))):
        turn = draw(st.lists(IDS, max_size=3))
        parts: list[Part] = [ToolCallPart(id, "f", "{}") for id in turn]
        messages.append(Message("assistant", tuple(parts)))
        answered = draw(st.permutations(turn))[: draw(st.integers(0, len(turn)))]
        messages += [result(id) for id in answered]
        if draw(st.booleans()):
            messages.append(USER)
    return request(*messages)


@given(histories())
def test_any_history_becomes_one_the_provider_takes(given: ChatRequest) -> None:
    check_results(given)

    warnings = Warnings()
    whole = with_results(given, warnings)
    out = with_legal_ids(whole, LEGAL, 9)

    check_results(out)
    made = [part.id for message in out.messages for part in message.tool_calls]
    assert len(set(made)) == len(made) == sum(len(message.tool_calls) for message in given.messages)
    assert all(re.fullmatch(LEGAL, id) for id in made)
    assert [message for message in out.messages if message.role == "user"] == [USER] * given.messages.count(USER)
    added = len(out.messages) - len(given.messages)
    assert list(warnings) == (["tool_result_missing"] if added else [])
    expected: set[str] = set()  # what the messages right after an assistant turn must answer
    for message in out.messages:
        if message.role != "tool":
            assert expected == set()
        for part in message.parts:
            if isinstance(part, ToolResultPart):
                expected.remove(part.tool_call_id)
            elif isinstance(part, ToolCallPart):
                expected.add(part.id)
    assert expected == set()
    assert with_results(out, Warnings()) is out
    assert with_legal_ids(out, LEGAL, 9) is out
