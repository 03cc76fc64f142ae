"""Runs a built function under the Lambda Runtime Interface Emulator, the program that SAM's containers run too.

It is in SAM CLI's wheel and needs no container. It does not stream: the answer arrives whole, with the runtime's
prelude in front of the body.
"""

from __future__ import annotations

import http.client
import json
import os
import platform
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]

#: The layer is to bring everything: so the interpreter is the one below this environment, without its packages.
INTERPRETER = Path(sys.base_prefix) / "bin" / f"python{sys.version_info[0]}.{sys.version_info[1]}"

#: This machine's processor, as Lambda and the emulator's file name spell it.
ARCH = "arm64" if platform.machine() in ("aarch64", "arm64") else "x86_64"

_START_SECONDS = 20.0
_INVOKE_SECONDS = 60.0


@dataclass(frozen=True)
class Reply:
    """What API Gateway would send to the client."""

    status: int
    headers: dict[str, str]
    body: bytes


class Emulator:
    """One running function."""

    def __init__(self, port: int) -> None:
        self._port = port

    def invoke(self, event: dict[str, Any]) -> bytes:
        """What the function's runtime posted."""
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=_INVOKE_SECONDS)
        try:
            connection.request("POST", "/2015-03-31/functions/function/invocations", json.dumps(event))
            return connection.getresponse().read()
        finally:
            connection.close()

    def ask(self, event: dict[str, Any]) -> Reply:
        """The answer to a proxy event, split at the prelude as API Gateway does it."""
        posted = self.invoke(event)
        prelude, separator, body = posted.partition(b"\0" * 8)
        assert separator, posted
        head = json.loads(prelude)
        return Reply(head["statusCode"], head["headers"], body)


@contextmanager
def running(layer: Path, function: Path, log: Path, **variables: str) -> Iterator[Emulator]:
    """The function in `function` with the built layer. Its environment is `variables` and what Lambda sets."""
    port, runtime_port = _free_port(), _free_port()
    (emulator,) = (ROOT / ".venv-sam").glob(f"lib/*/site-packages/samcli/local/rapid/aws-lambda-rie-{ARCH}")
    command = [
        *(str(emulator), "--runtime-interface-emulator-address", f"127.0.0.1:{port}"),
        *("--runtime-api-address", f"127.0.0.1:{runtime_port}"),
        *(str(layer / "bootstrap"), str(INTERPRETER), "app.handler"),
    ]
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONNOUSERSITE": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "_HANDLER": "app.handler",
        "LAMBDA_TASK_ROOT": str(function),
        "AWS_LAMBDA_FUNCTION_NAME": function.name,
        "AWS_LAMBDA_FUNCTION_TIMEOUT": "60",
        "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "1024",
        "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST",
        "AWS_REGION": "eu-central-1",
        **variables,
    }
    with log.open("wb") as output:
        process = subprocess.Popen(command, env=environment, cwd=function, stdout=output, stderr=subprocess.STDOUT)
        try:
            _wait_for(port, process)
            yield Emulator(port)
        finally:
            process.terminate()
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        assert process.poll() is None, "the emulator ended"
        with suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.05)
    raise TimeoutError("the emulator does not listen")
