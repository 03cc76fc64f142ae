"""Amazon Bedrock through a running gateway: a host that checks every signature, as AWS does, and AWS's own client as
the reader of what it is sent."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

import boto3
import httpx
import pytest
from botocore.config import Config

from tests.gateway import gateway
from tests.providers.anthropic_messages import messages_upstream as messages
from tests.providers.bedrock_converse.converse_upstream import BEGIN, USAGE, call, document, end, fragment, stop, stream
from tests.providers.bedrock_messages.invoked import CONTENT_TYPE, frames
from tests.shell.access.sigv4_judge import fault_of
from toolwire.demo.server import DemoServer

pytestmark = pytest.mark.enable_socket

KEY, SECRET = "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
MODEL = "arn:aws:bedrock:eu-west-1:123456789012:inference-profile/eu.anthropic.claude-sonnet-4-5-v1:0"
STREAM = stream(
    BEGIN, call(0, "tooluse_1", "get_weather"), fragment(0, '{"city":"Rome"}'), end(0), stop("tool_use"), USAGE
)
WHOLE = document({"text": "Sunny."})
OWN = messages.stream(
    messages.start(), messages.begin(0, "thinking"), messages.thinking(0, "Hm."), messages.signature(0, "sig=="),
    messages.end(0), messages.begin(1, "text"), messages.text(1, "Sunny."), messages.end(1),
    messages.finish("end_turn"), messages.STOP,
)  # fmt: skip
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOL = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object", "properties": {}}}}


class Aws(BaseHTTPRequestHandler):
    """Answers what is signed as it must be, and refuses the rest."""

    protocol_version = "HTTP/1.1"
    faults: ClassVar[list[str | None]] = []
    paths: ClassVar[list[str]] = []
    counts: ClassVar[bool] = True

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        url = f"http://{headers.pop('host')}{self.path}"
        fault = fault_of("POST", url, headers, body, secret=SECRET, region="eu-west-1", service="bedrock")
        self.faults.append(fault)
        self.paths.append(self.path.rpartition("/")[2])
        streams = self.path.endswith("-stream")
        if fault is not None:
            self._send(403, "application/json", json.dumps({"message": fault}).encode())
        elif self.path.endswith("/invoke-with-response-stream"):
            self._send(200, CONTENT_TYPE, b"".join(frames(OWN)))
        elif self.path.endswith("/count-tokens"):
            body = (
                b'{"inputTokens":4711}'
                if self.counts
                else b'{"message":"The provided model doesn\'t support counting"}'
            )
            self._send(200 if self.counts else 400, "application/json", body)
        else:
            kind = "application/vnd.amazon.eventstream" if streams else "application/json"
            self._send(200, kind, STREAM if streams else WHOLE)

    def _send(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        """Says nothing."""


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A gateway whose provider is the host above, with AWS credentials in its environment."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ACCESS_KEY_ID", KEY)
        patch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
        patch.setenv("AWS_SESSION_TOKEN", "IQoJb3JpZ2luX2VjEXAMPLE")
        host = ThreadingHTTPServer(("127.0.0.1", 0), Aws)
        threading.Thread(target=host.serve_forever, args=(0.05,), daemon=True).start()
        section = (
            f'[providers.cloud]\nwire = "bedrock_converse"\nbase_url = "http://127.0.0.1:{host.server_address[1]}"\n'
            'credential = "aws"\nregion = "eu-west-1"\n'
            f'[providers.bedrock]\nbase_url = "http://127.0.0.1:{host.server_address[1]}"\nregion = "eu-west-1"\n'
            'credential = "aws"\n'
        )
        with gateway(tmp_path_factory.mktemp("bedrock"), section) as server:
            yield server
        host.shutdown()
        host.server_close()


def ask(base: str, **body: Any) -> httpx.Response:
    question = {"model": f"cloud/{MODEL}", "messages": [{"role": "user", "content": "Rome?"}], "tools": [TOOL]}
    return httpx.post(f"{base}/chat/completions", json=question | body, timeout=20)


def test_what_is_sent_is_signed(base: str) -> None:
    Aws.faults.clear()
    said = ask(base).json()["choices"][0]
    assert (said["message"]["content"], said["finish_reason"]) == ("Sunny.", "stop")
    lines = ask(base, stream=True).text.splitlines()
    chunks = [json.loads(line[6:]) for line in lines if line.startswith("data: {")]
    calls = [piece["function"] for chunk in chunks for piece in chunk["choices"][0]["delta"].get("tool_calls", ())]
    assert "".join(piece.get("arguments", "") for piece in calls) == '{"city":"Rome"}'
    assert Aws.faults == [None, None]


CLIENT = {"model": f"bedrock/{MODEL}", "messages": [{"role": "user", "content": "Rome?"}]}


def test_a_messages_client_has_claudes_own_events(base: str) -> None:
    Aws.faults.clear()
    Aws.paths.clear()
    asked = CLIENT | {"max_tokens": 9, "stream": True}
    told = httpx.post(f"{base}/messages", json=asked, timeout=20).text
    assert [line for line in told.splitlines() if line.startswith("data: ")] == [
        line for line in OWN.decode().splitlines() if line.startswith("data: ")
    ]
    assert (Aws.faults, Aws.paths) == ([None], ["invoke-with-response-stream"])


def test_tokens_are_counted_by_bedrock_where_it_counts(base: str, monkeypatch: pytest.MonkeyPatch) -> None:
    Aws.faults.clear()
    Aws.paths.clear()
    assert httpx.post(f"{base}/messages/count_tokens", json=CLIENT, timeout=20).json() == {"input_tokens": 4711}
    monkeypatch.setattr(Aws, "counts", False)
    estimated = httpx.post(f"{base}/messages/count_tokens", json=CLIENT, timeout=20)
    assert estimated.headers["x-toolwire-warnings"] == "token_count_estimated"
    assert (Aws.faults, Aws.paths) == ([None, None], ["count-tokens", "count-tokens"])


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """AWS's own client of the demo."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    demo = DemoServer(pace=0)
    address = f"{demo.base_url}/bedrock"
    settings = Config(retries={"max_attempts": 1})
    yield boto3.client("bedrock-runtime", endpoint_url=address, region_name="eu-west-1", config=settings)
    demo.close()


