"""Loopback: what the gemini door writes, in each of its forms, Gemini's decoder reads back as the same events."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.doors.gemini.genai_reader import sdk_stream
from tests.gemini_client import chunks, read
from tests.loopback.passage import decoded, folded
from tests.loopback.test_chat import answers as chat_answers
from toolwire.doors import AnswerContext
from toolwire.doors.gemini.document import render_response
from toolwire.doors.gemini.stream import GeminiEncoder
from toolwire.model.errors import InternalError
from toolwire.model.events import (
    Batch,
    ReasoningEnd,
    StreamEvent,
    TextEnd,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    Usage,
)
from toolwire.model.request import ChatRequest
from toolwire.model.response import ChatResponse, OutputPart, ReasoningOutput, TextOutput, ToolCallOutput
from toolwire.model.source import replace
from toolwire.providers.decoder_context import DecoderContext
from toolwire.providers.gemini.answer import GeminiDecoder

#: What each form of a stream is told by: SSE, and one array.
FORMS = pytest.mark.parametrize("in_array", [False, True], ids=["sse", "array"])


@st.composite
def answers(draw: st.DrawFn) -> list[Batch]:
    """Answers of any provider: calls that interleave, signatures on every kind of part; no custom tools, which this API
    does not have."""
    batches = draw(chat_answers())
    custom = {e.index for batch in batches for e in batch.events if type(e) is ToolCallStart and e.kind == "custom"}
    signature = st.sampled_from([None, "S"])
    said: set[int] = set()  # the custom calls whose arguments have been said
    made = []
    for batch in batches:
        events: list[StreamEvent] = []
        for event in batch.events:
            match event:
                case ToolCallStart(index, id, name):
                    events.append(ToolCallStart(index, id, name))
                case ToolCallDelta(index) if index in custom:
                    events += [] if index in said else [ToolCallDelta(index, '{"a":1.10}')]
                    said.add(index)
                case ReasoningEnd() | TextEnd() | ToolCallEnd():
                    events.append(replace(event, signature=draw(signature)))
                case _:
                    events.append(event)
        made.append(Batch(tuple(events)))
    return made


def context() -> AnswerContext:
    return AnswerContext("req_1", "conv_1", "p", ChatRequest("m", ()))


def encode(batches: list[Batch], *, in_array: bool = False) -> bytes:
    encoder = GeminiEncoder(context(), in_array=in_array)
    return b"".join(encoder.encode(batch) for batch in batches)


def decode(body: bytes) -> list[Batch]:
    """A stream of either form, chunk by chunk as the network brings it."""
    return decoded(b"".join(b"data: " + chunk + b"\n\n" for chunk in chunks(body)), GeminiDecoder(DecoderContext()))


def sense(response: ChatResponse) -> list[Any]:
    """Its parts as this API can tell them: kind and text, texts that follow each other joined up to a signature. That
    of a text stands behind it in a part of its own, as Google streams it."""
    said: list[list[Any]] = []
    for one in (one for part in response.parts for one in _sense(part)):
        if said and one[0] == said[-1][0] != "call" and said[-1][2] is None:
            said[-1] = [one[0], said[-1][1] + one[1], one[2]]
        else:
            said.append(one)
    return said


def _sense(part: OutputPart) -> list[list[Any]]:
    match part:
        case ToolCallOutput():
            return [["call", (part.id, part.name, part.arguments), part.signature]]
        case ReasoningOutput(text, signature):
            return [["thought", text, signature]]
        case TextOutput(text, _, signature):
            return [["text", text, None], *([["thought", "", signature]] if signature else [])]
    raise AssertionError(part)


@FORMS
@given(batches=answers())
def test_what_the_encoder_writes_the_decoder_reads(batches: list[Batch], in_array: bool) -> None:
    wanted, got = folded(batches), folded(decode(encode(batches, in_array=in_array)))
    assert sense(got) == sense(wanted)
    assert (got.id, got.model, got.usage or Usage()) == (wanted.id, wanted.model, wanted.usage)
    assert got.finish.reason == wanted.finish.reason


@given(batches=answers())
def test_the_two_forms_say_the_same(batches: list[Batch]) -> None:
    assert chunks(encode(batches, in_array=True)) == chunks(encode(batches))


@FORMS
@given(batches=answers())
def test_a_second_passage_changes_no_byte(batches: list[Batch], in_array: bool) -> None:
    """Our own stream needs no repair: the lane hands every chunk on as it is."""
    body = encode(batches, in_array=in_array)
    assert encode(decode(body), in_array=in_array) == body


@given(batches=answers())
def test_strict_clients_read_it(batches: list[Batch]) -> None:
    body, response = encode(batches), folded(batches)
    calls = [part for part in response.parts if type(part) is ToolCallOutput]
    said = read(body)
    assert said.calls == [(part.name, part.arguments) for part in calls]
    assert said.thoughts == "".join(part.text for part in response.parts if type(part) is ReasoningOutput)
    heard = [call for chunk in sdk_stream(body.replace(b'"S"', b'"c2ln"')) for call in chunk.function_calls or ()]
    assert [(call.id, call.name) for call in heard] == [(part.id, part.name) for part in calls]


@given(batches=answers())
def test_the_document_says_what_the_stream_says(batches: list[Batch]) -> None:
    wanted = folded(batches)
    got = folded([GeminiDecoder(DecoderContext()).decode_json(render_response(wanted, Batch(()), context()))])
    assert sense(got) == sense(wanted)
    assert (got.id, got.usage or Usage(), got.finish.reason) == (wanted.id, wanted.usage, wanted.finish.reason)


@FORMS
@given(batches=answers(), data=st.data())
def test_a_stream_that_broke_off_is_whole_json_with_an_error_at_its_end(
    batches: list[Batch], in_array: bool, data: st.DataObject
) -> None:
    kept = data.draw(st.integers(0, len(batches) - 1))
    encoder = GeminiEncoder(context(), in_array=in_array)
    pieces = [encoder.encode(batch) for batch in batches[:kept]]
    quiet = encoder.keep_alive() if any(pieces) else b""
    body = b"".join([*pieces, quiet, encoder.fail(InternalError("no"), "req_1")])
    said = read(body)
    assert said.error is not None
    assert said.finish is None
    assert len(chunks(body)) == len([piece for piece in pieces if piece]) + 1
