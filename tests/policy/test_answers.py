"""The answer's side as a filter over batches: limits, names, arguments, tool_choice; what is held, and what stays the
very object that came."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from tests.named_rows import each_row
from toolwire.model.call_faults import CallFault
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
from toolwire.model.limits import PRESET_AGENTS
from toolwire.model.request import ChatRequest, RequestOptions, Tool, ToolChoice
from toolwire.model.settings import Tenant
from toolwire.model.source import Source, replace, with_source
from toolwire.model.warnings import Warnings
from toolwire.policy import AnswerLimits, AnswerPolicy, ToolRules, rules_for
from toolwire.stream.order import OrderCheck

LIMITS = replace(PRESET_AGENTS, calls=2, arguments_bytes=10)
CITY = json.dumps({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}).encode()
TOOLS = (Tool("f", parameters=CITY), Tool("g"))
VALID, INVALID, MALFORMED = '{"city":"Rome"}', '{"city":1}', '{"city":"Ro'

START = ResponseStart("r", "m", 1)
STOP, CALLS, END = Finish("stop", "stop"), Finish("tool_calls", "tool_calls"), ResponseEnd()


def text(index: int = 0, words: str = "hello") -> list[StreamEvent]:
    return [TextStart(index), TextDelta(index, words), TextEnd(index)]


def call(index: int = 0, name: str = "f", arguments: str = VALID, kind: Any = "function") -> list[StreamEvent]:
    half = len(arguments) // 2
    fragments = [ToolCallDelta(index, arguments[:half]), ToolCallDelta(index, arguments[half:])]
    return [ToolCallStart(index, f"call_{index}", name, kind), *fragments, ToolCallEnd(index)]


@dataclass
class Run:
    """One answer through a policy, an event a batch unless it is given as one."""

    request: ChatRequest
    rules: ToolRules = field(default_factory=ToolRules)
    warnings: Warnings = field(default_factory=Warnings)
    shown: list[Batch] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.policy = AnswerPolicy(self.request, self.rules, self.warnings)

    def take(self, *events: StreamEvent) -> Batch:
        batch = with_source(Batch(events), Source("openai_chat", b'{"from_source":1}'))
        self.shown += self.policy.take(batch)
        return batch

    def each(self, *events: StreamEvent) -> list[Batch]:
        return [self.take(event) for event in events]

    @property
    def events(self) -> list[StreamEvent]:
        return [event for batch in self.shown for event in batch.events]

    def fails(self, *events: StreamEvent) -> UpstreamProtocolError:
        with pytest.raises(UpstreamProtocolError) as caught:
            self.each(*events)
        assert caught.value.status == 502
        return caught.value


def asked(choice: ToolChoice | None = None, **more: Any) -> ChatRequest:
    return ChatRequest("m", (), TOOLS, choice, **more)


def validating(mode: str) -> ToolRules:
    return rules_for(Tenant(), "chat_completions", RequestOptions(cast(Any, mode)))


INSISTING = ToolRules(insists_on_choice=True)


# ------------------------------------------------------------ nothing to do


@pytest.mark.parametrize("rules", [ToolRules(), validating("annotate"), INSISTING, ToolRules(allowed=frozenset("f"))])
def test_what_nothing_changes_is_the_very_object_that_came(rules: ToolRules) -> None:
    run = Run(asked(), rules)
    came = run.each(
        START, *text(), ReasoningStart(1), ReasoningDelta(1, "x"), ReasoningEnd(1), *call(2),
        OpaquePart(3, "k", "d", b""), UsageUpdate(Usage()), CALLS, END,
    )  # fmt: skip

    assert len(run.shown) == len(came)
    assert all(one is other for one, other in zip(run.shown, came, strict=True))
    assert run.warnings == []


def test_with_validation_off_nothing_is_gathered() -> None:
    run = Run(asked())
    run.each(START, *call(arguments=MALFORMED), *call(1, "h", "nonsense"), CALLS, END)

    assert run.policy._texts == {}
    assert run.warnings == []
    assert run.policy.faults == []


# ------------------------------------------------------------ limits


def test_the_call_over_the_limit_is_never_shown() -> None:
    run = Run(asked(), ToolRules(LIMITS))
    error = run.fails(START, *call(0, arguments="{}"), *call(1, arguments="{}"), ToolCallStart(2, "c", "f"))

    assert error.code == "too_many_tool_calls"
    assert max(event.index for event in run.events if type(event) is ToolCallStart) == 1


@pytest.mark.parametrize("fragments", [["x" * 11], ["x"] * 11, ["é"] * 6, ["😀😀", "\ud83d"], ["12345", "67890", "é"]])
def test_the_fragment_over_the_limit_is_never_shown(fragments: list[str]) -> None:
    run = Run(asked(), ToolRules(LIMITS))
    run.each(START, ToolCallStart(0, "c", "f"), ToolCallDelta(0, "x" * 10), ToolCallStart(1, "d", "f"))
    error = run.fails(*[ToolCallDelta(1, fragment) for fragment in fragments])

    assert error.code == "tool_arguments_too_large"
    assert [event.fragment for event in run.events if type(event) is ToolCallDelta][1:] == fragments[:-1]
    assert not [event for event in run.events if type(event) is ToolCallEnd]


def test_calls_are_counted() -> None:
    limits = AnswerLimits(LIMITS)
    limits.call()
    limits.call()

    with pytest.raises(UpstreamProtocolError, match="more than 2 tool calls"):
        limits.call()


def test_argument_bytes_are_counted_for_each_call() -> None:
    limits = AnswerLimits(LIMITS)
    limits.arguments(0, "x" * 10)
    limits.arguments(1, "x" * 10)

    with pytest.raises(UpstreamProtocolError, match="larger than 10 bytes"):
        limits.arguments(0, "x")


# ------------------------------------------------------------ names


@pytest.mark.parametrize(
    ("mode", "code", "warning"),
    [("enforce", "tool_not_allowed", None), ("warn", None, "tool_not_allowed:g"), ("off", None, None)],
)
def test_the_allowlist_holds_for_calls_too(mode: Any, code: str | None, warning: str | None) -> None:
    rules = rules_for(Tenant(allowlist=("f",), allowlist_mode=mode), "chat_completions")
    run = Run(asked(), rules)
    run.each(START, *call(0))
    if code:
        assert run.fails(*call(1, "g", "{}")).code == code
        assert run.events[-1] == ToolCallEnd(0)
        return
    run.each(*call(1, "g", "{}"), CALLS, END)
    assert run.warnings == [warning] * (warning is not None)


@pytest.mark.parametrize("kind", ["function", "custom"])
def test_a_call_of_a_tool_that_nobody_declared(kind: Any) -> None:
    off, annotate = Run(asked(), validating("off")), Run(asked(), validating("annotate"))
    for run in (off, annotate):
        run.each(START, *call(0, "nope", MALFORMED, kind), CALLS, END)
        assert next(event for event in run.events if type(event) is ToolCallStart).name == "nope"
    assert off.warnings == []
    assert annotate.warnings == ["unknown_tool_call:nope"]
    assert annotate.policy.faults == [
        CallFault(0, "call_0", "nope", "unknown_tool_call", "", "a tool of `tools`", "another name")
    ]

    reject = Run(asked(), validating("reject"))
    assert reject.fails(START, *call(0, "nope")).code == "unknown_tool_call"
    assert reject.events == [START]


def test_names_of_a_hosts_own_tools_are_not_judged() -> None:
    request = replace(asked(), tools=(*TOOLS, Tool("bash_20250124", kind="opaque")))
    run = Run(request, validating("reject"))
    run.each(START, *call(0, "bash", "{}"), CALLS, END)
    assert run.warnings == []
    assert run.events[-1] == END


# ------------------------------------------------------------ arguments


@pytest.mark.parametrize(
    ("arguments", "code"), [(INVALID, "invalid_tool_arguments"), (MALFORMED, "malformed_tool_arguments"), (VALID, None)]
)
def test_annotate_lets_everything_flow_and_says_what_it_found(arguments: str, code: str | None) -> None:
    run = Run(asked(), validating("annotate"))
    came = run.each(START, *call(0, "f", arguments), *call(1, "g", "{}"), CALLS, END)

    assert all(one is other for one, other in zip(run.shown, came, strict=True))
    assert run.warnings == ([f"{code}:f"] if code else [])
    assert [(fault.code, fault.tool_call_id) for fault in run.policy.faults] == ([(code, "call_0")] if code else [])


def test_a_fault_names_path_expected_and_got() -> None:
    run = Run(asked(), validating("annotate"))
    run.each(START, *call(0, "f", INVALID), CALLS, END)
    (fault,) = run.policy.faults
    assert (fault.path, fault.expected, fault.got) == ("/city", "a string", "an integer")
    assert fault.message == "the call call_0 of the tool 'f' at '/city': expected a string, got an integer"


@pytest.mark.parametrize(
    ("arguments", "code"), [(INVALID, "invalid_tool_arguments"), (MALFORMED, "malformed_tool_arguments")]
)
def test_reject_never_shows_a_call_with_a_fault(arguments: str, code: str) -> None:
    run = Run(asked(), validating("reject"))
    error = run.fails(START, *text(), *call(1, "f", arguments), CALLS, END)

    assert error.code == code
    assert "Rome" not in error.message
    assert run.events == [START, *text()]


def test_reject_shows_a_call_as_soon_as_it_is_complete() -> None:
    run = Run(asked(), validating("reject"))
    came = run.each(START, *text(), *call(1)[:-1])
    assert run.events == [START, *text()]

    came.append(run.take(ToolCallEnd(1)))
    assert all(one is other for one, other in zip(run.shown, came, strict=True))
    came += run.each(*call(2)[:-1])
    assert len(run.shown) == len(came) - 3
    came += run.each(ToolCallEnd(2), CALLS, END)
    assert all(one is other for one, other in zip(run.shown, came, strict=True))


def test_reject_holds_while_any_call_is_open() -> None:
    """As on the Chat wire, where the answer's end ends all calls."""
    run = Run(asked(), validating("reject"))
    run.each(START, *call(0)[:-1], *text(1), *call(2)[:-1], CALLS, UsageUpdate(Usage()), ToolCallEnd(0))
    assert run.events == [START]
    run.take(ToolCallEnd(2), END)

    order = OrderCheck()
    for batch in run.shown:
        order.check(batch)
    assert order.state == "ended"
    assert len(run.events) == 17 - 2


