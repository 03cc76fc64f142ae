"""Loopback: what the chat door writes, the Chat wire's decoder reads back as the same neutral events.

The events are what any provider may decode to (Anthropic, Gemini, ...), so this is also how they look to a chat client.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from hypothesis import given
from hypothesis import strategies as st

from tests.loopback.passage import decoded, folded
from tests.providers.openai_chat.chat_reader import read, sdk_stream
from toolwire.doors.chat_completions.document import render_response
from toolwire.doors.chat_completions.stream import ChatEncoder
from toolwire.model.events import (
    Batch,
    Finish,
    FinishReason,
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
from toolwire.model.response import ChatResponse, OutputPart, ReasoningOutput, TextOutput, ToolCallOutput
from toolwire.providers.decoder_context import DecoderContext
from toolwire.providers.openai_chat.answer import ChatDecoder
from toolwire.stream.order import OrderCheck

words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=10)
fragments = st.lists(words, min_size=1, max_size=3)
#: Whole JSON objects in pieces: what does not parse is passed on as text, and a `}{` would be two calls.
objects = st.sampled_from([["{}"], ['{"a":', "1.10}"], ['{"b":"\\', 'u00e9}{"}'], ["{", '"c":[', "{}]", "}"]])
usages = st.builds(
    lambda given, output, cached, thought: Usage(given + cached, output + thought, cached, 0, thought),
    *(st.integers(0, 10**9) for _ in range(4)),
)

#: What our own door streams: `{}` is the arguments, never a stand-in for them.
OURS = DecoderContext(placeholders=False)


def text_part(index: int, pieces: list[str], refusal: bool) -> list[StreamEvent]:
    return [TextStart(index, refusal), *(TextDelta(index, piece) for piece in pieces), TextEnd(index)]


def reasoning_part(index: int, pieces: list[str]) -> list[StreamEvent]:
    return [ReasoningStart(index), *(ReasoningDelta(index, piece) for piece in pieces), ReasoningEnd(index)]


def call_part(
    index: int, id: str, name: str, pieces: list[str], kind: Literal["function", "custom"]
) -> list[StreamEvent]:
    start = ToolCallStart(index, id, name, kind)
    return [start, *(ToolCallDelta(index, piece) for piece in pieces), ToolCallEnd(index)]


@st.composite
def parts(draw: st.DrawFn) -> list[list[StreamEvent]]:
    """The parts of one answer, dense indices in the order in which they start."""
    kinds = draw(st.lists(st.sampled_from(["text", "refusal", "reasoning", "call", "custom"]), max_size=5))
    made = []
    for index, kind in enumerate(kinds):
        if kind in ("call", "custom"):
            pieces = draw(objects if kind == "call" else fragments)
            id = f"call_{index}"
            made.append(call_part(index, id, draw(words), pieces, "custom" if kind == "custom" else "function"))
        elif kind == "reasoning":
            made.append(reasoning_part(index, draw(fragments)))
        else:
            made.append(text_part(index, draw(fragments), kind == "refusal"))
    return made


@st.composite
def answers(draw: st.DrawFn) -> list[Batch]:
    """A legal stream of events in batches of any size; the deltas of parallel calls interleave."""
    events: list[StreamEvent] = [ResponseStart("resp_1", "some-model", 1_700_000_000)]
    running: list[list[StreamEvent]] = []
    made = draw(parts())
    for part in made:
        if isinstance(part[0], ToolCallStart):
            events.append(part.pop(0))
            running.append(part)
        else:
            events += part
        turns = draw(st.integers(0, 3)) if running else 0
        for queue in draw(st.lists(st.sampled_from(running), max_size=turns)) if turns else ():
            if len(queue) == 1:  # the end stays until the upstream's end: nothing on the Chat wire ends a call earlier
                break
            events.append(queue.pop(0))
    for queue in running:
        events += queue
    reasons: list[FinishReason] = ["tool_calls", "length", "content_filter"] if running else ["stop", "length"]
    reason = draw(st.sampled_from(reasons))
    usage = draw(usages)
    tail: list[StreamEvent] = [Finish(reason, reason), UsageUpdate(usage)]
    events += tail if draw(st.booleans()) else reversed(tail)
    events.append(ResponseEnd(usage))
    batches = []
    while events:
        size = draw(st.integers(1, 4))
        batches.append(Batch(tuple(events[:size])))
        events = events[size:]
    return batches


def encode(batches: list[Batch]) -> bytes:
    order, encoder = OrderCheck(), ChatEncoder(include_usage=True)
    for batch in batches:
        order.check(batch)
    return b"".join(encoder.encode(batch) for batch in batches)


def decode(body: bytes) -> list[Batch]:
    return decoded(body, ChatDecoder(OURS))


def sense(batches: list[Batch]) -> list[object]:
    """What the events say, part by part: where the wire cannot say more, neighbours of one kind are one part."""
    response = folded(batches)
    said: list[OutputPart] = []
    for part in response.parts:
        match said[-1:], part:
            case [TextOutput(before, refusal)], TextOutput(text, again) if refusal == again:
                said[-1] = TextOutput(before + text, refusal)
            case [ReasoningOutput(before)], ReasoningOutput(text):
                said[-1] = ReasoningOutput(before + text)
            case _:
                said.append(part)
    return [response.id, response.model, response.created, response.finish, response.usage, *said]


def calls_of(response: ChatResponse) -> list[ToolCallOutput]:
    return [part for part in response.parts if isinstance(part, ToolCallOutput)]


def texts_of(response: ChatResponse) -> list[str]:
    """Content, refusal and reasoning: a document has one field for each."""
    texts = [part for part in response.parts if isinstance(part, TextOutput)]
    return [
        "".join(part.text for part in texts if not part.refusal),
        "".join(part.text for part in texts if part.refusal),
        "".join(part.text for part in response.parts if isinstance(part, ReasoningOutput)),
    ]


@given(answers())
def test_what_the_encoder_writes_the_decoder_reads(batches: list[Batch]) -> None:
    body = encode(batches)
    assert sense(decode(body)) == sense(batches)


@given(answers())
def test_a_second_passage_changes_no_byte(batches: list[Batch]) -> None:
    """Our own stream needs no repair: the lane hands every frame on as it is."""
    body = encode(batches)
    assert encode(decode(body)) == body


@given(answers())
def test_strict_clients_read_it(batches: list[Batch]) -> None:
    body = encode(batches)
    said, response = read(body, usage=True), folded(batches)
    calls = [(part.id, part.name, part.arguments) for part in calls_of(response)]
    assert said.calls == calls
    assert [said.content, said.refusal, said.reasoning] == texts_of(response)
    assert said.finish == response.finish.reason
    if all(part.kind == "function" for part in calls_of(response)):  # openai-python has no deltas of custom tools
        message = sdk_stream(body)["choices"][0]["message"]
        entries = message["tool_calls"] or ()
        shown = [(entry["id"], entry["function"]["name"], entry["function"]["arguments"]) for entry in entries]
        assert shown == calls


@given(answers())
def test_the_document_says_what_the_stream_says(batches: list[Batch]) -> None:
    wanted = folded(batches)
    got = folded([ChatDecoder(DecoderContext()).decode_json(render_response(wanted, Batch(()), as_function=False))])
    assert (got.id, got.model, got.created, got.finish) == (wanted.id, wanted.model, wanted.created, wanted.finish)
    assert (got.usage, texts_of(got)) == (wanted.usage, texts_of(wanted))
    # Whether a cut custom call is complete is told by its place among the parts, which a document does not keep.
    made, again = ([replace(call, complete=True) for call in calls_of(response)] for response in (wanted, got))
    assert again == made
