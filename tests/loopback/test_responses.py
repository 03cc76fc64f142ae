"""Loopback: what the Responses door writes, the Responses wire's decoder reads back as the same neutral events."""

from __future__ import annotations

from hypothesis import given

from tests.doors.responses.responses_reader import read
from tests.loopback.passage import decoded, folded
from tests.loopback.test_chat import OURS, answers
from toolwire.doors import AnswerContext
from toolwire.doors.responses.request import DOOR, parse_request
from toolwire.model.events import Batch
from toolwire.model.response import ChatResponse, OutputPart, ReasoningOutput, TextOutput, ToolCallOutput
from toolwire.providers.decoder_context import DecoderContext
from toolwire.providers.openai_responses.answer import ResponsesDecoder

REQUEST = parse_request(b'{"model":"m","input":"hi","stream":true}')


def context() -> AnswerContext:
    return AnswerContext("req", "conv", "up", request=REQUEST)


def encode(batches: list[Batch]) -> bytes:
    encoder = DOOR.stream_encoder(REQUEST, context())
    return b"".join(encoder.encode(batch) for batch in batches)


def decode(body: bytes) -> list[Batch]:
    return decoded(body, ResponsesDecoder(OURS))


def sense(response: ChatResponse) -> list[object]:
    """What an answer says, part by part, where the API can say it: neighbours of one kind of text are one."""
    said: list[OutputPart] = []
    for part in response.parts:
        match said[-1:], part:
            case [TextOutput(before, refusal)], TextOutput(text, again) if refusal == again:
                said[-1] = TextOutput(before + text, refusal)
            case _:
                said.append(part)
    # Whether the limit cut a freeform call is told by its place, and why a whole answer ended by what it holds.
    parts = [(p.id, p.name, p.arguments, p.kind) if isinstance(p, ToolCallOutput) else p for p in said]
    ending = response.finish.reason if response.finish.reason in ("length", "content_filter") else "whole"
    return [response.id, response.model, response.created, ending, response.usage, *parts]


@given(answers())
def test_what_the_encoder_writes_the_decoder_reads(batches: list[Batch]) -> None:
    assert sense(folded(decode(encode(batches)))) == sense(folded(batches))


@given(answers())
def test_a_second_passage_changes_no_byte(batches: list[Batch]) -> None:
    """Our own stream needs no repair: the lane hands every frame on as it is."""
    body = encode(batches)
    assert encode(decode(body)) == body


@given(answers())
def test_a_strict_reader_finds_no_fault(batches: list[Batch]) -> None:
    said, response = read(encode(batches)), folded(batches)
    assert said.final is not None
    calls = [item for item in said.final["output"] if item["type"].endswith("call")]
    assert [(item["call_id"], item["name"], item.get("arguments", item.get("input"))) for item in calls] == [
        (part.id, part.name, part.arguments) for part in response.parts if isinstance(part, ToolCallOutput)
    ]
    reasoning = [item for item in said.final["output"] if item["type"] == "reasoning"]
    assert ["".join(text["text"] for text in item["summary"]) for item in reasoning] == [
        part.text for part in response.parts if isinstance(part, ReasoningOutput)
    ]


@given(answers())
def test_the_document_says_what_the_stream_says(batches: list[Batch]) -> None:
    """To the byte: the response in the stream's last event is the JSON answer."""
    wanted = folded(batches)
    document = DOOR.render_response(wanted, Batch(()), context())
    ending = encode(batches).rsplit(b"data: ", 1)[1]
    assert document in ending
    assert sense(folded([ResponsesDecoder(DecoderContext()).decode_json(document)])) == sense(wanted)
