"""The life of a deployment: the tables and the variables of the template, the commands around it, and the gateway."""

from __future__ import annotations

import json
import re
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from local.before_deploy import main as before_deploy
from local.destroy import main as destroy
from local.key_admin import main as key_admin
from local.stack import secret_prefix
from tests.dynalite.server import MISSING, dynalite
from tests.gateway import awaited, running
from tests.shell.boto3_clients import use_boto3
from tests.template.deployment import Deployment
from toolwire.shell.network import aws
from toolwire.shell.network.aws_boto3 import Boto3Client

pytestmark = [
    pytest.mark.integration,
    pytest.mark.enable_socket,
    pytest.mark.skipif(bool(MISSING), reason=MISSING),
]

AWS = {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing", "AWS_DEFAULT_REGION": "eu-central-1"}
IN_STACK = ("--stack", "toolwire")
TOOL = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object", "properties": {}}}}
QUESTION = {"role": "user", "content": "What is the weather in Oslo?"}


@pytest.fixture
def stack(fresh_clients: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Deployment]:
    """One that nobody has deployed yet, in an account with a DynamoDB of its own."""
    with dynalite(tmp_path) as url:
        for name, value in {**AWS, "AWS_ENDPOINT_URL_DYNAMODB": url}.items():
            monkeypatch.setenv(name, value)
        found = Deployment(use_boto3("dynamodb"))
        aws.use("cloudformation", Boto3Client(found))

        def sam(*_: object, **__: object) -> object:
            found.destroy()
            return type("Done", (), {"returncode": 0})

        monkeypatch.setattr("local.destroy.subprocess.run", sam)
        yield found


@contextmanager
def environment(stack: Deployment, folder: Path, name: str) -> Iterator[str]:
    """A new environment of the functions: their base URL. It has their variables and remembers nothing."""
    with pytest.MonkeyPatch.context() as patch:
        for variable, value in stack.variables("ChatCompletionsFunction").items():
            patch.setenv(variable, value)
        command = [sys.executable, "-m", "local.server", "--port", "0"]
        with running(command, folder / name) as log:
            yield awaited(log, re.compile(r"listens at (\S+)"))


def ask(url: str, key: str, path: str = "/chat/completions", **body: Any) -> tuple[int, dict[str, Any]]:
    body = body or {"model": "demo/openai", "messages": [{"role": "user", "content": "hi"}]}
    headers = {"authorization": f"Bearer {key}", "content-type": "application/json"}
    try:
        with urllib.request.urlopen(urllib.request.Request(url + path, json.dumps(body).encode(), headers)) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


def make_key(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    assert key_admin(["create", *arguments, *IN_STACK]) == 0
    return capsys.readouterr().out.strip()


def tables() -> list[str]:
    """Those that are not on their way out."""
    states = {
        name: aws.call("dynamodb", "describe_table", TableName=name)["Table"]["TableStatus"]
        for name in aws.call("dynamodb", "list_tables")["TableNames"]
    }
    return [name for name, state in states.items() if state != "DELETING"]


def in_one_minute() -> None:
    """Rates are counted by the minute: what follows has half of one before it."""
    if (second := time.time() % 60) > 30:
        time.sleep(60 - second)


def test_from_the_first_deployment_to_the_stack_that_follows(
    stack: Deployment, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert before_deploy([*IN_STACK]) == 0
    stack.deploy()
    assert before_deploy([*IN_STACK]) == 0
    assert stack.variables("ChatCompletionsFunction")["SECRET_PREFIX"] == secret_prefix("toolwire")
    settings = tmp_path / "few.toml"
    settings.write_text("requests_per_minute = 2\n")

    with environment(stack, tmp_path, "first") as url:
        assert ask(url, "tw_nobody")[0] == 401
        key = make_key(capsys, "--tenant", "acme")
        few = make_key(capsys, "--tenant", "slow", "--settings", str(settings))
        assert ask(url, key)[0] == 200
        in_one_minute()
        assert [ask(url, few)[0] for _ in range(2)] == [200, 200]
        _, called = ask(url, key, model="demo/gemini", tools=[TOOL], messages=[QUESTION])

    with environment(stack, tmp_path, "second") as url:
        assert ask(url, few)[0] == 429, "rates are counted in the table"
        turn = called["choices"][0]["message"]
        results = [{"role": "tool", "tool_call_id": call["id"], "content": "12"} for call in turn["tool_calls"]]
        history = {"model": "demo/gemini", "tools": [TOOL], "messages": [QUESTION, turn, *results]}
        status, shown = ask(url, key, "/native/translate", door="chat", body=history)
        assert (status, "thoughtSignature" in json.dumps(shown)) == (200, True)
        assert "skip_thought_signature_validator" not in json.dumps(shown), "state is in the table"

    assert key_admin(["revoke", "--tenant", "slow", *IN_STACK]) == 0
    keys = stack.outputs["KeysTable"]
    assert destroy([*IN_STACK, "--", "sam", "delete"]) == 0
    assert tables() == [keys]
    assert f'make deploy PARAMS="KeysTableName={keys}"' in capsys.readouterr().out

    stack.deploy(KeysTableName=keys)
    with environment(stack, tmp_path, "third") as url:
        assert (ask(url, key)[0], ask(url, few)[0]) == (200, 401)
    assert destroy([*IN_STACK, "--delete-keys", "--", "sam", "delete"]) == 0
    assert tables() == []


def test_after_a_first_deployment_that_failed(
    stack: Deployment, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It leaves no table behind, the keys' neither, which would stand in no stack; and the next one is made as ever."""
    stack.deploy(fails=True)
    assert tables() == []
    assert before_deploy([*IN_STACK]) == 1
    assert "make destroy STACK=toolwire" in capsys.readouterr().err
    assert key_admin(["create", "--tenant", "acme", *IN_STACK]) == 1
    assert destroy([*IN_STACK, "--", "sam", "delete"]) == 0
    assert "leaves no keys behind" in capsys.readouterr().out

    stack.deploy()
    assert before_deploy([*IN_STACK]) == 0
    with environment(stack, tmp_path, "log") as url:
        assert ask(url, make_key(capsys, "--tenant", "acme"))[0] == 200
