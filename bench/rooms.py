"""Where a request's CPU time goes, by room of the package:

    make profile
    python -m bench.rooms [--requests 1500]

The local server runs in this process, with the scripted upstream in another one and a client in a third. While
requests come, one thread looks every 50 microseconds at what the connection's thread is doing, and weighs what it sees
with the CPU time (the thread's own clock) that went by since the last look. So waiting counts nothing, and a system
call or C code counts as much as Python. A library's time is that of the room that called it. What looking costs is in
every share, and a look comes between two functions of Python only: the shares are the finding, to a percent or two, and
`make bench` has the times.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from types import FrameType

from bench.client import Connection, Endpoint
from bench.cold_start import MODEL, configure
from bench.process import LAYER, ROOT, Process, python
from bench.script import Script

#: What is asked for, and whether it is streamed.
KINDS = {"JSON answer, two calls": (Script("tools"), False), "stream of 100 text deltas": (Script("text", 100), True)}

#: Part of a file's path -> the room, the first that matches. What is in none is its caller's.
ROOMS = (
    ("local/http.py", "local/http.py: the client's request, the answer's framing"),
    ("local/", "local/: the server, the event"),
    ("shell/network/", "shell/network: the provider's connection"),
    ("shell/network/output.py", "shell/network/output.py: the buffer, the client's socket"),
    ("shell/telemetry/observe.py", "shell/telemetry/observe.py: the log's line"),
    ("shell/telemetry/log.py", "shell/telemetry/log.py: its JSON"),
    ("shell/serve/", "shell/serve: the course of a request"),
    ("shell/", "shell: keys, rates, settings, store"),
    ("toolwire/doors/", "doors"),
    ("toolwire/providers/", "providers"),
    ("toolwire/exchange/", "exchange"),
    ("toolwire/rewrite/", "rewrite"),
    ("toolwire/policy/", "policy"),
    ("toolwire/schema/", "schema"),
    ("toolwire/stream/", "stream"),
    ("toolwire/conversation/", "conversation"),
    ("toolwire/", "framing, wire, model"),
)
#: Kind -> CPU seconds by room.
Profile = dict[str, dict[str, float]]
_OTHER = "threads, socketserver"
_LOOK_SECONDS = 50e-6


def room_of(frame: FrameType | None) -> str:
    """The room of the innermost frame that is in one."""
    while frame is not None:
        name = frame.f_code.co_filename
        if name.startswith((str(ROOT / "local"), str(LAYER))):
            return next(room for part, room in ROOMS if part in name)
        frame = frame.f_back
    return _OTHER


class Looks:
    """CPU seconds by room of every thread of this process `besides` those, and the one that looks."""

    def __init__(self, *, besides: set[int]) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self._besides = besides
        self._clocks: dict[int, float] = {}
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Looks:
        self._thread.start()
        return self

    def __exit__(self, *args: object) -> None:
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        besides = self._besides | {threading.get_ident()}
        while not self._over.is_set():
            for thread, frame in sys._current_frames().items():
                if thread not in besides:
                    self._look(thread, frame)
            time.sleep(_LOOK_SECONDS)

    def _look(self, thread: int, frame: FrameType) -> None:
        try:
            now = time.clock_gettime(time.pthread_getcpuclockid(thread))
        except ProcessLookupError:  # it has ended since its frame was taken
            return
        spent = now - self._clocks.get(thread, now)
        self._clocks[thread] = now
        if spent:
            self.seconds[room_of(frame)] += spent


def measured(base_url: str, requests: int, *, besides: set[int]) -> Profile:
    """CPU seconds by room, for each kind."""
    found: Profile = {}
    for kind, (script, stream) in KINDS.items():
        request = Endpoint(base_url, MODEL).request(script, stream=stream)
        stamps = script.stamps if stream else 0
        with Process(python("-m", "bench.rooms", "--ask", base_url, kind, str(requests)), {}) as client:
            with Connection(Endpoint(base_url, MODEL)) as connection:
                connection.ask(request).check(stamps)
            with Looks(besides=besides) as looks:
                client.printed("done")
        found[kind] = looks.seconds
    return found


def table(found: Profile, requests: int) -> str:
    """A Markdown table: a room's share of each kind, and the time of all."""
    rooms = [room for _, room in ROOMS] + [_OTHER]
    totals = {kind: sum(seconds.values()) for kind, seconds in found.items()}
    lines = ["| room | " + " | ".join(found) + " |", "|---|" + "---:|" * len(found)]
    for room in rooms:
        shares = [f"{100 * seconds.get(room, 0.0) / totals[kind]:.0f} %" for kind, seconds in found.items()]
        lines.append(f"| {room} | {' | '.join(shares)} |")
    each = " | ".join(f"{totals[kind] / requests * 1e3:.2f} ms" for kind in found)
    return "\n".join([*lines, f"| all, with what looking costs | {each} |"])


def _ask(base_url: str, kind: str, requests: int) -> None:
    script, stream = KINDS[kind]
    request = Endpoint(base_url, MODEL).request(script, stream=stream)
    with Connection(Endpoint(base_url, MODEL)) as connection:
        for _ in range(requests):
            connection.ask(request)
    print("done", flush=True)


def main(argv: Sequence[str]) -> int:
    """Measures and prints. Returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m bench.rooms", description="Where a request's CPU time goes.")
    parser.add_argument("--requests", type=int, default=1500, help="requests of each kind (default: %(default)s)")
    parser.add_argument("--ask", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    if options.ask:
        _ask(options.ask[0], options.ask[1], int(options.ask[2]))
        return 0
    sys.setswitchinterval(_LOOK_SECONDS)  # else it could be looked at only where it waits
    with ExitStack() as stack:
        upstream = stack.enter_context(Process(python("-m", "bench.upstream"), {})).printed(r"http://\S+/v1")
        os.environ["TOOLWIRE_CONFIG"] = configure(Path(stack.enter_context(tempfile.TemporaryDirectory())), upstream)
        # Read when they are imported, so only now.
        from local.handlers import load_handlers
        from local.server import FUNCTIONS, LocalServer

        server = LocalServer(("127.0.0.1", 0), load_handlers(FUNCTIONS))
        listening = threading.Thread(target=server.serve_forever, daemon=True)
        listening.start()
        stack.callback(server.shutdown)
        own = {threading.get_ident(), listening.ident or 0}
        _log_to_nowhere(stack)
        found = measured(server.url + "/v1", options.requests, besides=own)
    print(table(found, options.requests))
    return 0


def _log_to_nowhere(stack: ExitStack) -> None:
    """The lines of requests are made and written, but not shown between ours."""
    from toolwire.shell.telemetry.log import logger

    nowhere = stack.enter_context(open(os.devnull, "w"))  # noqa: SIM115 - the stack closes it
    for handler in logger().lines.handlers:
        handler.setStream(nowhere)  # type: ignore[attr-defined]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
