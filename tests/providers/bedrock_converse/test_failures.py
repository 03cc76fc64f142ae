"""What goes wrong at Bedrock, as the clients of every door are told: by both of its wires, before an answer and in its
middle."""

from __future__ import annotations

import json
from typing import Any

from tests.corpus.driver import Answer, open_exchange, sent
from tests.framing.aws_frames import event, frame
from tests.named_rows import each_row
from tests.providers.anthropic_messages import messages_upstream as messages
from tests.providers.bedrock_converse.converse_upstream import BEGIN, call, fragment, stream, text
from tests.providers.bedrock_messages.invoked import exception, frames
from tests.providers.every_door import REQUESTS, events_in
from toolwire.model.errors import UpstreamTruncated
from toolwire.model.http import Head

MODEL = "arn:aws:bedrock:eu-west-1:123456789012:inference-profile/eu.anthropic.claude-sonnet-4-5-20250929-v1:0"
WIRES = ("bedrock_converse", "bedrock_messages")
DOORS = tuple(REQUESTS)
KIND = "application/vnd.amazon.eventstream"
ROLE = "arn:aws:sts::123456789012:assumed-role/gateway/fn"


def answered(
    door: str, wire: str, body: bytes, *, status: int = 200, kind: str = KIND, name: str = "", cut: bool = False
) -> Answer:
    """What the door's client gets when Bedrock answers so. `cut`: the connection ends with the body."""
    asked = json.dumps({"model": "m", "stream": True, **REQUESTS[door]}).encode()
    exchange = open_exchange(asked, door=door, wire=wire, model=MODEL)
    headers = {"content-type": kind} | ({"x-amzn-errortype": name} if name else {})
    actions = sent(exchange, exchange.receive_head(status, headers))
    actions += sent(exchange, exchange.receive_data(body))
    actions += sent(exchange, exchange.receive_end(UpstreamTruncated("cut") if cut else None))
    (head,) = (action for action in actions if isinstance(action, Head))
    return Answer(head.status, dict(head.headers), b"".join(a.data for a in actions if not isinstance(a, Head)))


#: (status, exception, AWS's words, the status shown, its code, words that are shown, words that are not)
REFUSALS = [
    (403, "AccessDeniedException", f"User: {ROLE} is not authorized to perform: bedrock:InvokeModel", 502,
     "upstream_authentication_failed", "its role may not invoke this model", ROLE),
    (403, "ExpiredTokenException", "The security token included in the request is expired", 502,
     "upstream_authentication_failed", "its AWS credentials have expired", "security token"),
    (403, "UnrecognizedClientException", "The security token included in the request is invalid.", 502,
     "upstream_authentication_failed", "AWS does not know its access key", "security token"),
    (403, "InvalidSignatureException", "Credential should be scoped to a valid region. x-amz-security-token:S",
     502, "upstream_authentication_failed", "is the provider's `region` that of its address", "token:S"),
    (403, "MissingAuthenticationTokenException", "Missing Authentication Token", 502,
     "upstream_authentication_failed", 'set `credential = "aws"`', "Missing"),
    (403, "NoveltyException", "quotes the key", 502, "upstream_authentication_failed",
     "credential (403): NoveltyException", "the key"),
    (403, "", "Authentication failed: Please make sure your API Key is valid.", 502,
     "upstream_authentication_failed", "refused this gateway's credential (403)", "API Key"),
    (400, "ValidationException", "The provided model identifier is invalid.", 400,
     "upstream_invalid_request", "The provided model identifier is invalid.", None),
    (400, "ValidationException", "Invocation of model ID m with on-demand throughput isn't supported. Retry with an "
     "inference profile.", 400, "upstream_invalid_request", "inference profile", None),
    (400, "ValidationException", "Input is too long for requested model.", 400, "context_length_exceeded",
     "Input is too long", None),
    (400, "ServiceQuotaExceededException", "Quota exceeded.", 429, "rate_limit_exceeded", "Quota exceeded.", None),
    (404, "ResourceNotFoundException", "Could not resolve the foundation model.", 404, "upstream_not_found",
     "Could not resolve the foundation model.", None),
    (408, "ModelTimeoutException", "Too slow.", 504, "upstream_timeout", "Too slow.", None),
    (424, "ModelErrorException", "It broke.", 502, "upstream_error", "It broke.", None),
    (429, "ThrottlingException", "Too many tokens per day.", 429, "rate_limit_exceeded", "Too many tokens", None),
    (429, "ModelNotReadyException", "Not ready.", 429, "rate_limit_exceeded", "Not ready.", None),
    (500, "InternalServerException", "Oops.", 500, "upstream_error", "Oops.", None),
    (503, "ServiceUnavailableException", "Later.", 503, "upstream_overloaded", "Later.", None),
]  # fmt: skip


