"""Loopback: what the messages door writes, the Messages wire's decoder reads back as the same neutral events."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from tests.doors.messages.messages_reader import read, sdk_stream
from tests.loopback.passage import decoded, folded
from tests.loopback.test_chat import OURS
from tests.loopback.test_chat import answers as chat_answers
from toolwire.doors import AnswerContext
from toolwire.doors.messages.document import render_response
from toolwire.doors.messages.stream import MessagesEncoder
from toolwire.model.events import Batch, ReasoningEnd, ResponseStart, StreamEvent, ToolCallDelta, ToolCallStart
from toolwire.model.request import ChatRequest
from toolwire.model.response import ChatResponse, OutputPart, ReasoningOutput, TextOutput, ToolCallOutput
from toolwire.providers.anthropic_messages.answer import MessagesDecoder
from toolwire.providers.decoder_context import DecoderContext


@st.composite
def answers(draw: st.DrawFn) -> list[Batch]:
    """Answers of any provider: calls that interleave, signed and unsigned reasoning; no custom tools, which this API
    does not have."""
    signature = draw(st.sampled_from([None, "S"]))
    batches = draw(chat_answers())
    custom = {e.index for batch in batches for e in batch.events if type(e) is ToolCallStart and e.kind == "custom"}
    said: set[int] = set()  # the custom calls whose arguments have been said
    made = []
    for batch in batches:
        events: list[StreamEvent] = []
        for event in batch.events:
            match event:
                case ResponseStart(_, model, created):
                    events.append(ResponseStart("msg_1", model, created))
                case ToolCallStart(index, id, name):
                    events.append(ToolCallStart(index, id, name))
                case ToolCallDelta(index) if index in custom:
                    events += [] if index in said else [ToolCallDelta(index, '{"a":1.10}')]
                    said.add(index)
                case ReasoningEnd(index):
                    events.append(ReasoningEnd(index, signature))
                case _:
                    events.append(event)
        made.append(Batch(tuple(events)))
    return made


def context() -> AnswerContext:
    return AnswerContext("req_1", "conv_1", "p", ChatRequest("m", ()))


def encode(batches: list[Batch]) -> bytes:
    encoder = MessagesEncoder()
    return b"".join(encoder.encode(batch) for batch in batches)


def decode(body: bytes) -> list[Batch]:
    return decoded(body, MessagesDecoder(OURS))


def sense(response: ChatResponse) -> list[OutputPart]:
    """Its parts as this API can tell them: a refusal is text, arguments that are not there are an empty object."""
    said: list[OutputPart] = []
    for part in response.parts:
        if type(part) is TextOutput:
            said.append(TextOutput(part.text))
        elif type(part) is ToolCallOutput:
            said.append(ToolCallOutput(part.id, part.name, part.arguments, part.complete))
        else:
            said.append(part)
    return said


@given(answers())
def test_what_the_encoder_writes_the_decoder_reads(batches: list[Batch]) -> None:
    wanted, got = folded(batches), folded(decode(encode(batches)))
    assert sense(got) == sense(wanted)
    assert (got.id, got.model, got.usage) == (wanted.id, wanted.model, wanted.usage)


@given(answers())
def test_a_second_passage_changes_no_byte(batches: list[Batch]) -> None:
    """Our own stream needs no repair: the lane hands every frame on as it is."""
    body = encode(batches)
    assert encode(decode(body)) == body


@given(answers())
def test_strict_clients_read_it(batches: list[Batch]) -> None:
    body, response = encode(batches), folded(batches)
    said = read(body)
    calls = [part for part in response.parts if type(part) is ToolCallOutput]
    assert said.calls == [(part.id, part.name, part.arguments) for part in calls]
    assert said.of("thinking") == "".join(part.text for part in response.parts if type(part) is ReasoningOutput)
    blocks = sdk_stream(body)["content"]
    assert [block["id"] for block in blocks if block["type"] == "tool_use"] == [part.id for part in calls]


@given(answers())
def test_the_document_says_what_the_stream_says(batches: list[Batch]) -> None:
    wanted = folded(batches)
    got = folded([MessagesDecoder(DecoderContext()).decode_json(render_response(wanted, Batch(()), context()))])
    # An empty input may be whole or cut: where the output limit ended the answer, a document does not tell which.
    assert [_either(part) for part in sense(got)] == [_either(part) for part in sense(wanted)]
    assert (got.id, got.usage) == (wanted.id, wanted.usage)


def _either(part: OutputPart) -> OutputPart:
    if isinstance(part, ToolCallOutput) and part.arguments in ("", "{}"):
        return replace(part, arguments="", complete=False)
    return part
