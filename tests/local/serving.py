"""A local server with handlers that a test injects, and ways to talk to it."""

from __future__ import annotations

import http.client
import json
import queue
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from local.server import LocalServer
from toolwire.model.errors import ClientGone
from toolwire.model.http import Head
from toolwire.shell.network.output import Answer, current_output

JSON = ("content-type", "application/json")
SSE = ("content-type", "text/event-stream")


class Handlers:
    """Two handlers: one repeats the event, one does as the request's body says."""

    def __init__(self) -> None:
        self.seen: queue.Queue[str] = queue.Queue()
        self.go_on = threading.Event()

    def catalog(self, event: dict[str, Any], context: Any) -> Answer:
        event["remaining"] = context.get_remaining_time_in_millis()
        event["aws_request_id"] = context.aws_request_id
        yield Head(200, (JSON, ("x-bad", "a\r\nset-cookie: b"), ("bad name", "c"), ("content-length", "1")))
        yield json.dumps(event).encode()

    def chat_completions(self, event: dict[str, Any], context: Any) -> Answer:
        do = json.loads(event["body"])["do"] if (event["body"] or "").startswith("{") else "echo"
        if do == "fail early":
            raise LookupError("secret prompt")
        yield Head(204 if do == "no content" else 200, (SSE,))
        if do == "echo":
            yield (event["body"] or "").encode()
        elif do == "large":
            yield b"x" * 20_000
        elif do == "stream":
            yield b"one"
            self._wait(lambda: self.go_on.is_set())
            yield b"two"
        elif do == "fail late":
            yield b"one"
            self._wait(lambda: True)
            raise LookupError("secret prompt")
        elif do == "until gone":
            yield b"one"
            try:
                self._wait(lambda: False)
            except ClientGone:
                self.seen.put("gone")
                raise

    def _wait(self, until: Any) -> None:
        """Reads a silent upstream until told otherwise."""
        output = current_output.get()
        assert output is not None
        ours, theirs = socket.socketpair()
        with ours, theirs:
            while True:
                try:
                    output.before_block(ours, time.monotonic() + 0.02)
                except TimeoutError:
                    if until():
                        return

    def by_folder(self) -> dict[str, Any]:
        return {"catalog": self.catalog, "chat_completions": self.chat_completions}


@contextmanager
def serving(server: LocalServer) -> Iterator[LocalServer]:
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.drain(seconds=1)
        thread.join()


def exchange(server: LocalServer, request: bytes, *, half_close: bool = False) -> bytes:
    """Sends bytes and returns all that comes back until the server ends the connection."""
    with socket.create_connection(("127.0.0.1", server.server_address[1]), timeout=10) as sock:
        sock.sendall(request)
        if half_close:
            sock.shutdown(socket.SHUT_WR)
        answer = b""
        while piece := sock.recv(1 << 16):
            answer += piece
    return answer


def post(client: http.client.HTTPConnection, do: str) -> http.client.HTTPResponse:
    client.request("POST", "/v1/chat/completions", json.dumps({"do": do}), {"content-type": "application/json"})
    return client.getresponse()


def get(client: http.client.HTTPConnection, path: str, method: str = "GET") -> tuple[http.client.HTTPResponse, bytes]:
    client.request(method, path)
    response = client.getresponse()
    return response, response.read()
