"""The local server: HTTP on your machine in front of the handlers that run on Lambda.

    python -m local.server [--host 127.0.0.1] [--port 8080] [--config toolwire.toml] [--workers 2]

The standard library's threading server, one thread a connection; each request becomes the event that API Gateway would
make of it. It owns the client's socket, so a stream is flushed, kept alive and given up as `Output` says. What it
answers itself (404, 405, 413, malformed HTTP) is what API Gateway answers when deployed, in that shape.
"""

from __future__ import annotations

import argparse
import math
import os
import signal
import socket
import socketserver
import sys
import threading
import time
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from local.banner import banner
from local.event import LocalContext, proxy_event
from local.handlers import Handler, load_handlers
from local.http import HttpAnswer, RefusedError, RequestHead, RequestReader, check_length, linger, set_up
from local.memory import give_back_large_blocks
from local.moto_store import moto_store
from local.origins import check_origin
from local.ports import cannot_listen, family_of
from local.watch.exchange import WatchedOutput
from local.watch.exchanges import Exchanges
from local.watch.watching import Watching
from local.workers import MOST_WORKERS, PIPES, banner_row, begin_worker, serve_with_workers
from toolwire.model.errors import ClientGone, GatewayError
from toolwire.model.http import Head, Headers
from toolwire.model.limits import BODY_BYTES
from toolwire.pages.paths import NoRoute, Route, refusal, render_error_at, resolve
from toolwire.providers import WIRES
from toolwire.shell.serve.cors import PREFLIGHT, cors_headers, cors_origin
from toolwire.shell.serve.output import Output, deliver, stack_of
from toolwire.shell.serve.proxy_event import error_head
from toolwire.shell.settings.current import SettingsError, current_settings
from toolwire.shell.store.current import current_store, use_store

#: Seconds an invocation may take: the template's default for StreamTimeoutSeconds.
FUNCTION_SECONDS = 600.0
#: Seconds a connection may be silent while a request is awaited or read.
IDLE_SECONDS = 120.0
#: Seconds that requests in progress get to end when the server is stopped. Containers are killed after ten.
STOP_SECONDS = 8.0
#: Seconds after them in which an answer that was ended tells its client so.
_LAST_WORDS_SECONDS = 1.0
#: Seconds after which a wait of the main thread sees a signal that came just before it began to wait.
_SIGNAL_SECONDS = 0.1

#: Where the inspector's pages are.
INSPECTOR = "/_toolwire"

FUNCTIONS = Path(__file__).resolve().parent.parent / "functions"


