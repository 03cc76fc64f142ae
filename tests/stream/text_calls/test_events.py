"""Recovery event by event: what passes untouched, what structure and markup say together, and what a change costs."""

from __future__ import annotations

import pytest

from tests.named_rows import each_row
from tests.stream.text_calls.text_call_answers import TOOLS, WEATHER, Said, batches, only, recovery, said
from toolwire.model.errors import UpstreamProtocolError
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
    TextDelta,
    TextEnd,
    TextStart,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    Usage,
    UsageUpdate,
)
from toolwire.model.request import ChatRequest, RequestOptions, Tool, ToolChoice
from toolwire.model.source import Source, replace, with_source
from toolwire.stream.text_calls import recovery as text_calls
from toolwire.stream.text_calls.recovery import TextCallRecovery, recoverable

START, STOP, END = ResponseStart("id", "model", 1), Finish("stop", "stop"), ResponseEnd()
CALL = '<tool_call>{"name": "get_weather", "arguments": {"city": "A", "days": 1}}</tool_call>'
ARGUMENTS = '{"city": "A", "days": 1}'
NOW = "<function=now></function>"


def structured(index: int, arguments: str, name: str = "get_weather") -> list[StreamEvent]:
    return [ToolCallStart(index, f"id{index}", name), ToolCallDelta(index, arguments), ToolCallEnd(index)]


def text(index: int, *pieces: str) -> list[StreamEvent]:
    return [TextStart(index), *(TextDelta(index, piece) for piece in pieces), TextEnd(index)]


def answer(*events: StreamEvent, finish: Finish = STOP) -> list[Batch]:
    """A batch for each event; a text's start comes with its first delta, and its end with a call that follows, as the
    Chat decoder gives them."""
    found: list[Batch] = [Batch((START,))]
    for event in (*events, finish, END):
        last = type(found[-1].events[-1])
        if last is TextStart or (last is TextEnd and type(event) is ToolCallStart):
            found[-1] = Batch((*found[-1].events, event))
        else:
            found.append(Batch((event,)))
    return found


def events_of(given: list[Batch], taken: TextCallRecovery | None = None) -> list[StreamEvent]:
    said(given)  # in legal order
    taken = taken or recovery()
    return [event for batch in given for event in only(taken.take(batch)).events]


UNTOUCHED = [
    *batches(["Hello", " <b>", "x</b> [1].", "\n\n", "a < b"]),
    Batch(()),
    Batch((UsageUpdate(Usage(1, 2)),)),
    *answer(ReasoningStart(0), ReasoningDelta(0, CALL), ReasoningEnd(0), *structured(1, ARGUMENTS)),
    *answer(TextStart(0, refusal=True), TextDelta(0, CALL), TextEnd(0)),
    *answer(OpaquePart(0, "x", "y", b"{}"), *text(1, "a"), *text(2, "b")),
    *answer(TextStart(0), TextEnd(0)),
]


def test_what_has_no_markup_is_the_same_object() -> None:
    taken = recovery()
    for batch in UNTOUCHED:
        if START in batch.events:
            taken = recovery()
        assert only(taken.take(batch)) is batch


def test_a_batch_that_changes_loses_its_source_and_no_other() -> None:
    given = [with_source(batch, Source("d", b"%d" % number)) for number, batch in enumerate(batches(["a<", "b", NOW]))]
    taken = recovery()
    shown = [only(taken.take(batch)) for batch in given]
    assert [batch.source is not None for batch in shown] == [False, False, False, False, False]
    assert [new is old for new, old in zip(shown, given, strict=True)] == [False] * 5
    given = [
        with_source(batch, Source("d", b"%d" % number)) for number, batch in enumerate(batches(["a", "<", "b", "c"]))
    ]
    taken = recovery()
    assert [only(taken.take(batch)) is batch for batch in given] == [True, False, False, True, True, True]


def test_calls_come_before_the_end_and_the_finish_waits_for_them() -> None:
    assert events_of(batches(["A ", NOW, CALL, "\nB"])) == [
        START, TextStart(0), TextDelta(0, "A "), TextDelta(0, "B"), TextEnd(0),
        ToolCallStart(1, None, "now", recovered=True), ToolCallDelta(1, "{}"), ToolCallEnd(1),
        ToolCallStart(2, None, "get_weather", recovered=True), ToolCallDelta(2, ARGUMENTS), ToolCallEnd(2),
        Finish("tool_calls", "stop"), END,
    ]  # fmt: skip


