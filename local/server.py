"""The local server: HTTP on your machine in front of the handlers that run on Lambda.

    python -m local.server [--host 127.0.0.1] [--port 8080] [--config toolwire.toml] [--workers 2]

It is the standard library's threading server, with one thread a connection. Each request becomes the event that API
Gateway would make of it. `Output` flushes each stream, sends keep-alives and notices a hang-up. The server's own errors
(404, 405, 413, malformed HTTP) have the form of API Gateway's.
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
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from local.banner import banner, near
from local.connection import Connection, report
from local.handlers import Handler, load_handlers
from local.memory import give_back_memory
from local.ports import cannot_listen, family_of
from local.sockets import PromptSocket, prompt
from local.watch.exchanges import Exchanges
from local.watch.watching import Watching
from local.workers import MOST_WORKERS, PIPES, banner_row, begin_worker, serve_with_workers
from toolwire.model.settings import SettingsError
from toolwire.providers import WIRES
from toolwire.shell.access.key_records import read_file
from toolwire.shell.network.sockets import use_sockets
from toolwire.shell.random_text import ReadAhead, use_source
from toolwire.shell.settings.current import current_settings
from toolwire.shell.store.current import current_store, use_store

#: The seconds that running requests get to end when the server is stopped. Containers are killed after ten.
STOP_SECONDS = 8.0
#: The further seconds in which ended answers write their errors.
_LAST_WORDS_SECONDS = 1.0
#: The longest wait of the main thread, which looks whether a signal came then.
_SIGNAL_SECONDS = 0.1

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
        """`exchanges`: the watch; None if there is none. `shares_port`: other processes of ours listen there too."""
        self.address_family = family_of(address[0])
        self.allow_reuse_port = shares_port
        super().__init__(address, socketserver.BaseRequestHandler)
        self.handlers = handlers
        self.exchanges = exchanges
        #: Whether the inspector is on.
        self.inspects = inspects
        #: The moment of `time.monotonic` at which running answers end; infinite until the server is stopped.
        self.stops_at = math.inf
        self._connections: dict[socket.socket, bool] = {}
        self._changed = threading.Condition()

    @property
    def url(self) -> str:
        """The server's own address, with the port it got."""
        host, port = str(self.server_address[0]), self.server_address[1]
        name = f"[{host}]" if self.address_family == socket.AF_INET6 else host
        return f"http://{name}:{port}"

    def get_request(self) -> tuple[socket.socket, Any]:
        """An accepted connection, and the client's address."""
        accepted, address = super().get_request()
        return prompt(accepted), address

    def process_request(self, request: socket.socket | tuple[bytes, socket.socket], client_address: Any) -> None:
        """Starts a connection's thread. Raises RuntimeError if the system has no thread left."""
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
        """Ends a connection that no thread serves. If a signal interrupts the start of a thread, the standard library
        would end that thread's connection too, with a running answer."""
        if request not in self._connections:
            super().shutdown_request(request)

    def handle_error(self, request: object, client_address: object) -> None:  # noqa: ARG002 - socketserver's signature
        """Reports what ended a connection's thread: a bug."""
        if (failure := sys.exc_info()[1]) is not None:
            report(failure, "of a connection")

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
        """The number of running requests."""
        with self._changed:
            return sum(self._connections.values())

    def drain(self, seconds: float = STOP_SECONDS, given_up: Callable[[], bool] = lambda: False) -> None:
        """To be called after `serve_forever`: closes idle connections, and gives running requests time to end, unless
        that is given up. Those that have not ended then get their API's error."""
        self.server_close()
        self.stops_at = time.monotonic() + seconds
        with self._changed:
            for connection, busy in self._connections.items():
                if not busy:
                    _hang_up(connection)
            ends = self.stops_at + _LAST_WORDS_SECONDS
            while any(self._connections.values()) and time.monotonic() < ends and not given_up():
                self._changed.wait(_SIGNAL_SECONDS)


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
    # At once: the process may be stopped before it listens.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    give_back_memory()
    use_sockets(PromptSocket)
    use_source(ReadAhead().take)
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
    os.environ["TOOLWIRE_OWN_URLS"] = server.url  # the settings read it when handlers are imported
    try:
        if os.environ.get("STORE", "").strip().lower() == "moto":
            from local.moto_store import moto_store  # AWS's side, which few servers need

            use_store(moto_store(os.environ))
        settings, store = current_settings(), current_store()
        if settings.keys_file is not None:
            read_file(Path(settings.keys_file))  # a broken file is reported now, not to each client
        server.handlers = load_handlers(FUNCTIONS)
        watching.begin()
    except OSError as error:
        print(f"toolwire: RECORD: {watching.record} cannot be made: {error.strerror}", file=sys.stderr)
        return 1
    rows = watching.rows(near(server.url))
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
    again: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM):  # noted, not raised: that could be while the main thread gets a lock
        signal.signal(number, lambda number, _: again.append(number))
    if count := server.under_way:
        print(f"toolwire: {count} under way, for {STOP_SECONDS:g} s at most; Ctrl-C again ends it now", flush=True)
    server.drain(STOP_SECONDS, lambda: bool(again))
    if again:
        print(f"toolwire: stopped at once, with {server.under_way} under way", flush=True)
        return 130
    print(f"toolwire: stopped after {time.monotonic() - started:.1f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
