"""Answers that are errors, break off, or make no sense: the client always sees an error, never a clean stop."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from tests.corpus.driver import answer, open_exchange
from tests.named_rows import each_row
from tests.providers.anthropic_messages.messages_upstream import (
    CALLS,
    HELLO,
    MODEL,
    PING,
    STOP,
    TURN,
    WIRE,
    ask,
    begin,
    call,
    delta,
    end,
    fragment,
    request,
    start,
    stream,
    text,
    whole,
)
from tests.providers.cuts import CUTS
from tests.providers.openai_chat.chat_reader import read
from tests.providers.openai_chat.test_failures import fails
from toolwire.providers.anthropic_messages.errors import error_from_body

PARIS = '{"city":"Paris"}'
CONVERSATION = stream(
    *HELLO, call(1, "toolu_a", "weather"), fragment(1, ""), fragment(1, PARIS[:7]), fragment(1, PARIS[7:]), end(1),
    call(2, "toolu_b", "time"), end(2), *CALLS,
)  # fmt: skip


def error(kind: str, message: str = "No.", **more: Any) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message, **more}, "request_id": "req_1"}


@CUTS
def test_a_stream_cut_at_any_point_is_an_error_or_whole(cuts: Callable[[bytes], Iterable[int]]) -> None:
    told = CONVERSATION.index(b'"message_delta", "delta"')  # the reason is read with the last byte of its event
    complete = CONVERSATION.index(b"\n\n", told)
    for at in cuts(CONVERSATION):
        cut = ask(CONVERSATION[:at])
        if cut.headers["content-type"] == "application/json":
            assert cut.status == 502, at
            continue
        said = read(cut.body, usage=b"[DONE]" in cut.body)
        assert said.done == (at >= complete and said.error is None), at  # message_stop may be cut, too
        assert all(PARIS.startswith(arguments) for name, _, arguments in said.calls if name == "weather")


@each_row(
    ("kind", "status", "code"),
    [
        ("invalid_request_error", 400, "upstream_invalid_request"),
        ("billing_error", 402, "insufficient_quota"),
        ("not_found_error", 404, "upstream_not_found"),
        ("conflict_error", 409, "upstream_error"),
        ("request_too_large", 413, "upstream_request_too_large"),
        ("rate_limit_error", 429, "rate_limit_exceeded"),
        ("api_error", 500, "upstream_error"),
        ("timeout_error", 504, "upstream_timeout"),
        ("overloaded_error", 529, "upstream_overloaded"),
        ("authentication_error", 502, "upstream_authentication_failed"),
        ("permission_error", 502, "upstream_authentication_failed"),
        ("news", 502, "upstream_error"),
    ],
)
def test_every_error_of_the_api(kind: str, status: int, code: str) -> None:
    event = stream(error(kind))
    for result in (ask(event), ask(json.dumps(error(kind)).encode(), streamed=False)):  # before anything was said
        failed = fails(result)
        assert (result.status, failed["code"]) == (status, code)
        assert failed["message"] == ("No." if code != "upstream_authentication_failed" else failed["message"])
    shown = fails(ask(stream(*HELLO, error(kind))))
    assert shown["code"] == code
    if kind != "news":
        sent = {v: k for k, v in {401: "authentication_error", 403: "permission_error"}.items()}.get(kind, status)
        result = ask(json.dumps(error(kind)).encode(), status=sent, content_type="application/json")
        assert (result.status, fails(result)["code"]) == (status, code)


def test_a_refused_credential_is_not_quoted() -> None:
    body = json.dumps(error("authentication_error", "invalid x-api-key sk-ant-secret")).encode()
    result = ask(body, status=401, content_type="application/json")
    assert (result.status, b"secret" in result.body) == (502, False)
    assert result.headers["x-should-retry"] == "false"


@pytest.mark.parametrize(("status", "should"), [(400, "false"), (429, None), (500, None), (529, None)])
def test_when_to_come_back(status: int, should: str | None) -> None:
    exchange = open_exchange(request(), wire=WIRE, profile=None, model=MODEL)
    actions: Any = exchange.receive_head(status, {"content-type": "application/json", "retry-after": "7"})
    actions += exchange.receive_data(json.dumps(error("overloaded_error")).encode())
    actions += exchange.receive_end()
    assert (actions[0].status, dict(actions[0].headers).get("x-should-retry")) == (status, should)
    assert dict(actions[0].headers)["retry-after"] == "7"


@pytest.mark.parametrize(
    ("body", "code", "message"),
    [
        (error("invalid_request_error", "prompt is too long: 9 tokens > 8"), "context_length_exceeded", "prompt is"),
        (error("invalid_request_error", details={"error_code": "tool_name_conflict"}), "tool_name_conflict", "No."),
        ({"error": "busy"}, "upstream_invalid_request", "busy"),
        ({"type": "x", "message": "flat"}, "upstream_invalid_request", "flat"),
        ({"error": {"type": "x"}}, "upstream_invalid_request", "the upstream answered 400"),
        ([], "upstream_invalid_request", "the upstream answered 400"),
        (None, "upstream_invalid_request", "the upstream answered 400"),
    ],
    ids=str,
)
def test_codes_and_messages(body: Any, code: str, message: str) -> None:
    failed = error_from_body(json.dumps(body).encode(), 400)
    assert (failed.code, failed.status) == (code, 400)
    assert failed.message.startswith(message)


def test_only_a_body_of_the_api_is_kept_for_its_own_clients() -> None:
    assert error_from_body(json.dumps(error("api_error")).encode(), 500).source is not None
    for other in (b'{"error":"busy"}', b'{"type":"error","error":{"message":"x"}}', b"<html>", b"[[[["):
        assert error_from_body(other, 500).source is None


NONSENSE: dict[str, bytes] = {
    "no JSON": stream(*HELLO, b"data: <html>\n\n"),
    "no object": stream(*HELLO, b"data: [1]\n\n"),
    "broken JSON": stream(*HELLO, b'data: {"type":"ping"\n\n'),
    "a wrong type": stream(*HELLO, b'data: {"type":"content_block_stop","index":"x"}\n\n'),
    "a call without a name": stream(start(), begin(0, "tool_use", id="a", input={}), *CALLS),
    "arguments of no call": stream(start(), fragment(0, PARIS), *CALLS),
    "a second message inside the first": stream(*HELLO[:-1], start(), *HELLO[1:], *TURN),
    "a text block without text": stream(start(), begin(0, "text", text=[1]), *TURN),
    "a block that is none": stream(start(), {"type": "content_block_start", "index": 0, "content_block": 5}, *TURN),
    "nothing said": stream(start(), PING, STOP),
    "an open call without a reason": stream(start(), call(0, "a", "weather"), fragment(0, '{"ci'), STOP),
    "empty": b"",
    "only life": stream(PING, PING),
}


@each_row("name", NONSENSE)
def test_nonsense_is_an_error(name: str) -> None:
    result = ask(NONSENSE[name])
    failed = fails(result)
    assert failed["code"] in ("upstream_protocol_error", "upstream_truncated")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"[]",
        b'{"type":"message"}',
        whole([5]),
        whole([{"type": "tool_use", "id": "a"}]),
        b'{"a":"\xff"}',
    ],
)
def test_a_json_answer_that_is_none(body: bytes) -> None:
    result = ask(body, streamed=False)
    assert (result.status, fails(result)["code"]) == (502, "upstream_protocol_error")


def test_a_deep_answer_is_an_error() -> None:
    deep = b'{"type":"content_block_start","index":0,"content_block":' + b"[" * 5000 + b"]" * 5000 + b"}"
    assert fails(ask(stream(start(), b"data: " + deep + b"\n\n")))["code"] == "upstream_protocol_error"


def test_what_came_before_the_error_was_said() -> None:
    result = ask(stream(start(), begin(0, "text"), text(0, "Hel"), error("overloaded_error", "Overloaded")))
    said = read(result.body)
    assert (said.content, said.error and said.error["code"]) == ("Hel", "upstream_overloaded")


def test_the_body_after_an_error_is_not_read() -> None:
    exchange = open_exchange(request(), wire=WIRE, profile=None, model=MODEL)
    pieces = [stream(*HELLO[:3], error("api_error")), stream(text(0, "more"), *TURN)]
    assert b"more" not in answer(exchange, pieces).body


def test_a_delta_of_nothing_is_no_fault() -> None:
    said = read(
        ask(stream(*HELLO, delta(0, "citations_delta"), {"type": "content_block_delta"}, *TURN)).body, usage=True
    )
    assert said.content == "Hello"


def test_an_error_in_a_list_is_the_error() -> None:
    """As Vertex AI has it where a stream was asked for."""
    body = b'[{"error":{"code":429,"message":"Resource exhausted.","status":"RESOURCE_EXHAUSTED"}}]'
    error = error_from_body(body, 429)
    assert (error.code, error.message, error.source) == ("rate_limit_exceeded", "Resource exhausted.", None)
