"""`make doctor`: a line for each thing that may be wrong, with the fix, and no credential."""

from __future__ import annotations

import email.utils
import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import pytest

from local import doctor
from local.doctor import configuration, main, port, provider, tool_call
from local.handlers import load_handlers
from local.server import FUNCTIONS, LocalServer
from tests.closed_port import closed_port
from tests.gateway import free_port
from tests.local.serving import serving
from toolwire.model.settings import ProviderConfig
from toolwire.providers.hosts import DEMO_MODELS
from toolwire.shell.settings.current import current_settings

pytestmark = pytest.mark.enable_socket

NOW = 1_700_000_000.0


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Each test has its own environment."""
    for name in ("TOOLWIRE_CONFIG", "KEYS_FILE", "REQUIRE_KEY", "KEY_SHA256"):
        monkeypatch.delenv(name, raising=False)
    current_settings.forget()
    yield
    monkeypatch.undo()
    current_settings.forget()


@contextmanager
def host(seen: list[str] | None = None, below: str = "") -> Iterator[int]:
    """A host that wants a key and whose clock stands at NOW. It serves paths below `below` and no other."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if seen is not None:
                seen.append(str(self.headers))
            self.send_response_only(401 if self.path.startswith(below) else 404)
            self.send_header("date", email.utils.formatdate(NOW, usegmt=True))
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *arguments: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()


def at(number: int, credential: str = "env:MINE") -> ProviderConfig:
    return ProviderConfig("mine", "openai_chat", f"http://127.0.0.1:{number}/v1", credential)


class TestProviders:
    ENV = MappingProxyType({"MINE": "sk-planted"})

    def test_one_that_answers_is_well_and_is_shown_no_credential(self) -> None:
        seen: list[str] = []
        with host(seen) as number:
            (found,) = provider(at(number), self.ENV, lambda: NOW)

        assert found.verdict == "ok"
        assert "planted" not in str(found) + "".join(seen)

    @pytest.mark.parametrize("off", [-400.0, 400.0])
    def test_a_clock_that_is_wrong_is_said(self, off: float) -> None:
        with host() as number:
            reached, clock = provider(at(number), self.ENV, lambda: NOW + off)

        assert reached.verdict == "ok"
        assert (clock.verdict, clock.what) == ("FAIL", "clock")
        assert "400 s" in clock.detail

    def test_one_that_is_down_is_wrong_if_it_has_a_key_and_noted_if_it_is_a_server_nearby(self) -> None:
        with closed_port() as number:
            assert [it.verdict for it in provider(at(number), self.ENV)] == ["FAIL"]
            assert [it.verdict for it in provider(at(number, "none"), {})] == ["note"]

    def test_a_wrong_base_url_is_noted(self) -> None:
        with host(below="/v1/") as number:
            right = at(number)
            for config, verdict in ((right, "ok"), (replace(right, base_url=f"http://127.0.0.1:{number}"), "note")):
                (found,) = provider(config, self.ENV, lambda: NOW)
                assert found.verdict == verdict
                assert ("Is its base_url right?" in found.fix) == (verdict == "note")

    def test_one_that_runs_and_cannot_be_spoken_to_is_wrong(self) -> None:
        with host() as number:
            (found,) = provider(replace(at(number, "none"), base_url=f"https://127.0.0.1:{number}/v1"), {})

        assert found.verdict == "FAIL"
        assert "SSL" in found.detail

    def test_one_without_a_key_is_not_asked(self) -> None:
        assert provider(at(1), {}) == []


class TestPort:
    def test_free_ours_and_taken(self) -> None:
        number = free_port()
        assert port(number).verdict == "ok"

        with serving(LocalServer(("127.0.0.1", 0), load_handlers(FUNCTIONS))) as server:
            ours = port(server.server_address[1])
            assert (ours.verdict, "a gateway" in ours.detail) == ("ok", True)

        with host() as taken:
            found = port(taken)
            assert found.verdict == "FAIL"
            assert found.fix.startswith("make run PORT=")


class TestConfiguration:
    def test_what_is_wrong_is_said_and_ends_it(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        document = tmp_path / "toolwire.toml"
        document.write_text('[alias]\nfast = "openai/gpt"\n')
        settings, (found,) = configuration({"TOOLWIRE_CONFIG": str(document)})

        assert settings is None
        assert found.verdict == "FAIL"
        assert "Did you mean 'aliases'?" in found.detail

    def test_what_would_be_the_gateway_itself_is_no_provider(self) -> None:
        settings, _ = configuration({}, ("http://127.0.0.1:8080",))

        assert settings is not None
        assert "llamacpp" not in settings.providers

    def test_a_file_of_keys_that_is_not_there(self) -> None:
        _, found = configuration({"KEYS_FILE": "/nowhere/keys.json"})

        assert [(it.what, it.verdict) for it in found if it.verdict != "ok"] == [("client keys", "FAIL")]


@pytest.mark.parametrize(
    ("model", "verdict", "says"),
    [("demo/anthropic", "ok", "called get_weather"), ("nowhere/x", "FAIL", "not configured here")],
)
def test_a_tool_call(model: str, verdict: str, says: str) -> None:
    found = tool_call(model)

    assert (found.verdict, says in found.detail) == (verdict, True)


@pytest.mark.parametrize("yes", [True, False])
def test_the_whole_of_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, yes: bool
) -> None:
    """With clients that need a key, which who runs this does not show; a call to an alias only if it is agreed to."""
    document = tmp_path / "toolwire.toml"
    document.write_text('[aliases]\nfast = "demo/openai"\n"all-*" = "ollama/*"\n')
    monkeypatch.setenv("TOOLWIRE_CONFIG", str(document))
    monkeypatch.setenv("REQUIRE_KEY", "1")
    monkeypatch.setattr(doctor, "provider", lambda config, env: [])
    arguments = ["--port", str(free_port()), *(["--yes"] if yes else [])]

    assert main(arguments) == 0
    out = capsys.readouterr().out
    assert out.count("called get_weather") == len(DEMO_MODELS) + yes
    assert ("call fast" in out) == yes
    assert "; 2 aliases\n" in out
    assert "FAIL" not in out


def test_what_is_wrong_is_status_1(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("TOOLWIRE_CONFIG", "/nowhere.toml")

    assert main(["--port", str(free_port())]) == 1
    assert "FAIL  configuration" in capsys.readouterr().out
