"""The checks of a running gateway: a good one passes all, and each defect is found by the check that is for it."""

from __future__ import annotations

import functools
import gzip
import itertools
import json
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import httpx
import pytest

from local.client import HttpGateway, KeyHeader, Reply
from local.verify import CHECKS, SLOW_CHECKS, main, verify
from tests.demo.hosts import demo_host
from toolwire.demo.openai_chat import answer
from toolwire.demo.server import DemoServer
from toolwire.doors import door_at
from toolwire.pages.paths import Route, resolve
from toolwire.shell.recording.replay import replay
from toolwire.shell.recording.scenario import Recording, Scenario

KEY = "the-key"
ID = "request-1"


RATES = {
    "x-ratelimit-limit-requests": "60",
    "x-ratelimit-remaining-requests": "59",
    "x-ratelimit-reset-requests": "40s",
}

#: What needs more of a gateway than one exchange.
CANNED = {
    "/messages/count_tokens": {"input_tokens": 9},
    "/native/tools/check": {"tools": []},
    "/v1beta/models/demo/anthropic:countTokens": {"totalTokens": 9},
    "/native/translate": {"request": {"body": [{"functionResponse": {}}, {"thoughtSignature": "its own"}]}},
}


def through(path: str, body: bytes) -> Reply:
    """The answer of an exchange with the demo, without a socket: always the same one."""
    reply = _through(path, body)
    return replace(reply, headers=dict(reply.headers))


@functools.cache
def _through(path: str, body: bytes) -> Reply:
    path, _, query = path.partition("?")
    route = resolve("POST", f"/v1{path}")
    assert isinstance(route, Route)
    event = {
        "resource": route.resource, "pathParameters": dict(route.parameters),
        "queryStringParameters": dict(parse_qsl(query)),
        "httpMethod": "POST", "requestContext": {"requestId": ID}, "body": body.decode(),
    }  # fmt: skip
    nothing = Recording(200, {"content-type": "application/json"}, b"{}", "complete")
    sent = replay(Scenario(event, nothing)).request
    assert sent is not None
    said = demo_host(event)(sent, iter(f"{number:032x}" for number in itertools.count(1)).__next__)
    answered = replay(Scenario(event, Recording(said.status, dict(said.headers), b"".join(said.pieces), "complete")))
    return Reply(answered.head.status, dict(answered.head.headers), ((0.01, answered.body),))


class GoodGateway:
    """What a gateway without a defect answers, in the demo's own words; no socket, no waiting."""

    is_local = False
    has_key = True

    def __init__(self) -> None:
        self._numbers = itertools.count(1)

    def send(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        *,
        key: str | None = "own",
        header: KeyHeader = "bearer",
        encoding: str | None = None,
    ) -> Reply:
        if path == "/health":
            return self._json(200, {"status": "ok", "version": "1"})
        if key != "own":
            return self._error(401, "invalid_api_key")
        if path == "/models":
            return self._json(200, {"data": [{"id": "demo/openai"}]})
        if path.startswith("/models/"):
            return self._json(200, {"id": unquote(path.removeprefix("/models/"))})
        body = gzip.decompress(body) if body is not None and encoding == "gzip" else body
        if path in CANNED:
            return self._json(200, CANNED[path])
        if path.startswith("/v1beta/"):
            return through(path, body or b"")
        if door_at(path) is None:
            return self._error(404, "not_found")
        if len(body or b"") > 4_500_000:
            return self._error(413, "request_too_large")
        try:
            request = json.loads(body or b"")
        except ValueError:
            return self._error(400, "invalid_json")
        if not request["model"].startswith("demo/"):
            return self._error(404, "model_not_found")
        if path != "/chat/completions" or request["model"] != "demo/openai":
            return through(path, body or b"")
        return self._chat(request | {"model": "openai"})

    def _chat(self, request: dict[str, Any]) -> Reply:
        said = answer(json.dumps(request).encode(), "openai", now=0, new_hex=lambda: f"{next(self._numbers):032x}")
        headers = {**dict(said.headers), "x-request-id": ID, **RATES}
        if said.cut is not None and not said.stream:
            return self._error(502, "upstream_truncated")
        pace = 0.02 if said.pace is None else said.pace
        pieces = [(position * pace + 0.01, piece) for position, piece in enumerate(said.pieces)]
        if said.cut is not None:
            error = {"error": {"message": "broke off", "type": "server_error"}, "request_id": ID}
            pieces = [*pieces[: said.cut], (9.0, b"data: " + json.dumps(error).encode() + b"\n\n")]
        if said.stall:
            pieces = [
                pieces[0],
                (10.0, b": keep-alive\n\n"),
                *((moment + said.stall, piece) for moment, piece in pieces[1:]),
            ]
        return Reply(said.status, headers, tuple(pieces))

    def _error(self, status: int, code: str) -> Reply:
        error = {"message": "no", "type": "invalid_request_error", "code": code, "param": None}
        return self._json(status, {"error": error, "request_id": ID})

    def _json(self, status: int, body: Any) -> Reply:
        headers = {"content-type": "application/json", "x-request-id": ID}
        return Reply(status, headers, ((0.0, json.dumps(body).encode()),))