def test_reject_judges_a_whole_answer_at_once() -> None:
    good, bad = Run(asked(), validating("reject")), Run(asked(), validating("reject"))
    came = good.take(START, *call(0), CALLS, END)
    assert good.shown == [came]
    assert good.shown[0] is came

    with pytest.raises(UpstreamProtocolError):
        bad.take(START, *text(), *call(1, "f", INVALID), CALLS, END)
    assert bad.shown == []


@pytest.mark.parametrize("reason_first", [True, False], ids=["reason first", "call first"])
def test_a_call_that_the_output_limit_cut_is_withheld(reason_first: bool) -> None:
    """Wires differ in what they say first: why the answer ended, or that the call did."""
    cut, limit = call(2, "f", MALFORMED), Finish("length", "max_tokens")
    run = Run(asked(), validating("reject"))
    run.each(START, *text(), *call(1), *([*cut[:-1], limit, cut[-1]] if reason_first else [*cut, limit]))
    assert run.events == [START, *text(), *call(1)]
    run.each(OpaquePart(3, "k", "d", b""), END)

    assert run.events == [START, *text(), *call(1), limit, OpaquePart(2, "k", "d", b""), END]
    assert run.warnings == ["tool_call_cut:f"]
    order = OrderCheck()
    for batch in run.shown:
        order.check(batch)


