"""In real containers, where Docker runs: the image of the Dockerfile, and the functions under `sam local`.

Both stand on an image that is made here by hand (`engine.py`), since no test asks a registry of images.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import boto3
import pytest

from local.sam_local import function_of
from tests.dynalite.server import MISSING, dynalite
from tests.gateway import ROOT, awaited_port, free_port
from tests.package.engine import engine, python_image
from tests.package.outcomes import outcome
from tests.package.test_container import KEY, ask
from toolwire.shell.store.dynamodb import create_table

pytestmark = [pytest.mark.integration, pytest.mark.enable_socket]

EVENTS = sorted(path.parent for path in (ROOT / "events").glob("*/event.json"))
IMAGE = "toolwire-test"
#: SAM may have to start a container first, which takes a minute and more on a machine that is busy.
_ANSWER_SECONDS = 300
HASH = sha256(KEY.encode()).hexdigest()


@pytest.fixture(scope="module")
def python() -> str:
    return python_image()


# ---------------------------------------------------------------- the image


@pytest.fixture(scope="module")
def image(python: str) -> str:
    """What the Dockerfile makes. pip is on the way, so the build has this machine's network."""
    # A storage driver that copies whole images takes its time on a busy machine.
    engine("build", "--network", "host", "--build-arg", f"BASE={python}", "--tag", IMAGE, str(ROOT), timeout=1800)
    return IMAGE


@contextmanager
def container(image: str, *options: str, arguments: tuple[str, ...] = ()) -> Iterator[str]:
    """One that runs with no more rights than docs/container.md asks for."""
    name = engine("run", "--detach", "--read-only", "--cap-drop", "ALL", *options, image, *arguments)
    try:
        yield name
    finally:
        engine("rm", "--force", name)


