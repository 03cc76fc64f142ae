"""Answers of Claude at Bedrock by InvokeModel: Anthropic's own events in AWS's frames."""

from __future__ import annotations

import json
from typing import Any

import pytest
from anthropic.lib.bedrock._stream_decoder import AWSEventStreamDecoder

from tests.corpus.driver import Answer, answer, open_exchange
from tests.doors.messages.claude_code import first_turn
from tests.framing.aws_frames import event
from tests.providers.anthropic_messages import messages_upstream as messages
from tests.providers.bedrock_messages.invoked import CONTENT_TYPE, chunk, exception, frames
from toolwire.model.errors import UpstreamTruncated

MODEL = "us.anthropic.claude-sonnet-5-v1:0"
METRICS = {"inputTokenCount": 1, "outputTokenCount": 2, "invocationLatency": 3, "firstByteLatency": 4}
STREAM = messages.stream(
    messages.start(),
    messages.begin(0, "thinking"), messages.thinking(0, "Hm."), messages.signature(0, "sig=="), messages.end(0),
    messages.begin(1, "novelty", mood="new"), messages.end(1),
    messages.call(2, "toolu_bdrk_1", "weather"), messages.fragment(2, '{"city": '), messages.fragment(2, '"Rome"}'),
    messages.end(2), messages.finish("tool_use"),
    {"type": "message_stop", "amazon-bedrock-invocationMetrics": METRICS},
)  # fmt: skip


def said(pieces: list[bytes], **more: Any) -> Answer:
    exchange = open_exchange(first_turn(), door="messages", wire="bedrock_messages", model=MODEL)
    return answer(exchange, pieces, **{"content_type": CONTENT_TYPE, **more})


def data(body: bytes) -> list[bytes]:
    return [line.removeprefix(b"data: ") for line in body.split(b"\n") if line.startswith(b"data: ")]


@pytest.mark.parametrize("size", [1, 7, 1 << 20])
def test_a_messages_client_gets_anthropics_own_events(size: int) -> None:
    """Thinking with its signature, blocks that nobody knows yet, and what Bedrock adds, byte for byte."""
    body = b"".join(frames(STREAM))
    found = said([body[at : at + size] for at in range(0, len(body), size)])
    assert (found.status, data(found.body)) == (200, data(STREAM))


def test_a_whole_answer_is_anthropics_own() -> None:
    thinking = {"type": "thinking", "thinking": "Hm.", "signature": "s"}
    document = messages.whole([thinking, {"type": "text", "text": "A."}])
    body = json.dumps(json.loads(first_turn()) | {"stream": False}).encode()
    exchange = open_exchange(body, door="messages", wire="bedrock_messages", model=MODEL)
    assert answer(exchange, [document], content_type="application/json").body == document


def test_events_of_other_kinds_are_passed_over() -> None:
    first, *rest = frames(STREAM)
    assert data(said([first, event("initial-response", b"{}"), *rest]).body) == data(STREAM)


EXCEPTIONS = [
    ("internalServerException", {"message": "Internal."}, "api_error"),
    ("modelStreamErrorException", {"message": "Model.", "originalStatusCode": 500}, "api_error"),
    ("modelTimeoutException", {"message": "Late."}, "timeout_error"),
    ("serviceUnavailableException", {"message": "Busy."}, "overloaded_error"),
    ("throttlingException", {"message": "Slow down."}, "rate_limit_error"),
    ("validationException", {"message": "Wrong."}, "invalid_request_error"),
]


@pytest.mark.parametrize(("name", "members", "kind"), EXCEPTIONS)
def test_an_exception_is_an_error_event_and_no_clean_end(name: str, members: dict[str, Any], kind: str) -> None:
    found = data(said([*frames(STREAM)[:3], exception(name, **members)]).body)
    last = json.loads(found[-1])
    assert (last["type"], last["error"]["type"], last["error"]["message"]) == ("error", kind, members["message"])
    assert not any(b"message_stop" in line for line in found)


@pytest.mark.parametrize(
    "broken",
    [chunk(b"{}")[:-1] + b"x", event("chunk", b'{"bytes":"!"}'), event("chunk", b"{}"), chunk(b"no JSON")],
    ids=["checksum", "base64", "no bytes", "no event"],
)
def test_a_broken_frame_is_an_error(broken: bytes) -> None:
    found = data(said([*frames(STREAM)[:3], broken]).body)
    assert (json.loads(found[-1])["type"], json.loads(found[-1])["error"]["type"]) == ("error", "api_error")


@pytest.mark.parametrize("error", [None, UpstreamTruncated("cut")])
def test_a_stream_that_breaks_off_is_an_error(error: UpstreamTruncated | None) -> None:
    body = b"".join(frames(STREAM)[:-2])
    for cut in (len(body), len(body) - 3):
        found = data(said([body[:cut]], error=error).body)
        assert json.loads(found[-1])["type"] == "error"


def test_anthropics_own_client_reads_the_frames() -> None:
    """The frames of these tests are what its client for Bedrock decodes, and ours come to the same events."""
    body = b"".join(frames(STREAM))
    read = list(AWSEventStreamDecoder().iter_bytes(iter([body])))
    assert [event.data for event in read] == [line.decode() for line in data(STREAM)]
    assert [json.loads(event.data) for event in read] == [json.loads(line) for line in data(said([body]).body)]
