"""Vertex AI and Azure OpenAI through a running gateway: one host mints tokens, and refuses each request without the
last one that it minted."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import parse_qs

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from tests.gateway import gateway
from tests.providers.anthropic_messages import messages_upstream as messages
from tests.providers.openai_chat import chat_upstream as chat

pytestmark = pytest.mark.enable_socket

SECRET = "entra-client-s3cret"
PEM = rsa.generate_private_key(public_exponent=65537, key_size=2048).private_bytes(
    Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()
)
CLAUDE = messages.stream(
    messages.start(), messages.begin(0, "text"), messages.text(0, "Sunny."), messages.end(0),
    messages.finish("end_turn"), messages.STOP,
)  # fmt: skip
MODELS = "/v1/projects/p/locations/europe-west4/publishers/anthropic/models/"


class Cloud(BaseHTTPRequestHandler):
    """Both clouds: their token endpoints and their models."""

    protocol_version = "HTTP/1.1"
    lock: ClassVar[threading.Lock] = threading.Lock()
    minted: ClassVar[int] = 0
    seconds: ClassVar[int] = 3600
    refuses: ClassVar[bool] = False
    paths: ClassVar[list[str]] = []

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.path in ("/google/token", "/tenant/oauth2/v2.0/token"):
            self._mint(parse_qs(body.decode()))
            return
        self.paths.append(self.path)
        if self.headers.get("authorization") != f"Bearer token-{self.minted}-of-the-cloud":
            self._send(
                401, "application/json", b'{"error":{"message":"expired","code":401,"status":"UNAUTHENTICATED"}}'
            )
        elif self.path.endswith(":streamRawPredict"):
            self._send(200, "text/event-stream", CLAUDE)
        else:
            self._send(200, "application/json", chat.whole({"content": "Sunny."}, "stop"))

    def _mint(self, form: dict[str, list[str]]) -> None:
        time.sleep(0.2)  # long enough for others to come meanwhile
        if self.refuses:
            said = {"error": "invalid_client", "error_description": f"Wrong: {form.get('client_secret', ['?'])[0]}"}
            self._send(401, "application/json", json.dumps(said).encode())
            return
        with self.lock:
            type(self).minted += 1
            number = self.minted
        token = {"access_token": f"token-{number}-of-the-cloud", "expires_in": self.seconds, "token_type": "Bearer"}
        self._send(200, "application/json", json.dumps(token).encode())

    def _send(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        """Says nothing."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where a gateway has its log, with the clouds' documents in its environment."""
    host = ThreadingHTTPServer(("127.0.0.1", 0), Cloud)
    threading.Thread(target=host.serve_forever, args=(0.05,), daemon=True).start()
    here = f"http://127.0.0.1:{host.server_address[1]}"
    account = {
        "type": "service_account",
        "client_email": "gw@p",
        "private_key": PEM.decode(),
        "token_uri": f"{here}/google/token",
    }
    monkeypatch.setenv("ACCOUNT", json.dumps(account))
    monkeypatch.setenv("CLIENT", json.dumps({"tenant_id": "tenant", "client_id": "c", "client_secret": SECRET}))
    monkeypatch.setenv("AZURE_AUTHORITY_HOST", here)
    (tmp_path / "clouds.toml").write_text(
        f'[providers.vertex]\nwire = "anthropic_messages"\ncredential = "google:env:ACCOUNT"\n'
        f'base_url = "{here}{MODELS.removesuffix("/models/")}"\n'
        f'[providers.azure]\nwire = "openai_chat"\ncredential = "entra:env:CLIENT"\nprofile = "azure"\n'
        f'base_url = "{here}/openai/deployments/{{model}}"\napi_version = "2024-10-21"\n'
    )
    for name, value in (("minted", 0), ("seconds", 3600), ("refuses", False)):
        monkeypatch.setattr(Cloud, name, value)
    Cloud.paths.clear()
    yield tmp_path
    host.shutdown()
    host.server_close()


def ask(base: str, path: str, model: str, **more: Any) -> httpx.Response:
    body: dict[str, Any] = {"model": model, "max_tokens": 9}
    body["input" if path == "responses" else "messages"] = [{"role": "user", "content": "Rome?"}]
    if path == "responses":
        body["max_output_tokens"] = body.pop("max_tokens")
    return httpx.post(f"{base}/{path}", json=body | more, timeout=20)


def test_one_token_serves_all_requests_and_its_successor_follows(folder: Path) -> None:
    with gateway(folder, (folder / "clouds.toml").read_text()) as base:
        with ThreadPoolExecutor(8) as pool:
            told = list(pool.map(lambda _: ask(base, "messages", "vertex/claude-sonnet-5", stream=True), range(8)))
        assert [answer.status_code for answer in told] == [200] * 8
        assert (Cloud.minted, set(Cloud.paths)) == (1, {MODELS + "claude-sonnet-5:streamRawPredict"})
        assert '"text": "Sunny."' in told[0].text
        Cloud.seconds = 1
        assert ask(base, "chat/completions", "azure/gpt-5.2").json()["choices"][0]["message"]["content"] == "Sunny."
        assert Cloud.paths[-1] == "/openai/deployments/gpt-5.2/chat/completions?api-version=2024-10-21"
        time.sleep(1)
        assert ask(base, "chat/completions", "azure/gpt-5.2").status_code == 200
        assert Cloud.minted == 3
    assert_nothing_told(folder)


def test_a_cloud_that_mints_nothing_is_told_of_in_the_clients_own_form(folder: Path) -> None:
    Cloud.refuses = True
    with gateway(folder, (folder / "clouds.toml").read_text()) as base:
        said = "There is no access token for provider 'azure': 127.0.0.1 answered 401 (invalid_client: Wrong: ***)."
        chat = ask(base, "chat/completions", "azure/gpt-5.2", stream=True)
        error = chat.json()["error"]
        assert (chat.status_code, error["code"], error["message"]) == (503, "credential_unavailable", said)
        responses = ask(base, "responses", "azure/gpt-5.2")
        assert (responses.status_code, responses.json()["error"]["message"]) == (503, said)
        own = ask(base, "messages", "azure/gpt-5.2")
        assert (own.status_code, own.json()["type"], own.json()["error"]["message"]) == (503, "error", said)
        assert Cloud.paths == []
    assert_nothing_told(folder)


def assert_nothing_told(folder: Path) -> None:
    """No secret and no token is in the gateway's log."""
    log = (folder / "gateway.log").read_text()
    for secret in (SECRET, PEM.decode()[40:80], "-of-the-cloud"):
        assert secret not in log
