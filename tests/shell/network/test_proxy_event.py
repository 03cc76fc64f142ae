"""Proxy events as API Gateway makes them, and as they come otherwise."""

from __future__ import annotations

from typing import Any

import pytest

from toolwire.model.errors import RequestError
from toolwire.shell.network.proxy_event import headers, http_request, is_proxy_event, request_id

EVENT: dict[str, Any] = {"httpMethod": "POST", "path": "/chat/completions", "requestContext": {}, "body": "{}"}


class Context:
    aws_request_id = "invocation-1"


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        ({"headers": {"X-A": "1"}, "multiValueHeaders": {"X-A": ["1", "2"]}}, {"x-a": "1, 2"}),
        ({"headers": {"X-A": "1"}, "multiValueHeaders": None}, {"x-a": "1"}),
        ({"headers": None, "multiValueHeaders": None}, {}),
        ({}, {}),
        ({"multiValueHeaders": {"X-A": None, "X-B": [], "X-C": ["1"]}}, {"x-c": "1"}),
        ({"headers": {"X-A": None, "X-B": "1"}}, {"x-b": "1"}),
    ],
)
def test_headers(event: dict[str, Any], expected: dict[str, str]) -> None:
    assert headers(event) == expected


@pytest.mark.parametrize(
    ("event", "path"),
    [
        ({}, "/chat/completions"),
        ({"resource": "/chat/completions", "path": "/base/chat/completions"}, "/chat/completions"),
        ({"resource": None, "path": None}, "/"),
    ],
)
def test_the_path_is_the_templates(event: dict[str, Any], path: str) -> None:
    assert http_request(EVENT | event).path == path


@pytest.mark.parametrize(
    ("event", "body"),
    [
        ({"body": None}, b""),
        ({"body": "h\xe9"}, b"h\xc3\xa9"),
        ({"body": "aMOp", "isBase64Encoded": True}, b"h\xc3\xa9"),
        ({"body": "", "isBase64Encoded": True}, b""),
        ({"body": "\ufeff{}"}, b"{}"),
        ({"body": None, "headers": {"Content-Encoding": "br"}}, b""),
    ],
)
def test_the_body(event: dict[str, Any], body: bytes) -> None:
    assert http_request(EVENT | event).body == body


@pytest.mark.parametrize("event", [{"body": {"model": "m"}}, {"body": 5}, {"body": "\xe9", "isBase64Encoded": True}])
def test_a_body_that_is_none_is_refused(event: dict[str, Any]) -> None:
    with pytest.raises(RequestError, match="body"):
        http_request(EVENT | event)


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("req-1", "req-1"),
        ("a\r\nb", "invocation-1"),
        ("a" * 129, "invocation-1"),
        (5, "invocation-1"),
        ("", "invocation-1"),
    ],
)
def test_the_request_id_is_one_that_a_header_can_bear(given: object, shown: str) -> None:
    assert request_id({"requestContext": {"requestId": given}}, Context()) == shown
    assert len(request_id({"requestContext": {}}, None)) == 36


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (EVENT, True),
        ({"httpMethod": "GET", "requestContext": {"elb": {}}}, True),
        ({"version": "2.0", "requestContext": {"http": {"method": "GET"}}}, False),  # a function URL's
        ({"Records": []}, False),
        ({"httpMethod": "GET", "requestContext": None}, False),
        (None, False),
    ],
)
def test_what_is_a_clients_request(event: object, expected: bool) -> None:
    assert is_proxy_event(event) is expected
