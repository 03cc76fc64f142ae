"""Answers that are errors, break off, or make no sense: the client always sees an error, never a clean stop."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

import openai
import pytest

from tests.corpus.driver import Answer, answer, open_exchange
from tests.named_rows import each_row
from tests.providers.cuts import CUTS
from tests.providers.openai_chat.chat_reader import read, sdk_answer, sdk_stream
from tests.providers.openai_chat.chat_upstream import (
    CALLS,
    ROLE,
    STOP,
    TOTAL,
    ask,
    chunk,
    fragment,
    opening,
    request,
    stream,
    text,
    whole,
)
from toolwire.model.errors import UpstreamTimeout, UpstreamTruncated

PARIS = '{"city":"Paris"}'
CONVERSATION = stream(
    ROLE, text("Héllo \U0001f600"), opening(0, "call_a", "weather"), fragment(0, PARIS[:7]), fragment(0, PARIS[7:]),
    opening(1, "call_b", "time"), CALLS, TOTAL,
)  # fmt: skip


def fails(result: Answer) -> dict[str, Any]:
    """The error that both readers see, in a JSON answer or at the end of a stream."""
    if result.headers["content-type"] == "application/json":
        with pytest.raises(openai.APIStatusError) as status:
            sdk_answer(result.status, result.headers, result.body)
        assert status.value.status_code == result.status >= 400
        error: dict[str, Any] = json.loads(result.body)["error"]
        assert isinstance(status.value.body, dict)
        assert status.value.body["message"] == error["message"]
        return error
    said = read(result.body)
    assert said.error is not None
    with pytest.raises(openai.APIError) as event:
        sdk_stream(result.body)
    assert event.value.message == said.error["message"]
    assert said.finish is None, "an answer that failed has no finish"
    return said.error


# ---------------------------------------------------------------- cut


@CUTS
def test_a_stream_cut_at_any_point_is_an_error_or_whole(cuts: Callable[[bytes], Iterable[int]]) -> None:
    finish = CONVERSATION.index(b'"finish_reason": "tool_calls"')
    complete = CONVERSATION.index(b"}", finish) + len("}]}")
    for usage in (True, False):
        for at in cuts(CONVERSATION):
            cut = ask(CONVERSATION[:at], usage=usage)
            if cut.headers["content-type"] != "application/json":
                said = read(cut.body, usage=usage and b"[DONE]" in cut.body)
                assert said.done == (at >= complete and said.error is None), at
                assert all(PARIS.startswith(arguments) for name, _, arguments in said.calls if name == "weather")
            else:
                assert cut.status == 502
            if at < complete:
                assert b"[DONE]" not in cut.body, at


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (None, "upstream_truncated"),
        (UpstreamTruncated("the connection broke"), "upstream_truncated"),
        (UpstreamTimeout("nothing for 60 s"), "upstream_timeout"),
    ],
)
def test_the_shells_own_word_for_a_break_is_shown(error: Any, code: str) -> None:
    cut = CONVERSATION[: CONVERSATION.index(b"Paris")]
    exchange = open_exchange(request())
    assert fails(answer(exchange, [cut], error=error))["code"] == code
    assert exchange.figures.error is not None
    assert exchange.answer.over


@pytest.mark.parametrize(
    "chunks",
    [
        [],
        [ROLE],
        [ROLE, text("x")],
        [ROLE, opening(0, "call_a", "weather", PARIS)],
        [ROLE, opening(0, "call_a", "weather", "{}"), TOTAL],
        [chunk(choices=[], id="", prompt_filter_results=[])],
    ],
)
def test_an_end_without_finish_and_without_done(chunks: list[Any]) -> None:
    assert fails(ask(stream(*chunks, done=False)))["code"] == "upstream_truncated"


@pytest.mark.parametrize(
    ("chunks", "code"),
    [
        ([], "upstream_truncated"),
        ([ROLE], "upstream_protocol_error"),
        ([ROLE, opening(0, "call_a", "weather", '{"ci')], "upstream_truncated"),
        ([ROLE, opening(0, "call_a", None, "{}"), CALLS], "upstream_protocol_error"),
    ],
)
def test_done_after_half_an_answer(chunks: list[Any], code: str) -> None:
    assert fails(ask(stream(*chunks)))["code"] == code


@pytest.mark.parametrize("usage", [True, False])
def test_a_finish_that_was_held_is_not_shown_before_an_error(usage: bool) -> None:
    """The finish waits for the upstream's end, so a failure after it is still no clean stop."""
    broken = ask(stream(ROLE, text("x"), STOP, TOTAL, b'{"error":{"message":"late"}}'), usage=usage)
    assert fails(broken)["message"] == "late"
    assert read(broken.body).content == "x"


