"""The Responses API in a WebSocket, as its clients speak it: `websockets` against the local server."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from websockets.exceptions import ConnectionClosedError, InvalidStatus
from websockets.frames import Frame, Opcode
from websockets.sync.client import ClientConnection, connect

from local.handlers import load_handlers
from local.server import FUNCTIONS, LocalServer
from local.watch.exchanges import Exchanges
from tests.local.serving import JSON, SSE, Handlers, exchange, serving
from toolwire.model.errors import ClientGone
from toolwire.model.http import Head
from toolwire.model.limits import BODY_BYTES
from toolwire.shell.network.output import Answer
from toolwire.shell.settings.current import current_settings

pytestmark = pytest.mark.enable_socket

MODELS = ("openai", "responses", "compatible", "anthropic", "gemini", "bedrock", "bedrock-claude")
TOOLS = [{"type": "function", "name": "f", "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}}}]
CALL = {"role": "user", "content": '[demo call f {"n":12345678901234567890}]'}
ENDS = ("response.completed", "response.incomplete", "response.failed", "error")


class Told(Handlers):
    """A Responses function that does as the text of its input says, and keeps the events it got."""

    def __init__(self) -> None:
        super().__init__()
        self.events: list[dict[str, Any]] = []

    def responses(self, event: dict[str, Any], context: Any) -> Answer:
        self.events.append(event)
        match json.loads(event["body"])["input"]:
            case "fail early":
                raise LookupError("secret prompt")
            case "refuse":
                yield Head(429, (JSON, ("retry-after", "7"), ("x-other", "1")))
                yield b'{"error":{"code":"rate_limit_exceeded","message":"slow down"}}'
            case "wait":
                yield Head(200, (SSE,))
                yield b": still here\n\n"
                try:
                    self._wait(self.go_on.is_set)
                except ClientGone:
                    self.seen.put("gone")
                    raise
                yield _completed("resp_waited")
            case "fail late":
                yield Head(200, (SSE,))
                yield b'event: response.created\ndata: {"type":"response.created"}\n\n'
                raise LookupError("secret prompt")
            case _:
                yield Head(200, (SSE,))
                item = b'{"type":"function_call","arguments":"{\\"n\\": 1e400}"}'
                yield b'data: {"type":"response.output_item.done","item":%b}\n\n' % item
                yield _completed(f"resp_{len(self.events)}")

    def by_folder(self) -> dict[str, Any]:
        return {"responses": self.responses}


def _completed(id: str) -> bytes:
    return b'data: {"type":"response.completed","response":{"id":"%b"}}\n\n' % id.encode()


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.fixture
def handlers(told: Told) -> Told:
    """Those of the folder's `server`."""
    return told


@pytest.fixture
def client(server: LocalServer) -> Iterator[ClientConnection]:
    with opened(server) as client:
        yield client


@contextmanager
def opened(server: LocalServer, **options: Any) -> Iterator[ClientConnection]:
    address = f"ws://127.0.0.1:{server.server_address[1]}/v1/responses"
    with connect(address, max_size=None, proxy=None, **options) as client:
        yield client


def ask(client: ClientConnection, **request: Any) -> list[dict[str, Any]]:
    """The events of the answer to a `response.create`."""
    client.send(json.dumps({"type": "response.create", **request}))
    return answered(client)


def answered(client: ClientConnection) -> list[dict[str, Any]]:
    events = [json.loads(client.recv(10))]
    while events[-1]["type"] not in ENDS:
        events.append(json.loads(client.recv(10)))
    return events


class TestTheGateway:
    """With the real functions and the demo's wires."""

    @pytest.fixture
    def server(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalServer]:
        with serving(LocalServer(("127.0.0.1", 0), load_handlers(FUNCTIONS), Exchanges(most_bytes=1 << 20))) as server:
            monkeypatch.setenv("TOOLWIRE_OWN_URLS", server.url)
            current_settings.forget()
            yield server
        current_settings.forget()

    @pytest.mark.parametrize("model", MODELS)
    def test_a_loop_goes_on_from_the_latest_answer_at_every_wire(self, client: ClientConnection, model: str) -> None:
        """A warm-up, a call and its result, each with new items alone. No answer is kept."""
        asked = {"model": f"demo/{model}", "tools": TOOLS, "store": False}
        warm = ask(client, **asked, input=[CALL], generate=False)
        called = ask(client, **asked, input=[], previous_response_id=warm[-1]["response"]["id"])
        call = called[-1]["response"]["output"][-1]
        result = {"type": "function_call_output", "call_id": call["call_id"], "output": "it is so"}
        last = ask(client, **asked, input=[result], previous_response_id=called[-1]["response"]["id"])

        assert [event["type"] for event in warm] == ["response.created", "response.completed"]
        assert warm[-1]["response"]["output"] == []
        assert call["arguments"].replace(" ", "") == '{"n":12345678901234567890}'
        assert "it is so" in last[-1]["response"]["output"][-1]["content"][0]["text"]

    @pytest.mark.parametrize("model", MODELS)
    def test_the_events_are_those_of_http(self, client: ClientConnection, server: LocalServer, model: str) -> None:
        request = {"model": f"demo/{model}", "input": [CALL], "tools": TOOLS}
        body = httpx.post(f"{server.url}/v1/responses", json={**request, "stream": True}, timeout=20, trust_env=False)
        in_http = [json.loads(line.removeprefix("data: ")) for line in body.text.splitlines() if line[:5] == "data:"]
        in_socket = ask(client, **request)

        assert [_shape(event) for event in in_socket] == [_shape(event) for event in in_http]

    def test_each_message_is_a_request_of_its_own_to_who_watches(
        self, client: ClientConnection, server: LocalServer
    ) -> None:
        assert server.exchanges is not None
        for text in ("one", "two"):
            ask(client, model="demo/anthropic", input=text)
        ask(client, model="no/such", input="three")

        lines = server.exchanges.lines()
        assert [(line.path, line.status) for line in lines] == [("/v1/responses", 404)] + [("/v1/responses", 200)] * 2

    def test_what_cannot_be_continued_says_so_as_the_api_does(self, client: ClientConnection) -> None:
        (event,) = ask(client, model="demo/anthropic", input="x", previous_response_id="resp_elsewhere")

        assert (event["status"], event["error"]["code"]) == (400, "previous_response_not_found")


