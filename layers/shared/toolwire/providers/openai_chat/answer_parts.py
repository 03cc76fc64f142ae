"""The parts of a Chat Completions answer while they arrive: texts, refusals, reasoning with its state, and calls."""

from __future__ import annotations

from typing import Literal

from toolwire.model.errors import UpstreamProtocolError, UpstreamTruncated
from toolwire.model.events import (
    FinishReason,
    StreamEvent,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
)
from toolwire.model.warnings import Warnings
from toolwire.providers.decoder_context import DecoderContext
from toolwire.providers.openai_chat.state import CALL_STATE, call_signature
from toolwire.providers.openai_chat.text_parts import TextParts
from toolwire.stream.accumulator import Call, ToolCallAccumulator
from toolwire.wire import openai_chat as wire
from toolwire.wire.cross_api_names import misnamed_arguments
from toolwire.wire.json import ABSENT, is_object


class AnswerParts(TextParts):
    """The parts of one answer, numbered in the order in which they begin."""

    def __init__(self, context: DecoderContext) -> None:
        super().__init__(context)
        self.announced: list[Call] = []  # calls whose start was written, in the client's order
        self._call_state: dict[Call, str] = {}
        self._has_state = False
        self._open_calls: list[Call] = []  # those of `announced` that have not ended
        self.accumulator = ToolCallAccumulator(context.tool_names, placeholders=context.placeholders)
        #: The deprecated `function_call`, held until it is known whether `tool_calls` hold the same call.
        self._deprecated = ToolCallAccumulator(context.tool_names, placeholders=context.placeholders)
        #: Whether a `function_call` came to a request without `tools`: the client uses the deprecated form.
        self.passes_function_call = False

    @property
    def calls(self) -> list[Call]:
        """Every call so far, with those that have no name yet."""
        return self.accumulator.calls or self._deprecated.calls

    @property
    def warnings(self) -> Warnings:
        """The warnings about the arguments of calls."""
        return Warnings(code for call in self.calls for code in call.warnings)

    def say(self, delta: wire.Delta, events: list[StreamEvent]) -> bool:
        """Adds the events of a delta. Returns whether a strict client may see its calls as they are."""
        reasoning, keep = self._state.take(delta)
        if reasoning:
            self._end_tags(events)  # a host that has a member for it
            self._reasoning(reasoning, events)
        if delta.content:
            keep = self._text(delta.content, events) and keep
        if delta.refusal:
            self._refusal(delta.refusal, events)
        if not (delta.images is delta.audio is delta.annotations is ABSENT):  # rarely
            self._opaque(delta, events)
        if delta.function_call is not None and not self._context.tool_names:
            self.passes_function_call = True
        elif delta.function_call is not None:
            for _ in self._deprecated.take(None, 0, delta.function_call.name, delta.function_call.arguments or ""):
                keep = False
        for entry in delta.tool_calls or ():
            keep = self.call(entry, entry.index, events) and keep
        return keep and delta.tool_calls != []

    def call(self, entry: wire.ToolCallDelta, index: int | None, events: list[StreamEvent]) -> bool:
        """Adds the events of one entry of `tool_calls`. Returns whether a strict client may see it as it is."""
        self._end_tags(events)
        if (text := _only_arguments(entry, index)) and index is not None:
            going_on = self.accumulator.goes_on(index, text)
            if going_on is not None and going_on.part is not None:
                events.append(ToolCallDelta(going_on.part, text))
                return 0 <= index < len(self.announced) and self.announced[index] is going_on
            if going_on is not None:
                return False  # its name is still to come
        if entry.custom is not None:
            name, given = entry.custom.name, entry.custom.input
            fragment = given
        else:
            function = entry.function or entry  # a proxy leaves the object around them out
            name, given = function.name, function.arguments
            fragment = given if given is not None else misnamed_arguments(function)
        kind: Literal["function", "custom"] = "custom" if entry.custom is not None else "function"
        announced, known = len(self.announced), len(self.calls)
        touched: Call | None = None
        state = _state_of(entry)
        self._has_state = self._has_state or state is not None
        for call, piece in self.accumulator.take(entry.id, index, name, fragment or "", kind):
            keep = touched is None and (touched := call) is call and piece == (fragment or "")
            self._append(call, piece, events)
        assert touched is not None
        if state is not None:
            self._call_state[touched] = state
        opened = len(self.announced) - announced
        bare = entry.function is None and entry.custom is None
        if bare or not keep or touched.part is None or entry.index is None or given is None or opened > 1:
            return False
        if opened:
            named = bool(entry.id and name) and entry.type == kind
            fresh = len(self.calls) > known  # else it has had arguments before its name
            return fresh and named and touched is self.announced[-1] and entry.index == announced
        bare = not entry.id and not name and entry.type is not None
        return bare and 0 <= entry.index < announced and self.announced[entry.index] is touched

    def _append(self, call: Call, piece: str, events: list[StreamEvent]) -> None:
        """Adds a piece of a call's arguments. Once its name is known, the call is announced with all that came before.

        White space behind a call that has ended (`_close`) is left out. Raises UpstreamProtocolError for other text
        there."""
        if call.part is not None:
            if piece and call in self._open_calls:
                events.append(ToolCallDelta(call.part, piece))
            elif piece.strip():
                raise UpstreamProtocolError("the upstream went on with a tool call's arguments after their end")
        elif call.name and not call.awaits_name:
            self._close(events)
            self._has_state = self._has_state or self._state.has_had_any
            self._say_state(events)
            call.part = self._next_part()
            self.announced.append(call)
            self._open_calls.append(call)
            early = len(call.arguments) - len(piece.encode("utf-8", "surrogatepass"))
            events.append(
                ToolCallStart(call.part, call.id, call.name, call.kind, has_state=self._has_state, early_bytes=early)
            )
            if call.arguments:
                events.append(ToolCallDelta(call.part, call.text()))

    def end(self, finished: bool, reason: FinishReason, events: list[StreamEvent]) -> None:
        """Ends all open parts. `finished`: the upstream gave a finish reason; `reason`: why the answer ended.

        Raises UpstreamProtocolError for a call without a name, UpstreamTruncated for one that broke off.
        """
        self._end_tags(events)
        self._close_texts(events)
        self._say_state(events)
        for call, piece in self.accumulator.end():
            self._append(call, piece, events)
        for call in (*self.accumulator.calls, *self._only_deprecated(events)):
            if call.part is None:
                raise UpstreamProtocolError("the upstream sent a tool call without a name")
            if not finished and call.kind == "function" and call.arguments and not is_object(call.text()):
                raise UpstreamTruncated("the upstream's answer ended inside a tool call's arguments")
            if call.kind == "function" and not call.arguments.strip() and reason in ("stop", "tool_calls"):
                events.append(ToolCallDelta(call.part, "{}"))  # a call without arguments: JSON.parse("") throws
            if call in self._open_calls:
                self._end_call(call, events)

    def _only_deprecated(self, events: list[StreamEvent]) -> list[Call]:
        """Announces the calls that came only as `function_call`."""
        for _ in self._deprecated.end():
            pass
        known = [(call.name, call.arguments) for call in self.accumulator.calls]
        calls = [call for call in self._deprecated.calls if (call.name, call.arguments) not in known]
        for call in calls:
            self._append(call, "", events)
        return calls

    def _close(self, events: list[StreamEvent]) -> None:
        """Another part begins. A model writes one part after the other, so this ends the texts before it, and each call
        whose object is complete. A door that shows one part at a time then need not hold the next one."""
        self._close_texts(events)
        for call in tuple(self._open_calls):
            if call.has_whole_object:
                self._end_call(call, events)

    def _end_call(self, call: Call, events: list[StreamEvent]) -> None:
        assert call.part is not None
        self._open_calls.remove(call)
        events.append(ToolCallEnd(call.part, self._call_state.get(call)))


def _state_of(entry: wire.ToolCallDelta) -> str | None:
    """The state on a call that its host wants back."""
    if entry.extra_content is ABSENT and entry.provider_specific_fields is ABSENT:
        return None  # as nearly all
    return call_signature({name: getattr(entry, name) for name in CALL_STATE})


def _only_arguments(entry: wire.ToolCallDelta, index: int | None) -> str | None:
    """The arguments of an entry that has nothing else but its index, as nearly all have."""
    function = entry.function
    if function is None or entry.id or function.name or index != entry.index or entry.type is None:
        return None
    if entry.extra_content is not ABSENT or entry.provider_specific_fields is not ABSENT:
        return None
    return function.arguments if entry.custom is None else None