# ---------------------------------------------------------------- errors within a stream

ERRORS = [
    (b'{"error":{"message":"boom","type":"server_error","param":null,"code":"oops"}}', "boom"),
    (b'{"error":{"message":"boom","code":502,"metadata":{"provider":"p"}}}', "boom"),
    (b'{"error":"boom"}', "boom"),
    (b'{"error":{"code":500}}', None),
    (b'{"error":{"error":"boom"}}', None),
    (b'{"object":"error","message":"boom","type":"BadRequestError","param":null,"code":400}', "boom"),
    (
        b'{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","error":{"code":429,"message":'
        b'"boom"},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}',
        "boom",
    ),
    (json.dumps(chunk(finish="error")).encode(), None),
    (json.dumps(chunk(finish="abort")).encode(), None),
    (json.dumps(chunk(finish="insufficient_system_resource")).encode(), None),
    (json.dumps(chunk(finish="function_call_filter: MALFORMED_FUNCTION_CALL")).encode(), None),
    (b'{"detail":"boom"}', "boom"),
    (b'{"success":false,"errors":[{"message":"boom"}]}', "boom"),
    (b'{"code":"500","message":"boom"}', "boom"),
    (b'[{"error":{"code":500,"message":"boom"}}]', "boom"),
    (b'{"id":"1","choices":null,"base_resp":{"status_code":1004,"status_msg":"boom"}}', "boom"),
    (
        json.dumps(
            chunk({"content": ""}, "stop") | {"base_resp": {"status_code": 1027, "status_msg": "boom"}}
        ).encode(),
        "boom",
    ),
    (json.dumps(chunk() | {"x_groq": {"id": "r", "error": "boom"}}).encode(), "boom"),
    *(
        (
            json.dumps(
                chunk(choices=[{"index": 0, "delta": {}, "finish_reason": "stop", "native_finish_reason": word}])
            ).encode(),
            None,
        )
        for word in ("error", "network_error", "MALFORMED_FUNCTION_CALL")
    ),
]


@pytest.mark.parametrize("after", [[], [ROLE, text("Hel")], [ROLE, opening(0, "call_a", "weather", '{"ci')]])
@pytest.mark.parametrize("end", [b"", b"data: [DONE]\n\n"])
def test_an_error_in_a_field_of_its_own(end: bytes, after: list[Any]) -> None:
    upstream = stream(*after, done=False) + b'error: {"code":500,"message":"boom","type":"server_error"}\n\n' + end
    assert fails(ask(upstream))["message"] == "boom"


@each_row(("frame", "message"), ERRORS)
@each_row("after", [[], [ROLE, text("Hel")], [ROLE, opening(0, "call_a", "weather", '{"ci')]])
@each_row("name", [b"", b"event: error\n"])
def test_an_error_frame(frame: bytes, message: str | None, after: list[Any], name: bytes) -> None:
    upstream = stream(*after, done=False) + name + b"data: " + frame + b"\n\ndata: [DONE]\n\n"
    for usage in (True, False):
        error = fails(ask(upstream, usage=usage))
        assert message is None or error["message"] == message


def test_an_error_within_a_choice() -> None:
    failed = {"index": 0, "finish_reason": "error", "error": {"code": 503, "message": "boom"}}
    for streamed, upstream in ((True, stream(chunk(choices=[failed]))), (False, whole({}, choices=[failed]))):
        result = ask(upstream, streamed=streamed)
        assert (result.status, fails(result)["message"]) == (503, "boom")


@pytest.mark.parametrize("after", [[], [ROLE, text("Hel")]])
def test_a_named_error_event_is_an_error_whatever_it_holds(after: list[Any]) -> None:
    for data in (b'{"detail":"boom"}', b"boom"):
        upstream = stream(*after, done=False) + b"event: error\ndata: " + data + b"\n\n"
        assert fails(ask(upstream))["message"] == "boom"


@pytest.mark.parametrize("layout", [None, 2])
@pytest.mark.parametrize("after", [[], [ROLE, text("Hel")]])
def test_an_error_body_written_plainly_into_the_stream(after: list[Any], layout: int | None) -> None:
    body = json.dumps({"error": {"message": "boom", "type": "t", "param": None, "code": "c"}}, indent=layout).encode()
    assert fails(ask(stream(*after, done=False) + body))["message"] == "boom"


