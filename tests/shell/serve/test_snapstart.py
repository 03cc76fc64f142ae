"""SnapStart: copies of one start share neither connections nor random numbers, credentials nor an old configuration."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from snapshot_restore_py import get_after_restore, get_before_snapshot

from tests.shell.serve.test_runtime import started
from toolwire.model.settings import ProviderConfig
from toolwire.shell.access import credentials
from toolwire.shell.network import aws, aws_credentials
from toolwire.shell.network.upstream import upstream
from toolwire.shell.serve import snapstart
from toolwire.shell.settings.current import CurrentSettings

SECRET = ProviderConfig("up", "openai_chat", "https://x/v1", "secret:toolwire/up")


class CredentialServer(ThreadingHTTPServer):
    """What gives a copy its credentials on Lambda: others with every question."""

    asked = 0

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Credentials)
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()


class _Credentials(BaseHTTPRequestHandler):
    server: CredentialServer

    def log_message(self, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        self.server.asked += 1
        told = {"AccessKeyId": f"AKIA{self.server.asked}", "SecretAccessKey": "s", "Token": "t"}
        body = json.dumps({**told, "Expiration": "2099-01-01T00:00:00Z"}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[CredentialServer]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    with CredentialServer() as started:
        monkeypatch.setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", f"http://127.0.0.1:{started.server_port}/")
        yield started
        started.shutdown()
    aws.forget_clients()


def access_key() -> str | None:
    found = aws_credentials.find_credentials()
    return found and found.access_key


@pytest.mark.enable_socket
def test_a_copy_has_credentials_and_clients_of_its_own(
    server: CredentialServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    aws.forget_clients()
    before = aws.client("dynamodb")
    assert access_key() == "AKIA1"
    closed: list[str] = []
    monkeypatch.setattr(before, "close", lambda: closed.append("dynamodb"))
    monkeypatch.setattr(upstream(), "close", lambda: closed.append("upstream"))

    snapstart.before_snapshot()
    assert sorted(closed) == ["dynamodb", "upstream"]
    assert server.asked == 1  # a snapshot has no credentials
    copy = aws.client("dynamodb")
    assert copy is not before

    snapstart.after_restore()
    assert server.asked == 2  # before the first request
    assert access_key() == "AKIA2"
    assert aws.client("dynamodb") is copy  # which waits for nothing that was done before the snapshot


def test_a_copy_reads_providers_credentials_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    values = iter(["old", "new"])
    process = credentials.Credentials({"secret": lambda name: next(values)})
    monkeypatch.setattr(credentials, "_process", process)
    monkeypatch.setattr(aws_credentials, "find_credentials", lambda: None)
    assert [credentials.credential(SECRET), credentials.credential(SECRET)] == ["old", "old"]

    snapstart.before_snapshot()
    snapstart.after_restore()

    assert credentials.credential(SECRET) == "new"


@pytest.mark.parametrize(
    ("told", "model"), [('[aliases]\nbest = "demo/anthropic"\n', "demo/anthropic"), ("[", "demo/openai")]
)
def test_a_copy_reads_the_configuration_and_keeps_a_good_one(
    told: str, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = iter(['[aliases]\nbest = "demo/openai"\n', told])
    settings = CurrentSettings({"TOOLWIRE_CONFIG": "ssm:/toolwire/config"}, lambda place: next(texts))
    monkeypatch.setattr(snapstart, "current_settings", settings)
    monkeypatch.setattr(aws_credentials, "find_credentials", lambda: None)
    assert settings().aliases == {"best": "demo/openai"}

    snapstart.after_restore()

    assert settings().aliases == {"best": model}


#: Copies as a snapshot makes them: the same memory, going on twice when it is restored, and twice as it was.
_COPIES = """
import os, random
from toolwire.shell.random_text import new_id
from toolwire.shell.serve import snapstart
random.random()
snapstart.before_snapshot()
state = random.getstate()
for restored in (1, 1, 0, 0):
    if not os.fork():
        random.setstate(state)  # which a fork, unlike a snapshot, makes anew
        if restored:
            snapstart.after_restore()
        print(random.random(), new_id(20), flush=True)
        os._exit(0)
    os.wait()
"""


def test_copies_have_random_numbers_of_their_own() -> None:
    environment: dict[str, Any] = {**os.environ, "PYTHONPATH": "layers/shared", "AWS_EC2_METADATA_DISABLED": "true"}
    command = [sys.executable, "-c", _COPIES]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    numbers, ids = zip(*(line.split() for line in done.stdout.splitlines()), strict=True)
    assert (len(set(numbers[:2])), len(set(numbers[2:]))) == (2, 1)
    assert len(set(ids)) == 4  # these come from the operating system


@pytest.mark.enable_socket
def test_the_runtime_runs_the_hooks_around_its_snapshot() -> None:
    """As Lambda starts it: the snapshot is taken when the runtime asks to be restored."""
    with started(AWS_LAMBDA_INITIALIZATION_TYPE="snap-start", AWS_REGION="eu-central-1") as runtime:
        assert runtime.api.snapshot.wait(20)
        runtime.api.restore.set()
        assert runtime.invoke("stream").complete
    with started() as runtime:
        assert runtime.invoke("stream").complete
        assert not runtime.api.snapshot.is_set()


def test_both_hooks_are_registered() -> None:
    snapstart.register_hooks()
    hooks = [found.pop()[0] for found in (get_before_snapshot(), get_after_restore())]
    assert hooks == [snapstart.before_snapshot, snapstart.after_restore]