def _shape(value: Any, name: str = "") -> Any:
    """An event without what is different each time: ids, moments, and the size of deltas."""
    if isinstance(value, dict):
        return {key: _shape(it, key) for key, it in value.items()}
    if isinstance(value, list):
        return [_shape(it) for it in value]
    return None if name in ("id", "item_id", "call_id", "created_at", "completed_at", "delta") else value


class TestRequests:
    def test_a_message_is_a_request_with_the_handshakes_headers(self, server: LocalServer, told: Told) -> None:
        with opened(server, additional_headers={"Authorization": "Bearer k", "Session-Id": "s"}) as client:
            ask(client, model="a/b", input="hello", temperature=1.5)

        (event,) = told.events
        names = {name.lower() for name in event["headers"]}
        assert (event["httpMethod"], event["resource"], event["path"]) == ("POST", "/responses", "/responses")
        assert (event["headers"]["Authorization"], event["headers"]["Session-Id"]) == ("Bearer k", "s")
        assert event["headers"]["content-type"] == "application/json"
        assert not [name for name in names if name in ("upgrade", "connection") or name.startswith("sec-websocket")]
        assert json.loads(event["body"]) == {"model": "a/b", "input": "hello", "temperature": 1.5, "stream": True}

    def test_items_go_on_to_the_byte(self, client: ClientConnection, told: Told) -> None:
        first = '{"type":"response.create","input":[{"a": 1.0e+2,"b":"\\u00e9"}], "stream": false}'
        client.send(first)
        id = answered(client)[-1]["response"]["id"]
        client.send(f'{{"type":"response.create","previous_response_id":"{id}","input":"go on"}}')
        answered(client)

        assert told.events[0]["body"] == '{"input":[{"a": 1.0e+2,"b":"\\u00e9"}],"stream":true}'
        assert told.events[1]["body"] == (
            '{"input":[{"a": 1.0e+2,"b":"\\u00e9"},{"type":"function_call","arguments":"{\\"n\\": 1e400}"},'
            '{"type":"message","role":"user","content":"go on"}],"stream":true}'
        )

    @pytest.mark.parametrize("between", ["refuse", "fail early", "fail late", "other"])
    def test_only_the_latest_answer_can_be_continued(self, client: ClientConnection, told: Told, between: str) -> None:
        id = ask(client, input="one")[-1]["response"]["id"]
        ask(client, input=between)
        ask(client, input=[], previous_response_id=id)

        assert json.loads(told.events[-1]["body"]) == {"previous_response_id": id, "input": [], "stream": True}

    def test_messages_that_come_together_are_answered_in_turn(self, client: ClientConnection, told: Told) -> None:
        for text in ("one", "two", "three"):
            client.send(json.dumps({"type": "response.create", "input": text}))
        for _ in range(3):
            answered(client)

        assert [json.loads(event["body"])["input"] for event in told.events] == ["one", "two", "three"]

    def test_a_message_may_come_in_frames(self, client: ClientConnection, told: Told) -> None:
        client.send(iter(['{"type":"respon', 'se.create","input":"pie', 'ces"}']))
        answered(client)

        assert json.loads(told.events[0]["body"])["input"] == "pieces"