@pytest.mark.parametrize("finish", [CALLS, STOP])
def test_only_an_end_that_cuts_excuses_arguments(finish: Finish) -> None:
    run = Run(asked(), validating("reject"))
    assert run.fails(START, *text(), *call(1, "f", MALFORMED), finish, END).code == "malformed_tool_arguments"
    run = Run(asked(), validating("reject"))
    assert run.fails(START, *call(0, "f", INVALID), Finish("length"), END).code == "invalid_tool_arguments"


def test_the_text_of_a_custom_tool_is_not_json() -> None:
    run = Run(replace(asked(), tools=(Tool("p", kind="custom"),)), validating("reject"))
    run.each(START, *call(0, "p", "*** Begin Patch", "custom"), CALLS, END)
    assert run.events[-1] == END
    assert run.warnings == []


# ------------------------------------------------------------ tool_choice

REQUIRED = ToolChoice("required")
NAMED = ToolChoice("required", ("f",), named=True)
ALLOWED = ToolChoice("auto", ("f",))
NONE = ToolChoice("none")


@pytest.mark.parametrize(
    ("choice", "parts"),
    [
        (REQUIRED, text()),
        (NAMED, text()),
        (NAMED, call(0, "g", "{}")),
        (ALLOWED, call(0, "g", "{}")),
        (ToolChoice("required", ("f",)), text()),
    ],
)
def test_a_choice_that_is_not_kept(choice: ToolChoice, parts: list[StreamEvent]) -> None:
    run = Run(asked(choice))
    came = run.each(START, *parts, STOP, END)
    assert all(one is other for one, other in zip(run.shown, came, strict=True))
    assert run.warnings == ["tool_choice_not_honored"]

    run = Run(asked(choice), INSISTING)
    assert run.fails(START, *parts, STOP, UsageUpdate(Usage()), END).code == "tool_choice_not_honored"
    spoken = parts if type(parts[0]) is TextStart else []
    assert run.events == [START, *spoken], "what was said stays, and no finish is shown"


