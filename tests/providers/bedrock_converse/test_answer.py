"""Converse answers: what they fold to, streamed and whole, and which of them are failures."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.framing.aws_frames import frame
from tests.named_rows import each_row
from tests.providers.bedrock_converse.converse_upstream import (
    BEGIN,
    USAGE,
    Event,
    call,
    delta,
    document,
    end,
    fragment,
    reasoning,
    stop,
    stream,
    text,
)
from toolwire.framing.aws_event_stream import AwsEventStreamDecoder
from toolwire.model.errors import UpstreamError, UpstreamProtocolError, UpstreamTruncated
from toolwire.model.events import Batch, OpaquePart, StreamEvent, Usage
from toolwire.model.response import ChatResponse, ReasoningOutput, TextOutput, ToolCallOutput
from toolwire.providers.bedrock_converse.answer import ConverseDecoder
from toolwire.providers.bedrock_converse.answer_blocks import REDACTED
from toolwire.providers.decoder_context import DecoderContext
from toolwire.stream.fold import Fold
from toolwire.stream.order import OrderCheck
from toolwire.wire.bedrock_converse import MALFORMED, STOP_REASONS

PARIS = '{"city":"Paris","n":12345678901234567890}'
Said = tuple[str, str, list[tuple[str | None, str, str]], str]


def folded(batches: list[Batch]) -> ChatResponse:
    """The answer, if its events come in a legal order."""
    order, fold = OrderCheck(), Fold()
    for batch in batches:
        order.check(batch)
        fold.take(Batch(batch.events))
    assert order.state == "ended"
    return fold.response()


def streamed(*events: Event) -> ChatResponse:
    decoder = ConverseDecoder(DecoderContext())
    batches = [decoder.decode(found) for found in AwsEventStreamDecoder().feed(stream(*events))]
    return folded([*batches, decoder.end()])


def events_of(*events: Event) -> list[StreamEvent]:
    decoder = ConverseDecoder(DecoderContext())
    return [event for found in AwsEventStreamDecoder().feed(stream(*events)) for event in decoder.decode(found).events]


def said(response: ChatResponse) -> Said:
    parts = response.parts
    return (
        "".join(part.text for part in parts if isinstance(part, TextOutput)),
        "".join(part.text for part in parts if isinstance(part, ReasoningOutput)),
        [(part.id, part.name, part.arguments) for part in parts if isinstance(part, ToolCallOutput)],
        response.finish.reason,
    )


STREAMS: dict[str, tuple[list[Event], Said]] = {
    "text": ([BEGIN, text(0, "Hel"), text(0, "lo"), end(0), stop("end_turn"), USAGE], ("Hello", "", [], "stop")),
    "a call": (
        [
            BEGIN, call(0, "t1", "weather"), fragment(0, PARIS[:9]), fragment(0, PARIS[9:]), end(0),
            stop("tool_use"), USAGE,
        ],
        ("", "", [("t1", "weather", PARIS)], "tool_calls"),
    ),
    "text, then two calls": (
        [
            BEGIN, text(0, "Both."), end(0), call(1, "t1", "weather"), fragment(1, PARIS), end(1),
            call(2, "t2", "time"), fragment(2, "{}"), end(2), stop("tool_use"), USAGE,
        ],
        ("Both.", "", [("t1", "weather", PARIS), ("t2", "time", "{}")], "tool_calls"),
    ),
    "calls without arguments": (
        [
            BEGIN, call(0, "t1", "time"), end(0), call(1, "t2", "time"), fragment(1, ""), end(1),
            stop("tool_use"), USAGE,
        ],
        ("", "", [("t1", "time", "{}"), ("t2", "time", "{}")], "tool_calls"),
    ),
    "a call without arguments, cut": (
        [BEGIN, call(0, "t1", "time"), end(0), stop("max_tokens"), USAGE], ("", "", [("t1", "time", "")], "length"),
    ),
    "a call cut inside": (
        [BEGIN, call(0, "t1", "time"), fragment(0, '{"a'), end(0), stop("max_tokens"), USAGE],
        ("", "", [("t1", "time", '{"a')], "length"),
    ),
    "reasoning, signed": (
        [BEGIN, reasoning(0, text="Hm"), reasoning(0, text="m"), reasoning(0, signature="s1"), end(0), text(1, "Yes."),
         end(1), stop("end_turn"), USAGE],
        ("Yes.", "Hmm", [], "stop"),
    ),
    "calls beside end_turn": (
        [BEGIN, call(0, "t1", "time"), fragment(0, "{}"), end(0), stop("end_turn"), USAGE],
        ("", "", [("t1", "time", "{}")], "tool_calls"),
    ),
    "a word nobody knows": ([BEGIN, text(0, "Hi"), end(0), stop("tired"), USAGE], ("Hi", "", [], "stop")),
    "no usage": ([BEGIN, text(0, "Hi"), end(0), stop("end_turn")], ("Hi", "", [], "stop")),
    "no messageStart": ([text(0, "Hi"), end(0), stop("end_turn"), USAGE], ("Hi", "", [], "stop")),
    "a block that is not ended": ([BEGIN, text(0, "Hi"), stop("end_turn"), USAGE], ("Hi", "", [], "stop")),
    "no indices": ([BEGIN, text(None, "Hi"), text(None, "!"), stop("end_turn"), USAGE], ("Hi!", "", [], "stop")),
    "an index used twice": (
        [BEGIN, text(0, "Hi"), call(0, "t1", "time"), fragment(0, "{}"), end(0), stop("tool_use"), USAGE],
        ("Hi", "", [("t1", "time", "{}")], "tool_calls"),
    ),
    "what is new": (
        [
            BEGIN, ("novelty", {"a": 1}), delta(0, citation={"title": "x"}), text(0, "Hi"), end(0),
            stop("end_turn"), USAGE,
        ],
        ("Hi", "", [], "stop"),
    ),
    "nothing said": ([BEGIN, stop("end_turn"), USAGE], ("", "", [], "stop")),
}  # fmt: skip


@each_row("name", STREAMS)
def test_streams(name: str) -> None:
    events, expected = STREAMS[name]
    assert said(streamed(*events)) == expected


DOCUMENTS: dict[str, tuple[bytes, Said]] = {
    "text": (document({"text": "Hello"}), ("Hello", "", [], "stop")),
    "a call": (
        document({"toolUse": {"toolUseId": "t1", "name": "weather", "input": {"city": "Paris"}}}, reason="tool_use"),
        ("", "", [("t1", "weather", '{"city": "Paris"}')], "tool_calls"),
    ),
    "an empty input": (
        document({"toolUse": {"toolUseId": "t1", "name": "time", "input": {}}}, reason="tool_use"),
        ("", "", [("t1", "time", "{}")], "tool_calls"),
    ),
    "an empty input, cut": (
        document({"toolUse": {"toolUseId": "t1", "name": "time", "input": {}}}, reason="max_tokens"),
        ("", "", [("t1", "time", "")], "length"),
    ),
    "an input as text": (
        document({"toolUse": {"toolUseId": "t1", "name": "time", "input": '{"a":1.10}'}}, reason="tool_use"),
        ("", "", [("t1", "time", '{"a":1.10}')], "tool_calls"),
    ),
    "reasoning": (
        document({"reasoningContent": {"reasoningText": {"text": "Hm", "signature": "s"}}}, {"text": "Yes."}),
        ("Yes.", "Hm", [], "stop"),
    ),
    "cited text": (
        document({"citationsContent": {"content": [{"text": "So "}, {"text": "it is."}], "citations": []}}),
        ("So it is.", "", [], "stop"),
    ),
    "no reason": (document({"text": "Hi"}, reason=None), ("Hi", "", [], "stop")),
}


@each_row("name", DOCUMENTS)
def test_documents(name: str) -> None:
    body, expected = DOCUMENTS[name]
    assert said(folded([ConverseDecoder(DecoderContext()).decode_json(body)])) == expected


def test_arguments_of_a_document_are_its_own_bytes() -> None:
    raw = '{"n": 1.10, "big": 12345678901234567890,\n "s": "\\u00e9"}'
    use = b'{"toolUse":{"toolUseId":"t","name":"f","input":%b}}' % raw.encode()
    body = b'{"output":{"message":{"content":[%b]}},"stopReason":"tool_use"}' % use
    assert said(folded([ConverseDecoder(DecoderContext()).decode_json(body)]))[2] == [("t", "f", raw)]


@pytest.mark.parametrize(("word", "reason"), STOP_REASONS.items())
def test_stop_reasons(word: str, reason: str) -> None:
    expected = "stop" if reason == "tool_calls" else reason  # there is no call
    assert said(streamed(BEGIN, text(0, "Hi"), end(0), stop(word), USAGE))[3] == expected


def test_proofs_of_reasoning_are_its_signature() -> None:
    whole = document({"reasoningContent": {"redactedContent": "AAEC"}}, {"text": "Hi"})
    (part, _) = folded([ConverseDecoder(DecoderContext()).decode_json(whole)]).parts
    assert isinstance(part, ReasoningOutput)
    assert part.signature == REDACTED + "AAEC"
    pieces = [reasoning(0, redactedContent="AAE"), reasoning(0, redactedContent="C")]
    (part, _) = streamed(BEGIN, *pieces, end(0), text(1, "Hi"), end(1), stop("end_turn"), USAGE).parts
    assert isinstance(part, ReasoningOutput)
    assert part.signature == REDACTED + "AAEC"


@pytest.mark.parametrize(
    ("given", "total", "counted"),
    [
        pytest.param(3, 118, 113, id="beside the input"),
        pytest.param(3, 8, 113, id="beside the input, and left out of the total"),
        pytest.param(113, 118, 113, id="within the input"),  # OpenAI's models
        pytest.param(200, 315, 310, id="beside a long input"),
        pytest.param(200, None, 310, id="no total"),
    ],
)
def test_usage_counts_the_cache(given: int, total: int | None, counted: int) -> None:
    usage = {"inputTokens": given, "outputTokens": 5, "cacheReadInputTokens": 100, "cacheWriteInputTokens": 10}
    usage |= {} if total is None else {"totalTokens": total}
    expected = Usage(counted, 5, cache_read_tokens=100, cache_write_tokens=10)
    assert (
        folded([ConverseDecoder(DecoderContext()).decode_json(document({"text": "Hi"}, usage=usage))]).usage == expected
    )
    assert streamed(BEGIN, text(0, "Hi"), stop("end_turn"), ("metadata", {"usage": usage})).usage == expected


def test_what_runs_at_the_provider_is_no_call() -> None:
    server = call(0, "t1", "nova_code_interpreter", type="server_tool_use")
    found = events_of(BEGIN, server, end(0), text(1, "42"), end(1), stop("end_turn"), USAGE)
    (opaque,) = (event for event in found if isinstance(event, OpaquePart))
    assert (opaque.kind, opaque.dialect) == ("toolUse", "bedrock_converse")


# ---------------------------------------------------------------- failures


@pytest.mark.parametrize(
    "events",
    [[], [BEGIN], [BEGIN, text(0, "Hi")], [BEGIN, call(0, "t1", "time"), fragment(0, "{}"), end(0)]],
    ids=["nothing", "the beginning", "text", "a whole call"],
)
def test_an_answer_that_breaks_off(events: list[Event]) -> None:
    with pytest.raises(UpstreamTruncated):
        streamed(*events)


@pytest.mark.parametrize("word", sorted(MALFORMED))
def test_an_answer_that_the_model_has_spoilt(word: str) -> None:
    with pytest.raises(UpstreamError, match=word):
        streamed(BEGIN, text(0, "Hi"), stop(word))
    with pytest.raises(UpstreamError, match=word):
        ConverseDecoder(DecoderContext()).decode_json(document({"text": "Hi"}, reason=word))


EXCEPTIONS: list[tuple[str, dict[str, Any], int, str]] = [
    ("throttlingException", {"message": "Too many requests"}, 429, "rate_limit_exceeded"),
    ("serviceUnavailableException", {"message": "Later"}, 503, "upstream_overloaded"),
    ("internalServerException", {"message": "Oops"}, 500, "upstream_error"),
    ("validationException", {"message": "Input is too long for requested model."}, 400, "context_length_exceeded"),
    ("modelStreamErrorException", {"message": "It broke", "originalStatusCode": 400}, 502, "upstream_error"),
    ("noveltyException", {"message": "New"}, 502, "upstream_error"),
]


@pytest.mark.parametrize(("name", "payload", "status", "code"), EXCEPTIONS, ids=[row[0] for row in EXCEPTIONS])
def test_exceptions_inside_a_stream(name: str, payload: dict[str, Any], status: int, code: str) -> None:
    raw = frame({":message-type": "exception", ":exception-type": name}, json.dumps(payload).encode())
    (found,) = AwsEventStreamDecoder().feed(raw)
    with pytest.raises(UpstreamError) as caught:
        ConverseDecoder(DecoderContext()).decode(found)
    assert (caught.value.status, caught.value.code, caught.value.message) == (status, code, payload["message"])


DEEP = b"[" * 9000 + b"]" * 9000


@pytest.mark.parametrize(
    "payload",
    [b"", b"{", b"[1]", b'{"delta":{"text":1}}', b'{"delta":{"text":"\xff"}}', b'{"delta":{},"new":' + DEEP + b"}"],
)
def test_payloads_that_cannot_be_read(payload: bytes) -> None:
    (found,) = AwsEventStreamDecoder().feed(frame({":event-type": "contentBlockDelta"}, payload))
    with pytest.raises(UpstreamProtocolError):
        ConverseDecoder(DecoderContext()).decode(found)


@pytest.mark.parametrize(
    "body", [b"", b"<html>", b"{}", b'{"output":{}}', document(reason=None), b'{"new":' + DEEP + b"}"]
)
def test_documents_that_make_no_sense(body: bytes) -> None:
    with pytest.raises(UpstreamError):
        ConverseDecoder(DecoderContext()).decode_json(body)


def test_a_call_needs_its_name() -> None:
    with pytest.raises(UpstreamProtocolError, match="name"):
        streamed(BEGIN, call(0, "t1", ""))