class TestErrors:
    @pytest.mark.parametrize(
        ("message", "status", "param"),
        [
            ("{", 400, None),
            ("[]", 400, None),
            ("{}", 400, "type"),
            ('{"type":"session.update"}', 400, "type"),
            ('{"type":"response.create","stream_id":"a"}', 400, "stream_id"),
            ('{"type":"response.create","input":3}', 400, "input"),
        ],
    )
    def test_what_is_no_request(self, client: ClientConnection, message: str, status: int, param: str | None) -> None:
        client.send(message)
        (event,) = answered(client)

        assert (event["type"], event["status"], event["error"]["param"]) == ("error", status, param)
        assert ask(client, input="hello")[-1]["type"] == "response.completed"

    def test_a_conversation_that_has_grown_too_large(self, client: ClientConnection) -> None:
        half = "x" * (BODY_BYTES // 2)
        id = ask(client, input=half)[-1]["response"]["id"]
        (event,) = ask(client, input=half, previous_response_id=id)

        assert (event["status"], event["error"]["code"]) == (413, "request_too_large")

    def test_an_http_error_is_an_event_with_its_status(self, client: ClientConnection) -> None:
        (event,) = ask(client, input="refuse")

        assert event == {
            "type": "error",
            "status": 429,
            "error": {"code": "rate_limit_exceeded", "message": "slow down"},
            "headers": {"retry-after": "7"},
        }

    @pytest.mark.parametrize("when", ["fail early", "fail late"])
    def test_a_bug_is_an_error_and_no_end(
        self, client: ClientConnection, when: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        event = ask(client, input=when)[-1]

        assert (event["type"], event["status"], event["error"]["code"]) == ("error", 500, "internal_error")
        assert "secret prompt" not in json.dumps(event) + capsys.readouterr().err
        assert ask(client, input="hello")[-1]["type"] == "response.completed"


class TestTheConnection:
    def test_a_ping_is_answered_while_the_model_is_silent(self, client: ClientConnection, told: Told) -> None:
        client.send('{"type":"response.create","input":"wait"}')
        assert client.ping().wait(10)
        told.go_on.set()
        assert answered(client)[-1]["response"]["id"] == "resp_waited"

    @pytest.mark.parametrize("how", ["close", "hang up"])
    def test_who_hangs_up_is_not_paid_for(self, server: LocalServer, told: Told, how: str) -> None:
        with opened(server, close_timeout=1) as client:
            client.send('{"type":"response.create","input":"wait"}')
            assert client.ping().wait(10)
            client.close() if how == "close" else client.socket.shutdown(socket.SHUT_RDWR)
            assert told.seen.get(timeout=10) == "gone"

    @pytest.mark.parametrize("how", ["close", "hang up"])
    def test_who_hangs_up_between_answers_leaves_nothing(self, server: LocalServer, how: str) -> None:
        with opened(server, close_timeout=1) as client:
            ask(client, input="hello")
            client.close() if how == "close" else client.socket.shutdown(socket.SHUT_RDWR)
            until = time.monotonic() + 10
            while server._connections and time.monotonic() < until:
                time.sleep(0.01)
            assert server._connections == {}

    @pytest.mark.parametrize(
        ("frames", "code"),
        [
            ([Frame(Opcode.TEXT, b"\xff")], 1007),
            ([Frame(Opcode.TEXT, b'{"type":'), Frame(Opcode.TEXT, b"{}")], 1002),
            ([Frame(Opcode.CONT, b"{}")], 1002),
            ([Frame(Opcode.TEXT, b" " * BODY_BYTES, fin=False), Frame(Opcode.CONT, b"  ")], 1009),
        ],
        ids=["no UTF-8", "a message within a message", "the end of none", "too large"],
    )
    def test_what_breaks_the_protocol_ends_the_connection(
        self, client: ClientConnection, frames: list[Frame], code: int
    ) -> None:
        for frame in frames:
            frame = Frame(frame.opcode, frame.data, fin=frame is not frames[0] or len(frames) == 1)
            client.socket.sendall(frame.serialize(mask=True))
        with pytest.raises(ConnectionClosedError) as closed:
            client.recv(5)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == code

    def test_binary_messages_are_not_read(self, client: ClientConnection) -> None:
        client.send(b'{"type":"response.create"}')
        with pytest.raises(ConnectionClosedError) as closed:
            client.recv(5)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1003

    def test_who_is_silent_is_asked_whether_he_is_there(
        self, server: LocalServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("local.connection.IDLE_SECONDS", 0.1)
        with opened(server) as client:
            with pytest.raises(TimeoutError):
                client.recv(0.5)
            assert ask(client, input="hello")[-1]["type"] == "response.completed"
        said = exchange(
            server,
            b"GET /v1/responses HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: x3JJHMbDL1EzLkh9GBhXDw==\r\n\r\n",
        )
        ping, _, end = said.partition(b"\r\n\r\n")[2].partition(b"\x88")
        assert (ping, end[1:3]) == (b"\x89\x00", (1011).to_bytes(2, "big"))

    @pytest.mark.parametrize(
        ("options", "status"),
        [
            ({"origin": "https://elsewhere.example"}, 403),
            ({"additional_headers": {"Sec-WebSocket-Version": "8"}}, 400),
        ],
        ids=["a page of another site", "two versions"],
    )
    def test_who_may_not_open_one(self, server: LocalServer, options: dict[str, Any], status: int) -> None:
        with pytest.raises(InvalidStatus) as refused, opened(server, **options):
            pass
        assert refused.value.response.status_code == status

    def test_there_is_none_elsewhere(self, server: LocalServer) -> None:
        address = f"ws://127.0.0.1:{server.server_address[1]}/v1/chat/completions"
        with pytest.raises(InvalidStatus) as refused, connect(address, proxy=None):
            pass
        assert refused.value.response.status_code == 405
