"""The demo provider's HTTP server: 127.0.0.1, a free port, a thread a connection, started when first needed.

It is an upstream like any other to the rest of toolwire: reached by URL, over TCP, in chunks. It listens on the
loopback interface only, so nobody else reaches it, and asks for no credential.
"""

from __future__ import annotations

import secrets
import socket
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

from toolwire.demo import anthropic_messages, bedrock_converse, bedrock_messages, gemini, openai_chat, openai_responses
from toolwire.demo.answer import Answer, RefusedError
from toolwire.demo.openai_chat import Flavour

#: Seconds between the pieces of a stream: slow enough for a person to see them arrive.
PACE_SECONDS = 0.02
#: Longest request body, in bytes; more than the gateway itself takes.
_BODY_BYTES = 32 << 20
#: Seconds that an idle connection is kept.
_IDLE_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class _Host:
    """The demo host at a path. `answer` gets the body, the headers (names in lower case), the time in seconds since
    1970 and a source of 32 fresh hexadecimal digits; `refuse` writes an error in the host's own shape."""

    answer: Callable[[bytes, Mapping[str, str], int, Callable[[], str]], Answer]
    refuse: Callable[[RefusedError], Answer]


def _chat(flavour: Flavour) -> _Host:
    return _Host(
        lambda body, _, now, new_hex: openai_chat.answer(body, flavour, now=now, new_hex=new_hex),
        lambda refused: openai_chat.error_answer(refused, flavour),
    )


def _gemini(*, stream: bool) -> _Host:
    return _Host(
        lambda body, _, now, new_hex: gemini.answer(body, stream=stream, now=now, new_hex=new_hex), gemini.error_answer
    )


def _bedrock(*, stream: bool) -> _Host:
    return _Host(
        lambda body, _, __, new_hex: bedrock_converse.answer(body, stream=stream, new_hex=new_hex),
        bedrock_converse.error_answer,
    )


def _invoked(*, stream: bool) -> _Host:
    return _Host(
        lambda body, _, __, new_hex: bedrock_messages.answer(body, stream=stream, new_hex=new_hex),
        bedrock_converse.error_answer,
    )


_ANTHROPIC = _Host(
    lambda body, headers, _, new_hex: anthropic_messages.answer(body, headers, new_hex=new_hex),
    anthropic_messages.error_answer,
)
_RESPONSES = _Host(
    lambda body, _, now, new_hex: openai_responses.answer(body, now=now, new_hex=new_hex),
    openai_responses.error_answer,
)
_OPENAI = _chat("openai")
#: Path -> the demo host there.
ROUTES = {
    "/openai/v1/chat/completions": _OPENAI,
    "/openai/v1/responses": _RESPONSES,
    "/compatible/v1/chat/completions": _chat("compatible"),
    "/anthropic/v1/messages": _ANTHROPIC,
    "/bedrock/model/bedrock/converse": _bedrock(stream=False),
    "/bedrock/model/bedrock/converse-stream": _bedrock(stream=True),
    "/bedrock/model/bedrock-claude/invoke": _invoked(stream=False),
    "/bedrock/model/bedrock-claude/invoke-with-response-stream": _invoked(stream=True),
    "/gemini/v1beta/models/gemini:generateContent": _gemini(stream=False),
    "/gemini/v1beta/models/gemini:streamGenerateContent": _gemini(stream=True),
}


class DemoServer:
    """One listening server. `pace` is the default time between pieces, in seconds."""

    def __init__(self, pace: float = PACE_SECONDS) -> None:
        handler = type("Handler", (_Handler,), {"pace": pace})
        self._http = _Http(("127.0.0.1", 0), handler)
        self.base_url = f"http://127.0.0.1:{self._http.server_address[1]}"
        threading.Thread(target=self._http.serve_forever, args=(0.1,), name="demo-provider", daemon=True).start()

    def close(self) -> None:
        """Stops listening."""
        self._http.shutdown()
        self._http.server_close()


_lock = threading.Lock()
_running: list[DemoServer] = []


def demo_base_url() -> str:
    """Where this process's demo provider listens ("http://127.0.0.1:PORT"); the first call starts it.

    A provider's base URL is this with its path in `hosts.DEMO_MODELS` behind it.
    """
    with _lock:
        if not _running:
            _running.append(DemoServer(PACE_SECONDS))
        return _running[0].base_url


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignores the error: a client that hung up is normal, and a traceback could show its request."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = _IDLE_SECONDS
    pace: ClassVar[float] = PACE_SECONDS

    def do_POST(self) -> None:
        path = self.path.partition("?")[0]
        host = ROUTES.get(path)
        size = int(self.headers.get("content-length") or -1)
        if not 0 <= size <= _BODY_BYTES:
            self.close_connection = True
            self._send(_OPENAI.refuse(RefusedError(413, "The body needs a content-length of at most 32 MiB.")))
            return
        body = self.rfile.read(size)
        if host is None:
            self._send(_OPENAI.refuse(RefusedError(404, "Unknown URL.", code="unknown_url")))
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        try:
            said = host.answer(body, headers, int(time.time()), lambda: secrets.token_hex(16))
        except Exception as error:  # noqa: BLE001 - a provider that meets a bug of its own answers 500
            said = host.refuse(RefusedError(500, f"The demo failed: {type(error).__name__}."))
        self._send(said)

    def _send(self, said: Answer) -> None:
        self.send_response(said.status)
        for name, value in said.headers:
            self.send_header(name, value)
        if said.stream:
            self.send_header("transfer-encoding", "chunked")
        else:
            self.send_header("content-length", str(len(said.pieces[0])))
        self.end_headers()
        pace = self.pace if said.pace is None else said.pace
        for position, piece in enumerate(said.pieces):
            if position and pace:
                time.sleep(pace)
            if said.stall and position == (1 if said.stream else 0):
                time.sleep(said.stall)
            if position == said.cut:
                self._break_off(piece[: len(piece) // 2], said.stream)
                return
            self.wfile.write(_chunk(piece) if said.stream else piece)
        if said.stream:
            self.wfile.write(b"0\r\n\r\n")

    def _break_off(self, piece: bytes, stream: bool) -> None:
        """Closes the connection before the answer's end, as a crashing server does."""
        self.wfile.write(_chunk(piece) if stream else piece)
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002, the name is the superclass's
        """Writes nothing: the gateway logs requests."""


def _chunk(piece: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(piece), piece)
