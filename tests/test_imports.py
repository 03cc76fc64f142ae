"""What is imported when: the core stays pure, and a cold start loads only what the first request needs.

The import rules themselves are import-linter's (`pyproject.toml`); here is what it cannot see.
"""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LAYER = ROOT / "layers" / "shared"
APPS = sorted((ROOT / "functions").glob("*/app.py"))

#: Outside the pure core: the shell does the IO, and the demo is a server.
_IO = {"demo", "shell"}

#: Libraries that cost 70 to 400 ms of a cold start, and modules of ours that few requests need. Whoever needs one
#: imports it in the function that does.
_SLOW = {
    "asyncio",
    "aws_lambda_powertools.event_handler",
    "aws_lambda_powertools.utilities.parameters",
    "aws_xray_sdk",
    "boto3",
    "botocore.session",
    "http.server",
    "httpx",
    "jsonschema",
    "openai",
    "opentelemetry",
    "pydantic",
    "requests",
    "toolwire.demo",
    "toolwire.exchange.refusals",
    "toolwire.policy.argument_repair",
    "toolwire.shell.recording.replay",
    "toolwire.stream.text_calls.recovery",
    "urllib3",
}


def test_the_rule_against_io_names_the_whole_core() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (pure,) = (contract for contract in contracts if contract["name"] == "the core does no IO")
    package = LAYER / "toolwire"
    parts = {path.stem for path in package.glob("*.py")} | {path.parent.name for path in package.glob("*/__init__.py")}
    assert set(pure["source_modules"]) == {f"toolwire.{part}" for part in parts - _IO - {"__init__"}}


def _modules() -> dict[str, Path]:
    """The name of each module of the package and of what runs on the developer's machine -> its file."""
    rooms = (LAYER / "toolwire", ROOT / "local", ROOT / "bench")
    files = [(path, path.relative_to(room.parent)) for room in rooms for path in room.rglob("*.py")]
    return {".".join(name.with_suffix("").parts).removesuffix(".__init__"): path for path, name in files}


def _imported(path: Path, modules: dict[str, Path]) -> Iterator[str]:
    """The modules of ours that a file imports, wherever the import stands: at its top, in a function, or for types."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom):
            assert node.module is not None, f"{path}: a relative import"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (name if name in modules else node.module for name in names if node.module in modules)


def test_no_modules_import_each_other() -> None:
    """Not by a detour either. An import within a function is for the cold start, and never what breaks a circle."""
    modules = _modules()
    graph = {name: set(_imported(path, modules)) for name, path in modules.items()}
    assert "toolwire.shell.telemetry.metrics" in graph["toolwire.shell.telemetry.observe"], (
        "it is imported in a function"
    )
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as circle:
        pytest.fail(" imports ".join(reversed(circle.args[1])))


@pytest.mark.parametrize("app", APPS, ids=lambda app: app.parent.name)
def test_cold_start_imports_nothing_slow(app: Path) -> None:
    """As on Lambda: the runtime first, then the function's module."""
    code = (
        "import sys, toolwire.shell.serve.runtime, app; assert callable(app.handler);"
        "print(*sorted(sys.modules), sep='\\n')"
    )
    command = [sys.executable, "-c", code]
    environment = {"PYTHONPATH": f"{app.parent}:{LAYER}", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=app.parent)
    assert done.returncode == 0, done.stderr
    allowed = {"pydantic"} if app.parent.name == "native" else set()  # its requests are pydantic models
    assert _SLOW.intersection(done.stdout.split()) - allowed == set()


@pytest.mark.parametrize("app", APPS, ids=lambda app: app.parent.name)
def test_what_asks_aws_costs_a_cold_start_nothing_of_awss_libraries(app: Path) -> None:
    """As deployed, the role's credentials in the environment: DynamoDB's client is made while the function starts, the
    secrets' at the first request, and a request to Bedrock is signed."""
    code = (
        "import sys, toolwire.shell.serve.runtime, app; from toolwire.shell.network import aws;"
        "[aws.client(service) for service in ('dynamodb', 'secretsmanager', 'ssm')];"
        "from toolwire.shell.access.aws_signing import signed_for; from toolwire.providers.hosts import AwsScope;"
        "from toolwire.model.http import post_json;"
        "signed_for(post_json('https://bedrock.example', b'', stream=True), AwsScope('bedrock', 'eu-west-1'));"
        "print(*sorted(sys.modules), sep='\\n')"
    )
    environment = {"PYTHONPATH": f"{app.parent}:{LAYER}", "PYTHONDONTWRITEBYTECODE": "1"}
    account = {"AWS_REGION": "eu-central-1", "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"}
    tables = {"KEYS_TABLE": "k", "RATES_TABLE": "r", "STORE_TABLE": "s"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment | account | tables,
        capture_output=True,
        text=True,
        cwd=app.parent,
    )
    assert done.returncode == 0, done.stderr
    slow = {"boto3", "botocore.auth", "botocore.compat", "botocore.exceptions", "http.client", "requests", "urllib3"}
    assert slow.intersection(done.stdout.split()) == set()


def test_there_are_functions_to_check() -> None:
    assert APPS