class LocalServer(socketserver.ThreadingTCPServer):
    """Serves `handlers` (by folder in functions/) at `address`, once `serve_forever` is called."""

    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 128

    def __init__(
        self,
        address: tuple[str, int],
        handlers: Mapping[str, Handler],
        exchanges: Exchanges | None = None,
        *,
        inspects: bool = False,
        shares_port: bool = False,
    ) -> None:
        """`exchanges`: who watches, if anybody does. `shares_port`: other processes of ours listen there too."""
        self.address_family = family_of(address[0])
        self.allow_reuse_port = shares_port
        super().__init__(address, socketserver.BaseRequestHandler)
        self.handlers = handlers
        self.exchanges = exchanges
        #: Whether exchanges may be looked at with a browser of this machine.
        self.inspects = inspects
        #: When answers that are under way end, a moment of `time.monotonic`: never, until the server is stopped.
        self.stops_at = math.inf
        self._connections: dict[socket.socket, bool] = {}
        self._changed = threading.Condition()

    @property
    def url(self) -> str:
        """The server's own address, with the port it got."""
        host, port = str(self.server_address[0]), self.server_address[1]
        name = f"[{host}]" if self.address_family == socket.AF_INET6 else host
        return f"http://{name}:{port}"

    def process_request(self, request: socket.socket | tuple[bytes, socket.socket], client_address: Any) -> None:
        """Starts a connection's thread. Raises RuntimeError where the system has no thread left."""
        assert isinstance(request, socket.socket)
        self.mark(request, busy=False)
        try:
            super().process_request(request, client_address)
        except Exception:
            self._forget(request)
            raise

    def finish_request(self, request: socket.socket | tuple[bytes, socket.socket], client_address: object) -> None:
        """Serves one connection, in its own thread."""
        assert isinstance(request, socket.socket)
        assert isinstance(client_address, tuple)
        try:
            Connection(self, request, str(client_address[0])).serve()
        finally:
            self._forget(request)

    def shutdown_request(self, request: socket.socket | tuple[bytes, socket.socket]) -> None:
        """Ends a connection that no thread serves. Where a signal interrupts the start of a thread, the standard
        library would end the thread's connection, with an answer under way."""
        if request not in self._connections:
            super().shutdown_request(request)

    def handle_error(self, request: object, client_address: object) -> None:  # noqa: ARG002 - socketserver's signature
        """Reports what ended a connection's thread: a bug."""
        if (failure := sys.exc_info()[1]) is not None:
            _report(failure, "of a connection")

    def mark(self, connection: socket.socket, *, busy: bool) -> None:
        """Notes whether a connection is in the middle of a request."""
        with self._changed:
            self._connections[connection] = busy
            self._changed.notify()

    def _forget(self, connection: socket.socket) -> None:
        with self._changed:
            del self._connections[connection]
            self._changed.notify()

    @property
    def under_way(self) -> int:
        """How many requests are being answered."""
        with self._changed:
            return sum(self._connections.values())

    def drain(self, seconds: float = STOP_SECONDS) -> None:
        """After the end of `serve_forever`: closes idle connections and gives requests in progress time to end. What
        has not ended then gets its API's error."""
        self.server_close()
        self.stops_at = time.monotonic() + seconds
        with self._changed:
            for connection, busy in self._connections.items():
                if not busy:
                    _hang_up(connection)
            while any(self._connections.values()) and time.monotonic() < self.stops_at + _LAST_WORDS_SECONDS:
                self._changed.wait(_SIGNAL_SECONDS)


