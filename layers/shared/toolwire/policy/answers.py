"""Enforces the policy on an answer: a filter over its neutral batches, the same for a stream and a JSON answer.

    policy = AnswerPolicy(request, rules, warnings)
    for batch in policy.take(batch): ...        the batches that may be written now: none, one or several

A batch that the policy does not change passes as the same object, with its source. The faults that it finds:

- More calls, or more bytes of arguments, than the limits allow: an error at once, so the call is never completed.
- A call of a tool that is not on the tenant's allowlist: an error, or a warning.
- With validation, a call of a tool that was not declared, and arguments that are no JSON object or break the schema.
  Under `annotate` all passes, with a warning and a `CallFault`. Under `reject`, whole batches are held from the one in
  which a call begins until no call is open. They then pass as they came; but if a call has a fault, the answer ends
  with an error, and the held batches are never shown. On a wire that ends all calls with the answer (Chat), calls
  wait for that. A call that the output limit cut is no fault of the model's: it is withheld with a warning, and the
  answer ends with its finish reason. This may come after the call, so arguments that are no JSON object are judged at
  the answer's end.
- An answer that does not keep to tool_choice: an error, or a warning. What was written before stays. A call beside
  `none` is never shown: it is withheld, later parts move up, and an answer with nothing else is an error.
- Several calls beside `parallel_tool_calls: false`: a warning. All are shown, since nothing is dropped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from toolwire.model.call_faults import CallFault
from toolwire.model.errors import UpstreamProtocolError
from toolwire.model.events import (
    Batch,
    Finish,
    OpaquePart,
    ResponseEnd,
    StreamEvent,
    TextDelta,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
)
from toolwire.model.limits import Limits
from toolwire.model.request import ChatRequest, Tool
from toolwire.model.stage import Stage
from toolwire.model.warnings import Warnings, named_warning
from toolwire.policy.arguments import MALFORMED, UNKNOWN, find_faults
from toolwire.policy.rules import ToolRules
from toolwire.wire.plain import plain

NOT_HONORED = "tool_choice_not_honored"

#: The providers' finish reasons for a turn that ends with calls.
CALL_WORDS = frozenset({"tool_calls", "tool_use", "tool_call", "function_call"})
#: Those for a turn that ends without: of APIs that have others for calls.
_STOP_WORDS = frozenset({"stop", "end_turn"})

#: What is counted where a provider's finish reason and its calls do not agree.
FINISH_MISMATCH = "finish_mismatch"


class AnswerLimits:
    """Counts the calls and argument bytes of one answer while it streams."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._calls = 0
        self._bytes: dict[int, int] = {}

    def call(self) -> None:
        """Counts a call. Raises UpstreamProtocolError over the limit."""
        self._calls += 1
        if self._calls > self._limits.calls:
            raise UpstreamProtocolError(
                f"the model made more than {self._limits.calls} tool calls in one answer", code="too_many_tool_calls"
            )

    def arguments(self, index: int, fragment: str) -> None:
        """Counts more arguments of the call with this part index. Raises UpstreamProtocolError over the limit."""
        added = len(fragment) if fragment.isascii() else len(fragment.encode("utf-8", "surrogatepass"))
        size = self._bytes.get(index, 0) + added
        self._bytes[index] = size
        if size > self._limits.arguments_bytes:
            raise UpstreamProtocolError(
                f"the arguments of a tool call are larger than {self._limits.arguments_bytes} bytes",
                code="tool_arguments_too_large",
            )


