"""What a request costs whose only target is not asked, since it has failed too often: the answer is 503.

    python -m bench.open_circuit [--requests 500]

The gateway is the local server in a process of its own, its provider an address at which nobody listens.
"""

from __future__ import annotations

import argparse
import http.client
import socket
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from bench.client import BenchError
from bench.cold_start import start_gateway
from bench.process import cpu_seconds

_BODY = b'{"model": "down/m", "messages": [{"role": "user", "content": "Hi"}]}'


def main(argv: Sequence[str]) -> int:
    """Measures and prints. Returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m bench.open_circuit")
    parser.add_argument("--requests", type=int, default=500)
    count = parser.parse_args(argv).requests
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    with tempfile.TemporaryDirectory() as folder:
        configuration = Path(folder, "toolwire.toml")
        configuration.write_text(
            f'[providers.down]\nwire = "openai_chat"\nbase_url = "{url}"\ncredential = "none"\n'
            "[breaker]\nopen_seconds = 600\n"
        )
        gateway, base_url = start_gateway(str(configuration))
        with gateway:
            connection = http.client.HTTPConnection(base_url.removeprefix("http://").partition("/")[0], timeout=30)
            statuses = [_ask(connection)[0] for _ in range(20)]
            before, times = cpu_seconds(gateway.pid), []
            for _ in range(count):
                status, seconds = _ask(connection)
                times.append(seconds)
                statuses.append(status)
            cpu = cpu_seconds(gateway.pid) - before
    if statuses != [502] * 5 + [503] * (15 + count):
        raise BenchError(f"the circuit was not open: {statuses}")
    times.sort()
    print(f"{count} answers of an open circuit: CPU {cpu / count * 1000:.2f} ms each", end=", ")
    print(f"{times[count // 2] * 1000:.2f} ms (median), {times[count * 99 // 100] * 1000:.2f} ms (p99)")
    return 0


def _ask(connection: http.client.HTTPConnection) -> tuple[int, float]:
    began = time.perf_counter()
    connection.request("POST", "/v1/chat/completions", _BODY, {"content-type": "application/json"})
    response = connection.getresponse()
    response.read()
    return response.status, time.perf_counter() - began


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