def test_a_text_of_markup_alone_is_no_part() -> None:
    given = answer(*text(0, NOW), *structured(1, "{}", "write_file"), *text(2, "x"))
    assert events_of(given) == [
        START, ToolCallStart(0, "id1", "write_file"), ToolCallDelta(0, "{}"), ToolCallEnd(0), *text(1, "x"),
        ToolCallStart(2, None, "now", recovered=True), ToolCallDelta(2, "{}"), ToolCallEnd(2),
        Finish("tool_calls", "stop"), END,
    ]  # fmt: skip


def test_a_finish_that_was_shown_is_corrected() -> None:
    """Text that comes after the reason."""
    given = [*answer(TextStart(0), TextDelta(0, "A"))[:-1], Batch((TextDelta(0, NOW),)), Batch((TextEnd(0), END))]
    finishes = [event for event in events_of(given) if type(event) is Finish]
    assert finishes == [STOP, Finish("tool_calls", "stop")]


def test_text_of_a_block_that_is_open_at_the_finish() -> None:
    given = batches(["A", "<function=now>"])
    assert events_of(given)[3:] == [TextDelta(0, "<function=now>"), TextEnd(0), STOP, END]


# ------------------------------------------------------------ structure and markup

TOGETHER = {
    "the same call": ([ARGUMENTS], CALL, Said("", (("get_weather", ARGUMENTS),))),
    "the same call, written otherwise": (
        ['{"days":1.0,"city":"\\u0041"}'],
        CALL,
        Said("", (("get_weather", '{"days":1.0,"city":"\\u0041"}'),)),
    ),
    "other arguments": (
        ['{"city": "B"}'],
        CALL,
        Said("", (("get_weather", '{"city": "B"}'), ("get_weather", ARGUMENTS))),
    ),
    "true is not 1": (
        ['{"city": "A", "days": true}'],
        CALL,
        Said("", (("get_weather", '{"city": "A", "days": true}'), ("get_weather", ARGUMENTS))),
    ),
    "twice in the text, once as structure": (
        [ARGUMENTS],
        CALL + CALL,
        Said("", (("get_weather", ARGUMENTS), ("get_weather", ARGUMENTS))),
    ),
    "twice both": ([ARGUMENTS, ARGUMENTS], CALL + CALL, Said("", (("get_weather", ARGUMENTS),) * 2)),
    "arguments that are no JSON": (['{"city'], CALL, Said("", (("get_weather", '{"city'), ("get_weather", ARGUMENTS)))),
    "a block that a server has emptied": (
        [ARGUMENTS],
        "<tool_call>\n</tool_call>\n",
        Said("", (("get_weather", ARGUMENTS),)),
    ),
    "a block of another format that a server has emptied": (
        [ARGUMENTS],
        "<｜tool▁calls▁begin｜><｜tool▁calls▁end｜>",
        Said("", (("get_weather", ARGUMENTS),)),
    ),
    "a block that a server has emptied, and text": (
        [ARGUMENTS],
        "<tool_call>\n</tool_call>\nHi",
        Said("<tool_call>\n</tool_call>\nHi", (("get_weather", ARGUMENTS),)),
    ),
    "an unknown call stays text": (
        [ARGUMENTS],
        "<function=rm></function>",
        Said("<function=rm></function>", (("get_weather", ARGUMENTS),)),
    ),
}


@each_row("text_first", [True, False])
@each_row("name", TOGETHER)
def test_structure_and_markup(name: str, text_first: bool) -> None:
    calls, markup, expected = TOGETHER[name]
    place = int(text_first)
    parts = [structured(place + number, arguments) for number, arguments in enumerate(calls)]
    written = text(0 if text_first else len(calls), *markup)
    ordered = [written, *parts] if text_first else [*parts, written]
    taken = recovery()
    events = [event for part in ordered for event in part]
    assert said(answer(*events, finish=Finish("tool_calls")), taken=taken) == replace(expected, finish="tool_calls")
    assert taken.duplicates + taken.recovered["tool_call_tag"] == markup.count('"get_weather"')
    assert sum(taken.recovered.values()) == len(expected.calls) - len(calls)