Change = Callable[[Reply], Reply]


class FlawedGateway(GoodGateway):
    """A good gateway with one defect, in the answers that `applies` to."""

    def __init__(self, applies: Callable[[str, bytes, str | None], bool], change: Change) -> None:
        super().__init__()
        self._applies = applies
        self._change = change

    def send(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        *,
        key: str | None = "own",
        header: KeyHeader = "bearer",
        encoding: str | None = None,
    ) -> Reply:
        reply = super().send(method, path, body, key=key, header=header, encoding=encoding)
        if header != "bearer" and self._applies(header, body or b"", key):
            return self._change(reply)
        return self._change(reply) if self._applies(path, body or b"", key) else reply


#: Checks that send megabytes: in `make test` each is only made of a gateway with a defect that is for it.
LARGE = {"body_too_large", "body_far_too_large", "compressed_body"}


def lines(gateway: GoodGateway, *, slow: bool = False, without: Collection[str] = ()) -> tuple[bool, list[str]]:
    written: list[str] = []
    checks = [check for check in (CHECKS + SLOW_CHECKS if slow else CHECKS) if check.__name__ not in without]
    return verify(gateway, tuple(checks), written.append), written


def edit(old: bytes, new: bytes) -> Change:
    return lambda reply: replace(reply, pieces=tuple((at, piece.replace(old, new)) for at, piece in reply.pieces))


def without(header: str) -> Change:
    return lambda reply: replace(reply, headers={k: v for k, v in reply.headers.items() if k != header})


def with_header(name: str, value: str) -> Change:
    return lambda reply: replace(reply, headers={**reply.headers, name: value})


def at_once(reply: Reply) -> Reply:
    return replace(reply, pieces=((1.0, reply.body),))


def status(number: int) -> Change:
    return lambda reply: replace(reply, status=number)


def saying(*words: bytes) -> Callable[[str, bytes, str | None], bool]:
    return lambda path, body, key: path == "/chat/completions" and all(word in body for word in words)


def at(wanted: str) -> Callable[[str, bytes, str | None], bool]:
    return lambda path, body, key: path == wanted


def test_a_good_gateway_passes_every_check() -> None:
    passed, written = lines(GoodGateway(), slow=True)

    assert passed
    assert [line[:4] for line in written] == ["pass"] * len(CHECKS + SLOW_CHECKS)


GOOGLES = "/v1beta/models/demo/anthropic:streamGenerateContent"

#: What the gateway gives to Gemini where it has lost the signature.
NO_STATE = b"skip_thought_signature_validator"

