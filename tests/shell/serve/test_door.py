"""A client request from proxy event to answer, with a real upstream on the loopback interface."""

import base64
import hashlib
import io
import json
import logging
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from tests.shell.misbehaving_upstream import Close, MisbehavingUpstream, Reset, Send, Stall, answer, chunk
from tests.shell.upstream_client import client
from toolwire.exchange.actions import Action
from toolwire.exchange.exchange import Exchange
from toolwire.exchange.prepare import HOP_HEADER
from toolwire.model.errors import ClientGone
from toolwire.model.http import Head
from toolwire.model.settings import ProviderConfig, Settings, SettingsError, Tenant
from toolwire.shell.network import aws
from toolwire.shell.network.output import Output, deliver, is_there
from toolwire.shell.network.transfer import Timeouts
from toolwire.shell.network.upstream import Upstream
from toolwire.shell.serve import admission
from toolwire.shell.serve import door as serve_module
from toolwire.shell.serve.door import serve
from toolwire.shell.settings.configuration import load_settings
from toolwire.shell.telemetry.log import logger

pytestmark = pytest.mark.enable_socket

KEY = "tw-client-key"
SECRET = "sk-provider-secret"
PROMPT = "the prompt nobody may log"


def frame(delta: dict[str, Any] | None, finish: str | None = None, **members: Any) -> bytes:
    """One chunk of a Chat Completions stream as OpenAI writes it."""
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
    chunk = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": choices, **members}
    return b"data: %b\n\n" % json.dumps(chunk, separators=(",", ":")).encode()