@each_row(
    "frame",
    [
        b"garbage", b"{", b'{"choices":[{', b"[1,2]", b'"text"', b"5", b"\xff\xfe",
        b'{"a":"\xff"', b'{"a":"\xff"}', b'{"\xff":1}', b'{"a":{"\xff":1}}', rb'{"\ud83d":1}',
        b'{"choices":[5]}', b'{"choices":[{"index":0,"delta":{"content":[5]}}]}',
        b'{"choices":[{"delta":{"tool_calls":["x"]}}]}',
        b'{"x":' + b"[" * 50_000 + b"]" * 50_000 + b"}",
    ],
)  # fmt: skip
@each_row("after", [[], [ROLE, text("Hel")]])
def test_garbage(frame: bytes, after: list[Any]) -> None:
    result = ask(stream(*after, frame, *after, STOP, TOTAL))
    assert fails(result)["code"] == "upstream_protocol_error"
    assert not after or b"Hel" in result.body, "what was understood before it reaches the client"


def test_content_before_a_failure_in_the_same_bytes_arrives_first() -> None:
    assert read(ask(stream(ROLE, text("Hel"), text("lo"), b"garbage")).body).content == "Hello"


# ---------------------------------------------------------------- HTTP errors


def refused(status: int, body: bytes, headers: dict[str, str] | None = None, *, streamed: bool = True) -> Answer:
    exchange = open_exchange(request(streamed=streamed))
    actions = exchange.receive_head(status, {"content-type": "application/json", **(headers or {})})
    for piece in (body[:10], body[10:]):
        actions += exchange.receive_data(piece)
    head, send = actions + exchange.receive_end()
    return Answer(head.status, dict(head.headers), send.data)  # type: ignore[union-attr]


WHOLE = b'{"error": {"message":"m","type":"t","param":"messages[0]","code":"c", "x":1.10}}'


@each_row("streamed", [True, False])
@each_row("status", [400, 404, 409, 413, 422, 429, 500, 502, 503, 529])
def test_an_error_body_the_sdks_can_read_is_passed_on_as_it_came(status: int, streamed: bool) -> None:
    result = refused(status, WHOLE, streamed=streamed)
    assert (result.status, result.body) == (status, WHOLE)
    assert fails(result)["code"] == "c"
    assert result.headers["x-request-id"] == "req-test"


#: (status, body, message or None, code)
BODIES: list[tuple[int, bytes, str | None, str]] = [
    (400, b'[{"error":{"code":400,"message":"boom","status":"INVALID_ARGUMENT"}}]', "boom", "upstream_invalid_request"),
    (400, b'{"error":"boom"}', "boom", "upstream_invalid_request"),
    (422, b'{"detail":"boom"}', "boom", "upstream_invalid_request"),
    (400, b'{"object":"error","message":"boom","type":"x","code":400}', "boom", "upstream_invalid_request"),
    (400, b'{"message":"boom","code":"model_not_found"}', "boom", "model_not_found"),
    (
        422,
        b'{"detail":[{"loc":["body","tools"],"msg":"field required"}]}',
        "tools: field required",
        "upstream_invalid_request",
    ),
    (400, b'{"detail":{"message":"boom"}}', "boom", "upstream_invalid_request"),
    (400, b'{"object":"error","message":{"detail":[{"msg":"boom"}]}}', "boom", "upstream_invalid_request"),
    (400, b'{"success":false,"errors":[{"code":7003,"message":"boom"}]}', "boom", "upstream_invalid_request"),
    (400, b'{"error":{"error":{"message":"boom"}}}', "boom", "upstream_invalid_request"),
    (400, b'{"error_msg":"boom","error_code":17}', "boom", "upstream_invalid_request"),
    (400, b'id:1\nevent:error\ndata:{"code":"bad","message":"boom"}\n\n', "boom", "bad"),
    (402, b'{"error":{}}', None, "insufficient_quota"),
    (404, b"<html>not found</html>", None, "upstream_not_found"),
    (413, b"", None, "upstream_request_too_large"),
    (429, b"null", None, "rate_limit_exceeded"),
    (500, b"[]", None, "upstream_error"),
    (502, b"Bad Gateway\n", "Bad Gateway", "upstream_error"),
    (502, b"x" * 501, None, "upstream_error"),
    (503, b'"busy"', "busy", "upstream_overloaded"),
    (504, b"\xff\xfe", None, "upstream_timeout"),
    (500, b"[" * 100_000, None, "upstream_error"),
    (500, b'{"error":' * 400 + b'"deep"' + b"}" * 400, None, "upstream_error"),
    (529, b'{"error":{"message":""}}', None, "upstream_overloaded"),
]


