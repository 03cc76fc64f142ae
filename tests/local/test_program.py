"""`python -m local.server` as a program: how it starts, stops, and says what is wrong."""

from __future__ import annotations

import http.client
import json
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.local.serving import get
from tests.shell.misbehaving_upstream import MisbehavingUpstream, Send, Stall, chunk
from tests.starter import start
from toolwire.pages.paths import served

pytestmark = pytest.mark.enable_socket

ROOT = Path(__file__).parents[2]


APP = """
from toolwire.model.http import Head
import sys
assert not {"boto3", "httpx", "pydantic", "http.server", "websockets"} & set(sys.modules), "heavy imports"
def handler(event, context):
    yield Head(200, ())
    yield b"ready"
"""


@contextmanager
def program(functions: Path, *arguments: str, stop_seconds: float = 5.0, **env: str) -> Iterator[subprocess.Popen[str]]:
    """`python -m local.server`, in front of other functions."""
    code = (
        "import sys, pathlib, local.server as server;"
        "server.FUNCTIONS = pathlib.Path(sys.argv[1]);"
        f"server.STOP_SECONDS = {stop_seconds};"
        "sys.exit(server.main(sys.argv[2:]))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(functions), *arguments],
        env={"PYTHONPATH": f"{ROOT / 'layers' / 'shared'}:{ROOT}", **env},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def ended(folder: Path, *arguments: str, **env: str) -> tuple[int, str, str]:
    """How `python -m local.server` ends that cannot start: its status, and what it says where."""
    with (folder / "out").open("wb") as output, (folder / "errors").open("wb") as errors:
        process = start("local.server", *arguments, env=env, output=output, errors=errors)
        try:
            status = process.wait(20)
        finally:
            process.send_signal(signal.SIGKILL)
    return status, (folder / "out").read_text(), (folder / "errors").read_text()


@pytest.fixture
def server() -> Iterator[MisbehavingUpstream]:
    with MisbehavingUpstream() as started:
        yield started


@contextmanager
def serving_slowly(
    upstream: MisbehavingUpstream, folder: Path, stream: bool, stop_seconds: float
) -> Iterator[tuple[subprocess.Popen[str], http.client.HTTPResponse | Later]]:
    """The server with an answer under way whose provider stalls."""
    config = folder / "toolwire.toml"
    config.write_text(f'[providers.acme]\nwire = "openai_chat"\nbase_url = "{upstream.url}/v1"\n')
    delta = {"id": "c", "created": 1, "model": "m", "choices": [{"index": 0, "delta": {"content": "Hello"}}]}
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
    first = head + chunk(b"data: %b\n\n" % json.dumps(delta).encode())
    upstream.script([*([Send(first)] if stream else []), Stall()])
    arguments = ["--port", "0", "--config", str(config)]
    with program(ROOT / "functions", *arguments, stop_seconds=stop_seconds, LOG_FORMAT="json") as process:
        assert process.stdout is not None
        banner = "".join(iter(process.stdout.readline, "Ctrl-C stops it.\n"))
        host, _, port = banner.split()[3].removeprefix("http://").removesuffix("/v1").rpartition(":")
        body = {"model": "acme/m", "messages": [{"role": "user", "content": "Hi"}], "stream": stream}
        with closing(http.client.HTTPConnection(host, int(port), timeout=10)) as client:
            client.request("POST", "/v1/chat/completions", json.dumps(body))
            assert upstream.wait_for_requests(1)
            if stream:
                yield process, client.getresponse()
            else:
                yield process, Later(client)


class Later:
    """An answer that has no head before it is read."""

    def __init__(self, client: http.client.HTTPConnection) -> None:
        self._client = client

    def read(self) -> bytes:
        answer = self._client.getresponse()
        self.status = answer.status
        return answer.read()


class TestProgram:
    @pytest.fixture
    def functions(self, tmp_path: Path) -> Path:
        for folder in {folder for methods in served().values() for folder in methods.values()}:
            (tmp_path / folder).mkdir()
            (tmp_path / folder / "app.py").write_text(APP)
        return tmp_path

    @pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
    def test_it_says_where_it_is_serves_and_stops(self, functions: Path, stop: signal.Signals) -> None:
        with program(functions, "--port", "0", OPENAI_API_KEY="sk-secret") as process:
            assert process.stdout is not None
            banner = "".join(iter(process.stdout.readline, "Ctrl-C stops it.\n"))
            url = banner.split()[3]
            host, _, port = url.removeprefix("http://").removesuffix("/v1").rpartition(":")
            with closing(http.client.HTTPConnection(host, int(port), timeout=10)) as client:
                assert get(client, "/health")[1] == b"ready"
                process.send_signal(stop)
                rest, errors = process.communicate(timeout=10)

        assert process.returncode == 0
        assert "stopped" in rest
        assert errors == ""
        assert "demo/openai, demo/responses, demo/compatible" in banner
        assert "openai" in next(line for line in banner.splitlines() if line.startswith("  with key"))
        assert "sk-secret" not in banner

    @pytest.mark.parametrize("stream", [True, False], ids=["stream", "json"])
    def test_what_is_under_way_ends_with_its_apis_error(
        self, stream: bool, server: MisbehavingUpstream, tmp_path: Path
    ) -> None:
        with serving_slowly(server, tmp_path, stream, 0.2) as (process, answer):
            process.send_signal(signal.SIGTERM)
            body = answer.read()
            out, errors = process.communicate(timeout=10)

        assert process.returncode == 0
        assert "1 under way, for 0.2 s at most" in out
        assert "stopped after" in out
        assert errors == ""
        if stream:
            assert b"Hello" in body
            assert b"[DONE]" not in body
        error = json.loads(body.split(b"data: ")[-1])["error"]
        assert (error["code"], answer.status) == ("gateway_stopping", 200 if stream else 503)
        assert (
            json.loads(next(line for line in out.splitlines() if '"error_code"' in line))["outcome"] == "internal_error"
        )

    def test_a_second_interrupt_ends_it_at_once(self, server: MisbehavingUpstream, tmp_path: Path) -> None:
        with serving_slowly(server, tmp_path, True, 5.0) as (process, _):
            process.send_signal(signal.SIGINT)
            assert process.stdout is not None
            next(line for line in process.stdout if "under way" in line)
            process.send_signal(signal.SIGINT)
            out, _ = process.communicate(timeout=10)

        assert "stopped at once, with 1 under way" in out
        assert process.returncode == 130

    @pytest.mark.parametrize(
        ("variable", "value", "says"),
        [
            ("HTTPS_PROXY", "socks5://user:secret@127.0.0.1:1", "HTTPS_PROXY must be an http:// URL."),
            ("KEYS_FILE", __file__, f"KEYS_FILE: {__file__!r} is no file of keys: `make key` writes one."),
        ],
    )
    def test_a_variable_that_cannot_be_used_is_said_in_one_line(
        self, tmp_path: Path, variable: str, value: str, says: str
    ) -> None:
        assert ended(tmp_path, "--port", "0", **{variable: value}) == (1, "", f"toolwire: {says}\n")

    def test_a_port_that_is_taken_comes_with_one_that_is_free(self, tmp_path: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            status, out, errors = ended(tmp_path, "--port", str(port))

        assert (status, out) == (1, "")
        said = re.fullmatch(
            rf"toolwire: cannot listen at 127.0.0.1:{port}: Address already in use. Free is: make run PORT=(\d+)\n",
            errors,
        )
        assert said is not None
        with socket.create_server(("127.0.0.1", int(said[1]))):
            pass

    @pytest.mark.parametrize(
        ("arguments", "says"),
        [
            (["--port", "0", "--config", "/nowhere.toml"], "/nowhere.toml"),
            (["--port", "1", "--host", "192.0.2.1"], "cannot listen at 192.0.2.1:1"),
            (["--port", "99999"], "cannot listen at 127.0.0.1:99999: bind(): port must be 0-65535."),
        ],
    )
    def test_what_is_wrong_is_said_in_one_line(self, tmp_path: Path, arguments: list[str], says: str) -> None:
        status, out, errors = ended(tmp_path, *arguments)

        assert (status, out) == (1, "")
        assert says in errors
        assert errors.count("\n") == 1
