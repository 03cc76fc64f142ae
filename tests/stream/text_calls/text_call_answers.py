"""Answers with calls in their text, for the tests of their recovery: how they are cut up, and what is made of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from toolwire.model.events import (
    Batch,
    Finish,
    FinishReason,
    ResponseEnd,
    ResponseStart,
    StreamEvent,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCallDelta,
    ToolCallStart,
)
from toolwire.model.request import Tool
from toolwire.stream.order import OrderCheck
from toolwire.stream.text_calls.recovery import TextCallRecovery

RECORDINGS = sorted(Path(__file__).parent.glob("*.json"))

_DEFINITIONS = {
    "place": {"type": "object", "properties": {"lat": {"type": "number"}}},
    "loop": {"$ref": "#/$defs/loop"},
}
PROPERTIES = {
    "city": {"type": "string"},
    "days": {"type": "integer"},
    "exact": {"type": "number"},
    "metric": {"type": "boolean"},
    "tags": {"type": "array", "items": {"type": "string"}},
    "place": {"$ref": "#/$defs/place"},
    "loop": {"$ref": "#/$defs/loop"},
    "unit": {"enum": ["C", "F"]},
    "level": {"enum": [1, 2]},
    "note": {"type": ["string", "null"]},
    "limit": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
    "anything": {},
}
WEATHER = Tool(
    "get_weather", None, json.dumps({"type": "object", "properties": PROPERTIES, "$defs": _DEFINITIONS}).encode()
)
TOOLS = (WEATHER, Tool("write_file"), Tool("now"), Tool("apply_patch", kind="custom"))


@dataclass(frozen=True)
class Said:
    """What an answer says to a client, however it came."""

    text: str
    calls: tuple[tuple[str, str], ...] = ()
    finish: FinishReason = "stop"


def recovery(tools: Iterable[Tool] = TOOLS) -> TextCallRecovery:
    return TextCallRecovery(tools)


def only(shown: list[Batch]) -> Batch:
    (batch,) = shown
    return batch


def batches(pieces: Sequence[str], finish: FinishReason = "stop") -> list[Batch]:
    """A streamed answer of one text as the Chat decoder gives it."""
    first, *more = pieces
    found = [Batch((ResponseStart("id", "model", 1), TextStart(0), TextDelta(0, first)))]
    found += [Batch((TextDelta(0, piece),)) for piece in more]
    found.append(Batch((Finish(finish, finish),)))
    return [*found, Batch((TextEnd(0), ResponseEnd()))]


def said(given: Iterable[Batch], tools: Iterable[Tool] = TOOLS, taken: TextCallRecovery | None = None) -> Said:
    """What comes out of the filter, its order checked."""
    taken = taken or recovery(tools)
    order = OrderCheck()
    events: list[StreamEvent] = []
    for batch in given:
        (shown,) = taken.take(batch)
        order.check(shown)
        events += shown.events
    assert order.state == "ended"
    calls = {event.index: event.name for event in events if type(event) is ToolCallStart}
    arguments = dict.fromkeys(calls, "")
    for event in events:
        if type(event) is ToolCallDelta:
            arguments[event.index] += event.fragment
    finishes = [event.reason for event in events if type(event) is Finish]
    return Said(
        "".join(event.text for event in events if type(event) is TextDelta),
        tuple((name, arguments[index]) for index, name in calls.items()),
        finishes[-1],
    )


def whole(text: str, finish: FinishReason = "stop", tools: Iterable[Tool] = TOOLS) -> Said:
    """What is made of a text that comes at once, as in a JSON answer."""
    events = [event for batch in batches([text], finish) for event in batch.events]
    return said([Batch(tuple(events))], tools)