def test_awss_own_client_reads_the_demo(client: Any) -> None:
    """The demo writes what boto3 decodes, event by event."""
    asked = {
        "modelId": "bedrock",
        "messages": [{"role": "user", "content": [{"text": "What is the weather in Paris and New York?"}]}],
        "toolConfig": {"tools": [{"toolSpec": {"name": "get_weather", "inputSchema": {"json": SCHEMA}}}]},
    }
    whole = client.converse(**asked)
    uses = [block["toolUse"] for block in whole["output"]["message"]["content"]]
    assert [use["input"] for use in uses] == [{"city": "Paris"}, {"city": "New York"}]
    events = list(client.converse_stream(**asked)["stream"])
    kinds = [next(iter(event)) for event in events]
    assert (kinds[0], kinds[-2:], whole["stopReason"]) == ("messageStart", ["messageStop", "metadata"], "tool_use")
    joined = ["", ""]
    for event in events:
        if "contentBlockDelta" in event:
            said = event["contentBlockDelta"]
            joined[said["contentBlockIndex"]] += said["delta"]["toolUse"]["input"]
    assert [json.loads(text) for text in joined] == [{"city": "Paris"}, {"city": "New York"}]
    with pytest.raises(client.exceptions.ThrottlingException):
        client.converse(modelId="bedrock", messages=[{"role": "user", "content": [{"text": "[demo error 429]"}]}])


def test_awss_own_client_reads_the_demo_of_claudes_own_api(client: Any) -> None:
    def asked(text: str, **more: Any) -> dict[str, Any]:
        body = {
            "anthropic_version": "bedrock-2023-05-31",
            "max_tokens": 99,
            "messages": [{"role": "user", "content": text}],
            "tools": [{"name": "get_weather", "input_schema": SCHEMA}],
        }
        return {"modelId": "bedrock-claude", "body": json.dumps(body | more)}

    question = asked("What is the weather in Paris and New York?")
    whole = json.loads(client.invoke_model(**question)["body"].read())
    assert [block["input"] for block in whole["content"]] == [{"city": "Paris"}, {"city": "New York"}]
    stream = client.invoke_model_with_response_stream(**question)["body"]
    events = [json.loads(event["chunk"]["bytes"]) for event in stream]
    assert (events[0]["type"], events[-1]["type"]) == ("message_start", "message_stop")
    assert events[-1]["amazon-bedrock-invocationMetrics"]["outputTokenCount"] > 0
    said = [
        event["delta"]["partial_json"] for event in events if event.get("delta", {}).get("type") == "input_json_delta"
    ]
    assert "".join(said) == '{"city":"Paris"}{"city":"New York"}'
    with pytest.raises(client.exceptions.ThrottlingException):
        client.invoke_model(**asked("[demo error 429]"))
    for odd in ({"anthropic_version": "2023-06-01"}, {"stream": True}, {"model": "m"}, {"max_tokens": 0}):
        with pytest.raises(client.exceptions.ValidationException):
            client.invoke_model(**asked("hi", **odd))