DEFECTS: list[tuple[str, Callable[[str, bytes, str | None], bool], Change, str]] = [
    ("buffered", saying(b"demo slow"), at_once, "stream arrives in pieces"),
    ("no content type", saying(b"demo slow"), without("content-type"), "stream arrives in pieces"),
    ("broken", saying(b"demo slow"), lambda reply: replace(reply, broken=True), "stream arrives in pieces"),
    ("merged calls", saying(b"include_usage"), edit(b'"index":1', b'"index":0'), "parallel calls"),
    ("lost fragment", saying(b"include_usage"), edit(b'"arguments":"Paris"', b'"arguments":""'), "parallel calls"),
    ("wrong finish", saying(b"include_usage"), edit(b'"tool_calls"}]', b'"stop"}]'), "parallel calls"),
    ("no DONE", saying(b"include_usage"), edit(b"data: [DONE]", b""), "parallel calls"),
    ("no usage", saying(b"include_usage"), edit(b'"usage":{', b'"use":{'), "parallel calls"),
    ("lost result", saying(b"tool_call_id"), edit(b"12 degrees", b""), "tool loop"),
    ("refused result", saying(b"tool_call_id"), status(400), "tool loop"),
    ("no x-api-key", at("x-api-key"), status(401), "messages"),
    ("merged blocks", at("/messages"), edit(b'"index":1', b'"index":0'), "messages"),
    ("wrong stop", at("/messages"), edit(b'"tool_use","stop_sequence"', b'"end_turn","stop_sequence"'), "messages"),
    ("no message_stop", at("/messages"), edit(b'{"type":"message_stop"}', b'{"type":"ping"}'), "messages"),
    ("no count", at("/messages/count_tokens"), edit(b"9", b"0"), "count tokens"),
    ("no path for counts", at("/messages/count_tokens"), status(404), "count tokens"),
    ("not completed", at("/responses"), edit(b'"type":"response.completed"', b'"type":"response.failed"'), "responses"),
    ("lost delta", at("/responses"), edit(b'"delta":"Paris"', b'"delta":""'), "responses"),
    ("lost call", at("/responses"), edit(b'New York\\"}', b'Boston\\"}'), "responses"),
    ("no x-goog-api-key", at("x-goog-api-key"), status(401), "gemini"),
    ("no path parameters", at(f"{GOOGLES}?alt=sse"), status(404), "gemini"),
    ("lost call", at(f"{GOOGLES}?alt=sse"), edit(b'"New York"', b'"Boston"'), "gemini"),
    ("lost call in the array", at(GOOGLES), edit(b'"New York"', b'"Boston"'), "gemini"),
    ("no end", at(GOOGLES), edit(b'"finishReason":"STOP",', b""), "gemini"),
    ("events for the array", at(GOOGLES), edit(b"[{", b"data: {"), "gemini"),
    ("no count of tokens", at("/v1beta/models/demo/anthropic:countTokens"), edit(b"9", b"0"), "gemini"),
    ("arguments as text", at("/native/chat"), edit(b'{"city":"Paris"}', b'"{}"'), "native"),
    ("no tools/check", at("/native/tools/check"), status(500), "native"),
    (
        "lost state",
        at("/native/translate"),
        edit(b"its own", b"skip_thought_signature_validator"),
        "state across turns",
    ),
    ("no translation", at("/native/translate"), edit(b"functionResponse", b"other"), "state across turns"),
    ("uncounted", saying(b'"hi"'), with_header("x-ratelimit-remaining-requests", "60"), "rates"),
    ("timeless", saying(b'"hi"'), without("x-ratelimit-reset-requests"), "rates"),
    (
        "clean end after a cut",
        saying(b"demo cut", b"stream"),
        lambda reply: replace(reply, pieces=(*reply.pieces, (9.1, b"data: [DONE]\n\n"))),
        "broken upstream",
    ),
    ("no error event", saying(b"demo cut", b"stream"), edit(b'"error"', b'"x"'), "broken upstream"),
    ("cut stream is 500", saying(b"demo cut", b"stream"), status(500), "broken upstream"),
    ("cut answer is 200", saying(b"demo cut"), status(200), "broken upstream"),
    ("no Retry-After", saying(b"demo error"), without("retry-after"), "refused upstream"),
    ("unreadable 429", saying(b"demo error"), edit(b'"error"', b'"x"'), "refused upstream"),
    ("404 code", saying(b"no-such-model"), edit(b"model_not_found", b"other"), "unknown model"),
    ("404 without id", saying(b"no-such-model"), without("x-request-id"), "unknown model"),
    ("404 with another id", saying(b"no-such-model"), edit(ID.encode(), b"other"), "unknown model"),
    ("gzip as text", lambda path, body, key: body.startswith(b"\x1f\x8b"), status(400), "compressed body"),
    ("no model", lambda path, body, key: "%2F" in path, status(404), "one model"),
    ("another model", lambda path, body, key: path == "/models/demo/openai", edit(b"openai", b"x"), "one model"),
    ("403 for a path", lambda path, body, key: path.startswith("/no/"), status(403), "unknown path"),
    ("403 for the root", lambda path, body, key: path == "/", status(403), "unknown path"),
    ("500", lambda path, body, key: body.endswith(b","), status(500), "malformed json"),
    ("accepted 5 MB", lambda path, body, key: 4_500_000 < len(body) < 6_000_000, status(200), "body too large"),
    ("502 for 7 MB", lambda path, body, key: len(body) > 6_000_000, status(502), "body far too large"),
    ("no keep-alive", saying(b"demo stall"), lambda r: replace(r, pieces=(r.pieces[0], *r.pieces[2:])), "keep alive"),
    ("no demo", lambda path, body, key: path == "/models" and key == "own", edit(b"demo/", b"x/"), "models"),
    ("key refused", lambda path, body, key: path == "/models" and key == "own", status(401), "models"),
    ("no stage below", lambda path, body, key: path == "/models", status(404), "key is asked for"),
    ("open", lambda path, body, key: key is None, status(200), "key is asked for"),
    ("any key", lambda path, body, key: bool(key and key.startswith("wrong")), status(200), "key is asked for"),
    ("ill", lambda path, body, key: path == "/health", edit(b'"ok"', b'"ill"'), "health"),
    ("no stage", lambda path, body, key: path == "/health", status(404), "health"),
    ("html", lambda path, body, key: path == "/models" and key == "own", edit(b"{", b"<"), "models"),
]


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.integration)])
@pytest.mark.parametrize(("applies", "change", "check"), [row[1:] for row in DEFECTS], ids=[row[0] for row in DEFECTS])
def test_a_defect_fails_the_check_that_is_for_it(
    applies: Callable[[str, bytes, str | None], bool], change: Change, check: str, every: bool
) -> None:
    slow = check in {name.__name__.replace("_", " ") for name in SLOW_CHECKS}
    passed, written = lines(
        FlawedGateway(applies, change), slow=slow, without=() if every else LARGE - {check.replace(" ", "_")}
    )

    assert not passed
    assert [line[6:30].strip() for line in written if line.startswith("FAIL")] == [check]