def test_a_duplicate_leaves_the_finish_alone() -> None:
    given = answer(*text(0, CALL), *structured(1, ARGUMENTS), finish=Finish("length"))
    assert said(given) == Said("", (("get_weather", ARGUMENTS),), "length")


# ------------------------------------------------------------ unnamed members


def test_unnamed_members_survive_a_change() -> None:
    """Those of a call stay with it though its part moves; those beside a finish that waits are there when it comes."""
    with_extra = replace(ToolCallStart(1, "id1", "get_weather"), extra=(("x", b"1"),))

    call_frame = b'{"top":1,"choices":[{"stop":2,"delta":{"d":3,"tool_calls":[{"index":0,"id":"id1","x":1}]}}]}'
    stop_frame = b'{"top":1,"choices":[{"stop":2,"delta":{"d":3}}]}'
    taken = TextCallRecovery(TOOLS)
    taken.take(Batch((START, TextStart(0), TextDelta(0, NOW))))
    (call,) = taken.take(
        with_source(Batch((TextEnd(0), ToolCallStart(1, "id1", "get_weather"))), Source("openai_chat", call_frame))
    )
    assert call.events == (replace(with_extra, index=0),)
    (finish,) = taken.take(with_source(Batch((STOP,)), Source("openai_chat", stop_frame)))
    assert finish == Batch((), (("delta", (("d", b"3"),)),))
    (end,) = taken.take(Batch((ToolCallEnd(1), END)))
    assert [type(event) for event in end.events] == [
        ToolCallEnd,
        ToolCallStart,
        ToolCallDelta,
        ToolCallEnd,
        Finish,
        ResponseEnd,
    ]
    assert end.extra == (("", (("top", b"1"),)), ("choice", (("stop", b"2"),)))


# ------------------------------------------------------------ failures


def test_an_answer_that_breaks_off_shows_what_was_held() -> None:
    taken = recovery()
    for batch in batches(["A ", NOW, "B <function=now>{"])[:3]:
        taken.take(batch)
    assert taken.broken() == [Batch((TextDelta(0, "<function=now>{"),))]
    assert taken.broken() == []


def test_more_than_an_answer_may_hold_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_calls, "ANSWER_BYTES", 1_000)
    for pieces in (['<function=now>{"a": "', *["x" * 100] * 20], [NOW, "x" * 2_000, *[NOW] * 50]):
        with pytest.raises(UpstreamProtocolError, match="larger than") as caught:
            said(batches(pieces))
        assert caught.value.code == "tool_arguments_too_large"
    with pytest.raises(UpstreamProtocolError):  # in several runs of text
        said(answer(*text(0, NOW * 30), *text(1, NOW * 30)))
    assert said(batches(["x" * 2_000, NOW])).calls == (("now", "{}"),)


# ------------------------------------------------------------ which tools

WEB = Tool("web_search", kind="opaque")


@each_row(
    ("choice", "wanted", "names"),
    [
        (None, None, ["get_weather", "write_file", "now", "apply_patch"]),
        (None, True, ["get_weather", "write_file", "now", "apply_patch"]),
        (None, False, []),
        (ToolChoice("auto"), None, ["get_weather", "write_file", "now", "apply_patch"]),
        (ToolChoice("none"), None, []),
        (ToolChoice("none"), True, []),
        (ToolChoice("required", ("now",), named=True), None, ["now"]),
        (ToolChoice("auto", ("now", "get_weather")), None, ["get_weather", "now"]),
    ],
)
def test_the_tools_that_may_be_called(choice: ToolChoice | None, wanted: bool | None, names: list[str]) -> None:
    options = RequestOptions(recover_text_calls=wanted)
    request = ChatRequest("m", (), (*TOOLS, WEB), tool_choice=choice, options=options)
    assert [tool.name for tool in recoverable(request)] == names


def test_a_tool_that_may_not_be_called_stays_text() -> None:
    assert said(batches([NOW]), tools=[WEATHER]) == Said(NOW)
