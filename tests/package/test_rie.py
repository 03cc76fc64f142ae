"""`make build`, and what it makes under Lambda's own emulator: the package, the bootstrap and the handlers together.

Built twice: for this machine, to run it, and for Lambda's default (arm64, another Python), to look at what it packs.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.package.emulator import ARCH, INTERPRETER, ROOT, Emulator, running
from tests.package.outcomes import outcome
from toolwire.pages.paths import path_of, served

pytestmark = [pytest.mark.integration, pytest.mark.enable_socket]

PYTHON = f"{sys.version_info[0]}.{sys.version_info[1]}"
EVENTS = sorted(path.parent for path in (ROOT / "events").glob("*/event.json"))

#: By processor: its name in a wheel's tags, and `e_machine` in an ELF file's header.
MACHINES = {"x86_64": ("x86_64", 62), "arm64": ("aarch64", 183)}

CONFIG = """
[aliases]
fast = "demo/openai"
"""

_UNZIPPED_LIMIT = 250 << 20


def _make_build(target: Path, *, python: str, arch: str, config: Path | None = None) -> Path:
    """Runs `make build` into `target` and returns the layer."""
    variables = [f"PYTHON={python}", f"ARCH={arch}", f"BUILD_DIR={target}", f"PACKED={config or ''}"]
    env = {**os.environ, "PATH": f"{INTERPRETER.parent}:{os.environ['PATH']}"}
    done = subprocess.run(["make", "build", *variables], cwd=ROOT, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return target / "SharedLayer"


@pytest.fixture(scope="module")
def layer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The layer for this machine, with a configuration packed into it."""
    folder = tmp_path_factory.mktemp("build")
    config = folder / "toolwire.toml"
    config.write_text(CONFIG)
    return _make_build(folder / "own", python=PYTHON, arch=ARCH, config=config)


@pytest.fixture(scope="module")
def functions(layer: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Emulator]]:
    """Every function, running, by its folder."""
    log = tmp_path_factory.mktemp("log")
    config = {"TOOLWIRE_CONFIG": str(layer / "toolwire.toml")}
    folders = sorted({folder for methods in served().values() for folder in methods.values()})
    with ExitStack() as stack:
        yield {
            folder: stack.enter_context(running(layer, ROOT / "functions" / folder, log / folder, **config))
            for folder in folders
        }


def _get(path: str, headers: dict[str, str] | None = None) -> dict[str, Any]:
    """API Gateway's event of a GET request."""
    return {
        "resource": path,
        "path": path,
        "httpMethod": "GET",
        "headers": headers or {},
        "multiValueHeaders": {name: [value] for name, value in (headers or {}).items()},
        "queryStringParameters": None,
        "requestContext": {"requestId": "3f0b3a52-0000-4000-8000-000000000001", "path": f"/v1{path}", "stage": "v1"},
        "body": None,
        "isBase64Encoded": False,
    }


def test_health(functions: dict[str, Emulator]) -> None:
    reply = functions["catalog"].ask(_get("/health"))
    assert reply.status == 200
    assert json.loads(reply.body)["status"] == "ok"


def test_models_have_the_packed_configuration(functions: dict[str, Emulator]) -> None:
    reply = functions["catalog"].ask(_get("/models"))
    assert reply.status == 200
    assert {"demo/openai", "demo/compatible", "fast"} <= {model["id"] for model in json.loads(reply.body)["data"]}


@pytest.mark.parametrize("folder", EVENTS, ids=lambda folder: folder.name)
def test_event_is_answered_as_in_its_replay(functions: dict[str, Emulator], folder: Path) -> None:
    """Inside the function the demo provider answers what the folder's recording has: the same calls, the same end."""
    event = json.loads((folder / "event.json").read_text())
    reply = functions[served()[event["resource"]]["POST"]].ask(event)
    expected = json.loads((folder / "expected.json").read_text())
    (body,) = (path for path in folder.glob("expected.*") if path.suffixes in ([".sse"], [".body", ".json"]))
    assert reply.status == expected["status"]
    assert reply.headers["x-request-id"] == event["requestContext"]["requestId"]
    assert outcome(event["resource"], reply.body) == outcome(event["resource"], body.read_bytes())


def test_the_paths_that_ask_no_provider_are_answered(functions: dict[str, Emulator]) -> None:
    hello = [{"role": "user", "content": "hi"}]
    function = {"name": "get_time", "description": "The time", "parameters": {"type": "object", "properties": {}}}
    tools = [{"type": "function", "function": function}]
    asked = {
        "/messages/count_tokens": {"model": "fast", "messages": hello},
        "/native/tools/check": {"tools": tools},
        "/native/translate": {"door": "chat_completions", "body": {"model": "fast", "messages": hello}},
    }
    for path, body in asked.items():
        reply = functions[served()[path]["POST"]].ask(_get(path) | {"httpMethod": "POST", "body": json.dumps(body)})
        assert reply.status == 200, reply.body
        assert isinstance(json.loads(reply.body), dict)


def _by_url(event: dict[str, Any]) -> dict[str, Any]:
    """A recorded event as a function URL would have it (payload format 2.0)."""
    path = path_of(event["resource"], event.get("pathParameters") or {})
    return {
        "version": "2.0",
        "rawPath": path,
        "rawQueryString": urlencode(event.get("queryStringParameters") or {}),
        "headers": {name.lower(): value for name, value in event["headers"].items()},
        "requestContext": {
            "requestId": event["requestContext"]["requestId"],
            "http": {"method": event["httpMethod"], "path": path},
        },
        "body": event["body"],
        "isBase64Encoded": event["isBase64Encoded"],
    }


