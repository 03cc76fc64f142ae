"""What a terminal shows: a line when a provider is asked, one when the request is over, what to know and to change."""

from __future__ import annotations

import io
import json
import os
import pty
import queue
import re
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
from rich.console import Console

from local.handlers import load_handlers
from local.server import FUNCTIONS, LocalServer
from local.watch import terminal
from local.watch.exchanges import Exchanges
from local.watch.terminal import show_on_terminal
from tests.gateway import ROOT, awaited, gateway
from tests.local.serving import serving
from toolwire.shell.network import breaker
from toolwire.shell.recording.exchange import SeenExchange
from toolwire.shell.telemetry.log import logger

pytestmark = pytest.mark.enable_socket

TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {"type": "object", "properties": {"location": {"type": "string"}}},
    },
}
CHAT = {"model": "demo/openai", "messages": [{"role": "user", "content": "What is the weather in Paris and Oslo?"}]}


class Shown:
    """A gateway, and its terminal."""

    def __init__(self, url: str, out: io.StringIO, exchanges: Exchanges) -> None:
        self.url, self._out = url, out
        self._over: queue.Queue[SeenExchange] = queue.Queue()
        exchanges.listen(lambda seen: self._over.put(seen) if seen.over else None)

    def ask(self, path: str, body: object | None, **headers: str) -> None:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {"content-type": "application/json", **headers})
        try:
            urllib.request.urlopen(request, timeout=10).read()
        except urllib.error.HTTPError as error:
            error.read()
        self._over.get(timeout=10)

    @property
    def raw(self) -> str:
        return self._out.getvalue()

    @property
    def lines(self) -> list[str]:
        """The lines without what differs each time."""
        text = re.sub(r"\d\d:\d\d:\d\d \w{4}", "TIME", self._out.getvalue())
        text = re.sub(r"\d+ \+ \d+ tokens", "TOKENS", text)
        return re.sub(r"\d+(\.\d)? m?s\b", "N ms", text).splitlines()


@pytest.fixture
def shown() -> Iterator[Shown]:
    breaker._breaker.cache_clear()
    out = io.StringIO()
    exchanges = Exchanges()
    before = logger().lines.handlers[:]
    show_on_terminal(exchanges, Console(file=out, width=400))
    try:
        with serving(LocalServer(("127.0.0.1", 0), load_handlers(FUNCTIONS), exchanges)) as server:
            yield Shown(server.url, out, exchanges)
    finally:
        logger().lines.handlers[:] = before


