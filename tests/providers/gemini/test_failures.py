"""What goes wrong at Google's: error bodies, answers that break off, calls the model could not write."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.named_rows import each_row
from tests.providers.gemini.gemini_upstream import STOP, ask, call, chunk, said, stream, text
from tests.providers.openai_chat.chat_reader import read
from toolwire.providers.gemini.request import PROVIDER

INFO = "type.googleapis.com/google.rpc."


def error(code: int, status: str, *details: Any, message: str = "It failed.") -> bytes:
    return json.dumps({"error": {"code": code, "message": message, "status": status, "details": details}}).encode()


#: name -> (HTTP status, body, our status, our code)
ERRORS: dict[str, tuple[int, bytes, int, str]] = {
    "bad request": (400, error(400, "INVALID_ARGUMENT"), 400, "upstream_invalid_request"),
    "precondition": (400, error(400, "FAILED_PRECONDITION"), 400, "upstream_invalid_request"),
    "unknown model": (404, error(404, "NOT_FOUND"), 404, "upstream_not_found"),
    "rate": (429, error(429, "RESOURCE_EXHAUSTED"), 429, "rate_limit_exceeded"),
    "internal": (500, error(500, "INTERNAL"), 500, "upstream_error"),
    "overloaded": (503, error(503, "UNAVAILABLE"), 503, "upstream_overloaded"),
    "deadline": (504, error(504, "DEADLINE_EXCEEDED"), 504, "upstream_timeout"),
    "cancelled": (499, error(499, "CANCELLED"), 502, "upstream_error"),
    "within an array": (400, b"[" + error(400, "INVALID_ARGUMENT") + b"]", 400, "upstream_invalid_request"),
    "within a 200 answer": (200, error(503, "UNAVAILABLE"), 503, "upstream_overloaded"),
    "within a 200 answer, by its word": (200, b'{"error":{"status":"NOT_FOUND"}}', 404, "upstream_not_found"),
    "a word alone": (400, b'{"error":"invalid_grant"}', 400, "upstream_invalid_request"),
    "too large": (413, b"<html>", 413, "upstream_request_too_large"),
    "no JSON": (502, b"<html>", 502, "upstream_error"),
    "an empty array": (500, b"[]", 500, "upstream_error"),
}


@each_row("streamed", [True, False])
@each_row(("status", "body", "shown", "code"), ERRORS.values(), ids=ERRORS)
def test_errors(status: int, body: bytes, shown: int, code: str, streamed: bool) -> None:
    answer = ask(body, status=status, streamed=streamed, content_type="application/json")
    told = json.loads(answer.body)["error"]
    assert (answer.status, told["code"]) == (shown, code)
    assert told["message"]


REFUSED_KEYS = {
    "invalid": (400, error(400, "INVALID_ARGUMENT", {"@type": INFO + "ErrorInfo", "reason": "API_KEY_INVALID"})),
    "none": (401, error(401, "UNAUTHENTICATED")),
    "API not enabled": (403, error(403, "PERMISSION_DENIED", message="project 4711 has not enabled it")),
}


@pytest.mark.parametrize(("status", "body"), REFUSED_KEYS.values(), ids=REFUSED_KEYS)
def test_a_refused_credential_is_ours_and_not_the_clients(status: int, body: bytes) -> None:
    answer = ask(body, status=status, content_type="application/json")
    assert (answer.status, json.loads(answer.body)["error"]["code"]) == (502, "upstream_authentication_failed")
    assert answer.headers["x-should-retry"] == "false"
    assert b"4711" not in answer.body


@pytest.mark.parametrize(
    ("headers", "detail", "expected"),
    [
        ({}, {"@type": INFO + "RetryInfo", "retryDelay": "34.4s"}, "35"),
        ({}, {"@type": INFO + "RetryInfo", "retryDelay": "7s"}, "7"),
        ({}, {"@type": INFO + "RetryInfo", "retryDelay": "soon"}, None),
        ({}, "nonsense", None),
        ({"retry-after": "9"}, {"@type": INFO + "RetryInfo", "retryDelay": "34s"}, "9"),
    ],
)
def test_when_to_come_back(headers: dict[str, str], detail: Any, expected: str | None) -> None:
    failure = PROVIDER.parse_error(429, headers, error(429, "RESOURCE_EXHAUSTED", detail))
    assert failure.retry_after == expected
    assert failure.retry is None


# ---------------------------------------------------------------- calls that the model could not write

FAILURES = [
    "MALFORMED_FUNCTION_CALL",
    "UNEXPECTED_TOOL_CALL",
    "TOO_MANY_TOOL_CALLS",
    "MISSING_THOUGHT_SIGNATURE",
    "MALFORMED_RESPONSE",
]


@pytest.mark.parametrize("word", FAILURES)
@pytest.mark.parametrize("streamed", [True, False])
def test_a_failed_call_before_any_content_is_an_http_error(word: str, streamed: bool) -> None:
    document = {"candidates": [{"finishReason": word, "finishMessage": "print(secret)"}]}
    body = stream(document) if streamed else json.dumps(document).encode()
    answer = ask(body, streamed=streamed)
    told = json.loads(answer.body)["error"]
    assert (answer.status, told["code"]) == (502, "upstream_" + word.lower())
    assert word in told["message"]
    assert b"secret" not in answer.body


@pytest.mark.parametrize(
    "chunks",
    [
        [chunk(text("a")), chunk(finish=FAILURES[0])],
        [chunk(text("a"), finish=FAILURES[0])],
        [chunk(text("a"), finish=FAILURES[0]), STOP],
    ],
)
def test_a_failed_call_after_content_is_an_error_event(chunks: list[Any]) -> None:
    heard = said(stream(*chunks))
    assert (heard.content, heard.finish) == ("a", None)
    assert heard.error is not None
    assert heard.error["code"] == "upstream_malformed_function_call"


# ---------------------------------------------------------------- answers that break off

CUT: dict[str, tuple[bytes, str]] = {
    "no finish": (stream(chunk(text("a"))), "upstream_truncated"),
    "no finish after a call": (stream(chunk(call("time", {}))), "upstream_truncated"),
    "no finish in an open call": (stream(chunk(text("a")), chunk(call("f", willContinue=True))), "upstream_truncated"),
    "inside a frame": (stream(chunk(text("a"))) + b'data: {"candidates": [{"con', "upstream_truncated"),
    "an error, bare": (stream(chunk(text("a"))) + error(503, "UNAVAILABLE") + b"\r\n", "upstream_overloaded"),
    "an error, bare, in an array": (
        stream(chunk(text("a"))) + b"[" + error(503, "UNAVAILABLE") + b"]", "upstream_overloaded",
    ),
    "an error, framed": (stream(chunk(text("a")), error(500, "INTERNAL")), "upstream_error"),
    "no part of an answer": (stream(chunk(text("a")), {"status": "ok"}), "upstream_protocol_error"),
    "no object": (stream(chunk(text("a")), b'"text"'), "upstream_protocol_error"),
    "parts of a wrong type": (stream(chunk(text("a")), chunk("text")), "upstream_protocol_error"),
    "a call without a name": (stream(chunk(text("a")), chunk(call(args={"a": 1}))), "upstream_protocol_error"),
    "arguments that are no object": (stream(chunk(text("a")), chunk(call("f", [1]))), "upstream_protocol_error"),
    "bytes that are no UTF-8": (
        stream(chunk(text("a")), chunk(call("f", {"a": "XX"}))).replace(b"XX", b"\xff"), "upstream_protocol_error",
    ),
    "a value inside a string": (
        stream(chunk(text("a")), chunk(call("f", partialArgs=[
            {"jsonPath": "$.a", "stringValue": "x"}, {"jsonPath": "$.a.b", "stringValue": "y"}]))),
        "upstream_protocol_error",
    ),
}  # fmt: skip


@each_row(("upstream", "code"), CUT.values(), ids=CUT)
def test_an_answer_that_breaks_off_never_looks_complete(upstream: bytes, code: str) -> None:
    heard = said(upstream)
    assert heard.error is not None
    assert (heard.error["code"], heard.finish, heard.done) == (code, None, False)
    again = read(ask((bytes([byte]) for byte in upstream), usage=True).body)
    assert (again.error, again.content) == (heard.error, heard.content)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", "upstream_protocol_error"),
        (b"{}", "upstream_protocol_error"),
        (b'{"candidates": [', "upstream_protocol_error"),
        (b'[{"candidates": []}, {"cand', "upstream_truncated"),
        (b"[]", "upstream_truncated"),
        (b'{"candidates": []}', "upstream_truncated"),
        (b'{"candidates": [{"content": {}}]}', "upstream_truncated"),
    ],
)
def test_answers_that_say_nothing(body: bytes, code: str) -> None:
    answer = ask(body, streamed=False)
    assert (answer.status, json.loads(answer.body)["error"]["code"]) == (502, code)


def test_a_whole_answer_needs_no_finish_reason() -> None:
    (choice,) = json.loads(ask(json.dumps(chunk(text("a"))).encode(), streamed=False).body)["choices"]
    assert (choice["message"]["content"], choice["finish_reason"]) == ("a", "stop")


def test_nesting_ends() -> None:
    deep = stream(chunk(text("a")), chunk(call("f", {"a": 77}))).replace(b"77", b"[" * 9000 + b"]" * 9000)
    heard = said(deep)
    assert heard.error is not None


@pytest.mark.parametrize("streamed", [True, False])
def test_a_clean_stop_without_a_word_is_told(streamed: bool) -> None:
    empty = chunk(finish="STOP")
    body = stream(empty) if streamed else json.dumps(empty).encode()
    told = ask(body, streamed=streamed, content_type="text/event-stream" if streamed else "application/json")
    shown = told.headers.get("x-toolwire-warnings", "") + told.body.decode()
    assert "empty_answer" in shown
    full = chunk(text("Hi"), finish="STOP")
    body = stream(full) if streamed else json.dumps(full).encode()
    told = ask(body, streamed=streamed, content_type="text/event-stream" if streamed else "application/json")
    assert "empty_answer" not in told.headers.get("x-toolwire-warnings", "") + told.body.decode()