@each_row(
    ("choice", "parts", "finish"),
    [
        (REQUIRED, call(), CALLS),
        (NAMED, call(), CALLS),
        (ALLOWED, text(), STOP),
        (ALLOWED, call(), CALLS),
        (None, call(0, "g", "{}"), CALLS),
        (NONE, text(), STOP),
        (REQUIRED, text(), Finish("length")),
        (REQUIRED, text(), Finish("content_filter")),
        (NAMED, text() + call(1), Finish("stop")),
    ],
)
def test_a_choice_that_is_kept(choice: ToolChoice | None, parts: list[StreamEvent], finish: Finish) -> None:
    run = Run(asked(choice), INSISTING)
    came = run.each(START, *parts, finish, END)
    assert [event for batch in came for event in batch.events] == run.events
    assert run.warnings == []


def test_a_call_after_the_finish_still_counts() -> None:
    run = Run(asked(REQUIRED), INSISTING)
    came = run.each(START, STOP, *call(), END)
    assert all(one is other for one, other in zip(run.shown, came, strict=True))


def test_a_hosts_own_tool_is_a_call() -> None:
    request = replace(asked(REQUIRED), tools=(*TOOLS, Tool("web_search", kind="opaque")))
    run = Run(request, INSISTING)
    run.each(START, OpaquePart(0, "server_tool_use", "d", b""), *text(1), STOP, END)
    assert run.events[-1] == END


def test_a_call_beside_none_is_withheld_and_later_parts_move_up() -> None:
    run = Run(asked(NONE))
    run.each(
        START, *text(0), *call(1), *text(2, "bye"), *call(3), OpaquePart(4, "k", "d", b""), CALLS, END,
    )  # fmt: skip

    assert run.events == [
        START, *text(0), *text(1, "bye"), OpaquePart(2, "k", "d", b""), Finish("stop", "tool_calls"), END,
    ]  # fmt: skip
    assert run.warnings == ["tool_choice_not_honored"]
    order = OrderCheck()
    for batch in run.shown:
        order.check(batch)


def test_what_follows_a_withheld_call_has_no_bytes_of_the_providers() -> None:
    """A later frame may repeat the whole answer, the call included; what only its source held is kept."""
    run = Run(asked(NONE))
    run.each(START, *text(0))
    assert all(batch.source is not None for batch in run.shown)
    run.each(*call(1), CALLS, END)
    late = run.shown[len([START, *text(0)]) :]
    assert [batch.source for batch in late] == [None, None]
    assert all(dict(batch.extra)[""] == (("from_source", b"1"),) for batch in late)


@pytest.mark.parametrize("parts", [call(), [TextStart(0), TextDelta(0, ""), TextEnd(0), *call(1)]])
def test_nothing_but_calls_beside_none_is_an_error(parts: list[StreamEvent]) -> None:
    assert Run(asked(NONE)).fails(START, *parts, CALLS, END).code == "tool_choice_not_honored"


def test_a_call_beside_none_is_an_error_at_once_where_the_tenant_insists() -> None:
    run = Run(asked(NONE), INSISTING)
    assert run.fails(START, *text(), ToolCallStart(1, "c", "f")).code == "tool_choice_not_honored"
    assert run.events == [START, *text()]


@pytest.mark.parametrize(
    ("parallel", "count", "warns"),
    [(False, 2, True), (False, 3, True), (False, 1, False), (True, 3, False), (None, 3, False)],
)
def test_calls_that_were_to_be_one(parallel: bool | None, count: int, warns: bool) -> None:
    run = Run(asked(parallel_tool_calls=parallel), INSISTING)
    run.each(START, *[event for index in range(count) for event in call(index)], CALLS, END)
    assert len([event for event in run.events if type(event) is ToolCallEnd]) == count
    assert run.warnings == ["parallel_calls_returned"] * warns
