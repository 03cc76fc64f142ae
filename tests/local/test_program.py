"""`python -m local.server` as a program: how it starts, stops, and says what is wrong."""

from __future__ import annotations

import http.client
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
from toolwire.pages.paths import served

pytestmark = pytest.mark.enable_socket

ROOT = Path(__file__).parents[2]


APP = """
from toolwire.model.http import Head
import sys
assert not {"boto3", "httpx", "pydantic", "http.server"} & set(sys.modules), "heavy imports"
def handler(event, context):
    yield Head(200, ())
    yield b"ready"
"""


@contextmanager
def program(functions: Path, *arguments: str, **env: str) -> Iterator[subprocess.Popen[str]]:
    """`python -m local.server`, in front of other functions."""
    code = (
        "import sys, pathlib, local.server as server;"
        "server.FUNCTIONS = pathlib.Path(sys.argv[1]);"
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

    def test_a_proxy_that_cannot_be_used_is_said_in_one_line(self) -> None:
        with program(ROOT / "functions", "--port", "0", HTTPS_PROXY="socks5://user:secret@127.0.0.1:1") as process:
            out, errors = process.communicate(timeout=20)

        assert process.returncode == 1
        assert errors == "toolwire: HTTPS_PROXY must be an http:// URL.\n"
        assert out == ""

    def test_a_port_that_is_taken_comes_with_one_that_is_free(self, functions: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            with program(functions, "--port", str(port)) as process:
                out, errors = process.communicate(timeout=10)

        assert (process.returncode, out) == (1, "")
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
    def test_what_is_wrong_is_said_in_one_line(self, functions: Path, arguments: list[str], says: str) -> None:
        with program(functions, *arguments) as process:
            out, errors = process.communicate(timeout=10)

        assert process.returncode == 1
        assert says in errors
        assert errors.count("\n") == 1
        assert out == ""
