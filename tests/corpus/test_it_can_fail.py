"""The recordings' tests notice what they are there to notice: each fault, planted in the gateway, fails them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec import structs

from tests.corpus import test_gemini, test_native
from tests.corpus.test_recordings import JUDGED, ROWS, answer, judged, recording
from toolwire.doors import DOORS
from toolwire.exchange.actions import Action
from toolwire.exchange.answer_ids import AnswerIds
from toolwire.exchange.exchange import Exchange
from toolwire.framing import Frame
from toolwire.framing.aws_event_stream import AwsEventStreamDecoder
from toolwire.framing.sse import SseDecoder
from toolwire.model.events import Batch, Finish, StreamEvent, TextDelta, ToolCallDelta, ToolCallStart
from toolwire.model.source import replace
from toolwire.model.stage import Stage

pytestmark = pytest.mark.integration

#: The APIs whose recordings are streams; empty where the recordings are absent.
APIS = sorted({row["api"] for row in ROWS.values() if row["streaming"] != "json"})


def first(api: str, fits: Callable[[Any], bool]) -> str:
    """The first streamed recording of this API that ends well and fits."""
    return next(
        path
        for path, row in ROWS.items()
        if row["api"] == api and recording(path).stream and recording(path).expect == "same" and fits(recording(path))
    )


def has_arguments(played: Any) -> bool:
    return played.turn.finish == "tool_calls" and all(
        call.value or len(call.text or "") > 2 for call in played.turn.calls
    )


def has_text(played: Any) -> bool:
    return len(played.turn.text) > 1 and played.turn.finish == "stop"


def lost_arguments(event: StreamEvent) -> StreamEvent:
    return structs.replace(event, fragment=event.fragment[:-1]) if isinstance(event, ToolCallDelta) else event


def other_name(event: StreamEvent) -> StreamEvent:
    return replace(event, name=event.name + "x") if isinstance(event, ToolCallStart) else event


def lost_text(event: StreamEvent) -> StreamEvent:
    return structs.replace(event, text=event.text[1:]) if isinstance(event, TextDelta) else event


def other_finish(event: StreamEvent) -> StreamEvent:
    return replace(event, reason="length") if isinstance(event, Finish) else event


FAULTS: dict[str, tuple[Callable[[StreamEvent], StreamEvent], Callable[[Any], bool]]] = {
    "the end of a fragment is lost": (lost_arguments, has_arguments),
    "a call has another name": (other_name, has_arguments),
    "the beginning of a text is lost": (lost_text, has_text),
    "another finish reason": (other_finish, has_text),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("door", DOORS)
def test_an_event_that_says_something_else(door: str, api: str, fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    changed, fits = FAULTS[fault]
    path = first(api, fits)
    check(door, path)
    right = AnswerIds.take

    def wrong(ids: AnswerIds, batch: Batch) -> list[Batch]:
        (shown,) = right(ids, batch)
        events = tuple(changed(event) for event in shown.events)
        return [shown if events == shown.events else Batch(events, shown.extra)]

    monkeypatch.setattr(AnswerIds, "take", wrong)
    monkeypatch.setattr(AnswerIds, "deltas", Stage.deltas)
    with pytest.raises(AssertionError):
        check(door, path)


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("door", JUDGED)
def test_bytes_that_are_lost_where_the_network_cuts(door: str, api: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = first(api, has_text)
    body, whole = recording(path).body, judged(door, path)
    for framing in (SseDecoder, AwsEventStreamDecoder):
        feeds: Any = framing.feed

        def wrong(decoder: Any, data: bytes, right: Any = feeds) -> list[Frame]:
            frames: list[Frame] = right(decoder, data.lstrip(b" "))
            return frames

        monkeypatch.setattr(framing, "feed", wrong)
    cuts = (at for at in range(1, len(body)) if body[at : at + 1] == b" ")
    assert any(answer(door, path, (body[:at], body[at:])) != whole for at in cuts)


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("door", DOORS)
def test_half_an_answer_that_passes_for_a_whole(door: str, api: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = first(api, has_text)
    right = Exchange.receive_data

    def wrong(exchange: Exchange, data: bytes) -> list[Action]:
        return right(exchange, data[: len(data) // 2])

    monkeypatch.setattr(Exchange, "receive_data", wrong)
    monkeypatch.setattr(Exchange, "receive_end", lambda exchange, error=None: [])
    with pytest.raises(AssertionError):
        check(door, path)


def check(door: str, path: str) -> None:
    """What the recordings' own tests do."""
    if door == "native":
        test_native.check(path)
    elif door == "gemini":
        test_gemini.check(path)
    else:
        judged(door, path)