@each_row(("status", "body", "message", "code"), BODIES)
def test_every_other_error_body_is_rendered_anew(status: int, body: bytes, message: str | None, code: str) -> None:
    result = refused(status, body)
    error = fails(result)
    assert result.status == status
    assert error.keys() == {"message", "type", "param", "code"}
    assert error["code"] == code
    assert error["message"] == message or (message is None and str(status) in error["message"])
    assert json.loads(result.body)["request_id"] == "req-test"


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_credential_is_our_fault_and_shows_nothing_of_it(status: int) -> None:
    result = refused(status, b'{"error":{"message":"Incorrect API key provided: sk-SECRET","code":"invalid_api_key"}}')
    error = fails(result)
    assert (result.status, error["code"]) == (502, "upstream_authentication_failed")
    assert result.headers["x-should-retry"] == "false"
    assert b"SECRET" not in result.body


@each_row(
    ("status", "sent", "expected"),
    [
        (429, {"retry-after": "7"}, {"retry-after": "7"}),
        (503, {"retry-after": "Wed, 21 Oct 2026 07:28:00 GMT"}, {"retry-after": "Wed, 21 Oct 2026 07:28:00 GMT"}),
        (529, {"retry-after": "1", "x-should-retry": "false"}, {"retry-after": "1"}),
        (429, {"retry-after-ms": "1500"}, {"retry-after": "2", "retry-after-ms": "1500"}),
        (429, {"retry-after-ms": "250", "retry-after": "1"}, {"retry-after": "1"}),
        (429, {"retry-after-ms": "soon"}, {}),
        (429, {}, {}),
        (400, {}, {"x-should-retry": "false"}),
        (404, {}, {"x-should-retry": "false"}),
        (408, {}, {}),
        (409, {}, {}),
        (500, {}, {}),
    ],
)
def test_retry_headers(status: int, sent: dict[str, str], expected: dict[str, str]) -> None:
    headers = refused(status, WHOLE, sent).headers
    told = ("retry-after", "retry-after-ms", "x-should-retry")
    assert {name: headers[name] for name in told if name in headers} == expected


# ---------------------------------------------------------------- 200 that is none


@each_row("streamed", [True, False])
@each_row(
    ("body", "status"),
    [
        (b'{"error":{"message":"boom","code":429}}', 429),
        (b'{"error":{"message":"boom","code":"rate","type":"t","param":null}}', 502),
        (b'{"error":{"message":"boom","code":401}}', 502),
        (b'{"error":"boom"}', 502),
        (b'{"object":"error","message":"boom","code":400}', 400),
    ],
)
def test_an_error_in_a_200(body: bytes, status: int, streamed: bool) -> None:
    result = ask(body, streamed=streamed, content_type="application/json")
    error = fails(result)
    assert result.status == status
    assert error["message"] == "boom" or b"401" in body


@each_row("streamed", [True, False])
@each_row(
    "body",
    [
        b"",
        b"ok",
        b"null",
        b"[]",
        b"{}",
        b'{"choices":[]}',
        b'{"choices":null}',
        b'{"choices":[{"index":0}]}',
        b'{"choices":[{"index":0,"message":null,"finish_reason":"stop"}]}',
        b'{"choices":[{"index":1,"message":{"content":"x"},"finish_reason":"stop"}]}',
        whole({"content": "x"})[:-1],
        whole({"content": "x"}, "error"),
        whole({"content": None, "tool_calls": [{"id": "a", "function": {"arguments": "{}"}}]}),
        whole({"content": None, "tool_calls": [{"function": {"name": "weather", "arguments": '{"c'}}]}, None),
        whole({"content": None}, None),
    ],
)
def test_a_200_that_is_no_answer(body: bytes, streamed: bool) -> None:
    result = ask(body, streamed=streamed, content_type="application/json")
    fails(result)
    assert result.status == 502


def test_a_broken_stream_of_a_host_that_streams_unasked_is_an_http_error() -> None:
    result = ask(stream(ROLE, text("x"), done=False), streamed=False, content_type="text/event-stream")
    assert fails(result)["code"] == "upstream_truncated"
    assert result.status == 502