class Connection:
    """One client's connection: request after request."""

    def __init__(self, server: LocalServer, connection: socket.socket, client: str) -> None:
        self._server = server
        self._socket = connection
        self._client = client
        self._reader = RequestReader(connection)

    def serve(self) -> None:
        """Answers requests until either side ends the connection."""
        try:
            set_up(self._socket, IDLE_SECONDS)
            while self._serve_one() and self._server.stops_at == math.inf:
                self._server.mark(self._socket, busy=False)
        except (OSError, ClientGone):
            pass  # the client hung up; there is nobody to tell

    def _serve_one(self) -> bool:
        """One request and its answer. Returns whether another one may follow."""
        head = None
        try:
            head = self._reader.head()
            if head is None:
                return False
            self._server.mark(self._socket, busy=True)
            if self._server.inspects and _is_inspectors(head):
                return self._inspect(head)
            check_origin(head)
            route = resolve(head.method, _path(head))
            body = self._read_body(head, route)
        except GatewayError as refused:
            return self._refuse(head, refused, last=True)  # what is left of the request cannot be told from the next
        if isinstance(route, NoRoute):
            if head.method == "OPTIONS" and route.allow and cors_origin(os.environ):
                return self._send(head, Head(204, PREFLIGHT))
            return self._refuse(head, refusal(head.method, _path(head), head.fields))
        return self._invoke(head, route, body)

    def _inspect(self, head: RequestHead) -> bool:
        """A page of the inspector. Raises GatewayError for who may not look."""
        from local.inspector.site import FORM_BYTES, Asked, Inspector  # templates take a tenth of a second

        assert self._server.exchanges is not None
        body = self._reader.body(head, FORM_BYTES)
        method = "GET" if head.method == "HEAD" else head.method
        asked = Asked(method, head.target, head.fields, self._client, bytes(body))
        try:
            page = Inspector(self._server.exchanges, self._server.handlers, self._server.url).page(asked)
        except GatewayError:
            raise
        except Exception as failure:  # noqa: BLE001 - a page that cannot be made is no reason to hang up
            _report(failure, "of the inspector")
            raise RefusedError("The inspector failed. The log says where.", 500, "internal_error") from None
        if page.news is None:
            return self._send(head, page.head, page.body, headers=())  # CORS_ORIGIN's site gets the gateway, not this
        self._server.mark(self._socket, busy=False)  # nothing to wait for when the server stops
        output = Output(HttpAnswer(self._socket, head, last=True))
        output.start(page.head)
        for piece in page.news:
            output.write(piece)
            output.flush()
        return False

    def _read_body(self, head: RequestHead, route: Route | NoRoute) -> bytearray:
        if head.awaits_continue:
            if isinstance(route, NoRoute):
                raise refusal(head.method, _path(head), head.fields)
            check_length(head, BODY_BYTES)
            self._socket.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        return self._reader.body(head, BODY_BYTES)

    def _invoke(self, head: RequestHead, route: Route, body: bytearray) -> bool:
        request_id = str(uuid.uuid4())
        event = proxy_event(head, route, body, request_id=request_id, client=self._client)
        context = LocalContext(route.function, request_id, FUNCTION_SECONDS)
        answer = HttpAnswer(self._socket, head)
        handler = self._server.handlers[route.function]
        if self._server.exchanges is None:
            return self._answer(head, answer, Output(answer, headers=cors_headers(os.environ)), handler, event, context)
        with self._server.exchanges.watching(event) as seen:
            output = WatchedOutput(answer, seen, headers=cors_headers(os.environ))
            return self._answer(head, answer, output, handler, event, context)

    def _answer(
        self,
        head: RequestHead,
        answer: HttpAnswer,
        output: Output,
        handler: Handler,
        event: dict[str, Any],
        context: LocalContext,
    ) -> bool:
        request_id = context.aws_request_id
        output.stops_at = lambda: self._server.stops_at
        try:
            deliver(handler(event, context), output)
            if not output.head_sent:
                raise RuntimeError("the handler gave no answer")
            output.finish()
        except ClientGone:
            return False
        except Exception as failure:  # noqa: BLE001 - whatever it is, the client must not take it for an answer
            _report(failure, request_id)
            if not output.begun:
                refused = RefusedError("The gateway failed. Its log says where.", 500, "internal_error")
                return self._refuse(head, refused, request_id=request_id)
            output.finish(failure)
        return answer.keeps_open

    def _refuse(
        self, head: RequestHead | None, refused: GatewayError, *, last: bool = False, request_id: str | None = None
    ) -> bool:
        """Sends an error of the server's own. `last`: the request was not read to its end, so the connection ends."""
        is_ours = request_id is None  # else it is a handler's, which is watched already
        request_id = request_id or str(uuid.uuid4())
        body = render_error_at("" if head is None else _path(head), refused, request_id)
        if is_ours and head is not None and self._server.exchanges is not None and not _is_inspectors(head):
            self._server.exchanges.refused(head.method, _path(head), head.headers, request_id, refused)
        keeps_open = self._send(head, error_head(refused, "application/json", request_id), body, last=last)
        if last:
            linger(self._socket)
        return keeps_open

    def _send(
        self,
        head: RequestHead | None,
        answered: Head,
        body: bytes = b"",
        *,
        last: bool = False,
        headers: Headers | None = None,
    ) -> bool:
        """Sends a whole answer of the server's own. `headers` are of every answer; None: those that let the pages of
        CORS_ORIGIN in. Returns whether another request may follow."""
        answer = HttpAnswer(self._socket, head, last=last)
        output = Output(answer, headers=cors_headers(os.environ) if headers is None else headers)
        output.start(answered)
        output.write(body)
        output.finish()
        return answer.keeps_open


