"""Several processes at one port: all of them answer, drain and end together, and each says what it does not share."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from bench.cold_start import MODEL, configure
from local.workers import banner_row
from tests.gateway import ROOT, START_SECONDS, awaited
from tests.shell.misbehaving_upstream import MisbehavingUpstream, Send, Stall, Step, answer
from toolwire.model.settings import Settings

needs_processes = [pytest.mark.enable_socket, pytest.mark.integration]


@contextmanager
def started(log: Path, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """The local server with two workers; all are gone at the end, whatever has happened."""
    command = [sys.executable, "-m", "local.server", "--workers", "2", *arguments]
    env = {**os.environ, "PYTHONPATH": str(ROOT / "layers" / "shared"), "PYTHONUNBUFFERED": "1"}
    with (
        log.open("wb") as output,
        subprocess.Popen(command, cwd=ROOT, env=env, stdout=output, stderr=subprocess.STDOUT) as server,
    ):
        try:
            yield server
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(30)


@pytest.fixture
def running(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[bytes], int, list[int], Path]]:
    """The parent, its port, its workers, and the log of all."""
    log = tmp_path / "log"
    with started(log, "--port", "0") as server:
        port = int(awaited(log, re.compile(r"listens at http://127\.0\.0\.1:(\d+)")))
        eventually(lambda: both_serve(server.pid))
        yield server, port, children(server.pid), log


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def both_serve(pid: int) -> bool:
    """Whether each worker has the thread that looks at its parent, the last that it needs."""
    status = [Path(f"/proc/{child}/status").read_text() for child in children(pid)]
    return len(status) == 2 and all("\nThreads:\t1\n" not in text for text in status)


def is_alive(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False


def eventually(true: Callable[[], bool]) -> None:
    ends = time.monotonic() + START_SECONDS
    while not true():
        assert time.monotonic() < ends
        time.sleep(0.02)


class TestProcesses:
    pytestmark = needs_processes

    def test_both_take_connections(self, running: tuple[subprocess.Popen[bytes], int, list[int], Path]) -> None:
        _, port, workers, log = running

        def sockets(pid: int) -> int:
            return sum(os.readlink(entry).startswith("socket:") for entry in Path(f"/proc/{pid}/fd").iterdir())

        before = [sockets(pid) for pid in workers]
        opened = []

        def both_have_more() -> bool:
            opened.append(socket.create_connection(("127.0.0.1", port)))
            return all(sockets(pid) > count for pid, count in zip(workers, before, strict=True))

        eventually(both_have_more)
        for connection in opened:
            connection.close()
        assert log.read_text().count("listens at") == 1

    def test_one_that_ends_ends_all(self, running: tuple[subprocess.Popen[bytes], int, list[int], Path]) -> None:
        server, _, workers, log = running
        os.kill(workers[1], signal.SIGKILL)

        assert server.wait(30) == 1
        assert not any(map(is_alive, workers))
        assert "a worker has ended" in log.read_text()

    def test_they_end_with_their_parent(self, running: tuple[subprocess.Popen[bytes], int, list[int], Path]) -> None:
        server, _, workers, _ = running
        server.kill()
        server.wait(30)

        eventually(lambda: not any(map(is_alive, workers)))

    def test_a_port_that_is_taken_is_not_shared(
        self, running: tuple[subprocess.Popen[bytes], int, list[int], Path], tmp_path: Path
    ) -> None:
        _, port, _, _ = running
        log = tmp_path / "second"
        with started(log, "--port", str(port)) as second:
            assert second.wait(30) == 1
        assert "Address already in use. Free is: make run PORT=" in log.read_text()

    def test_a_wrong_configuration_is_said_once(self, tmp_path: Path) -> None:
        document = tmp_path / "toolwire.toml"
        document.write_text("[providers.x]\nwire = 7\n")
        with started(tmp_path / "log", "--port", "0", "--config", str(document)) as server:
            assert server.wait(30) == 1
        assert (tmp_path / "log").read_text().count("providers.x") == 1

    def test_a_stop_lets_answers_end(self, tmp_path: Path) -> None:
        go_on, log = threading.Event(), tmp_path / "log"
        answers: list[bytes] = []
        with MisbehavingUpstream() as host:
            config = configure(tmp_path, f"{host.url}/v1")
            with started(log, "--port", "0", "--config", config) as server:
                port = int(awaited(log, re.compile(r"listens at http://127\.0\.0\.1:(\d+)")))
                eventually(lambda: both_serve(server.pid))

                def ask() -> None:
                    client = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
                    body = json.dumps({"model": MODEL, "messages": [{"role": "user", "content": "x"}]})
                    with closing(client):
                        client.request("POST", "/v1/chat/completions", body, {"content-type": "application/json"})
                        answers.append(client.getresponse().read())

                said = b'{"id":"1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":'
                said += b'{"role":"assistant","content":"whole"},"finish_reason":"stop"}]}'
                head = [("content-type", "application/json")]
                asking = [threading.Thread(target=ask) for _ in range(6)]
                steps: list[Step] = [Stall(go_on), Send(answer(said, framing="length", headers=head))]
                host.script(*[steps] * 6)
                for thread in asking:
                    thread.start()
                assert host.wait_for_requests(6, 30)
                server.send_signal(signal.SIGTERM)
                time.sleep(0.2)
                go_on.set()
                for thread in asking:
                    thread.join()
                assert server.wait(30) == 0
        assert [b"whole" in body for body in answers] == [True] * 6


@pytest.mark.parametrize(
    ("store", "table", "own"),
    [
        ("memory", None, ["conversations", "rates and breakers"]),
        ("moto", "rates", ["conversations"]),
        ("dynamodb", None, ["rates and breakers"]),
        ("dynamodb", "rates", []),
    ],
)
def test_the_banner_says_what_is_not_shared(store: str, table: str | None, own: list[str]) -> None:
    said, *each = banner_row(3, Settings({}, {}, rates_table=table), store)

    assert said == "3 processes"
    assert [row.removeprefix("each for itself: ").partition(" (")[0] for row in each] == own