class AnswerPolicy(Stage):
    """See the module. One instance for each answer. The batches that it takes have the ids and names that the client
    sees.

    Codes of warnings are added to `warnings` as they are found. `faults` are the calls' faults so far, for a door that
    can show them.
    """

    def __init__(
        self,
        request: ChatRequest,
        rules: ToolRules,
        warnings: Warnings,
        counts: Counter[str] | None = None,
    ) -> None:
        """`counts`: takes how many calls had which fault, by its code, and `FINISH_MISMATCH`."""
        self.faults: list[CallFault] = []
        self._counts = Counter[str]() if counts is None else counts
        self._rules, self._warnings = rules, warnings
        self._limits = AnswerLimits(rules.limits)
        self._tools: dict[str, Tool] = {tool.name: tool for tool in request.tools if tool.kind != "opaque"}
        #: Whether a call may have an undeclared name: a host calls its own tools (a shell, a browser) by such names.
        self._has_opaque = any(tool.kind == "opaque" for tool in request.tools)
        self._one_call = request.parallel_tool_calls is False
        choice = request.tool_choice
        self._forbids_calls = choice is not None and choice.mode == "none"
        self._wants_call = choice is not None and choice.mode == "required"
        self._names = choice.names if choice is not None else None
        self._calls: dict[int, ToolCallStart] = {}
        self._texts: dict[int, list[str]] = {}  # part index -> arguments so far, with validation
        self._open: set[int] = set()  # part indexes of the calls that are held
        self._malformed: dict[int, CallFault] = {}  # faults of held calls that the output limit may have cut
        self._withheld: list[int] = []  # indexes of the parts that are withheld
        self._said_something = False
        self._finish: Finish | None = None
        self._held: list[Batch] = []
        self._acts = self._acts_needed()

    def _acts_needed(self) -> dict[type, Callable[[AnswerPolicy, Any], None]]:
        """What must be looked at: of an answer without validation, neither text nor the end of a call."""
        policy = type(self)
        acts: dict[type, Callable[[AnswerPolicy, Any], None]] = {
            ToolCallStart: policy._start,
            ToolCallDelta: policy._delta,
            Finish: policy._note_finish,
            ResponseEnd: policy._end,
        }
        if self._rules.validate_tool_arguments != "off":
            acts[ToolCallEnd] = policy._end_call
        if self._forbids_calls:
            acts[TextDelta] = policy._note_text
        if self._has_opaque or self._forbids_calls:
            acts[OpaquePart] = policy._note_opaque
        return acts

    def take(self, batch: Batch) -> list[Batch]:
        """The batches that may be written now. Raises UpstreamProtocolError where the policy ends the answer."""
        acts = self._acts
        for event in batch.events:
            act = acts.get(type(event))
            if act is not None:
                act(self, event)
        if self._open or self._waits_for_call():
            self._held.append(batch)
            return []
        if self._held:
            held, self._held = [*self._held, batch], []
        else:
            held = [batch]
        return list(_without(self._withheld, held, no_calls=self._forbids_calls)) if self._withheld else held

    # ------------------------------------------------------------ calls

    def _start(self, call: ToolCallStart) -> None:
        self._limits.call()
        if self._forbids_calls:
            self._withhold(call)
            return
        self._calls[call.index] = call
        rules = self._rules
        if rules.allowed is not None and call.name not in rules.allowed:
            if rules.refuses_others:
                text = f"the model called {call.name[:128]!r}, which is not on this tenant's list of allowed tools"
                raise UpstreamProtocolError(text, code="tool_not_allowed")
            self._warn(named_warning("tool_not_allowed", call.name))
        if self._names is not None and call.name not in self._names:
            self._unkept(f"the model called {call.name[:128]!r}, which tool_choice does not allow")
        if self._one_call and len(self._calls) == 2:
            self._warn("parallel_calls_returned")
        if rules.validate_tool_arguments != "off":
            self._judge_name(call)

    def _judge_name(self, call: ToolCallStart) -> None:
        if call.name not in self._tools and not self._has_opaque:
            fault = CallFault(call.index, call.id or "", call.name, UNKNOWN, "", "a tool of `tools`", "another name")
            self._report([fault])
        else:
            self._texts[call.index] = []
        if self._rules.validate_tool_arguments == "reject":
            self._open.add(call.index)

    def _delta(self, delta: ToolCallDelta) -> None:
        self._limits.arguments(delta.index, delta.fragment)
        if (texts := self._texts.get(delta.index)) is not None:
            texts.append(delta.fragment)

    def _end_call(self, end: ToolCallEnd) -> None:
        texts = self._texts.pop(end.index, None)
        call = self._calls.get(end.index)
        tool = self._tools.get(call.name) if call is not None else None
        if texts is not None and call is not None and call.kind != "custom":
            flaws = find_faults("".join(texts), tool.parameters if tool is not None else None)
            faults = [CallFault(call.index, call.id or "", call.name, *flaw) for flaw in flaws]
            if faults and faults[0].code == MALFORMED and end.index in self._open:
                self._malformed[end.index] = faults[0]
                return
            self._report(faults)
        self._open.discard(end.index)

    def _judge_malformed(self) -> None:
        """Judges the calls whose arguments are no JSON object, now that the finish reason is known."""
        for index, fault in self._malformed.items():
            if self._finish is None or not self._finish.is_cut:
                self._report([fault])
            self._warn(named_warning("tool_call_cut", fault.name))
            self._withheld.append(index)
            self._open.discard(index)

    def _report(self, faults: list[CallFault]) -> None:
        """Ends the answer with the faults of one call, or notes them."""
        self._counts.update(fault.code for fault in faults[:1])
        if faults and self._rules.validate_tool_arguments == "reject":
            told = "; ".join([faults[0].message, *(fault.what for fault in faults[1:])])
            raise UpstreamProtocolError(f"a tool call was refused: {told}", code=faults[0].code)
        self.faults += faults
        for fault in faults:
            self._warn(named_warning(fault.code, fault.name))

    # ------------------------------------------------------------ tool_choice

    def _note_finish(self, finish: Finish) -> None:
        self._finish = finish

    def _note_text(self, delta: TextDelta) -> None:
        self._said_something = self._said_something or bool(delta.text)

    def _note_opaque(self, _: OpaquePart) -> None:
        """Notes an opaque part: a run of a host's own tool, or content that only its dialect has."""
        self._said_something = True
        self._wants_call = self._wants_call and not self._has_opaque

    def _withhold(self, call: ToolCallStart) -> None:
        self._unkept("the model called a tool although tool_choice is none")
        self._withheld.append(call.index)

    def _waits_for_call(self) -> bool:
        """Whether the finish must be held, since the answer may still turn out to be an error."""
        return self._finish is not None and self._rules.insists_on_choice and self._lacks_call()

    def _lacks_call(self) -> bool:
        """Whether a call was required and none came. False for an answer that was cut: its finish reason says so."""
        cut = self._finish is not None and self._finish.is_cut
        return self._wants_call and not self._calls and not cut

    def _end(self, _: ResponseEnd) -> None:
        self._judge_malformed()
        if self._finish is not None:
            self._warn_of_end(self._finish)
        if self._lacks_call():
            self._unkept("tool_choice asks for a tool call, and the model made none")
        if self._forbids_calls and self._withheld and not self._said_something:
            text = "the model did nothing but call tools although tool_choice is none"
            raise UpstreamProtocolError(text, code=NOT_HONORED)

    def _warn_of_end(self, finish: Finish) -> None:
        """Warns of a finish reason that needs an explanation: the turn is paused, or has no calls against its
        reason."""
        if finish.is_paused:
            self._warn("turn_paused")
        if finish.raw in CALL_WORDS and finish.reason == "stop" and self._tools and not self._calls:
            self._warn("tool_calls_missing")
            self._counts[FINISH_MISMATCH] += 1
        elif finish.raw in _STOP_WORDS and self._calls:
            self._counts[FINISH_MISMATCH] += 1  # told as what it is: clients go by the calls

    def _unkept(self, text: str) -> None:
        if self._rules.insists_on_choice:
            raise UpstreamProtocolError(text, code=NOT_HONORED)
        self._warn(NOT_HONORED)

    def _warn(self, code: str) -> None:
        self._warnings.add(code)


def _without(withheld: list[int], batches: list[Batch], *, no_calls: bool) -> Iterator[Batch]:
    """The batches without the withheld parts and without sources: a later frame's bytes may repeat the call.
    `no_calls`: no call is shown, so none is the finish's reason."""
    for batch in batches:
        bare = plain(batch)
        events: list[StreamEvent] = []
        for event in bare.events:
            index: int | None = getattr(event, "index", None)
            if no_calls and type(event) is Finish and event.reason == "tool_calls":
                events.append(Finish("stop", event.raw))
            elif index is None:
                events.append(event)
            elif index not in withheld:
                events.append(_moved(event, index - sum(earlier < index for earlier in withheld)))
        if events:
            yield Batch(tuple(events), bare.extra)


def _moved(event: Any, index: int) -> StreamEvent:
    """The event, of a part with another index."""
    if event.index == index:
        return event  # type: ignore[no-any-return]
    return msgspec.structs.replace(event, index=index)  # type: ignore[no-any-return]
