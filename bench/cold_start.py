"""Starts, from the process to its first answer: the Lambda runtime and the local server.

The Lambda runtime is started as Lambda starts it, by `layers/shared/bootstrap`, against a Runtime API of ours. AWS's
own runtime client with a handler that does nothing is started the same way: nothing in Python can be faster.
Times are in ms. They are this machine's: Lambda gives a function a share of a CPU that grows with its memory.
"""

from __future__ import annotations

import json
import select
import socket
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from io import BufferedReader
from pathlib import Path

from bench.client import BenchError, Connection, Endpoint
from bench.process import LAYER, ROOT, Process, python
from bench.script import Script
from bench.traffic import Figures
from bench.wires import WIRES

#: Seconds for one start.
_PATIENCE = 30.0
_PROVIDER = '[providers.{}]\nwire = "{}"\nbase_url = "{}"\ncredential = "none"\n'
#: How the configuration that `configure` writes is addressed, by provider; and what a start is measured with.
MODELS = {provider: f"{provider}/{wire.model}" for provider, wire in WIRES.items()}
MODEL = MODELS["bench"]
#: The same host as a provider whose requests are signed with the function's role.
SIGNED_MODEL = f"bench-signed/{WIRES['bench'].model}"
_SIGNED = '[providers.bench-signed]\nwire = "{}"\nbase_url = "{}"\ncredential = "aws"\nregion = "eu-west-1"\n'
_BARE_HANDLER = "def handler(event, context):\n    return {}\n"


def configure(folder: Path, upstream_url: str) -> str:
    """Writes the gateway's configuration, with the upstream as a provider of each wire, into a folder; returns the
    path. `upstream_url` is that of a Chat Completions host."""
    root = upstream_url.rstrip("/").removesuffix("/v1")
    path = folder / "toolwire.toml"
    path.write_text(
        "".join(_PROVIDER.format(provider, wire.name, root + wire.path) for provider, wire in WIRES.items())
        + _SIGNED.format(WIRES["bench"].name, root + WIRES["bench"].path)
    )
    return str(path)


def start_gateway(configuration: str) -> tuple[Process, str]:
    """Starts the local server as `make run` does; the process and its base URL, once it listens."""
    process = Process(python("-m", "local.server", "--port", "0", "--config", configuration), {})
    try:
        return process, process.printed(r"http://127\.0\.0\.1:\d+/v1")
    except BaseException:
        process.__exit__()
        raise


def local_start(configuration: str) -> Figures:
    """From the start of the local server to the whole of its first answer."""
    process, base_url = start_gateway(configuration)
    with process:
        endpoint = Endpoint(base_url, MODEL)
        with Connection(endpoint) as connection:
            connection.ask(endpoint.request(Script("tools"), stream=False)).check(0)
        return {"local_start": _since(process.started)}


def lambda_start(
    configuration: str, model: str = MODEL, tables: str | None = None, share: Sequence[str] = ()
) -> Figures:
    """The chat function: from the process's start to its first poll, and from the event to the first streamed byte of
    this model's answer. The role's credentials are in the environment, as on Lambda. `tables`: the address of a
    DynamoDB; then keys, rates and ids are in its tables, as the template has them. `share`: see `cpu_share`."""
    variables = {
        "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE",
        "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
        "AWS_SESSION_TOKEN": "IQoJb3JpZ2luX2VjEXAMPLE",
        "TOOLWIRE_CONFIG": configuration,
        "LAMBDA_TASK_ROOT": str(ROOT / "functions" / "chat_completions"),
        "AWS_LAMBDA_FUNCTION_NAME": "chat_completions",
        "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "1024",
        "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST",
    }
    if tables is not None:
        variables |= {
            "AWS_ENDPOINT_URL_DYNAMODB": tables,
            "AWS_REGION": "eu-central-1",
            "REQUIRE_KEY": "1",
            "KEYS_TABLE": "keys",
            "RATES_TABLE": "rates",
            "STORE": "dynamodb",
            "STORE_TABLE": "tool_calls",
        }
    body = Script("text").request(model).decode()
    command = [*share, "sh", str(LAYER / "bootstrap"), *python()]
    first_poll, first_byte = _start_runtime(command, variables, _event(body))
    return {"first_poll": first_poll, "first_byte": first_byte}


def bare_start(share: Sequence[str] = ()) -> Figures:
    """The same of AWS's runtime client alone."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "app.py").write_text(_BARE_HANDLER)
        command = [*share, *python("-m", "awslambdaric", "app.handler")]
        first_poll, first_byte = _start_runtime(command, {"PYTHONPATH": folder}, {})
    return {"first_poll": first_poll, "first_byte": first_byte}


def _start_runtime(command: list[str], variables: dict[str, str], event: object) -> tuple[float, float]:
    """Plays the Runtime API for one invocation."""
    with ExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        listener.settimeout(_PATIENCE)
        api = {"AWS_LAMBDA_RUNTIME_API": f"127.0.0.1:{listener.getsockname()[1]}", "_HANDLER": "app.handler"}
        process = stack.enter_context(Process(command, variables | api))
        try:
            polling, polls = _accept(stack, listener)
            _expect(polls, b"GET ")
            first_poll = _since(process.started)
            sent = time.monotonic()
            polling.sendall(_invocation(json.dumps(event).encode()))
            # AWS's client answers on the connection that it polls, or on another; ours on another.
            ready, _, _ = select.select([polling, listener], [], [], _PATIENCE)
            answers = polls if polling in ready else _accept(stack, listener)[1]
            _expect(answers, b"POST ")
            begun = answers.read(1)  # the first byte of the body
            first_byte = _since(sent)
            if b'"statusCode":200' not in (prelude := begun + answers.read1()) and event:
                raise BenchError(f"it was refused: {prelude!r}")
            return first_poll, first_byte
        except (OSError, BenchError) as error:
            raise BenchError(f"{command!r} did not answer: {error}") from error


def _accept(stack: ExitStack, listener: socket.socket) -> tuple[socket.socket, BufferedReader]:
    connection, _ = listener.accept()
    stack.enter_context(connection)
    connection.settimeout(_PATIENCE)
    return connection, stack.enter_context(connection.makefile("rb"))


def _expect(reader: BufferedReader, start: bytes) -> None:
    """Reads a request's head."""
    line = reader.readline()
    if not line.startswith(start):
        raise BenchError(f"the runtime said {line!r}")
    while reader.readline() not in (b"\r\n", b""):
        pass


def _invocation(event: bytes) -> bytes:
    lines = [
        "HTTP/1.1 200 OK",
        "Content-Type: application/json",
        f"Content-Length: {len(event)}",
        "Lambda-Runtime-Aws-Request-Id: bench",
        f"Lambda-Runtime-Deadline-Ms: {int((time.time() + 60) * 1000)}",
        "Lambda-Runtime-Invoked-Function-Arn: arn:aws:lambda:local:0:function:bench",
    ]
    return "\r\n".join([*lines, "\r\n"]).encode() + event


def _event(body: str) -> dict[str, object]:
    """The part of a REST API proxy event that is read."""
    return {
        "resource": "/chat/completions",
        "path": "/chat/completions",
        "httpMethod": "POST",
        "headers": {"content-type": "application/json", "x-api-key": "tw_bench"},
        "multiValueHeaders": {"content-type": ["application/json"], "x-api-key": ["tw_bench"]},
        "requestContext": {"requestId": "bench", "stage": "v1"},
        "body": body,
        "isBase64Encoded": False,
    }


def _since(moment: float) -> float:
    return (time.monotonic() - moment) * 1e3
