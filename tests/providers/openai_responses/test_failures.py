"""Answers that are errors, break off, or make no sense: the client always sees an error, never a clean stop."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from tests.named_rows import each_row
from tests.providers.cuts import CUTS
from tests.providers.openai_chat.chat_reader import read
from tests.providers.openai_chat.test_failures import fails
from tests.providers.openai_responses.responses_upstream import (
    added,
    ask,
    call,
    called,
    completed,
    created,
    event,
    fragment,
    item,
    message,
    response,
    said,
    stream,
    text,
    told,
    whole,
)

PARIS = '{"city":"Paris"}'
HELLO = [created(), *said(0, "m", "Hello")]
CONVERSATION = stream(
    *HELLO,
    *called(1, "fc_1", "call_a", "weather", PARIS[:7], PARIS[7:]),
    completed(message("m", "Hello"), call("fc_1", "call_a", "weather", PARIS)),
)


def failed(code: str, text: str = "No.") -> dict[str, Any]:
    return event("failed", response=response("failed", error={"code": code, "message": text}))


@CUTS
def test_a_stream_cut_at_any_point_is_an_error_or_whole(cuts: Callable[[bytes], Iterable[int]]) -> None:
    last = CONVERSATION.index(b'data: {"type": "response.completed"')
    complete = CONVERSATION.index(b"\n\n", last)
    for at in cuts(CONVERSATION):
        cut = ask(CONVERSATION[:at])
        if cut.headers["content-type"] == "application/json":
            assert cut.status == 502, at
            continue
        heard = read(cut.body, usage=b"[DONE]" in cut.body)
        assert heard.done == (at >= complete), at
        assert all(PARIS.startswith(arguments) for _, _, arguments in heard.calls)


@each_row(
    ("code", "status"),
    [
        ("server_error", 500),
        ("rate_limit_exceeded", 429),
        ("insufficient_quota", 429),
        ("server_is_overloaded", 503),
        ("invalid_prompt", 400),
        ("invalid_image", 400),
        ("image_too_large", 400),
        ("context_length_exceeded", 400),
        ("vector_store_timeout", 504),
        ("news", 502),
    ],
)
def test_every_way_a_stream_reports_an_error(code: str, status: int) -> None:
    flat = {"type": "error", "code": code, "message": "No.", "param": None, "sequence_number": 1}
    nested = {"type": "error", "error": {"type": "x", "code": code, "message": "No.", "param": None}}
    for report in (failed(code), flat, nested, {"error": nested["error"]}):
        name = report.get("type", "error")
        frame = f"event: {name}\ndata: {json.dumps(report)}\n\n".encode()
        early = ask(frame)  # before anything was said
        assert (early.status, fails(early)["code"], fails(early)["message"]) == (status, code, "No.")
        late = fails(ask(stream(*HELLO) + frame))
        assert (late["code"], late["message"]) == (code, "No.")
    document = ask(whole(status="failed", error={"code": code, "message": "No."}), streamed=False)
    assert (document.status, fails(document)["code"]) == (status, code)


@pytest.mark.parametrize(
    ("status", "code"), [(400, "bad"), (404, "bad"), (429, "bad"), (500, "bad"), (503, "bad"), (401, None), (403, None)]
)
def test_errors_before_the_answer(status: int, code: str | None) -> None:
    body = json.dumps({"error": {"message": "No sk-secret.", "type": "x", "param": "input", "code": "bad"}}).encode()
    shown = ask(body, status=status, content_type="application/json")
    error = fails(shown)
    assert shown.status == (status if code else 502)
    assert error["code"] == (code or "upstream_authentication_failed")
    assert (b"sk-secret" in shown.body) == bool(code)


@each_row(
    "events",
    [
        [event("cancelled", response=response("cancelled"))],
        [event("completed", response=response("cancelled"))],
        [event("failed", response=response("failed"))],
        [event("failed")],
        [event("completed")],
        [b"data: {nonsense\n\n"],
        [b'data: "text"\n\n'],
        [b"data: [DONE]\n\n"],
        [added(0, "function_call", "fc_1", call_id="a", name="weather"), fragment(0, "fc_1", '{"ci'),
         b"data: [DONE]\n\n"],
        [added(0, "function_call", "fc_1", call_id="a", name="weather"), fragment(0, "fc_1", '{"ci'), completed()],
        [fragment(0, "fc_1", "{}"), completed()],
        [],
    ],
    ids=str,
)  # fmt: skip
def test_answers_that_make_no_sense(events: list[Any]) -> None:
    for begun in ([], [created()]):
        shown = ask(stream(*begun, *events))
        assert fails(shown)
        assert shown.status in (200, 502)


@each_row(
    "body",
    [b"", b"[]", b"{}", b"nonsense", whole(status="queued"), whole(status="in_progress"), whole(status="cancelled"),
     json.dumps({"output": [5]}).encode(), whole({"type": "function_call", "arguments": "{}"})],
)  # fmt: skip
def test_documents_that_make_no_sense(body: bytes) -> None:
    shown = ask(body, streamed=False)
    assert shown.status == 502
    assert fails(shown)


def test_what_was_said_before_the_error_is_heard() -> None:
    heard = read(ask(stream(created(), added(0, "message", "m"), text(0, "m", "Hel"), failed("server_error"))).body)
    assert (heard.content, heard.done) == ("Hel", False)


# ---------------------------------------------------------------- documents that make sense


def test_a_document() -> None:
    answer = told(whole(message("m", "Hi"), call("fc_1", "call_a", "weather", PARIS)))
    (choice,) = answer["choices"]
    assert (choice["message"]["content"], choice["finish_reason"]) == ("Hi", "tool_calls")
    assert [made["function"] for made in choice["message"]["tool_calls"]] == [{"name": "weather", "arguments": PARIS}]
    assert answer["usage"]["completion_tokens_details"]["reasoning_tokens"] == 8


def test_a_document_that_was_cut() -> None:
    cut = call("fc_1", "call_a", "weather", '{"ci', status="incomplete")
    (choice,) = told(whole(cut, status="incomplete", incomplete_details={"reason": "max_output_tokens"}))["choices"]
    assert choice["finish_reason"] == "length"
    bare = item("function_call", "fc_1", call_id="call_a", name="time", arguments="")  # nobody knows that it is whole
    (choice,) = told(whole(bare, status="incomplete", incomplete_details={"reason": "max_output_tokens"}))["choices"]
    assert choice["message"]["tool_calls"][0]["function"]["arguments"] == ""


def test_a_stream_for_a_client_that_wants_a_document_and_the_other_way() -> None:
    (choice,) = told(CONVERSATION)["choices"]
    assert (choice["message"]["content"], choice["finish_reason"]) == ("Hello", "tool_calls")
    heard = read(ask(whole(message("m", "Hi")), content_type="application/json").body, usage=True)
    assert (heard.content, heard.finish) == ("Hi", "stop")
