"""The scripted upstream, a process of its own:

    python -m bench.upstream [--port 9100]

Prints its base URL as a Chat Completions host, then answers every POST as the request's script says (`script.py`), in
the wire that the path asks for (`wires.py`), until it is ended. Each event is written by itself, as providers do. It
speaks just enough HTTP/1.1 for clients that send a Content-Length.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence

from bench.script import Script, read_script
from bench.wires import WIRES, Wire, wire_at

_WHOLE = {wire.name: wire.whole() for wire in WIRES.values()}
JSON_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
STREAM_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
_NO_SCRIPT = b'{"error":{"message":"the request has no script","type":"invalid_request_error"}}'


class Upstream(asyncio.Protocol):
    """One connection, request after request."""

    def __init__(self) -> None:
        self._received = bytearray()
        self._tasks: set[asyncio.Task[None]] = set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        for task in self._tasks:
            task.cancel()

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, found, _ = self._received.partition(b"\r\n\r\n")
        if not found:
            return
        length = _content_length(bytes(head))
        size = len(head) + 4 + length
        if len(self._received) < size:
            return
        body = bytes(self._received[len(head) + 4 : size])
        del self._received[:size]
        self._answer(bytes(head).partition(b"\r\n")[0], body)

    def _answer(self, line: bytes, body: bytes) -> None:
        try:
            wire, script = wire_at(line), read_script(body)
        except ValueError:
            head = JSON_HEAD.replace(b"200 OK", b"400 Bad Request") % len(_NO_SCRIPT)
            self._transport.write(head + _NO_SCRIPT)
            return
        if not _is_streamed(line, body):
            whole = _WHOLE[wire.name]
            self._transport.write(JSON_HEAD % len(whole) + whole)
        elif script.pause_ms:
            task = asyncio.get_running_loop().create_task(self._paced(wire, script))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        else:
            self._transport.write(STREAM_HEAD)
            for _, event in wire.events(script):
                self._transport.write(framed(event))
            self._transport.write(b"0\r\n\r\n")

    async def _paced(self, wire: Wire, script: Script) -> None:
        self._transport.write(STREAM_HEAD)
        stream = wire.events(script)
        paced = False
        while True:
            if paced:
                await asyncio.sleep(script.pause_ms / 1000)
            following = next(stream, None)  # made only now: its stamp is the time of its write
            if following is None:
                break
            paced, event = following
            self._transport.write(framed(event))
        self._transport.write(b"0\r\n\r\n")


def _is_streamed(line: bytes, body: bytes) -> bool:
    """Gemini's path says it, in the others the body does."""
    return b":streamGenerateContent" in line or b'"stream":true' in body.replace(b" ", b"")


def framed(event: bytes) -> bytes:
    """A chunk of a body that is sent in chunks."""
    return b"%x\r\n%b\r\n" % (len(event), event)


def _content_length(head: bytes) -> int:
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            return int(value)
    return 0


async def _serve(port: int) -> None:
    server = await asyncio.get_running_loop().create_server(Upstream, "127.0.0.1", port, backlog=128)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await server.serve_forever()


def main(argv: Sequence[str]) -> None:
    """Serves until it is ended."""
    parser = argparse.ArgumentParser(prog="python -m bench.upstream")
    parser.add_argument("--port", type=int, default=0, help="port, 0 for any free one (default)")
    asyncio.run(_serve(parser.parse_args(argv).port))


if __name__ == "__main__":
    main(sys.argv[1:])