def port_of(name: str) -> int:
    port = int(engine("port", name, "8080").rpartition(":")[2])
    until(lambda: urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/health", timeout=5).status == 200)
    return port


def until(seen: Any, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while True:
        try:
            if seen():
                return
        except OSError:
            pass
        assert time.monotonic() < end
        time.sleep(0.3)


@pytest.mark.parametrize("arguments", [(), ("--workers", "2")], ids=["one process", "two"])
def test_an_image_runs(image: str, arguments: tuple[str, ...]) -> None:
    """It asks for a key, is found healthy by its own check, and lets an answer end when it is stopped."""
    options = ("--publish", "127.0.0.1::8080", "--env", f"KEY_SHA256={HASH}")
    with container(image, *options, arguments=arguments) as name:
        port = port_of(name)
        with pytest.raises(urllib.error.HTTPError, match="401"):
            ask(port, "wrong")
        until(lambda: engine("inspect", "--format", "{{.State.Health.Status}}", name) == "healthy")

        answers: list[str] = []
        asking = threading.Thread(target=lambda: answers.append(ask(port, words="[demo slow 100] hello", stream=True)))
        asking.start()
        time.sleep(0.5)
        engine("stop", name)
        asking.join(30)
        assert answers[0].rstrip().endswith("[DONE]")
        assert engine("inspect", "--format", "{{.State.ExitCode}}", name) == "0"


def test_an_answer_that_is_too_slow_ends_with_an_error(image: str) -> None:
    options = ("--publish", "127.0.0.1::8080", "--env", "REQUIRE_KEY=0")
    with container(image, *options) as name:
        port = port_of(name)
        answers: list[str] = []
        words = "[demo slow 3000] what takes longer than a stop"
        asking = threading.Thread(target=lambda: answers.append(ask(port, words=words, stream=True)))
        asking.start()
        time.sleep(1)
        began = time.monotonic()
        engine("stop", name)  # kills after ten seconds
        assert time.monotonic() - began < 10
        asking.join(30)
        assert "gateway_stopping" in answers[0]
        assert "[DONE]" not in answers[0]
        assert engine("inspect", "--format", "{{.State.ExitCode}}", name) == "0"


@pytest.mark.skipif(bool(MISSING), reason=MISSING)
def test_two_containers_share_a_table(image: str, tmp_path: Path) -> None:
    """A conversation goes on in another container: the state that its client does not keep is found there."""
    aws = {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing", "AWS_REGION": "eu-central-1"}
    with dynalite(tmp_path) as url:
        named = aws | {"AWS_ENDPOINT_URL_DYNAMODB": url, "STORE": "dynamodb", "STORE_TABLE": "ids", "REQUIRE_KEY": "0"}
        client = boto3.client(
            "dynamodb",
            endpoint_url=url,
            region_name=aws["AWS_REGION"],
            aws_access_key_id="testing",
            aws_secret_access_key="testing",
        )
        create_table(client, "ids")
        options = ["--network", "host", *(word for pair in named.items() for word in ("--env", "=".join(pair)))]
        first, second = free_port(), free_port()
        with (
            container(image, *options, arguments=("--port", str(first))),
            container(image, *options, arguments=("--port", str(second))),
        ):
            awaited_port(first)
            awaited_port(second)
            function = {"name": "get_weather", "parameters": {"type": "object", "properties": {}}}
            question = {"role": "user", "content": "What is the weather in Oslo?"}
            asked = {"model": "demo/gemini", "tools": [{"type": "function", "function": function}]}
            answer = post(first, "/chat/completions", asked | {"messages": [question]})["choices"][0]["message"]
            results = [
                {"role": "tool", "tool_call_id": call["id"], "content": "12 degrees"} for call in answer["tool_calls"]
            ]
            history = asked | {"messages": [question, answer, *results]}
            shown = json.dumps(post(second, "/native/translate", {"door": "chat_completions", "body": history}))
    assert "thoughtSignature" in shown
    assert "skip_thought_signature_validator" not in shown


def post(port: int, path: str, body: dict[str, Any]) -> dict[str, Any]:
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/v1{path}", json.dumps(body).encode(), {"content-type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=_ANSWER_SECONDS) as answer:
        found: dict[str, Any] = json.loads(answer.read())
        return found


# ---------------------------------------------------------------- sam local


Make = Callable[..., list[str]]


@pytest.fixture(scope="module")
def make(python: str, tmp_path_factory: pytest.TempPathFactory) -> Make:
    """make with what this machine can run, and a configuration in the layer."""
    document = tmp_path_factory.mktemp("config") / "toolwire.toml"
    document.write_text('[aliases]\nfast = "demo/openai"\n')
    settings = [f"PYTHON={python.rpartition(':')[2]}", f"LAMBDA_IMAGE={python}", f"PACKED={document}"]
    return lambda *arguments: ["make", "--no-print-directory", *arguments, *settings]


def as_expected(answer: dict[str, Any], folder: Path) -> None:
    """That a function's answer to the folder's event comes to what its replay comes to."""
    event = json.loads((folder / "event.json").read_text())
    assert answer["statusCode"] == json.loads((folder / "expected.json").read_text())["status"]
    assert answer["headers"]["x-request-id"] == event["requestContext"]["requestId"]
    (expected,) = (path for path in folder.glob("expected.*") if path.suffixes in ([".sse"], [".body", ".json"]))
    assert outcome(event["resource"], answer["body"].encode()) == outcome(event["resource"], expected.read_bytes())


def test_an_event_is_invoked_by_one_command(make: Make) -> None:
    folder = ROOT / "events" / "messages_parallel_calls"
    command = make("invoke", f"EVENT=events/{folder.name}")
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    (line,) = (line for line in done.stdout.splitlines() if line.startswith('{"statusCode"'))
    as_expected(json.loads(line), folder)


@contextmanager
def serving(command: list[str], log: Path, env: dict[str, str]) -> Iterator[None]:
    """SAM's server, which ends its containers when it is interrupted."""
    with log.open("wb") as output:
        process = subprocess.Popen(command, cwd=ROOT, env=env, stdout=output, stderr=output, start_new_session=True)
    try:
        until(lambda: "Running on" in log.read_text(), 300)
        yield
    finally:
        os.killpg(process.pid, signal.SIGINT)
        process.wait(120)
        assert not running_under(log), "SAM has left a container behind"


def running_under(log: Path) -> str:
    """The containers that this log names and that still run."""
    started = re.findall(r"SAM_CONTAINER_ID: (\w+)", log.read_text())
    return "".join(engine("ps", "--quiet", "--filter", f"id={it}") for it in started)


@pytest.fixture(scope="module")
def functions(make: Make, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of SAM's Lambda: a container for each function, which stays. With one for each event as `make invoke`
    has them, all events take a quarter of an hour."""
    port = free_port()
    command = make("start-lambda", f"PORT={port}")
    with serving(command, tmp_path_factory.mktemp("sam") / "log", {**os.environ}):
        yield port


@pytest.mark.parametrize("folder", EVENTS, ids=lambda folder: folder.name)
def test_sam_runs_the_function_of_every_event(functions: int, folder: Path) -> None:
    """In Lambda's place: the layer at /opt, the wrapper that the template names, and the emulator that SAM brings."""
    event = (folder / "event.json").read_bytes()
    url = f"http://127.0.0.1:{functions}/2015-03-31/functions/{function_of(json.loads(event))}/invocations"
    with urllib.request.urlopen(urllib.request.Request(url, event), timeout=_ANSWER_SECONDS) as answer:
        as_expected(json.loads(answer.read()), folder)


def test_the_layers_configuration_and_the_keys_of_the_environment_reach_the_functions(
    make: Make, tmp_path: Path
) -> None:
    """Without a provider's key the answer names its variable at once: no secret is asked for. With one, it is read."""
    port = free_port()
    environment = {name: value for name, value in os.environ.items() if name != "OPENAI_API_KEY"}
    # What is no key is refused before a provider is asked.
    environment |= {"TOOLWIRE_CONFIG": "elsewhere.toml", "GROQ_API_KEY": "gsk-\u00e9"}
    with serving(make("start-api", f"PORT={port}"), tmp_path / "log", environment):
        hello = {"model": "fast", "messages": [{"role": "user", "content": "hi"}]}
        assert post(port, "/chat/completions", hello)["choices"][0]["message"]["content"]
        assert missing(port, "openai/gpt-5.6") == "the environment variable OPENAI_API_KEY is not set"
        assert missing(port, "groq/llama").startswith("the environment variable GROQ_API_KEY is no key")


def missing(port: int, model: str) -> str:
    """What the refusal says of the provider's credential."""
    with pytest.raises(urllib.error.HTTPError) as refused:
        post(port, "/chat/completions", {"model": model, "messages": [{"role": "user", "content": "hi"}]})
    error = json.loads(refused.value.read())["error"]
    assert error["code"] == "missing_credential"
    text: str = error["message"].partition(": ")[2].rstrip(".")
    return text