def _is_inspectors(head: RequestHead) -> bool:
    return f"{_path(head)}/".startswith(f"{INSPECTOR}/")


def _path(head: RequestHead) -> str:
    return head.target.partition("?")[0]


def _report(failure: BaseException, request_id: str) -> None:
    """Says on stderr where a handler failed, without the error's message: it may quote the request."""
    lines = [f"request {request_id}: the handler failed with {type(failure).__name__}", *stack_of(failure)]
    print("\n  ".join(lines), file=sys.stderr, flush=True)


def _hang_up(connection: socket.socket) -> None:
    with suppress(OSError):  # it may have ended by itself
        connection.shutdown(socket.SHUT_RDWR)


def _arguments(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m local.server", description="toolwire over HTTP on this machine.")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen at (default: %(default)s)")
    parser.add_argument("--port", type=int, default=8080, help="port, 0 for any free one (default: %(default)s)")
    parser.add_argument("--config", help="configuration document (TOML); default: what TOOLWIRE_CONFIG names")
    parser.add_argument("--workers", type=int, default=1, help="processes that share the port (default: %(default)s)")
    arguments = parser.parse_args(argv)
    if not 1 <= arguments.workers <= MOST_WORKERS:
        parser.error(f"--workers must be from 1 to {MOST_WORKERS}")
    return arguments


def main(argv: Sequence[str]) -> int:
    """Serves until Ctrl-C or SIGTERM. Returns the exit status."""
    arguments = _arguments(argv)
    if arguments.config:
        os.environ["TOOLWIRE_CONFIG"] = arguments.config
    # From the first moment on: whoever started us may stop us before we listen.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    give_back_large_blocks()
    try:
        if arguments.workers > 1 and PIPES not in os.environ:
            return serve_with_workers(arguments.host, arguments.port, arguments.workers)
        return _serve(arguments.host, arguments.port, arguments.workers)
    except SettingsError as error:
        print(f"toolwire: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 0


def _serve(host: str, port: int, workers: int) -> int:
    watching = Watching.of(os.environ, is_terminal=sys.stdout.isatty())
    try:
        server = LocalServer((host, port), {}, watching.exchanges, inspects=watching.inspects, shares_port=workers > 1)
    except (OSError, OverflowError) as error:  # a port over 65535 overflows
        print(cannot_listen(error, host, port), file=sys.stderr)
        return 1
    os.environ["TOOLWIRE_OWN_URLS"] = server.url  # read by the settings, which handlers load when they are imported
    try:
        if os.environ.get("STORE", "").strip().lower() == "moto":
            use_store(moto_store(os.environ))
        settings, store = current_settings(), current_store()
        server.handlers = load_handlers(FUNCTIONS)
        watching.begin()
    except OSError as error:
        print(f"toolwire: RECORD: {watching.record} cannot be made: {error.strerror}", file=sys.stderr)
        return 1
    rows = watching.rows(server.url)
    if workers > 1:
        rows["workers"] = banner_row(workers, settings, store.name)
    if begin_worker(os.environ):
        print(banner(server.url, settings, WIRES, os.environ, store.name, rows), flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        return _stop(server)
    return 0


def _stop(server: LocalServer) -> int:
    """Lets requests end, until it is interrupted once more. Returns the exit status."""
    started = time.monotonic()
    try:
        if count := server.under_way:
            print(f"toolwire: {count} under way, for {STOP_SECONDS:g} s at most; Ctrl-C again ends it now", flush=True)
        server.drain(STOP_SECONDS)
    except KeyboardInterrupt:
        print(f"toolwire: stopped at once, with {server.under_way} under way", flush=True)
        return 130
    print(f"toolwire: stopped after {time.monotonic() - started:.1f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
