"""Tool calls that a model wrote as text become calls: a filter over the batches of one answer.

A server without a working parser streams a model's markup as text; an agent then sees text and stops. The filter gets
every batch first, right behind the decoder:

    recovery = TextCallRecovery(tools)
    for batch in recovery.take(batch): ...     the same object if nothing changes: the frame's own bytes are shown

Recovered calls are sent together, right before the answer's end and behind the provider's structured calls. Only then
it is known whether a structured call is the same; in that case the markup is dropped, so no call is sent twice.
Meanwhile the text goes on without the markup. `Finish` is held until the calls are sent. Its reason becomes
"tool_calls", unless the output limit or a filter ended the turn. The calls get no id here: the exchange mints one for
each, in their order. Of the reasoning only the end is looked at, and only where the answer has nothing else.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from decimal import Decimal
from operator import is_
from typing import Literal

from toolwire.model.errors import UpstreamProtocolError
from toolwire.model.events import (
    Batch,
    Finish,
    ReasoningDelta,
    ReasoningEnd,
    ResponseEnd,
    StreamEvent,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
)
from toolwire.model.limits import ANSWER_BYTES
from toolwire.model.request import ChatRequest, Tool
from toolwire.model.source import Members, replace
from toolwire.model.stage import Stage
from toolwire.model.warnings import INVALID_TEXT, Warnings
from toolwire.stream.text_calls.arguments import TextTool
from toolwire.stream.text_calls.held_start import HeldStart
from toolwire.stream.text_calls.places import PartEvent, Places
from toolwire.stream.text_calls.scanner import TextCall, TextCallScanner
from toolwire.stream.text_calls.thought_calls import Thoughts
from toolwire.wire.plain import plain


def recoverable(request: ChatRequest) -> tuple[Tool, ...]:
    """The tools whose calls may be recovered: those that `tool_choice` lets the model call. Their names must be those
    that the provider got."""
    choice = request.tool_choice
    if request.options.recover_text_calls is False or (choice is not None and choice.mode == "none"):
        return ()
    names = choice.names if choice is not None else None
    return tuple(tool for tool in request.tools if tool.kind != "opaque" and (names is None or tool.name in names))


class TextCallRecovery(Stage):
    """See the module. `warnings` gets a code when the first call is recovered."""

    def __init__(self, tools: Iterable[Tool], warnings: Warnings | None = None) -> None:
        self._tools = {tool.name: TextTool(tool) for tool in tools}
        self._warnings = Warnings() if warnings is None else warnings
        self._scanners: dict[int, TextCallScanner] = {}  # part index -> scanner of an open text
        self._waiting: dict[int, TextStart] = {}  # texts whose start is held, since nothing of them was shown
        self._held: HeldStart | None = None
        self._left_out = False  # whether something was left out of the text that ended last, with no part behind it
        self._calls: list[TextCall] = []  # calls in the texts that have ended
        self._kept = 0  # characters of these calls
        self._structured: dict[int, tuple[str, list[str]]] = {}  # name and arguments of the provider's own calls
        self._places = Places()
        self._held_finish: Finish | None = None
        self._held_extra: tuple[tuple[str, Members], ...] = ()
        self._finish: Finish | None = None
        self._thoughts = Thoughts()
        #: Format -> how many calls were recovered, without those that also came in their structured form.
        self.recovered: Counter[str] = Counter()
        #: How many calls also came in their structured form, so that their markup was dropped.
        self.duplicates = 0

    def take(self, batch: Batch) -> list[Batch]:
        """The batch to pass on. Raises UpstreamProtocolError if the held text is longer than an answer may be."""
        if len(batch.events) == 1 and self._passes(batch.events[0]):
            return [batch]
        if batch.source is not None and self._is_untrue(batch):
            batch = plain(batch)
        held, self._held = self._held, None
        if held is not None:
            return self._behind_start(held, batch)
        self._held = HeldStart.of(batch)
        if self._held is None:
            return self._taken(batch)
        self._scanners[self._held.index] = TextCallScanner(self._tools)
        self._waiting[self._held.index] = self._held.start
        return []

    def _is_untrue(self, batch: Batch) -> bool:
        """Whether a frame without content may tell again a text of which something was left out."""
        if batch.events and not (len(batch.events) == 1 and type(batch.events[0]) is TextEnd):
            return False
        return self._left_out or not all(scanner.is_plain for scanner in self._scanners.values())

    def _behind_start(self, held: HeldStart, batch: Batch) -> list[Batch]:
        """What may be shown now that a batch has come behind a lone start of a text."""
        index, event = held.index, batch.events[0] if len(batch.events) == 1 else None
        scanner, is_in_place = self._scanners[index], self._places.count == index
        if not batch.events or (type(event) is TextDelta and event.index == index):
            if type(event) is TextDelta and is_in_place and scanner.passes(event.text):
                self._begin(index, [])
                return [*held.batches, batch]
            held.batches += [] if batch.events else [batch]
            taken = self._taken(batch) if batch.events else []
            self._held = held if index in self._waiting else None
            return taken
        if not is_in_place or (type(event) is TextEnd and event.index == index and not scanner.is_plain):
            return self._taken(batch)
        self._begin(index, [])
        return [*held.batches, *self._taken(batch)]

    def _taken(self, batch: Batch) -> list[Batch]:
        events: list[StreamEvent] = []
        for number, event in enumerate(batch.events):
            after = batch.events[number + 1] if number + 1 < len(batch.events) else None
            self._take(event, after, events)
        if len(events) == len(batch.events) and all(map(is_, events, batch.events)):
            return [batch]
        bare = plain(batch)
        extra = bare.extra
        if any(type(event) is Finish for event in batch.events) and self._held_finish is not None:
            self._held_extra, extra = _split(extra)
        elif self._held_extra and any(type(event) is Finish for event in events):
            extra, self._held_extra = _joined(extra, self._held_extra), ()
        return [Batch(tuple(_with_extras(events, bare, self._places.shown)), extra)]

    def broken(self) -> list[Batch]:
        """The text that was held, for an answer that broke off. Its calls are not shown, since no client may run
        them."""
        events: list[StreamEvent] = []
        for index, scanner in self._scanners.items():
            self._show(index, scanner.end(has_structure=False), events)
        self._scanners = {}
        return [Batch(tuple(events))] if events else []

    # ------------------------------------------------------------ events

    def _passes(self, event: StreamEvent) -> bool:
        """Takes a delta that passes as it is, as nearly all do. Returns False for any other event, which it does not
        take."""
        if type(event) is TextDelta:
            scanner = self._scanners.get(event.index)
            if scanner is None or self._places.shown.get(event.index) != event.index or not scanner.passes(event.text):
                return False
            self._thoughts.heard(event.text, scanner.began_with_thought)
            return True
        if type(event) is ToolCallDelta and self._places.shown[event.index] == event.index:
            self._structured[event.index][1].append(event.fragment)
            return True
        return False

    def _take(self, event: StreamEvent, after: StreamEvent | None, events: list[StreamEvent]) -> None:
        if type(event) is TextDelta and (scanner := self._scanners.get(event.index)) is not None:
            self._delta(event, scanner, events)
        elif type(event) is Finish:
            self._finish = event
            pending = self._calls or any(scanner.calls or scanner.inside for scanner in self._scanners.values())
            if not (pending or self._structured):
                pending = self._calls = self._thoughts.calls(self._tools, event.reason)
            if pending:
                self._held_finish = event
            else:
                events.append(event)
        elif type(event) is ResponseEnd:
            self._end(events)
            events.append(event)
        elif isinstance(event, PartEvent):
            self._part(event, after, events)
        else:
            events.append(event)

    def _delta(self, event: TextDelta, scanner: TextCallScanner, events: list[StreamEvent]) -> None:
        shown = scanner.feed(event.text)
        self._thoughts.heard(shown, scanner.began_with_thought)
        _check_size(self._kept + scanner.held)
        if shown == event.text:
            self._begin(event.index, events)
            events.append(self._places.placed(event))
        else:
            self._show(event.index, shown, events)

    def _part(self, event: PartEvent, after: StreamEvent | None, events: list[StreamEvent]) -> None:
        self._left_out = self._left_out and isinstance(event, TextEnd | ReasoningEnd | ToolCallEnd)
        match event:
            case TextStart(index, False):
                self._scanners[index] = TextCallScanner(self._tools)
                if type(after) is TextDelta and after.index == index:  # held until some of its text is shown
                    self._waiting[index] = event
                    return
            case TextEnd(index) if index in self._scanners:
                scanner = self._scanners.pop(index)
                structured = bool(self._structured) or type(after) is ToolCallStart
                rest = scanner.end(has_structure=structured)
                self._thoughts.heard(rest, scanner.began_with_thought)
                self._show(index, rest, events)
                self._left_out = bool(scanner.calls)
                self._calls += scanner.calls
                self._kept += scanner.held
                if self._waiting.pop(index, None) is not None:  # the text was nothing but markup
                    return
            case ReasoningDelta(_, text):
                self._thoughts.heard(text, True)
            case ToolCallStart(index, _, name):
                self._structured[index] = (name, [])
            case ToolCallDelta(index, fragment):
                self._structured[index][1].append(fragment)
            case _:
                pass
        events.append(self._places.placed(event))

    def _begin(self, index: int, events: list[StreamEvent]) -> None:
        start = self._waiting.pop(index, None)
        if start is not None:
            events.append(self._places.placed(start))

    def _show(self, index: int, text: str, events: list[StreamEvent]) -> None:
        if text:
            self._begin(index, events)
            events.append(self._places.placed(TextDelta(index, text)))

    # ------------------------------------------------------------ the end

    def _end(self, events: list[StreamEvent]) -> None:
        """Writes the calls, then the finish if it was held or its reason has changed."""
        unmatched = [(name, _value("".join(pieces))) for name, pieces in self._structured.values() if self._calls]
        for call in self._calls:
            if INVALID_TEXT in self._warnings and "\ufffd" in call.arguments:
                raise UpstreamProtocolError("the upstream sent bytes that are no UTF-8 in a tool call")
            said = (call.tool.name, _value(call.arguments))
            if said in unmatched:
                unmatched.remove(said)
                self.duplicates += 1
            else:
                self.recovered[call.format.name] += 1
                events += _events(call, self._places.count)
                self._places.count += 1
        if self.recovered:
            self._warnings.add("text_calls_recovered")
        finish, self._held_finish = self._held_finish, None
        if self.recovered and self._finish is not None and self._finish.reason == "stop":
            finish = replace(self._finish, reason="tool_calls")
        if finish is not None:
            events.append(finish)


def _check_size(held: int) -> None:
    if held > ANSWER_BYTES:
        message = f"the tool calls in the answer's text are larger than {ANSWER_BYTES} bytes"
        raise UpstreamProtocolError(message, code="tool_arguments_too_large")


def _events(call: TextCall, index: int) -> list[StreamEvent]:
    """A recovered call as the part with this index, which the decoder does not have."""
    kind: Literal["function", "custom"] = "custom" if call.tool.kind == "custom" else "function"
    arguments = [ToolCallDelta(index, call.arguments)] if call.arguments else []
    return [ToolCallStart(index, None, call.tool.name, kind, recovered=True), *arguments, ToolCallEnd(index)]


def _with_extras(events: list[StreamEvent], bare: Batch, places: dict[int, int]) -> list[StreamEvent]:
    """The events, each start of a provider's call with its unnamed members from `bare`. `places`: the decoder's part
    index -> the index that is shown."""
    extras = {places[event.index]: event.extra for event in bare.events if type(event) is ToolCallStart}
    return [
        replace(event, extra=extras[event.index]) if type(event) is ToolCallStart and event.index in extras else event
        for event in events
    ]


def _split(extra: tuple[tuple[str, Members], ...]) -> tuple[tuple[tuple[str, Members], ...], ...]:
    """The members that belong to a held finish, and those that belong to the content in the same frame."""
    kept = tuple(pair for pair in extra if pair[0] != "delta")
    return kept, tuple(pair for pair in extra if pair[0] == "delta")


def _joined(
    extra: tuple[tuple[str, Members], ...], more: tuple[tuple[str, Members], ...]
) -> tuple[tuple[str, Members], ...]:
    found = dict(more)
    for path, members in extra:
        found[path] = (*members, *(pair for pair in found.get(path, ()) if pair[0] not in dict(members)))
    return tuple(found.items())


def _value(text: str) -> object:
    """A value that is equal for arguments with the same meaning: 1 is 1.0, and no digit is lost. "" is an object
    without members. A text that is no JSON is its own value."""
    try:
        return json.loads(text or "{}", parse_int=_number, parse_float=_number)
    except (ValueError, RecursionError):
        return text


def _number(text: str) -> tuple[str, Decimal]:
    return "number", Decimal(text)  # so that 1 is not equal to true
