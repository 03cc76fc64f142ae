"""A request whose first provider fails, with another behind it: what the client gets, and who was asked how."""

from __future__ import annotations

import io
import json
import logging
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.door_requests import question
from tests.gemini_client import event_members
from tests.policy.door_clients import code_of
from tests.shell.misbehaving_upstream import Close, MisbehavingUpstream, Reset, Send, Stall, Step, answer, chunk
from tests.shell.upstream_client import client
from toolwire.doors import DOORS
from toolwire.exchange import call_quality as exchange_quality
from toolwire.model.http import Head
from toolwire.model.settings import BreakerRules, ProviderConfig, Retries, Settings, Tenant, TimeLimits
from toolwire.shell.network import breaker
from toolwire.shell.network.transfer import Timeouts
from toolwire.shell.network.upstream import Upstream
from toolwire.shell.serve import admission, call_quality
from toolwire.shell.serve import door as serve_module
from toolwire.shell.serve.door import serve
from toolwire.shell.telemetry.log import logger

pytestmark = pytest.mark.enable_socket

_JSON = (("content-type", "application/json"),)


def data(document: dict[str, Any]) -> bytes:
    return b"data: %b\n\n" % json.dumps(document).encode()


def delta(fields: dict[str, Any], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": fields, "finish_reason": finish}
    return data({"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]})


CALL = {"id": "call_abc", "type": "function", "function": {"name": "weather", "arguments": '{"city":"Bern"}'}}
ROLE, TEXT, STOP = delta({"role": "assistant", "content": ""}), delta({"content": "Hello"}), delta({}, "stop")
CALLED = delta({"tool_calls": [{"index": 0, **CALL}]})
DONE = b"data: [DONE]\n\n"


def refused(status: int, **headers: str) -> list[Step]:
    body = json.dumps({"error": {"message": "No.", "type": "t", "code": None}}).encode()
    named = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return [Send(answer(body, status=f"{status} No", framing="length", headers=(*_JSON, *named)))]


def broken(*pieces: bytes, how: Step) -> list[Step]:
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
    return [Send(head + b"".join(map(chunk, pieces))), how]


EVENT_OF_AN_ERROR = data({"error": {"message": "busy", "type": "overloaded_error", "code": 529}})

#: What the first target does, after which the second may be asked.
FAULTS: dict[str, list[Step]] = {
    **{str(status): refused(status) for status in (401, 402, 403, 408, 429, 500, 502, 503, 504, 529)},
    "429, come back later": refused(429, retry_after="600"),
    "redirect": [Send(answer(status="307 Over there", headers=(("location", "http://127.0.0.1:1/"),)))],
    "closed": [Close()],
    "reset": [Reset()],
    "cut in the head": [Send(b"HTTP/1.1 200 OK\r\ncontent-ty"), Close()],
    "no HTTP": [Send(b"ready\r\n"), Close()],
    "stall before the head": [Stall()],
    "stall behind the head": broken(how=Stall()),
    "stall behind the role": broken(ROLE, how=Stall()),
    "cut behind the head": broken(how=Close()),
    "cut behind the role": broken(ROLE, how=Close()),
    "reset behind the role": broken(ROLE, how=Reset()),
    "an event of an error": broken(EVENT_OF_AN_ERROR, how=Close()),
    "an event of an error behind the role": broken(ROLE, EVENT_OF_AN_ERROR, how=Close()),
    "a web page": [Send(answer(b"<html>", headers=(("content-type", "text/html"),)))],
    "garbage": broken(b"data: {not json\n\n", how=Close()),
}
#: And after which nobody is.
FINAL: dict[str, tuple[list[Step], str]] = {
    **{str(status): (refused(status), "No.") for status in (400, 404, 413, 422)},
    "cut behind a text": (broken(ROLE, TEXT, how=Close()), "closed the connection"),
    "cut behind a call": (broken(ROLE, CALLED, how=Close()), "closed the connection"),
    "an error behind a text": (
        [*broken(ROLE, TEXT, how=Send(chunk(EVENT_OF_AN_ERROR), pieces=2, pause=0.05)), Close()],
        "busy",
    ),
}

MESSAGE = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude",
    "content": [{"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {"city": "Bern"}}],
    "stop_reason": "tool_use",
    "usage": {"input_tokens": 1, "output_tokens": 1},
}
COMPLETION = {
    "id": "c1",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant", "tool_calls": [CALL]}}],
}


def whole(document: dict[str, Any]) -> list[Step]:
    return [Send(answer(json.dumps(document).encode(), framing="length", headers=_JSON))]


@pytest.fixture(autouse=True)
def connections(monkeypatch: pytest.MonkeyPatch) -> Iterator[Upstream]:
    """Connections of the test's own, none of which is left when it ends."""
    with client(Timeouts(first_byte=0.4, idle=0.4)) as upstream:
        monkeypatch.setattr(serve_module, "upstream", lambda: upstream)
        yield upstream


@pytest.fixture(autouse=True)
def _circuits() -> Iterator[None]:
    """Nothing is known of any target when a test begins."""
    breaker._breaker.cache_clear()
    call_quality.QUALITIES.__init__()  # type: ignore[misc]
    yield
    breaker._breaker.cache_clear()
    call_quality.QUALITIES.__init__()  # type: ignore[misc]


@pytest.fixture
def second() -> Iterator[MisbehavingUpstream]:
    with MisbehavingUpstream() as started:
        yield started


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    (handler,) = logger().lines.handlers
    assert isinstance(handler, logging.StreamHandler)
    text = io.StringIO()
    before = handler.setStream(text)
    yield text
    handler.setStream(before)


Configured = Any


@pytest.fixture
def configured(
    server: MisbehavingUpstream, second: MisbehavingUpstream, nobodys_port: int, monkeypatch: pytest.MonkeyPatch
) -> Configured:
    """Sets what is configured: `acme` is the first server, `claude` and `twin` the second."""
    monkeypatch.setattr("random.random", lambda: 0.05)  # pauses of our own are short
    monkeypatch.setenv("FIRST_KEY", "sk-first-secret")
    monkeypatch.setenv("SECOND_KEY", "sk-second-secret")
    nobody = f"http://127.0.0.1:{nobodys_port}/v1"
    providers = (
        ProviderConfig("acme", "openai_chat", f"{server.url}/v1", "env:FIRST_KEY"),
        ProviderConfig("twin", "openai_chat", f"{second.url}/v1", "env:SECOND_KEY"),
        ProviderConfig("claude", "anthropic_messages", second.url, "env:SECOND_KEY"),
        ProviderConfig("nobody", "openai_chat", nobody),
        ProviderConfig("nowhere", "openai_chat", "http://name.invalid/v1"),
        ProviderConfig("keyless", "openai_chat", nobody, "env:ABSENT_KEY"),
    )

    def configure(**fields: Any) -> None:
        made = Settings(providers={provider.name: provider for provider in providers}, **fields)
        monkeypatch.setattr(admission, "current_settings", lambda: made)

    configure()
    return configure


def ask(
    *,
    door: str = "chat_completions",
    path: str = "/chat/completions",
    body: dict[str, Any] | None = None,
    model: str = "acme/m",
    stream: bool = False,
    headers: dict[str, str] | None = None,
) -> tuple[Head, bytes]:
    tool = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object", "properties": {}}}}
    chat = {"model": model, "messages": [{"role": "user", "content": "Hi"}], "tools": [tool], "stream": stream}
    event = {
        "httpMethod": "POST",
        "path": path,
        "headers": headers or {},
        "multiValueHeaders": {name: [value] for name, value in (headers or {}).items()},
        "requestContext": {"requestId": "req-1"},
        "isBase64Encoded": False,
        **event_members(door, json.dumps(body or chat).encode()),
    }
    head, *rest = list(serve(door, event, None))
    assert isinstance(head, Head)
    return head, b"".join(piece for piece in rest if isinstance(piece, bytes))


def calls(body: bytes, *, stream: bool) -> list[tuple[str, str]]:
    """The calls of an answer, which must be a whole and right one."""
    if not stream:
        message = json.loads(body)["choices"][0]["message"]
        return [(call["function"]["name"], call["function"]["arguments"]) for call in message["tool_calls"]]
    frames = [line.removeprefix(b"data: ") for line in body.splitlines() if line.startswith(b"data: ")]
    assert frames[-1] == b"[DONE]"
    chunks = [json.loads(frame) for frame in frames[:-1]]
    assert sum("role" in chunk["choices"][0]["delta"] for chunk in chunks if chunk["choices"]) == 1
    deltas = [
        call for chunk in chunks if chunk["choices"] for call in chunk["choices"][0]["delta"].get("tool_calls", [])
    ]
    return [(deltas[0]["function"]["name"], "".join(call["function"].get("arguments", "") for call in deltas))]


#: A JSON answer has the whole time for its head: there a stall in front of it is no fault yet.
STREAMED_ONLY = {"stall before the head"}


@pytest.mark.parametrize(
    ("fault", "stream"),
    [(fault, stream) for fault in FAULTS for stream in (False, True) if stream or fault not in STREAMED_ONLY],
)
def test_the_second_target_answers_where_nothing_was_shown(
    fault: str,
    stream: bool,
    configured: Configured,
    server: MisbehavingUpstream,
    second: MisbehavingUpstream,
) -> None:
    """The second is of another dialect: the request is prepared anew, with its own credential."""
    configured(fallbacks={"acme/m": ("claude/c",)})
    server.script(FAULTS[fault])
    second.script(whole(MESSAGE))

    head, body = ask(stream=stream)

    assert head.status == 200
    assert calls(body, stream=stream) == [("weather", '{"city": "Bern"}')]
    told = dict(head.headers)
    assert (told["x-toolwire-attempts"], told["x-toolwire-target"]) == ("2", "claude/c")
    (asked,) = second.requests
    assert asked.headers["x-api-key"] == "sk-second-secret"
    assert json.loads(asked.body)["model"] == "c"
    assert b"sk-first" not in asked.body + "".join(asked.head).encode()
    assert len(server.requests) == 1  # redirects are not followed, and nobody is asked twice


@pytest.mark.parametrize("fault", FINAL)
def test_nobody_else_is_asked(
    fault: str, configured: Configured, server: MisbehavingUpstream, second: MisbehavingUpstream
) -> None:
    configured(fallbacks={"acme/m": ("claude/c",)}, retries=Retries(attempts=5))
    script, message = FINAL[fault]
    server.script(script)

    _, body = ask(stream=True)

    assert message in body.decode()
    assert b"[DONE]" not in body
    assert len(server.requests) == 1
    assert second.requests == []


@pytest.mark.parametrize("first", ["nobody/m", "nowhere/m", "keyless/m"])
def test_a_target_that_cannot_be_reached_is_passed_over(
    first: str, configured: Configured, second: MisbehavingUpstream
) -> None:
    configured(fallbacks={first: ("keyless/m", "twin/m")})
    second.script(whole(COMPLETION))

    head, body = ask(model=first)

    assert calls(body, stream=False) == [("weather", '{"city":"Bern"}')]
    assert dict(head.headers)["x-toolwire-target"] == "twin/m"


def test_where_all_fail_the_last_failure_is_told(
    configured: Configured, server: MisbehavingUpstream, second: MisbehavingUpstream, log: io.StringIO
) -> None:
    configured(fallbacks={"acme/m": ("twin/m",)})
    server.script(refused(500))
    second.script(refused(503, retry_after="7"))

    head, _ = ask(stream=True)

    told = dict(head.headers)
    assert (head.status, told["retry-after"], told["x-toolwire-attempts"]) == (503, "7", "2")
    lines = [json.loads(line) for line in log.getvalue().splitlines()]
    (attempt,) = [line for line in lines if line["message"] == "attempt"]
    assert (attempt["attempt"], attempt["gen_ai.provider.name"], attempt["upstream_status"]) == (1, "acme", 500)
    (request,) = [line for line in lines if line["message"] == "request"]
    assert (request["attempts"], request["gen_ai.provider.name"], request["upstream_status"]) == (2, "twin", 503)
    assert "secret" not in log.getvalue()


def test_one_target_is_asked_again_after_a_pause(configured: Configured, server: MisbehavingUpstream) -> None:
    configured(retries=Retries(attempts=3))
    server.script(refused(503, retry_after_ms="20"), refused(503), whole(COMPLETION))

    head, body = ask()

    assert calls(body, stream=False) == [("weather", '{"city":"Bern"}')]
    assert dict(head.headers)["x-toolwire-attempts"] == "3"
    assert len(server.requests) == 3


def test_a_target_that_has_failed_too_often_is_passed_over(
    configured: Configured, server: MisbehavingUpstream, second: MisbehavingUpstream
) -> None:
    """Without any configuration of the breaker: there is somebody else to ask."""
    configured(fallbacks={"acme/m": ("twin/m",)})
    server.script(*[refused(500)] * 5)
    second.script(*[whole(COMPLETION)] * 8)

    attempts = [dict(ask()[0].headers)["x-toolwire-attempts"] for _ in range(8)]

    assert len(server.requests) == 5
    assert attempts == ["2"] * 5 + ["1"] * 3


def test_a_keys_fallback_that_leads_nowhere_harms_no_request(
    configured: Configured, server: MisbehavingUpstream
) -> None:
    configured(tenant=Tenant(fallback=("nobody/m", "nothing")))
    server.script(whole(COMPLETION))

    head, body = ask()

    assert calls(body, stream=False) == [("weather", '{"city":"Bern"}')]
    assert dict(head.headers)["x-toolwire-warnings"] == "fallback_unknown"


def test_a_single_target_is_left_alone_by_default(configured: Configured, server: MisbehavingUpstream) -> None:
    configured()
    server.script(*[refused(500)] * 5)

    answers = [ask() for _ in range(30)]

    assert len(server.requests) == 5
    assert [head.status for head, _ in answers] == [500] * 5 + [503] * 25
    assert "at last with `upstream_error`" in json.loads(answers[-1][1])["error"]["message"]


def test_a_count_of_tokens_is_no_less_a_sign(
    configured: Configured, second: MisbehavingUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    configured(breaker=BreakerRules(failures=2))
    count = {"model": "claude/c", "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 9}
    second.script(*[refused(500)] * 2, whole({"input_tokens": 7}), whole({"input_tokens": 7}))

    asked = [ask(door="messages", path="/messages/count_tokens", body=count) for _ in range(4)]
    assert [head.status for head, _ in asked] == [500, 500, 503, 503]
    assert len(second.requests) == 2

    monkeypatch.setattr(breaker._breaker(BreakerRules(failures=2), None), "_clock", lambda: time.time() + 11)
    asked = [ask(door="messages", path="/messages/count_tokens", body=count) for _ in range(2)]
    assert [json.loads(body) for _, body in asked] == [{"input_tokens": 7}] * 2


def test_it_is_asked_every_time_without_a_breaker(configured: Configured, server: MisbehavingUpstream) -> None:
    configured(breaker=BreakerRules(enabled=False))
    server.script(*[refused(500)] * 12)

    assert [ask()[0].status for _ in range(12)] == [500] * 12


@pytest.mark.parametrize("stream", [False, True], ids=["json", "stream"])
@pytest.mark.parametrize("door", DOORS)
def test_where_nobody_else_can_be_asked_the_door_says_when_to_come_back(
    door: str, stream: bool, configured: Configured, server: MisbehavingUpstream
) -> None:
    configured(breaker=BreakerRules(failures=2))
    server.script(*[refused(503)] * 2)
    body = {"model": "acme/m", "stream": stream, **question(door, "Hi")}

    answers = [ask(door=door, body=body) for _ in range(30)]

    assert len(server.requests) == 2
    for head, raw in answers[2:]:
        told, error = dict(head.headers), json.loads(raw)["error"]
        assert head.status == 503
        assert 1 <= int(told["retry-after"]) <= 10
        assert "x-should-retry" not in told or told["x-should-retry"] == "true"
        assert code_of(error) == "upstream_unavailable"


def test_without_configuration_a_request_is_sent_once(configured: Configured, server: MisbehavingUpstream) -> None:
    configured()
    server.script(refused(500))

    head, _ = ask()

    assert len(server.requests) == 1
    assert not {"x-toolwire-attempts", "x-toolwire-target"} & {name for name, _ in head.headers}


@pytest.mark.parametrize(
    ("header", "fields", "expected"),
    [
        ("twin/m", {}, "twin/m"),
        ("twin/m", {"fallbacks": {"acme/m": ("claude/c",)}}, "twin/m"),
        ("quick", {"aliases": {"quick": "twin/m"}}, "twin/m"),
        (None, {"tenant": Tenant(fallback=("twin/m",))}, "twin/m"),
        (None, {"tenant": Tenant(fallback=("nobody/m",)), "fallbacks": {"acme/m": ("twin/m",)}}, "twin/m"),
        (None, {"tenant": Tenant(fallback=("nobody/m", "nothing", "twin/m"))}, "twin/m"),
        (None, {"tenant": Tenant(fallback=("claude/c", "twin/m"), models=("acme/*", "twin/*"))}, "twin/m"),
        ("off", {"fallbacks": {"acme/m": ("twin/m",)}}, None),
    ],
)
def test_who_is_asked_next_is_configured(
    header: str | None,
    fields: dict[str, Any],
    expected: str | None,
    configured: Configured,
    server: MisbehavingUpstream,
    second: MisbehavingUpstream,
) -> None:
    configured(**fields)
    server.script(refused(500))
    second.script(whole(COMPLETION))

    head, _ = ask(headers={"x-toolwire-fallback": header} if header else None)

    assert head.status == (200 if expected else 500)
    assert dict(head.headers).get("x-toolwire-target") == expected


@pytest.mark.parametrize(
    ("header", "tenant", "status", "code"),
    [
        ("acme/m, absent/m", Tenant(), 404, "model_not_found"),
        ("twin/m", Tenant(models=("acme/*",)), 403, "model_not_allowed"),
        (",".join(["twin/m"] * 9), Tenant(), 400, "invalid_option"),
    ],
)
def test_a_fallback_that_cannot_be_is_refused(
    header: str, tenant: Tenant, status: int, code: str, configured: Configured, server: MisbehavingUpstream
) -> None:
    configured(tenant=tenant)

    head, body = ask(headers={"x-toolwire-fallback": header})

    error = json.loads(body)["error"]
    assert (head.status, error["code"], error["param"]) == (status, code, "x-toolwire-fallback")
    assert server.requests == []


@pytest.mark.parametrize(
    ("headers", "stream", "script", "message"),
    [
        ({"x-toolwire-first-byte-seconds": "0.1"}, True, [Stall()], "did not begin to answer within 0.1 s"),
        ({"x-toolwire-total-seconds": "0.1"}, False, [Stall()], "did not finish within the time this request has"),
        ({"x-toolwire-total-seconds": "0.1"}, True, broken(ROLE, how=Stall()), "did not finish within the time"),
        ({"x-toolwire-idle-seconds": "0.1"}, True, broken(ROLE, how=Stall()), "sent nothing more for 0.1 s"),
    ],
)
def test_a_client_shortens_what_an_answer_may_take(
    headers: dict[str, str],
    stream: bool,
    script: Sequence[Step],
    message: str,
    configured: Configured,
    server: MisbehavingUpstream,
) -> None:
    configured()
    server.script(script)

    _, body = ask(stream=stream, headers=headers)

    assert message in body.decode()


def test_attempts_and_pauses_are_part_of_the_total(configured: Configured, server: MisbehavingUpstream) -> None:
    configured(retries=Retries(attempts=9), tenant=Tenant(time_limits=TimeLimits(total_seconds=0.6)))
    server.script(*[refused(503, retry_after_ms="350")] * 9)

    head, _ = ask()

    assert (head.status, len(server.requests)) == (503, 2)


def test_of_requests_at_once_as_many_as_are_allowed_are_served(
    configured: Configured, server: MisbehavingUpstream, second: MisbehavingUpstream
) -> None:
    """The provider has one slot, the tenant two; each is given back however its request ends."""
    first = ProviderConfig("acme", "openai_chat", f"{server.url}/v1", concurrent_requests=1)
    configured(
        endpoints={"acme": (first,)},
        fallbacks={"acme/m": ("twin/m",)},
        tenant=Tenant(concurrent_requests=2),
    )
    held = threading.Event()
    server.script([Stall(held), *whole(COMPLETION)], refused(400))
    second.script(*[[Stall(held), *whole(COMPLETION)]] * 2)
    with ThreadPoolExecutor(3) as pool:
        under_way = [pool.submit(ask)]
        server.wait_for_requests(1)
        under_way.append(pool.submit(ask))
        second.wait_for_requests(1)
        head, body = ask()
        held.set()
        answers = [dict(each.result()[0].headers)["x-toolwire-target"] for each in under_way]

    assert answers == ["acme/m", "twin/m"]
    assert (head.status, json.loads(body)["error"]["code"]) == (429, "too_many_concurrent_requests")
    assert dict(head.headers)["retry-after"] == "1"
    assert ask()[0].status == 400
    server.script(whole(COMPLETION))
    assert dict(ask()[0].headers)["x-toolwire-target"] == "acme/m"


def test_a_provider_without_a_free_slot_and_nobody_else_to_ask(
    configured: Configured, server: MisbehavingUpstream
) -> None:
    configured(endpoints={"acme": (ProviderConfig("acme", "openai_chat", server.url, concurrent_requests=1),)})
    held = threading.Event()
    server.script([Stall(held), *whole(COMPLETION)])
    with ThreadPoolExecutor(1) as pool:
        under_way = pool.submit(ask)
        server.wait_for_requests(1)
        head, body = ask()
        held.set()
        assert under_way.result()[0].status == 200

    assert (head.status, json.loads(body)["error"]["code"]) == (503, "provider_busy")


def called_with(name: str, arguments: str) -> dict[str, Any]:
    call = {**CALL, "function": {"name": name, "arguments": arguments}}
    choice = COMPLETION["choices"][0] | {"message": {"role": "assistant", "tool_calls": [call]}}  # type: ignore[index]
    return COMPLETION | {"choices": [choice]}


GOOD, BAD = called_with("weather", "{}"), called_with("wether", "{}")
BEST_FIRST: dict[str, Any] = {"fallbacks": {"acme/m": ("twin/m",)}, "by_quality": frozenset({"acme/m"})}


@pytest.mark.parametrize(
    ("settings", "asked", "target"),
    [
        (BEST_FIRST, {}, "twin/m"),
        (BEST_FIRST | {"by_quality": frozenset()}, {}, "acme/m"),
        (BEST_FIRST, {"headers": {"x-toolwire-fallback": "twin/m"}}, "acme/m"),
        (BEST_FIRST | {"tenant": Tenant(models=("acme/*",))}, {}, "acme/m"),
        (BEST_FIRST | {"tenant": Tenant(validate_tool_arguments="reject")}, {}, "twin/m"),
    ],
    ids=["by quality", "as configured", "as the client says", "what the tenant may not use", "refused calls count"],
)
def test_the_model_whose_calls_were_fit_is_asked_first(
    settings: dict[str, Any],
    asked: dict[str, Any],
    target: str,
    configured: Configured,
    server: MisbehavingUpstream,
    second: MisbehavingUpstream,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two answers of each are seen, of which the first model's call a tool that is not there."""
    monkeypatch.setattr(exchange_quality, "LEAST_CALLS", 1.9)
    configured(**settings)
    server.script(*[whole(BAD)] * 2, whole(GOOD))
    second.script(*[whole(GOOD)] * 4)
    own = {} if "tenant" in settings else {"x-toolwire-validate-tool-arguments": "annotate"}
    for model in ("twin/m", "acme/m") * 2:
        ask(model=model, headers=own)

    assert dict(ask(**asked)[0].headers).get("x-toolwire-target", "acme/m") == target


def test_what_was_not_validated_says_nothing_of_a_model(
    configured: Configured, server: MisbehavingUpstream, second: MisbehavingUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exchange_quality, "LEAST_CALLS", 0.9)
    configured(**BEST_FIRST)
    second.script(whole(BAD), broken(ROLE, CALLED, how=Close()))
    ask(model="twin/m")
    ask(model="twin/m", stream=True)

    assert call_quality.QUALITIES.shares() == {}


def test_a_request_that_is_ordered_by_quality_has_its_arguments_validated(
    configured: Configured, server: MisbehavingUpstream
) -> None:
    configured(**BEST_FIRST)
    server.script(whole(BAD))

    assert "unknown_tool_call" in dict(ask()[0].headers)["x-toolwire-warnings"]
