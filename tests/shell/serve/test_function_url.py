"""A function URL's events, in payload format 2.0: each path is answered as by the function that API Gateway asks."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

from local.event import LocalContext, proxy_event
from local.handlers import load_handlers
from local.http import RequestHead
from tests.gateway import ROOT
from tests.named_rows import each_row
from toolwire.model.http import Head
from toolwire.pages.paths import Route, path_of, resolve, served
from toolwire.shell.serve.function_url import serve_function_url
from toolwire.shell.settings.current import current_settings

KEY = "tw-url"
OPEN = (("content-type", "application/json"), ("x-api-key", KEY))
WRONG = (("content-type", "application/json"), ("x-api-key", "another"))
ROUTES = [(method, path) for path, methods in sorted(served().items()) for method in sorted(methods)]
CHAT = {"model": "demo/openai", "messages": [{"role": "user", "content": "[demo slow 0] h\xe9llo"}]}
HANDLERS = load_handlers(ROOT / "functions")


@pytest.fixture(autouse=True)
def locked(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A gateway that asks for a key."""
    monkeypatch.setenv("KEY_SHA256", hashlib.sha256(KEY.encode()).hexdigest())
    current_settings.forget()
    yield
    current_settings.forget()


def url_event(
    method: str, path: str, body: str = "", query: str = "", headers: tuple[tuple[str, str], ...] = OPEN
) -> dict[str, Any]:
    """The event of the developer guide."""
    return {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": query,
        "cookies": ["a=1"],
        "headers": dict(headers),
        "requestContext": {
            "accountId": "anonymous",
            "apiId": "abc",
            "domainName": "abc.lambda-url.eu-central-1.on.aws",
            "http": {"method": method, "path": path, "protocol": "HTTP/1.1", "sourceIp": "192.0.2.1"},
            "requestId": "req-1",
            "routeKey": "$default",
            "stage": "$default",
            "timeEpoch": 1,
        },
        **({"body": body} if body else {}),
        "isBase64Encoded": False,
    }


def answer_of(answer: Iterator[Head | bytes]) -> tuple[Head, bytes]:
    head, *body = answer
    assert isinstance(head, Head)
    return head, b"".join(piece for piece in body if isinstance(piece, bytes))


def ask(event: Any) -> tuple[Head, bytes]:
    return answer_of(serve_function_url(event, LocalContext("gateway", "req-1", 60)))


def ask_by_api_gateway(
    method: str, path: str, body: str, query: str, headers: tuple[tuple[str, str], ...]
) -> tuple[Head, bytes]:
    route = resolve(method, path)
    assert isinstance(route, Route)
    head = RequestHead(method, f"{path}?{query}", False, list(headers), dict(headers))
    event = proxy_event(head, route, bytearray(body.encode()), request_id="req-1", client="192.0.2.1")
    return answer_of(HANDLERS[route.function](event, LocalContext(route.function, "req-1", 60)))


@each_row("headers", [OPEN, WRONG, ()], ids=["open", "wrong key", "no key"])
@each_row(("method", "resource"), ROUTES)
def test_each_path_is_answered_as_by_its_function(
    method: str, resource: str, headers: tuple[tuple[str, str], ...]
) -> None:
    """A request that is refused late in its door, or is a question to the gateway itself."""
    name = "demo/openai" if method == "GET" else "demo/openai:generateContent"
    path = path_of(resource, {"id": quote(name) if resource.endswith("+}") else "resp_1"})
    body = json.dumps({"model": 3}) if method == "POST" else ""

    got = ask(url_event(method, path, body, "pageSize=2&pageSize=3", headers))
    assert got == ask_by_api_gateway(method, path, body, "pageSize=2&pageSize=3", headers)
    assert got[0].status != 404 or "resp_1" in path
    assert got[0].status == 401 or headers == OPEN or resource == "/health"


@pytest.mark.enable_socket
@pytest.mark.parametrize("is_base64", [False, True])
@pytest.mark.parametrize("stream", [False, True])
def test_an_answer(is_base64: bool, stream: bool) -> None:
    body = json.dumps(CHAT | {"stream": stream}, ensure_ascii=False)
    event = url_event("POST", "/v1/chat/completions", body)
    if is_base64:
        event |= {"body": base64.b64encode(body.encode()).decode(), "isBase64Encoded": True}
    head, answered = ask(event)

    assert head.status == 200
    assert dict(head.headers)["x-request-id"] == "req-1"
    assert answered.endswith(b"data: [DONE]\n\n") if stream else json.loads(answered)["choices"]


@pytest.mark.parametrize(
    "headers", [{"authorization": "AWS4-HMAC-SHA256 Credential=A/b, SignedHeaders=host, Signature=1"}]
)
def test_a_signature_is_no_key_and_does_not_hide_one(headers: dict[str, str]) -> None:
    """With AWS_IAM, `Authorization` is Lambda's."""
    assert ask(url_event("GET", "/v1/models", headers=(*OPEN, *headers.items())))[0].status == 200
    assert ask(url_event("GET", "/v1/models", headers=tuple(headers.items())))[0].status == 401


@pytest.mark.parametrize(
    ("method", "path", "status", "words"),
    [
        ("GET", "/v1/health", 200, '"status":"ok"'),
        ("GET", "/health", 200, '"status":"ok"'),
        ("HEAD", "/", 200, ""),
        ("POST", "/v1/v1/messages", 401, '"type":"error"'),
        ("POST", "/chat/completions", 404, "/v1"),
        ("POST", "/v1/nothing", 404, "/v1/chat/completions"),
        ("PUT", "/v1/chat/completions", 405, "POST"),
        ("OPTIONS", "/v1/chat/completions", 405, "POST"),
    ],
)
def test_other_paths(method: str, path: str, status: int, words: str) -> None:
    head, body = ask(url_event(method, path, headers=WRONG))

    assert (head.status, words in body.decode()) == (status, True)


def test_a_preflight_of_a_site_that_is_let_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CORS_ORIGIN", "https://app.example.com")

    head, body = ask(url_event("OPTIONS", "/v1/chat/completions", headers=()))
    assert (head.status, body) == (204, b"")
    assert dict(head.headers)["access-control-allow-methods"]
    assert ask(url_event("OPTIONS", "/v1/nothing", headers=()))[0].status == 404


@pytest.mark.parametrize("event", [None, [], "text", {}, {"requestContext": None}, {"requestContext": {"http": {}}}])
def test_what_is_no_request_is_ignored(event: Any) -> None:
    assert ask(event) == (Head(200, (("content-type", "application/json"),)), b"{}")
