"""What is imported when: the core stays pure, and a cold start loads only what the first request needs.

The import rules themselves are import-linter's (`pyproject.toml`); here is what it cannot see.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.named_rows import named

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


#: An import, wherever it stands: at the top, in a function, or for types. To parse the files takes seconds.
_IMPORT = re.compile(
    r"^ *from (?P<module>[\w.]+) import (?:\((?P<lines>[^)]*)\)|(?P<line>.*))|^ *import (?P<modules>.*)", re.MULTILINE
)


def _imported(text: str, modules: dict[str, Path]) -> Iterator[str]:
    """The modules of ours that a file imports."""
    for found in _IMPORT.finditer(text):
        names = re.sub("#.*", "", found["lines"] or found["line"] or found["modules"]).split(",")
        plain = [name.split()[0] for name in names if name.strip()]
        if (module := found["module"]) is None:
            yield from (name for name in plain if name in modules)
        else:
            assert not module.startswith("."), f"a relative import: {found[0]}"
            inner = [f"{module}.{name}" for name in plain]
            yield from (name if name in modules else module for name in inner if {name, module} & modules.keys())


def test_every_form_of_an_import_is_seen() -> None:
    modules = dict.fromkeys(("a", "a.b", "c"), Path())
    text = "import a, c as d\nif x:\n    from a import (\n        b,  # why\n        e as f,\n    )\nfrom c import g\n"
    assert list(_imported(text, modules)) == ["a", "c", "a.b", "a", "c"]


def test_no_modules_import_each_other() -> None:
    """Not by a detour either. An import within a function is for the cold start, and never what breaks a circle."""
    modules = _modules()
    graph = {name: set(_imported(path.read_text("utf-8"), modules)) for name, path in modules.items()}
    assert "toolwire.shell.telemetry.metrics" in graph["toolwire.shell.telemetry.observe"], (
        "it is imported in a function"
    )
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as circle:
        pytest.fail(" imports ".join(reversed(circle.args[1])))


#: As on Lambda: the runtime first, and what nearly every function imports; then the function's module, in a copy of the
#: process, which prints all its modules.
_STARTS = """
import json, os, sys, toolwire.shell.serve.runtime, toolwire.shell.serve.door
for folder in sys.argv[2:]:
    if (pid := os.fork()) == 0:
        os.chdir(folder)
        sys.path.insert(0, folder)
        import app
        assert callable(app.handler)
        exec(sys.argv[1])
        print(json.dumps(sorted(sys.modules)), flush=True)
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0, folder
"""


def _modules_after_start(then: str = "", **variables: str) -> dict[str, set[str]]:
    """The name of each function -> what is imported when it has started, and has done something."""
    folders = [str(app.parent) for app in APPS]
    environment = {"PYTHONPATH": str(LAYER), "PYTHONDONTWRITEBYTECODE": "1", **variables}
    command = [sys.executable, "-P", "-c", _STARTS, then, *folders]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    starts = [set(json.loads(line)) for line in done.stdout.splitlines()]
    return {app.parent.name: modules for app, modules in zip(APPS, starts, strict=True)}


def test_cold_start_imports_nothing_slow() -> None:
    for name, modules in _modules_after_start().items():
        with named(name):
            allowed = {"pydantic"} if name == "native" else set()  # its requests are pydantic models
            assert _SLOW & modules - allowed == set()


def test_what_asks_aws_costs_a_cold_start_nothing_of_awss_libraries() -> None:
    """As deployed, the role's credentials in the environment: DynamoDB's client is made while the function starts, the
    secrets' at the first request, and a request to Bedrock is signed."""
    then = (
        "from toolwire.shell.network import aws;"
        "[aws.client(service) for service in ('dynamodb', 'secretsmanager', 'ssm')];"
        "from toolwire.shell.access.aws_signing import signed_for; from toolwire.providers.hosts import AwsScope;"
        "from toolwire.model.http import post_json;"
        "signed_for(post_json('https://bedrock.example', b'', stream=True), AwsScope('bedrock', 'eu-west-1'))"
    )
    account = {"AWS_REGION": "eu-central-1", "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"}
    tables = {"KEYS_TABLE": "k", "RATES_TABLE": "r", "STORE_TABLE": "s"}
    slow = {"boto3", "botocore.auth", "botocore.compat", "botocore.exceptions", "http.client", "requests", "urllib3"}
    for name, modules in _modules_after_start(then, **account, **tables).items():
        with named(name):
            assert slow & modules == set()


def test_there_are_functions_to_check() -> None:
    assert APPS
