"""Memory of one local server over many requests: JSON answers and streams of two APIs and three wires, and failures.

    python -m bench.soak [--requests 200000] [--every 10000]

The settings are the defaults: the inspector keeps the latest exchanges, and ids and state are in memory. Of twelve
requests two are refused by the provider or by the gateway, one is for a provider that is not there, and one client
leaves in the middle of its answer; each answer is checked. Printed are resident memory, threads and descriptors, every
so many requests: all must stay level once the bounded stores are full.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import cycle
from pathlib import Path

from bench.client import BenchError, Connection, Endpoint
from bench.cold_start import MODEL, configure, start_gateway
from bench.process import Process, memory_mb, python
from bench.script import Script

#: Clients at once, each with a connection that it keeps.
_CLIENTS = 4
_STREAM, _CALLS = Script("text", 5), Script("tools", 5)
#: Long enough for a client to leave before its end.
_SLOW = Script("text", 50, 20)
_ABSENT = '\n[providers.absent]\nwire = "openai_chat"\nbase_url = "http://127.0.0.1:9/v1"\ncredential = "none"\n'

#: What a client does once, with its connection.
Deed = Callable[[Connection], str]


def main(argv: Sequence[str]) -> int:
    """Asks and prints. Returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m bench.soak", description="Memory over many requests.")
    parser.add_argument("--requests", type=int, default=200_000, help="how many (default: %(default)s)")
    parser.add_argument("--every", type=int, default=10_000, help="a line each (default: %(default)s)")
    options = parser.parse_args(argv)
    with ExitStack() as stack:
        upstream = stack.enter_context(Process(python("-m", "bench.upstream"), {})).printed(r"http://\S+/v1")
        configuration = Path(configure(Path(stack.enter_context(tempfile.TemporaryDirectory())), upstream))
        configuration.write_text(configuration.read_text() + _ABSENT)
        gateway, base_url = start_gateway(str(configuration))
        stack.enter_context(gateway)
        print(f"| {'requests':>10} | memory, MB | threads | descriptors | a second |\n|--:|--:|--:|--:|--:|")
        print(_line(0, gateway.pid, 0.0), flush=True)
        pool = stack.enter_context(ThreadPoolExecutor(_CLIENTS))
        clients = [_Client(base_url, number) for number in range(_CLIENTS)]
        done, counts = 0, Counter[str]()
        while done < options.requests:
            share = min(options.every, options.requests - done) // _CLIENTS
            began = time.monotonic()
            for counted in pool.map(lambda client, share=share: client.ask(share), clients):
                counts += counted
            done += share * _CLIENTS
            print(_line(done, gateway.pid, share * _CLIENTS / (time.monotonic() - began)), flush=True)
            if not share:
                break
    print("\n" + ", ".join(f"{count:,} {name}" for name, count in sorted(counts.items())))
    return 0


def _line(done: int, pid: int, rate: float) -> str:
    threads = sum(1 for _ in Path(f"/proc/{pid}/task").iterdir())
    descriptors = sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())
    return f"| {done:>10,} | {memory_mb(pid):.1f} | {threads} | {descriptors} | {rate:,.0f} |"


class _Client:
    """One after the other. `number`: where in the list of deeds it begins."""

    def __init__(self, base_url: str, number: int) -> None:
        self._chat, self._deeds = Endpoint(base_url, MODEL), cycle(deeds(base_url))
        self._connection = Connection(self._chat)
        for _ in range(number * 3):
            next(self._deeds)

    def ask(self, count: int) -> Counter[str]:
        """So many requests; what became of them. Raises BenchError for an answer that is not the right one."""
        counts = Counter[str]()
        for _ in range(count):
            became = next(self._deeds)(self._connection)
            if became == "left":
                self._connection.socket.close()
                self._connection = Connection(self._chat)
            counts[became] += 1
        return counts


def deeds(base_url: str) -> list[Deed]:
    """What clients do in turn."""
    chat, messages = Endpoint(base_url, MODEL), Endpoint(base_url, MODEL, door="messages")
    anthropic, gemini = (Endpoint(base_url, f"{name}/scripted") for name in ("bench-anthropic", "bench-gemini"))
    absent = Endpoint(base_url, "absent/scripted")
    no_script = chat.request(_STREAM).replace(b"bench/text/5/0", b"what is there?")
    no_model = chat.request(_STREAM).replace(b'"model"', b'"mode1"')
    return [
        _answered(chat, _CALLS, stream=False),
        _answered(chat, _STREAM),
        _answered(messages, _CALLS),
        _refused(no_script, 400),
        _answered(anthropic, _CALLS),
        _answered(gemini, _STREAM),
        _left(chat),
        _answered(messages, _CALLS, stream=False),
        _refused(no_model, 400),
        _answered(gemini, _CALLS, stream=False),
        _refused(absent.request(_STREAM), 502, 503),
        _answered(anthropic, _STREAM),
    ]


def _answered(endpoint: Endpoint, script: Script, *, stream: bool = True) -> Deed:
    request = endpoint.request(script, stream=stream)

    def deed(connection: Connection) -> str:
        connection.ask(request).check(script.stamps if stream else 0)
        return "answered"

    return deed


def _refused(request: bytes, *statuses: int) -> Deed:
    starts = tuple(f"HTTP/1.1 {status} ".encode() for status in statuses)

    def deed(connection: Connection) -> str:
        answer = b"".join(connection.ask(request).pieces)
        if not answer.startswith(starts):
            raise BenchError(f"not refused with {statuses}: {answer[:300]!r}")
        return "refused"

    return deed


def _left(endpoint: Endpoint) -> Deed:
    request = endpoint.request(_SLOW)

    def deed(connection: Connection) -> str:
        connection.send(request)
        connection.receive()
        return "left"

    return deed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