@pytest.mark.parametrize(
    ("change", "key", "check"),
    [
        pytest.param(status(404), None, "key is asked for", id="no stage"),
        pytest.param(status(401), "own", "models", id="key refused"),
        pytest.param(edit(b"demo/", b"x/"), "own", "models", id="no demo"),
    ],
)
def test_checks_that_can_only_fail_are_left_out(change: Change, key: str | None, check: str) -> None:
    passed, written = lines(FlawedGateway(lambda path, body, sent: path == "/models" and sent == key, change))

    assert not passed
    assert written[-1].startswith(f"FAIL  {check}")


def test_a_key_without_limits_skips_the_check_of_rates() -> None:
    passed, written = lines(FlawedGateway(saying(b'"hi"'), without("x-ratelimit-limit-requests")))

    assert passed
    assert any(line.startswith("skip  rates") for line in written)


def test_a_local_gateway_may_be_open() -> None:
    gateway = FlawedGateway(lambda path, body, key: key is None, status(200))
    gateway.is_local, gateway.has_key = True, False

    passed, written = lines(gateway)

    assert passed
    assert any(line.startswith("skip  key is asked for") for line in written)


def test_a_connection_that_fails_is_a_failed_check() -> None:
    def fail(reply: Reply) -> Reply:
        raise httpx.ReadError("reset")

    passed, written = lines(FlawedGateway(lambda path, body, key: path == "/models", fail))

    assert not passed
    assert "ReadError" in "\n".join(written)


@pytest.fixture
def demo() -> Iterator[DemoServer]:
    server = DemoServer(pace=0.0)
    yield server
    server.close()


@pytest.mark.enable_socket
def test_the_client_times_the_pieces_and_notes_a_break(demo: DemoServer) -> None:
    gateway = HttpGateway(urlsplit(f"{demo.base_url}/openai/v1/"), KEY)

    def ask(text: str) -> Reply:
        body = {"model": "openai", "stream": True, "max_tokens": 3, "messages": [{"role": "user", "content": text}]}
        return gateway.send("POST", "/chat/completions", json.dumps(body).encode())

    whole, cut = ask("hi [demo slow 20]"), ask("hi [demo cut]")

    assert (whole.status, whole.broken, whole.frames[-1]) == (200, False, "[DONE]")
    assert len(whole.pieces) > 3
    assert whole.pieces[-1][0] - whole.pieces[0][0] > 0.06
    assert cut.broken
    assert KEY not in repr(gateway)


@pytest.mark.enable_socket
@pytest.mark.parametrize("url", ["ftp://127.0.0.1/v1", "http://127.0.0.1:1/v1"])
def test_an_address_that_cannot_be_checked_is_status_2(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        code: Any = main([url, "--key", KEY])
    except SystemExit as exit_:
        code = exit_.code

    assert code == 2
    assert KEY not in "".join(capsys.readouterr())