@each_row("door", DOORS)
@each_row("wire", WIRES)
@each_row(("status", "name", "said", "shown", "code", "words", "hidden"), REFUSALS)
def test_a_refusal_says_what_to_do(
    status: int, name: str, said: str, shown: int, code: str, words: str, hidden: str | None, wire: str, door: str
) -> None:
    typed = f"{name}:http://internal.amazon.com/" if name else ""
    body = json.dumps({"message": said}).encode()
    found = answered(door, wire, body, status=status, kind="application/json", name=typed)
    assert found.status == shown
    error = json.loads(found.body)["error"]
    assert words in error["message"]
    assert hidden is None or hidden.encode() not in found.body
    assert f'"{code}"'.encode() in found.body  # each door has its own place for it
    if door == "messages":
        assert json.loads(found.body)["type"] == "error"
    final = code == "upstream_authentication_failed" or shown in (400, 404)
    assert found.headers.get("x-should-retry") == ("false" if final else None)


BEGUN = {
    "bedrock_converse": [
        stream(BEGIN), stream(text(0, "Hi")), stream(call(1, "tooluse_1", "weather")), stream(fragment(1, '{"city":')),
    ],
    "bedrock_messages": frames(messages.stream(
        messages.start(), messages.begin(0, "text"), messages.text(0, "Hi"), messages.end(0),
        messages.call(1, "toolu_1", "weather"), messages.fragment(1, '{"city":'),
    )),
}  # fmt: skip


@each_row("door", DOORS)
@each_row("wire", WIRES)
def test_a_stream_that_begins_with_an_exception_is_a_refusal(wire: str, door: str) -> None:
    found = answered(door, wire, exception("throttlingException", message="Slow down."))
    assert (found.status, json.loads(found.body)["error"]["message"]) == (429, "Slow down.")


#: What comes in the middle of a stream, and whether the connection ends with it.
BREAKS = {
    "exception": (exception("modelStreamErrorException", message="It broke.", originalStatusCode=500), False),
    "error": (
        frame({":message-type": "error", ":error-code": "InternalFailure", ":error-message": "Oops"}, b""),
        False,
    ),
    "end of body": (b"", False),
    "end of connection": (b"", True),
    "half a frame": (event("contentBlockStop", b'{"contentBlockIndex":1}')[:-9], False),
    "checksum": (event("contentBlockStop", b'{"contentBlockIndex":1}')[:-1] + b"\x00", False),
    "checksum of the lengths": (b"\x00\x00\x00\x30\x00\x00\x00\x10\x00\x00\x00\x00" + bytes(36), False),
    "lengths": (frame({}, b"")[:4] + b"\xff" * 12, False),
    "text": (b"<html>502 Bad Gateway</html>", False),
}


@each_row("broken", BREAKS)
@each_row("door", DOORS)
@each_row("wire", WIRES)
def test_a_stream_that_breaks_never_ends_cleanly(wire: str, door: str, broken: str) -> None:
    more, cut = BREAKS[broken]
    found = answered(door, wire, b"".join(BEGUN[wire]) + more, cut=cut)
    events = events_in(found.body)
    assert found.status == 200
    assert b"Hi" in found.body  # what was understood before arrives
    assert _failed(door, events), events[-1]
    assert not _ended_well(door, found.body, events)


def _failed(door: str, events: list[dict[str, Any]]) -> bool:
    last = events[-1]
    return bool(
        last.get("error")
        if door in ("chat_completions", "gemini")
        else last["type"] in ("error", "response.failed", "response.error")
    )


def _ended_well(door: str, body: bytes, events: list[dict[str, Any]]) -> bool:
    if door == "gemini":
        return b'"finishReason"' in body
    if door == "chat_completions":
        return any(choice.get("finish_reason") for said in events for choice in said.get("choices", ()))
    return any(said["type"] in ("message_stop", "response.completed", "response.end") for said in events)