def test_one_function_answers_every_event_behind_a_function_url(layer: Path, tmp_path: Path) -> None:
    config = {"TOOLWIRE_CONFIG": str(layer / "toolwire.toml")}
    with running(layer, ROOT / "functions" / "gateway", tmp_path / "log", **config) as gateway:
        assert gateway.ask(_by_url(_get("/health"))).status == 200
        for folder in EVENTS:
            event = json.loads((folder / "event.json").read_text())
            reply = gateway.ask(_by_url(event))
            (body,) = (path for path in folder.glob("expected.*") if path.suffixes in ([".sse"], [".body", ".json"]))
            assert reply.status == json.loads((folder / "expected.json").read_text())["status"], folder.name
            assert reply.headers["x-request-id"] == event["requestContext"]["requestId"]
            assert outcome(event["resource"], reply.body) == outcome(event["resource"], body.read_bytes()), folder.name


#: The first scenario of each function that has one.
ONE_EACH = {
    served()[json.loads((folder / "event.json").read_text())["resource"]]["POST"]: folder for folder in reversed(EVENTS)
}


@pytest.mark.parametrize(("function", "folder"), ONE_EACH.items(), ids=list(ONE_EACH))
def test_sam_runs_a_function_without_its_stack(layer: Path, tmp_path: Path, function: str, folder: Path) -> None:
    """`sam local` cannot stream, and it sets the template's variables, whose tables are nowhere."""
    template = {"REQUIRE_KEY": "1", "KEYS_TABLE": "KeysTable", "RATES_TABLE": "RatesTable", "STORE_TABLE": "Table"}
    event = json.loads((folder / "event.json").read_text())
    with running(layer, ROOT / "functions" / function, tmp_path / "log", AWS_SAM_LOCAL="true", **template) as emulator:
        answer = json.loads(emulator.invoke(event))

    assert answer["statusCode"] == json.loads((folder / "expected.json").read_text())["status"]
    assert answer["headers"]["x-request-id"] == event["requestContext"]["requestId"]
    (expected,) = (path for path in folder.glob("expected.*") if path.suffixes in ([".sse"], [".body", ".json"]))
    body = answer["body"].encode()
    assert outcome(event["resource"], body) == outcome(event["resource"], expected.read_bytes())


def test_without_a_key_everything_but_health_is_refused(layer: Path, tmp_path: Path) -> None:
    """As a first deployment is: the template requires a key and none is set."""
    locked = {"REQUIRE_KEY": "1", "KEY_SHA256": "", "TOOLWIRE_CONFIG": ""}
    with running(layer, ROOT / "functions/catalog", tmp_path / "log", **locked) as catalog:
        assert catalog.ask(_get("/health")).status == 200
        reply = catalog.ask(_get("/models", {"authorization": "Bearer anything"}))
    assert reply.status == 401
    assert json.loads(reply.body)["error"]["code"] == "invalid_api_key"


def test_a_handler_that_cannot_be_imported_is_reported(layer: Path, tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text("import there_is_no_such_module\n")
    with running(layer, tmp_path, tmp_path / "log") as emulator:
        error = json.loads(emulator.invoke(_get("/health")))
    assert error["errorType"] == "Runtime.ImportModuleError"
    assert "there_is_no_such_module" in error["errorMessage"]


def test_layer_has_bytecode_and_no_rubbish(layer: Path) -> None:
    """The flags of a .pyc file: 1 says that it belongs to its source by hash, and that Python is not to check it."""
    sources = list((layer / "python/toolwire").rglob("*.py"))
    assert sources
    for source in sources:
        compiled = Path(importlib.util.cache_from_source(str(source)))
        assert compiled.read_bytes()[4:8] == (1).to_bytes(4, "little"), source
    assert os.access(layer / "bootstrap", os.X_OK)
    assert {path.name for path in layer.iterdir()} == {"bootstrap", "python", "toolwire.toml"}
    assert not [path for path in layer.rglob("*") if path.name in ("tests", "bin", "RECORD")]
    assert sum(path.stat().st_size for path in layer.rglob("*") if path.is_file()) < _UNZIPPED_LIMIT


def test_default_build_is_for_arm64_throughout(tmp_path: Path) -> None:
    defaults = subprocess.run(
        ["make", "--dry-run", "--always-make", "build"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    assert "LAYER_PYTHON=3.13 LAYER_ARCH=arm64" in defaults
    layer = _make_build(tmp_path / "arm64", python="3.13", arch="arm64")
    assert not (layer / "toolwire.toml").exists()
    _assert_wheels_fit(layer, python="3.13", arch="arm64")


def test_own_build_is_for_this_machine_throughout(layer: Path) -> None:
    _assert_wheels_fit(layer, python=PYTHON, arch=ARCH)


def _assert_wheels_fit(layer: Path, *, python: str, arch: str) -> None:
    """Every wheel is pure or made for the processor and the Python, by its tags and by what is in its libraries."""
    tag = f"cp{python.replace('.', '')}"
    machine, elf = MACHINES[arch]
    wheels = list((layer / "python").glob("*.dist-info/WHEEL"))
    assert wheels
    for wheel in wheels:
        tags = re.findall(r"^Tag: (\S+)$", wheel.read_text(), re.MULTILINE)
        assert any(_fits(found, tag, machine) for found in tags), f"{wheel.parent.name}: {tags}"
    libraries = list(layer.rglob("*.so"))
    assert libraries
    for library in libraries:
        header = library.read_bytes()[:20]
        assert header[:4] == b"\x7fELF", library
        assert int.from_bytes(header[18:20], "little") == elf, library


def _fits(wheel_tag: str, tag: str, machine: str) -> bool:
    python, abi, platform = wheel_tag.split("-")
    if (abi, platform) == ("none", "any"):
        return python.startswith("py")
    return abi in (tag, "abi3", "none") and platform.endswith(f"_{machine}")
