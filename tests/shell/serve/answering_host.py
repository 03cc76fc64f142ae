"""A gateway that several tests share, in front of a host that gives to everything the answer that a test wants."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

from tests.gateway import gateway

_WIRES = ("anthropic_messages", "gemini", "openai_chat", "openai_responses")

#: Providers of each wire: as many as a module has tests. What the gateway has learnt of one is no other's.
_PROVIDERS = 12


class AnsweringHost:
    """`asked` is what came since the answer was last set: the path, and the body."""

    def __init__(self) -> None:
        self.base = ""
        self.asked: list[tuple[str, Any]] = []
        self._status, self._document = 500, b"null"
        self._tests = 0

    def answers(self, status: int, document: Any) -> None:
        self._status, self._document = status, json.dumps(document).encode()
        self._tests += 1
        self.asked = []

    def model(self, wire: str) -> str:
        """A model of a provider that no other test has asked."""
        return f"{_provider(wire, self._tests)}/m"

    def answer(self, path: str, body: bytes) -> tuple[int, bytes]:
        self.asked.append((path, json.loads(body)))
        return self._status, self._document


@contextmanager
def answering_host(folder: Path) -> Iterator[AnsweringHost]:
    host = AnsweringHost()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            status, answer = host.answer(self.path, self.rfile.read(int(self.headers["content-length"])))
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    try:
        with gateway(folder, "".join(_section(wire, n, address) for wire in _WIRES for n in range(_PROVIDERS))) as base:
            host.base = base
            yield host
    finally:
        server.shutdown()
        server.server_close()


def _provider(wire: str, number: int) -> str:
    return f"{wire.replace('_', '-')}-{number}"


def _section(wire: str, number: int, address: str) -> str:
    return f'[providers.{_provider(wire, number)}]\nwire = "{wire}"\nbase_url = "{address}"\ncredential = "none"\n'
