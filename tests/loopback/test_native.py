"""Loopback: a client of the native API hears the neutral events, streamed as in one document."""

from __future__ import annotations

from hypothesis import given

from tests.loopback.passage import folded
from tests.loopback.test_chat import answers, calls_of, texts_of
from tests.native_client import Said, read_answer, read_stream
from toolwire.doors import AnswerContext
from toolwire.doors.native.document import render_response
from toolwire.doors.native.stream import NativeEncoder
from toolwire.model.events import Batch, ToolCallStart
from toolwire.model.request import ChatRequest
from toolwire.model.response import ChatResponse
from toolwire.model.source import replace
from toolwire.stream.order import OrderCheck


def minted(batches: list[Batch]) -> list[Batch]:
    """The same answer with ids as this door's clients see them, and no custom tools, which it does not have."""
    return [
        Batch(
            tuple(
                replace(event, id=f"call_{event.index:032d}", kind="function")
                if isinstance(event, ToolCallStart)
                else event
                for event in batch.events
            )
        )
        for batch in batches
    ]


def context() -> AnswerContext:
    return AnswerContext("req-1", "conv_1", "upstream", ChatRequest("m", ()))


def heard(said: Said) -> tuple[object, ...]:
    calls = [(call.id, call.name, call.arguments or call.raw_arguments) for call in said.calls]
    return said.head, [said.text, said.refusal, said.reasoning], sorted(calls), said.finish, said.usage, said.warnings


def wanted(response: ChatResponse) -> list[tuple[str, str, str]]:
    return [(call.id, call.name, call.arguments) for call in calls_of(response)]


def is_broken(response: ChatResponse) -> bool:
    """Whether a call's arguments are no object, which this door shows as an error."""
    return any(not call.arguments.startswith("{") for call in calls_of(response))


@given(answers())
def test_the_stream_and_the_document_say_what_the_events_say(batches: list[Batch]) -> None:
    batches = minted(batches)
    response = folded(batches)
    if is_broken(response) and response.finish.reason != "length":
        return
    order, encoder = OrderCheck(), NativeEncoder(context())
    body = b""
    for batch in batches:
        order.check(batch)
        body += encoder.encode(batch)
    streamed, buffered = read_stream(body), read_answer(render_response(response, context()))
    assert heard(streamed) == heard(buffered)
    assert [streamed.text, streamed.refusal, streamed.reasoning] == texts_of(response)
    assert [(call.id, call.name, call.arguments or call.raw_arguments) for call in buffered.calls] == wanted(response)
    assert (streamed.finish, streamed.head["id"]) == (response.finish.reason, response.id)
