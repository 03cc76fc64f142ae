"""Lambda's Runtime API, played on loopback: it hands out events and notes how each was answered, and when."""

from __future__ import annotations

import base64
import json
import queue
import socketserver
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any, Self

_PREFIX = "/2018-06-01/runtime/"


@dataclass
class Posted:
    """What the runtime posted about one invocation, or about its start."""

    #: "response", "error" or "init/error".
    kind: str
    headers: dict[str, str]
    #: Pieces of the body as they came: time.monotonic() and bytes. One piece for a body with a length.
    chunks: list[tuple[float, bytes]] = field(default_factory=list)
    trailers: dict[str, str] = field(default_factory=dict)
    #: Whether the body came to its end.
    complete: bool = False

    @property
    def body(self) -> bytes:
        return b"".join(data for _, data in self.chunks)

    @property
    def prelude(self) -> dict[str, Any]:
        """A streamed response's status and headers."""
        prelude: dict[str, Any] = json.loads(self.body.partition(b"\0" * 8)[0])
        return prelude

    @property
    def content(self) -> bytes:
        """A streamed response's body, after the prelude."""
        return self.body.partition(b"\0" * 8)[2]

    @property
    def trailer_error(self) -> dict[str, Any]:
        """The error that the trailers carry."""
        error: dict[str, Any] = json.loads(base64.b64decode(self.trailers["lambda-runtime-function-error-body"]))
        return error


class FakeRuntimeApi(socketserver.ThreadingTCPServer):
    """Use as a context manager: point AWS_LAMBDA_RUNTIME_API to `address`, then `invoke`."""

    daemon_threads = True

    def __init__(self, function_seconds: float = 30.0) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.address = f"127.0.0.1:{self.server_address[1]}"
        #: The status that ends a response, and (bytes) where to break its connection off.
        self.reply_status = 202
        self.break_after: int | None = None
        self.function_seconds = function_seconds
        #: That the runtime is ready for its snapshot, and that it is restored.
        self.snapshot, self.restore = threading.Event(), threading.Event()
        self.events: queue.Queue[tuple[str, object] | None] = queue.Queue()
        self._answers: dict[str, queue.Queue[Posted]] = {"init": queue.Queue()}
        self._count = 0

    def __enter__(self) -> Self:
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *args: object) -> None:
        self.events.put(None)
        self.shutdown()
        self.server_close()

    def invoke(self, event: object, timeout: float = 10.0) -> Posted:
        """Hands an event to the runtime and waits for its answer. Raises queue.Empty if none comes."""
        self._count += 1
        invoke_id = f"invoke-{self._count}"
        self._answers[invoke_id] = queue.Queue()
        self.events.put((invoke_id, event))
        return self._answers[invoke_id].get(timeout=timeout)

    def init_error(self, timeout: float = 10.0) -> Posted:
        """Waits for the runtime to say that it cannot start."""
        return self._answers["init"].get(timeout=timeout)

    def note(self, invoke_id: str, posted: Posted) -> None:
        self._answers[invoke_id].put(posted)


class _Handler(BaseHTTPRequestHandler):
    server: FakeRuntimeApi
    protocol_version = "HTTP/1.1"

    def log_message(self, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        if self.path == _PREFIX + "restore/next":
            self._restore()
            return
        assert self.path == _PREFIX + "invocation/next"
        item = self.server.events.get()
        if item is None:
            self.close_connection = True
            return
        invoke_id, event = item
        body = json.dumps(event).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")  # awslambdaric's C client hangs without it
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Lambda-Runtime-Aws-Request-Id", invoke_id)
        deadline = int((time.time() + self.server.function_seconds) * 1000)
        self.send_header("Lambda-Runtime-Deadline-Ms", str(deadline))
        self.send_header("Lambda-Runtime-Invoked-Function-Arn", "arn:aws:lambda:local:0:function:test")
        self.send_header("Lambda-Runtime-Trace-Id", "Root=1-0-0")
        self.send_header("Lambda-Runtime-Invocation-Id", f"{invoke_id}-attempt")
        self.end_headers()
        self.wfile.write(body)

    def _restore(self) -> None:
        """The snapshot has been taken, and this is a copy: after `restore` is set."""
        self.server.snapshot.set()
        self.server.restore.wait(10)
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_POST(self) -> None:
        path = self.path.removeprefix(_PREFIX)
        kind = path if path == "init/error" else path.rpartition("/")[2]
        invoke_id = "init" if path == "init/error" else path.split("/")[1]
        posted = Posted(kind, {name.lower(): value for name, value in self.headers.items()})
        try:
            if posted.headers.get("transfer-encoding") == "chunked":
                self._read_chunks(posted)
            else:
                data = self.rfile.read(int(posted.headers.get("content-length", "0")))
                posted.chunks.append((time.monotonic(), data))
                posted.complete = True
        finally:
            self.server.note(invoke_id, posted)
        if not posted.complete:
            self.close_connection = True
            return
        self.send_response(self.server.reply_status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", "15")
        self.end_headers()
        self.wfile.write(b'{"status":"OK"}')

    def _read_chunks(self, posted: Posted) -> None:
        received = 0
        while (line := self.rfile.readline()).strip() not in (b"", b"0"):
            data = self.rfile.read(int(line, 16))
            assert self.rfile.readline() == b"\r\n"
            posted.chunks.append((time.monotonic(), data))
            received += len(data)
            if self.server.break_after is not None and received >= self.server.break_after:
                return
        if not line:
            return
        while line := self.rfile.readline().strip():
            name, _, value = line.decode().partition(":")
            posted.trailers[name.lower()] = value.strip()
        posted.complete = True
