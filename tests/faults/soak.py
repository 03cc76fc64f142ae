"""Many clients of all APIs at once, whose providers fail and who leave: every answer is right or a clear error, and the
gateway's memory and descriptors stay where they are.

    python -m tests.faults.soak [--seconds 600] [--clients 32] [--faulty 20] [--leaving 10]

The gateway is the local server in a process of its own, without the inspector, which keeps what it has seen, and with
a store that is soon full. The clients and the provider are this process. Each answer is judged as in the fault table.
The exit status is 1 where one was wrong or something grew.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import socket
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from bench.process import Process, memory_mb, python
from tests.corpus.driver import Answer
from tests.faults.faults import FAULTS, SCENARIO, as_it_is
from tests.faults.rows import HOSTS_OF_WIRES, outcome_of, whole_or_begun
from tests.gemini_client import placed
from tests.matrix.cells import REQUESTS
from tests.matrix.hosts import Host
from tests.shell.misbehaving_upstream import Close, MisbehavingUpstream, Received, Step
from toolwire.doors import DOORS

#: How a request for a stream is known: in its body, or in its path.
_STREAM_PATHS = ("streamGenerateContent", "converse-stream", "invoke-with-response-stream")

#: Faults of hosts that can be reached.
_FAULTS = [fault for fault in FAULTS if fault.address == "http://127.0.0.1:{port}"]

#: What the gateway may hold more at the end than after the first tenth: megabytes, and descriptors.
_MOST_GROWTH_MB, _MOST_GROWTH_FILES = 15.0, 8


class Provider(MisbehavingUpstream):
    """A host of every wire, of whose answers so many in a hundred are spoiled."""

    def __init__(self, faulty: int) -> None:
        super().__init__()
        self._faulty = faulty
        self.faults: Counter[str] = Counter()

    def script_for(self, received: Received) -> Sequence[Step]:
        """A true answer, or a fault at one of its places."""
        self.requests.clear()  # they would fill the memory
        line = received.head[0]
        host = next(host for host in HOSTS_OF_WIRES if line.startswith(f"POST /{host.wire}/"))
        stream = any(path in line for path in _STREAM_PATHS) or b'"stream":true' in received.body.replace(b" ", b"")
        if random.randrange(100) >= self._faulty:
            return as_it_is(host.write(SCENARIO, stream))[0]
        fault = random.choice(_FAULTS)
        self.faults[fault.name] += 1
        return random.choice(fault.spoil(host.write(fault.scenario, stream)) or [[Close()]])


class Clients:
    """Clients that ask until the time is over, and what became of it."""

    def __init__(self, address: tuple[str, int], leaving: int) -> None:
        self._address, self._leaving = address, leaving
        self.outcomes: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.seconds: list[float] = []
        self._judging = threading.Lock()  # the SDKs read from one server for all

    def run(self, until: float) -> None:
        """One client."""
        while time.monotonic() < until:
            door, host, stream = random.choice(list(DOORS)), random.choice(HOSTS_OF_WIRES), random.random() < 0.7
            try:
                self.outcomes[self._ask(door, host, stream)] += 1
            except Exception as wrong:  # noqa: BLE001 - whatever it is, it is counted
                self.outcomes["wrong"] += 1
                self.wrong.append(f"{door}/{host.name}/{'stream' if stream else 'json'}: {wrong!r}"[:2000])

    def _ask(self, door: str, host: Host, stream: bool) -> str:
        began = time.monotonic()
        connection = http.client.HTTPConnection(*self._address, timeout=60)
        try:
            connection.request("POST", *_request(door, host, stream))
            if random.randrange(100) < self._leaving:
                return self._leave(connection)
            response = connection.getresponse()
            answer = Answer(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())
        finally:
            connection.close()
        self.seconds.append(time.monotonic() - began)
        outcome = outcome_of(door, answer, stream=stream)
        with self._judging:
            whole_or_begun(outcome, door, host, answer, stream=stream)
        return "right" if outcome == "the answer" else "a clear error"

    def _leave(self, connection: http.client.HTTPConnection) -> str:
        """Hangs up: at once, or in the middle."""
        if random.random() < 0.5 and connection.sock is not None:
            connection.sock.settimeout(0.5)
            with suppress(OSError):
                connection.sock.recv(400)
            if connection.sock is not None:
                with suppress(OSError):
                    connection.sock.shutdown(socket.SHUT_RDWR)
        return "left"


def _request(door: str, host: Host, stream: bool) -> tuple[str, bytes, dict[str, str]]:
    """Path, body and headers of a request."""
    members = json.loads(REQUESTS[door](stream)) | {"model": f"{host.wire}/{host.model}"}
    body = json.dumps(members).encode()
    headers = {"content-type": "application/json"}
    if door != "gemini":
        return f"/v1{DOORS[door].paths[0]}", body, headers
    body, parameters, query = placed(body)
    return f"/v1beta/models/{parameters['id']}{'?alt=sse' if query else ''}", body, headers


def main(argv: Sequence[str]) -> int:
    """Runs it and prints the figures. Returns the exit status."""
    options = _options(argv)
    with tempfile.TemporaryDirectory() as folder, Provider(options.faulty) as provider:
        configuration = Path(folder, "toolwire.toml")
        configuration.write_text("".join(_section(host, provider.url) for host in HOSTS_OF_WIRES))
        command = python("-m", "local.server", "--port", "0", "--config", str(configuration))
        with Process(command, {"INSPECT": "0", "STORE_MEMORY_MB": "1", "LOG_LEVEL": "CRITICAL"}) as gateway:
            port = int(gateway.printed(r"http://127\.0\.0\.1:\d+").rpartition(":")[2])
            clients = Clients(("127.0.0.1", port), options.leaving)
            samples = _watched(clients, gateway.pid, options.seconds, options.clients)
    return _printed(clients, provider, samples, options.seconds)


def _watched(clients: Clients, pid: int, seconds: float, count: int) -> list[tuple[float, int]]:
    """Memory in MB and open descriptors of the gateway, as long as the clients ask, and once when they are gone."""
    until = time.monotonic() + seconds
    threads = [threading.Thread(target=clients.run, args=(until,)) for _ in range(count)]
    for thread in threads:
        thread.start()
    samples = []
    while time.monotonic() < until:
        time.sleep(seconds / 40)
        samples.append((memory_mb(pid), len(os.listdir(f"/proc/{pid}/fd"))))
    for thread in threads:
        thread.join()
    time.sleep(5)
    samples.append((memory_mb(pid), len(os.listdir(f"/proc/{pid}/fd"))))
    return samples


def _printed(clients: Clients, provider: Provider, samples: list[tuple[float, int]], seconds: float) -> int:
    early, late, after = samples[len(samples) // 10], samples[-2], samples[-1]
    slowest = sorted(clients.seconds)
    grown = late[0] - early[0] > _MOST_GROWTH_MB or after[1] > samples[0][1] + _MOST_GROWTH_FILES
    moments = {"after a tenth of it": early, "at the end": late, "when all were gone": after, "at most": max(samples)}
    lines = [
        f"{clients.outcomes.total():,} requests in {seconds:g} s; {provider.faults.total():,} answers were spoiled",
        *(f"  {name}: {clients.outcomes[name]:,}" for name in ("right", "a clear error", "left", "wrong")),
        *(f"  {name}: {moment[0]:.0f} MB, {moment[1]} descriptors" for name, moment in moments.items()),
        f"  a request: {slowest[len(slowest) // 2] * 1000:.0f} ms (median), {slowest[-1]:.1f} s at most",
        *(f"wrong: {wrong}" for wrong in clients.wrong[:20]),
        "something grew" if grown else "nothing grew",
    ]
    sys.stdout.write("\n".join(lines) + "\n")
    return int(bool(clients.wrong) or grown)


def _section(host: Host, url: str) -> str:
    profile = f'profile = "{host.profile}"\n' if host.profile else ""
    return (
        f'[providers.{host.wire}]\nwire = "{host.wire}"\nbase_url = "{url}/{host.wire}"\ncredential = "none"\n{profile}'
        "first_byte_seconds = 2\nidle_seconds = 2\ntotal_seconds = 10\n"
    )


def _options(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.faults.soak")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--faulty", type=int, default=20, help="answers in a hundred that are spoiled")
    parser.add_argument("--leaving", type=int, default=10, help="clients in a hundred that hang up")
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
