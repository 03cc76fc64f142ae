"""The image of the Dockerfile, laid out by its own instructions and started as it says: without an engine, so the base
image and the installation of packages are not part of it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

import pytest

from tests.gateway import ROOT, awaited

KEY = "tw_container"
_TEXT = (ROOT / "Dockerfile").read_text()
_LINES = re.sub(r"^#.*\n", "", _TEXT, flags=re.MULTILINE).replace("\\\n", " ").splitlines()
#: The instructions of the last stage, those of the one before it, in order.
INSTRUCTIONS = [(word, rest.strip()) for word, _, rest in (line.partition(" ") for line in _LINES) if word]
PORT = "8080"


def the(word: str) -> str:
    """What the one instruction of this kind says."""
    (rest,) = [rest for name, rest in INSTRUCTIONS if name == word]
    return rest


def copied() -> list[list[str]]:
    """Source and destination of each COPY from this repository."""
    return [rest.split() for word, rest in INSTRUCTIONS if word == "COPY" and not rest.startswith("--from")]


def environment() -> dict[str, str]:
    return dict(pair.split("=", 1) for pair in the("ENV").split())


class TestFile:
    def test_only_what_is_copied_gets_to_the_engine(self) -> None:
        rows = [row for row in (ROOT / ".dockerignore").read_text().splitlines() if not row.startswith("#")]
        assert rows[0] == "*"
        assert {row[1:] for row in rows if row.startswith("!")} == {source for source, _ in copied()}

    def test_the_same_python_for_packages_and_program(self) -> None:
        assert {rest.partition(" AS ")[0] for word, rest in INSTRUCTIONS if word == "FROM"} == {"${BASE}"}
        assert re.fullmatch(r"BASE=python:3\.\d+-slim", the("ARG"))

    def test_packages_are_those_of_the_lock(self) -> None:
        installs = [rest for word, rest in INSTRUCTIONS if word == "RUN" and "pip install" in rest]
        assert len(installs) == 1
        assert "--require-hashes --no-deps -r /run.txt" in installs[0]
        assert ["requirements/run.txt", "/run.txt"] in copied()

    def test_a_user_without_rights(self) -> None:
        """A number: Kubernetes cannot tell of a name whether it is root."""
        assert re.fullmatch(r"[1-9]\d{3,}:[1-9]\d{3,}", the("USER"))

    def test_signals_reach_the_server(self) -> None:
        assert json.loads(the("ENTRYPOINT"))[:3] == ["python", "-m", "local.server"]


@contextmanager
def image() -> Iterator[Path]:
    """A root directory with what the last stage copies into it."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        for source, destination in copied():
            to = root / destination.lstrip("/")
            to.parent.mkdir(parents=True, exist_ok=True)
            if (ROOT / source).is_dir():
                shutil.copytree(ROOT / source, to, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(ROOT / source, to)
        yield root


def run_in(root: Path, command: list[str], **variables: str) -> subprocess.Popen[str]:
    """Starts a command as a container of the image would: with its environment only, in its directory."""
    own = environment()
    path = own.pop("PATH").replace("/opt/venv/bin", str(Path(sys.executable).parent)).replace("$PATH", os.defpath)
    own["PYTHONPATH"] = str(root / own["PYTHONPATH"].lstrip("/"))
    with (root / "log").open("a") as log:
        return subprocess.Popen(
            [sys.executable if command[0] == "python" else command[0], *command[1:]],
            cwd=root / the("WORKDIR").lstrip("/"),
            env={"PATH": path, **own, **variables},
            stdout=log,
            stderr=subprocess.STDOUT,
            text=True,
        )


def ask(port: int, key: str = KEY, words: str = "hello", *, stream: bool = False) -> str:
    body = {"model": "demo/openai", "stream": stream, "messages": [{"role": "user", "content": words}]}
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/v1/chat/completions",
        json.dumps(body).encode(),
        {"authorization": f"Bearer {key}", "content-type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=20) as answer:
        text: str = answer.read().decode()
        return text


@pytest.mark.integration
@pytest.mark.enable_socket
@pytest.mark.parametrize("arguments", [[], ["--workers", "2"]], ids=["one process", "two"])
def test_a_container(arguments: list[str]) -> None:
    """It answers who shows a key, is found healthy, writes nothing, and ends in peace with SIGTERM."""
    with image() as root:
        before = {path for path in root.rglob("*") if path.name != "log"} | {root / "log"}
        # Tests run side by side: any free port in the place of the image's.
        command = [*json.loads(the("ENTRYPOINT")), *arguments]
        command[command.index(PORT)] = "0"
        server = run_in(root, command, KEY_SHA256=sha256(KEY.encode()).hexdigest())
        try:
            port = int(awaited(root / "log", re.compile(r"listens at http://0\.0\.0\.0:(\d+)")))
            check = json.loads(the("HEALTHCHECK").partition("CMD ")[2])
            assert PORT in check[-1]
            healthy = [*check[:-1], check[-1].replace(PORT, str(port))]
            assert run_in(root, healthy).wait(20) == 0
            assert run_in(root, [*check[:-1], check[-1].replace(PORT, "1")]).wait(20) != 0
            with pytest.raises(urllib.error.HTTPError, match="401"):
                ask(port, "wrong")
            assert json.loads(ask(port))["choices"][0]["message"]["content"]

            answers: list[str] = []
            asking = threading.Thread(
                target=lambda: answers.append(ask(port, words="[demo slow 100] hello", stream=True))
            )
            asking.start()
            time.sleep(0.3)  # the answer has begun: its pieces are a tenth of a second apart
            server.terminate()
            asking.join(20)
            assert server.wait(20) == 0
            assert answers[0].rstrip().endswith("[DONE]")
        finally:
            server.kill()
            server.wait(20)
        assert set(root.rglob("*")) == before


@pytest.mark.integration
@pytest.mark.enable_socket
def test_without_a_key_it_serves_nobody() -> None:
    with image() as root:
        command = [*json.loads(the("ENTRYPOINT"))]
        command[command.index(PORT)] = "0"
        server = run_in(root, command)
        try:
            port = int(awaited(root / "log", re.compile(r"listens at http://0\.0\.0\.0:(\d+)")))
            with pytest.raises(urllib.error.HTTPError, match="401"):
                ask(port)
        finally:
            server.terminate()
            server.wait(20)