CALL = {"id": "call_abc", "type": "function", "function": {"name": "weather", "arguments": '{"city":"Bern"}'}}
DONE = b"data: [DONE]\n\n"
STREAM = [frame({"role": "assistant", "content": "The answer."}), frame({}, "stop"), DONE]
CALLS = [
    frame({"role": "assistant", "tool_calls": [{"index": 0, **CALL}]}),
    frame({}, "tool_calls"),
    frame(None, usage={"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 19}),
    DONE,
]
WEATHER = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object", "properties": {}}}}


@pytest.fixture(autouse=True)
def connections(monkeypatch: pytest.MonkeyPatch) -> Iterator[Upstream]:
    """Connections of the test's own, none of which is left when it ends."""
    with client(Timeouts()) as upstream:
        monkeypatch.setattr(serve_module, "upstream", lambda: upstream)
        yield upstream


@pytest.fixture
def settings(server: MisbehavingUpstream, nobodys_port: int, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Providers that lead to the upstream, in place of the environment's."""
    base_url = f"{server.url}/v1"
    monkeypatch.setenv("ACME_KEY", SECRET)
    nobody = f"http://127.0.0.1:{nobodys_port}/v1"
    providers = (
        ProviderConfig("acme", "openai_chat", base_url, "env:ACME_KEY"),
        ProviderConfig("keyless", "openai_chat", base_url, "env:ABSENT_KEY"),
        ProviderConfig("nobody", "openai_chat", nobody),
    )
    made = Settings(
        providers={provider.name: provider for provider in providers},
        aliases={"fast": "acme/m"},
        key_sha256=hashlib.sha256(KEY.encode()).hexdigest(),
    )
    monkeypatch.setattr(admission, "current_settings", lambda: made)
    return made


def event(body: Any = None, *, headers: dict[str, str] | None = None, **body_fields: Any) -> dict[str, Any]:
    """A proxy event as API Gateway makes it."""
    if body is None:
        body = {"model": "acme/m", "messages": [{"role": "user", "content": PROMPT}], **body_fields}
    given = {"Authorization": f"Bearer {KEY}"} if headers is None else headers
    return {
        "httpMethod": "POST",
        "path": "/chat/completions",
        "headers": given,
        "multiValueHeaders": {name: [value] for name, value in given.items()},
        "requestContext": {"requestId": "req-1"},
        "body": body if isinstance(body, str | None) else json.dumps(body),
        "isBase64Encoded": False,
    }


def ask(the_event: Any, context: Any = None) -> tuple[Head, bytes]:
    """The whole answer: exactly one head, which comes first."""
    head, *rest = list(serve("chat_completions", the_event, context))
    assert isinstance(head, Head)
    assert all(isinstance(piece, bytes) for piece in rest)
    return head, b"".join(piece for piece in rest if isinstance(piece, bytes))


@pytest.fixture(autouse=True)
def log() -> Iterator[io.StringIO]:
    """What the process logs."""
    (handler,) = logger().lines.handlers
    assert isinstance(handler, logging.StreamHandler)
    text = io.StringIO()
    before = handler.setStream(text)
    yield text
    handler.setStream(before)


def request_line(log: io.StringIO) -> dict[str, Any]:
    """The one line a request leaves, which holds neither content nor secret."""
    text = log.getvalue()
    for secret in (KEY, SECRET, PROMPT, "The answer", "Bern"):
        assert secret not in text
    lines = [json.loads(line) for line in text.splitlines()]
    (line,) = [line for line in lines if line["message"] == "request"]
    return dict(line)


# ---------------------------------------------------------------- before the first request


@pytest.mark.parametrize(
    ("variables", "warms"),
    [
        ({}, False),
        ({"KEYS_TABLE": "keys"}, True),
        ({"RATES_TABLE": "rates"}, True),
        ({"KEYS_TABLE": "keys", "AWS_SAM_LOCAL": "true"}, False),
        ({"KEYS_TABLE": "keys", "KEY_SHA256": "no hash"}, False),
    ],
)
def test_a_function_that_asks_dynamodb_has_its_client_before_its_first_request(
    variables: dict[str, str], warms: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    warmed: list[tuple[str, bool]] = []
    monkeypatch.setattr(aws, "warm", lambda service, *, wait=0.0: warmed.append((service, wait > 0)))
    monkeypatch.setattr(serve_module, "current_settings", lambda: load_settings(variables))
    monkeypatch.setattr(serve_module, "upstream", lambda: None)

    serve_module.warm_up("chat_completions", ("openai_chat",))

    assert warmed == ([("dynamodb", True)] if warms else [])


# ---------------------------------------------------------------- refused before anything is sent


REFUSED = [
    (event(headers={"x-toolwire-hop": "1"}), 508, "loop_detected"),
    (event(headers={}), 401, "invalid_api_key"),
    (event("{not json", headers={}), 401, "invalid_api_key"),
    (event(headers={"X-Api-Key": "wrong"}), 401, "invalid_api_key"),
    (event("{not json"), 400, "invalid_json"),
    (event(None) | {"body": None}, 400, "invalid_json"),
    (event("\ud800"), 400, "invalid_json"),
    (event("*") | {"isBase64Encoded": True}, 400, "invalid_request"),
    (event("x" * 4_500_001), 413, "request_too_large"),
    (event(model="nowhere/m"), 404, "model_not_found"),
    (event(model="gpt"), 404, "model_not_found"),
    (event(model="demo/nothing"), 404, "model_not_found"),
    (event(model="keyless/m"), 401, "missing_credential"),
    (event(tools=[WEATHER] * 2), 400, "duplicate_tool_name"),
]


@pytest.mark.parametrize(("the_event", "status", "code"), REFUSED, ids=[code for _, _, code in REFUSED])
@pytest.mark.usefixtures("settings")
def test_what_cannot_be_served_is_refused(
    the_event: dict[str, Any],
    status: int,
    code: str,
    server: MisbehavingUpstream,
    log: io.StringIO,
) -> None:
    head, body = ask(the_event)

    assert head.status == status
    fields = dict(head.headers)
    assert (fields["x-request-id"], fields["x-should-retry"]) == ("req-1", "false")
    assert fields["content-type"] == "application/json"
    shown = json.loads(body)
    assert shown["error"]["code"] == code
    assert {"message", "type", "param", "code"} <= shown["error"].keys()
    assert shown["request_id"] == "req-1"
    assert server.requests == []
    line = request_line(log)
    assert (line["outcome"], line["status"], line["error_code"]) == ("request_error", status, code)


def test_a_wrong_configuration_is_told_to_the_log_only(monkeypatch: pytest.MonkeyPatch, log: io.StringIO) -> None:
    def wrong() -> Settings:
        raise SettingsError("providers.acme.wire: 'x' is not known")

    monkeypatch.setattr(admission, "current_settings", wrong)

    head, body = ask(event())

    assert head.status == 500
    assert b"acme" not in body
    assert "providers.acme.wire: 'x' is not known" in log.getvalue()


@pytest.mark.usefixtures("settings")
def test_a_bug_tells_nothing_of_itself(monkeypatch: pytest.MonkeyPatch, log: io.StringIO) -> None:
    def broken(*arguments: object) -> None:
        raise KeyError(PROMPT)

    monkeypatch.setattr(admission, "prepare", broken)

    head, body = ask(event())

    assert (head.status, json.loads(body)["error"]["code"]) == (500, "internal_error")
    assert PROMPT.encode() not in body
    text = log.getvalue()
    assert PROMPT not in text
    assert "KeyError" in text
    assert "test_door.py" in text


@pytest.mark.parametrize("nonsense", [None, {}, [], "x", {"httpMethod": "GET"}, {"requestContext": {}}])
def test_an_invocation_that_is_no_request_does_nothing(nonsense: Any, log: io.StringIO) -> None:
    head, body = ask(nonsense)

    assert (head.status, body) == (200, b"{}")
    assert log.getvalue() == ""


# ---------------------------------------------------------------- answers


@pytest.mark.usefixtures("settings")
@pytest.mark.parametrize("base64_encoded", [False, True])
def test_a_stream_is_carried(base64_encoded: bool, server: MisbehavingUpstream, log: io.StringIO) -> None:
    server.script([Send(answer(*STREAM))])
    the_event = event(stream=True, model="fast")
    if base64_encoded:
        the_event |= {"body": base64.b64encode(the_event["body"].encode()).decode(), "isBase64Encoded": True}

    head, body = ask(the_event)

    assert head.status == 200
    assert dict(head.headers)["x-request-id"] == "req-1"
    assert b"The answer." in body
    assert body.endswith(b"data: [DONE]\n\n")
    (received,) = server.requests
    assert received.headers["authorization"] == f"Bearer {SECRET}"
    assert HOP_HEADER in received.headers
    assert KEY not in "".join(received.head)
    line = request_line(log)
    assert (line["outcome"], line["status"], line["door"]) == ("ok", 200, "chat_completions")
    assert (line["gen_ai.provider.name"], line["gen_ai.request.model"]) == ("acme", "m")
    assert line["ttfb_ms"] <= line["duration_ms"]


@pytest.mark.usefixtures("settings")
def test_the_line_has_names_counts_and_sizes(server: MisbehavingUpstream, log: io.StringIO) -> None:
    server.script([Send(answer(*CALLS))])

    ask(event(stream=True, tools=[WEATHER]))

    line = request_line(log)
    assert (line["request_id"], line["tenant"], line["tools"]) == ("req-1", "default", 1)
    assert (line["tool_calls"], line["argument_bytes"]) == ({"weather": 1}, 15)
    assert (line["gen_ai.usage.input_tokens"], line["gen_ai.usage.output_tokens"]) == (7, 5)
    assert line["reported_total_tokens"] == 19
    assert line["gen_ai.response.finish_reasons"] == ["tool_calls"]


@pytest.mark.usefixtures("settings")
def test_debug_follows_each_call(server: MisbehavingUpstream, log: io.StringIO) -> None:
    early = {"index": 0, "id": "call_abc", "type": "function", "function": {"arguments": '{"city":'}}
    late = {"index": 0, "function": {"name": "weather", "arguments": '"Bern"}'}}
    calls = [frame({"role": "assistant", "tool_calls": [call]}) for call in (early, late)]
    server.script([Send(answer(*calls, *CALLS[1:]))])
    history = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": None, "tool_calls": [{**CALL, "id": "call_1"}]},
        {"role": "tool", "tool_call_id": "call_1", "content": "sunny"},
    ]
    lines = logger().lines
    level = lines.level
    lines.setLevel(logging.DEBUG)
    try:
        ask(event(stream=True, tools=[WEATHER], messages=history))
    finally:
        lines.setLevel(level)

    logged = [line for line in map(json.loads, log.getvalue().splitlines()) if line["message"] == "tool call"]
    seen = [
        (line["stage"], line.get("gen_ai.tool.name"), line.get("argument_bytes", line.get("call_id")))
        for line in logged
    ]
    assert seen == [
        ("input function_call", "weather", "call_1"),
        ("input function_call_output", None, "call_1"),
        ("buffering", None, 8),
        ("started", "weather", 0),
        ("replaying", "weather", 8),
        ("complete", "weather", 15),
    ]
    assert "Bern" not in log.getvalue()
    assert "sunny" not in log.getvalue()


@pytest.mark.usefixtures("settings")
def test_arguments_that_are_no_json_are_told_without_their_text(server: MisbehavingUpstream, log: io.StringIO) -> None:
    broken = {"index": 0, **CALL, "function": {"name": "weather", "arguments": '{"city": Bern'}}
    server.script([Send(answer(frame({"role": "assistant", "tool_calls": [broken]}), *CALLS[1:]))])

    ask(event(stream=True, tools=[WEATHER]))

    assert request_line(log)["malformed_calls"] == ["weather"]
    assert "Bern" not in log.getvalue()


@pytest.mark.parametrize("stream", [False, True])
def test_the_demo_answers_without_any_provider(stream: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission, "current_settings", lambda: Settings(providers={}, tenant=Tenant()))

    head, body = ask(event(model="demo/compatible", stream=stream))

    assert head.status == 200
    assert body.endswith(b"data: [DONE]\n\n") if stream else json.loads(body)["choices"]


@pytest.mark.usefixtures("settings")
def test_an_upstream_error_keeps_its_status(server: MisbehavingUpstream, log: io.StringIO) -> None:
    refusal = b'{"error":{"message":"slow down","type":"requests","param":null,"code":"rate_limit_exceeded"}}'
    headers = (("content-type", "application/json"), ("retry-after", "7"))
    server.script([Send(answer(refusal, status="429 Too Many Requests", framing="length", headers=headers))])

    head, body = ask(event(stream=True))

    fields = dict(head.headers)
    assert (head.status, fields["retry-after"], fields.get("x-should-retry")) == (429, "7", None)
    assert json.loads(body)["error"]["message"] == "slow down"
    line = request_line(log)
    assert (line["outcome"], line["status"]) == ("upstream_error", 429)


@pytest.mark.usefixtures("settings")
@pytest.mark.parametrize("stream", [False, True])
def test_nobody_at_the_upstreams_address_is_502(stream: bool, log: io.StringIO) -> None:
    head, body = ask(event(model="nobody/m", stream=stream))

    assert (head.status, json.loads(body)["error"]["code"]) == (502, "upstream_unreachable")
    assert request_line(log)["outcome"] == "upstream_error"


@pytest.mark.usefixtures("settings")
@pytest.mark.parametrize("how", [Close(), Reset()], ids=["close", "reset"])
def test_a_stream_that_breaks_is_no_clean_stop(
    how: Close | Reset, server: MisbehavingUpstream, log: io.StringIO
) -> None:
    whole = answer(*STREAM)
    server.script([Send(whole[: whole.index(b'finish_reason":"stop')]), how], [Send(answer(*STREAM))])

    head, body = ask(event(stream=True))

    assert head.status == 200
    assert b'"error"' in body
    assert b"[DONE]" not in body
    line = request_line(log)
    assert (line["outcome"], line["error_code"]) == ("upstream_error", "upstream_truncated")
    assert ask(event(stream=True))[1].endswith(b"[DONE]\n\n")


class Seconds:
    """A context with so much time left."""

    aws_request_id = "invocation-1"

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def get_remaining_time_in_millis(self) -> int:
        return int(self.seconds * 1000)


@pytest.mark.usefixtures("settings")
def test_time_is_up_before_the_invocations_is(server: MisbehavingUpstream) -> None:
    server.script([Stall()])

    head, body = ask(event(stream=True), Seconds(serve_module.RESERVE_SECONDS + 0.1))

    assert (head.status, json.loads(body)["error"]["code"]) == (504, "upstream_timeout")


@pytest.mark.usefixtures("settings")
def test_the_invocations_id_serves_where_the_event_has_none() -> None:
    head, _ = ask(event("{") | {"requestContext": {"requestId": "bad\r\nid"}}, Seconds(600))

    assert dict(head.headers)["x-request-id"] == "invocation-1"


# ---------------------------------------------------------------- the client's side


@pytest.mark.usefixtures("settings")
@pytest.mark.parametrize("how", ["throw", "close"])
def test_a_client_that_hangs_up_stops_the_upstream(how: str, server: MisbehavingUpstream, log: io.StringIO) -> None:
    server.script([Send(answer(*STREAM)[:400]), Stall()])
    run = serve("chat_completions", event(stream=True), None)
    assert isinstance(next(run), Head)
    assert next(run)

    if how == "throw":
        with pytest.raises(ClientGone):
            run.throw(ClientGone())
    else:
        run.close()

    assert server.wait_for_open(0)
    assert request_line(log)["outcome"] == "client_gone"


class Written:
    """A carrier without a client: what is written is kept, and a keep-alive sets an event."""

    reaches_client = False

    def __init__(self, kept_alive: threading.Event) -> None:
        self.connection, self._reader = socket.socketpair()
        self._kept_alive = kept_alive

    def connect(self) -> socket.socket:
        return self.connection

    def listen(self) -> bool:
        assert self.connection is not None
        return is_there(self.connection)

    def head(self, head: Head, length: int | None) -> bytes:
        return b"HEAD %d\n" % head.status

    def frame(self, data: bytes) -> bytes:
        if data.startswith(b":"):
            self._kept_alive.set()
        return data

    def end(self, failure: BaseException | None) -> bytes:
        return b"END"

    def read(self) -> bytes:
        """Everything that was written."""
        self.connection.close()
        with self._reader, self._reader.makefile("rb") as reader:
            return reader.read()


@pytest.fixture
def kept_alive() -> threading.Event:
    """Set when the client was sent a keep-alive."""
    return threading.Event()


def run(the_event: dict[str, Any], kept_alive: threading.Event, *, silence: float = 0.02) -> bytes:
    """What a client is sent by a runner whose keep-alives come after so many seconds of silence."""
    carrier = Written(kept_alive)
    output = Output(carrier, keep_alive_seconds=silence, first_commit_seconds=silence)
    deliver(serve("chat_completions", the_event, None), output)
    output.finish()
    return carrier.read()


@pytest.mark.usefixtures("settings")
def test_an_upstream_in_time_gets_no_keep_alive(server: MisbehavingUpstream, kept_alive: threading.Event) -> None:
    server.script([Send(answer(*STREAM))])

    sent = run(event(stream=True), kept_alive, silence=10)

    assert sent.startswith(b"HEAD 200\ndata: ")
    assert sent.endswith(b"[DONE]\n\nEND")
    assert not kept_alive.is_set()


@pytest.mark.usefixtures("settings")
@pytest.mark.parametrize("place", [b"TTP/1.1", STREAM[1]], ids=["before the answer", "in the answer"])
def test_a_silent_upstream_does_not_leave_the_client_in_silence(
    place: bytes, server: MisbehavingUpstream, kept_alive: threading.Event, log: io.StringIO
) -> None:
    whole = answer(*STREAM)
    at = whole.index(place)
    server.script([Send(whole[:at]), Stall(kept_alive), Send(whole[at:])])

    sent = run(event(stream=True), kept_alive)

    assert sent.startswith(b"HEAD 200\n")
    assert sent.count(b"HEAD") == 1
    assert b"\n:" in sent
    assert sent.endswith(b"[DONE]\n\nEND")
    assert (request_line(log)["status"], request_line(log)["outcome"]) == (200, "ok")


@pytest.mark.usefixtures("settings")
def test_a_refusal_after_a_keep_alive_is_an_error_event(
    server: MisbehavingUpstream, kept_alive: threading.Event
) -> None:
    refusal = b'{"error":{"message":"slow down","type":"requests","param":null,"code":"rate_limit_exceeded"}}'
    whole = answer(refusal, status="429 Too Many Requests", framing="length")
    server.script([Send(whole[:1]), Stall(kept_alive), Send(whole[1:])])

    sent = run(event(stream=True), kept_alive)

    assert sent.startswith(b"HEAD 200\n:")
    assert b'data: {"error":' in sent
    assert b"[DONE]" not in sent


@pytest.mark.usefixtures("settings")
def test_a_json_answer_waits_in_silence(server: MisbehavingUpstream, kept_alive: threading.Event) -> None:
    body = b'{"id":"c1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":' + (
        b'{"role":"assistant","content":"The answer."},"finish_reason":"stop"}]}'
    )
    whole = answer(body, framing="length", headers=(("content-type", "application/json"),))
    server.script([Send(whole[:2], pieces=2, pause=0.1), Send(whole[2:])])

    sent = run(event(), kept_alive)

    assert json.loads(sent.removeprefix(b"HEAD 200\n").removesuffix(b"END"))["choices"]


@pytest.mark.usefixtures("settings")
def test_a_bug_in_mid_stream_is_no_clean_stop(
    server: MisbehavingUpstream, monkeypatch: pytest.MonkeyPatch, log: io.StringIO
) -> None:
    def broken(self: Exchange, data: bytes) -> list[Action]:
        if b"stop" in data:
            raise KeyError(PROMPT)
        begun.set()
        return original(self, data)

    begun = threading.Event()
    original = Exchange.receive_data
    monkeypatch.setattr(Exchange, "receive_data", broken)
    whole = answer(*STREAM)
    first = whole.index(chunk(STREAM[1]))
    server.script([Send(whole[:first]), Stall(begun), Send(whole[first:])])

    head, body = ask(event(stream=True))

    assert head.status == 200
    assert b"The answer." in body
    assert b'"internal_error"' in body
    assert b"[DONE]" not in body
    line = request_line(log)
    assert (line["outcome"], line["error_code"]) == ("internal_error", "internal_error")


@pytest.mark.usefixtures("settings")
def test_metrics_have_few_dimensions(
    server: MisbehavingUpstream, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    server.script([Send(answer(*CALLS))])
    monkeypatch.setenv("TOOLWIRE_METRICS", "1")

    ask(event(stream=True, tools=[WEATHER]))

    metrics, quality = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    (directive,) = metrics["_aws"]["CloudWatchMetrics"]
    assert set(directive["Dimensions"][0]) == {"door", "provider", "outcome", "service"}
    assert (metrics["door"], metrics["provider"], metrics["outcome"]) == ("chat_completions", "acme", "ok")
    assert (metrics["ToolCalls"], metrics["InputTokens"]) == ([1.0], [7.0])
    (directive,) = quality["_aws"]["CloudWatchMetrics"]
    assert set(directive["Dimensions"][0]) == {"provider", "model", "service"}
    assert quality["ModelCalls"] == [1.0]