def test_a_line_has_the_time_at_which_it_happens(shown: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not that of the request's beginning, which the line above has."""
    moments = iter(range(100))

    class Clock(datetime):
        @classmethod
        def now(cls, tz: object = None) -> Clock:
            assert tz is None
            return cls(2026, 1, 1, 0, 0, next(moments))

    monkeypatch.setattr(terminal, "datetime", Clock)
    shown.ask("/v1/chat/completions", CHAT)

    assert re.findall(r"\d\d:\d\d:\d\d", shown.raw) == ["00:00:00", "00:00:01"]


@pytest.mark.parametrize(
    ("path", "body", "lines"),
    [
        (
            "/v1/chat/completions",
            {**CHAT, "tools": [TOOL], "stream": True},
            [
                "▸ TIME POST /v1/chat/completions  demo/openai  1 tool  streamed",
                "✓ TIME POST /v1/chat/completions  demo/openai  200  get_weather ×2  TOKENS  first byte N ms, N ms",
            ],
        ),
        (
            "/v1/chat/completions",
            {**CHAT, "model": "demo/gemini", "tempratur": 1},
            [
                "▸ TIME POST /v1/chat/completions  demo/gemini",
                "✓ TIME POST /v1/chat/completions  demo/gemini  200  TOKENS  N ms",
                "    ! `tempratur` is no member of this API that the gateway knows, so it was left out. "
                "Did you mean `temperature`?",
            ],
        ),
        (
            "/v1/chat/completions",
            {**CHAT, "model": "ollana/llama\x1b[31m"},
            [
                "✗ TIME POST /v1/chat/completions  ollana/llama·[31m  404  N ms",
                "    ✗ model: The model 'ollana/llama\\x1b[31m' asks for provider 'ollana', which is not configured ",
            ],
        ),
        (
            "/chat/completions",
            CHAT,
            [
                "✗ TIME POST /chat/completions  404",
                "    ✗ There is nothing at POST /chat/completions: the base URL of an OpenAI client ends in /v1. ",
            ],
        ),
        ("/v1/chat/completions", {**CHAT, "messages": 1}, ["✗ TIME POST /v1/chat/completions  400  N ms", "    ✗ "]),
        ("/health", None, []),
    ],
)
def test_lines(shown: Shown, path: str, body: object, lines: list[str]) -> None:
    shown.ask(path, body)

    found = shown.lines
    assert len(found) == len(lines)
    for line, expected in zip(found, lines, strict=True):
        assert (line[: len(expected)] if expected.endswith(" ") else line) == expected


def test_a_host_that_is_down_is_named_with_its_address_and_port(shown: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    shown.ask("/v1/chat/completions", {**CHAT, "model": "lmstudio/some"})

    begin, end, error = shown.lines
    assert begin.endswith("lmstudio/some")
    assert "  502  " in end
    assert error.startswith("    ✗ The provider 'lmstudio' at 127.0.0.1:1234 could not be reached: Connection refused.")


@pytest.mark.parametrize(("pause", "ends"), [(None, ""), (1200, ", the next one after N ms")])
def test_an_attempt_that_fails_is_one_line(
    shown: Shown, monkeypatch: pytest.MonkeyPatch, pause: float | None, ends: str
) -> None:
    """With what is needed to tell it from those of other requests; the log has the rest."""
    if pause is None:
        shown.ask("/v1/chat/completions", {**CHAT, "model": "lmstudio/s"}, **{"x-toolwire-fallback": "demo/openai"})
        shown_lines = [line for line in shown.lines if "attempt 1" in line]
        assert len(shown.lines) == 4
    else:
        fields = {"request_id": "abcdef", "attempt": 1, "error_code": "upstream_unreachable", "pause_ms": pause}
        fields |= {"gen_ai.provider.name": "lmstudio", "gen_ai.request.model": "s"}
        logger().warning("attempt", **fields)
        shown_lines = shown.lines
    assert shown_lines == [f"↻ TIME attempt 1 at lmstudio/s failed: upstream_unreachable{ends}"]


def test_a_bad_key_is_shown_with_what_to_change_and_not_itself(
    shown: Shown, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from toolwire.shell.settings.current import current_settings

    (tmp_path / "keys.json").write_text('{"keys": []}')
    monkeypatch.setenv("KEYS_FILE", str(tmp_path / "keys.json"))
    current_settings.forget()
    try:
        shown.ask("/v1/chat/completions", CHAT, authorization="Bearer tw_planted_key")
    finally:
        monkeypatch.undo()
        current_settings.forget()

    end, error = shown.lines
    assert "  401  " in end
    assert len(error) > len("    ✗ ")
    assert "planted" not in end + error


def test_what_goes_wrong_inside_is_shown_without_what_it_quotes(shown: Shown) -> None:
    logger().error("bug", request_id="r", error_type="LookupError", stack=["a.py:1 in f", "b.py:2 in g"])

    text = "\n".join(shown.lines)
    assert "  bug\n" in text
    assert "error_type: LookupError" in text
    assert "b.py:2 in g" in text


class TestProgram:
    """`make run`: for a person on a terminal, for a program elsewhere."""

    def _one_request(self, folder: Path) -> str:
        log = folder / "gateway.log"
        with gateway(folder) as url:
            body = json.dumps({**CHAT, "messages": [{"role": "user", "content": "a secret prompt"}]}).encode()
            request = urllib.request.Request(url + "/chat/completions", body)
            urllib.request.urlopen(request, timeout=20).read()
            awaited(log, re.compile(r'(✓|"outcome")'))
            return log.read_text().partition("Ctrl-C stops it.\n")[2]

    def test_a_pipe_gets_lines_of_json(self, tmp_path: Path) -> None:
        lines = [json.loads(line) for line in self._one_request(tmp_path).splitlines()]

        assert [line["message"] for line in lines] == ["request"]
        assert "secret" not in json.dumps(lines)

    def test_text_may_be_asked_for(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("LOG_FORMAT", "text")
        text = self._one_request(tmp_path)

        assert text.startswith("▸ ")
        assert "✓ " in text
        assert "secret" not in text

    @pytest.mark.parametrize(("log_format", "sign"), [("", "✓"), ("json", '"outcome":"ok"')])
    def test_a_terminal(self, log_format: str, sign: str) -> None:
        ours, theirs = pty.openpty()
        env = {**os.environ, "PYTHONPATH": str(ROOT / "layers" / "shared"), "LOG_FORMAT": log_format}
        command = [sys.executable, "-m", "local.server", "--port", "0"]
        with subprocess.Popen(command, cwd=ROOT, env=env, stdout=theirs, stderr=theirs, stdin=theirs) as process:
            os.close(theirs)
            text = ""
            try:
                while "Ctrl-C" not in text:
                    text += os.read(ours, 1 << 16).decode()
                found = re.search(r"listens at (\S+)", text)
                assert found is not None
                body = json.dumps(CHAT).encode()
                urllib.request.urlopen(urllib.request.Request(found[1] + "/chat/completions", body), timeout=20).read()
                while sign not in text:
                    text += os.read(ours, 1 << 16).decode()
            finally:
                process.kill()
                os.close(ours)
        assert ("1 in flight" in text) == (log_format == "")
