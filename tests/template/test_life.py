"""The life of a deployment, as docs/deploy.md tells it: each command of the page in an account of moto's.

`make deploy` and `make destroy` run SAM itself, and the gateway has the variables of the deployed functions. What of
AWS is moto's here and what is ours is in `account.py`.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import boto3
import pytest

from tests.gateway import ROOT, awaited, running

pytestmark = [pytest.mark.integration, pytest.mark.enable_socket]

WHO = {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing", "AWS_DEFAULT_REGION": "eu-central-1"}
#: The environments are there, and no build is needed: moto looks into no archive.
MADE = ("-o", "build", "-o", ".venv/run.stamp", "-o", ".venv-sam/stamp")
TOOL = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object", "properties": {}}}}
QUESTION = {"role": "user", "content": "What is the weather in Oslo?"}


class Account:
    """An account in which nothing is deployed yet. Its address is in this process's environment."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def make(self, target: str, *settings: str, typed: str = "", fails: bool = False) -> str:
        """What the command prints, once it has ended as it should."""
        command = ["make", "--no-print-directory", *MADE, target, "BUILD_DIR=.", *settings]
        done = subprocess.run(command, cwd=ROOT, input=typed, capture_output=True, text=True, timeout=900)
        assert bool(done.returncode) == fails, done.stdout + done.stderr
        return done.stdout + done.stderr if fails else done.stdout

    def outputs(self) -> dict[str, str]:
        (stack,) = boto3.client("cloudformation").describe_stacks(StackName="toolwire")["Stacks"]
        return {it["OutputKey"]: it["OutputValue"] for it in stack["Outputs"]}

    def called(self, function: str) -> dict[str, Any]:
        """What a function of the template is, as the alias has it that API Gateway calls."""
        said = boto3.client("cloudformation").describe_stack_resource(StackName="toolwire", LogicalResourceId=function)[
            "StackResourceDetail"
        ]
        found: dict[str, Any] = boto3.client("lambda").get_function_configuration(
            FunctionName=said["PhysicalResourceId"], Qualifier="live"
        )
        return found

    @contextmanager
    def environment(self, name: str, **others: str) -> Iterator[str]:
        """A new environment of the functions: their base URL. It has their variables and remembers nothing."""
        variables = self.called("ChatCompletionsFunction")["Environment"]["Variables"]
        with pytest.MonkeyPatch.context() as patch:
            for variable, value in (variables | others).items():
                patch.setenv(variable, str(value))
            with running([sys.executable, "-m", "local.server", "--port", "0"], self.folder / name) as log:
                yield awaited(log, re.compile(r"listens at (\S+)"), 120)


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Account]:
    for variable in ("AWS_PROFILE", "AWS_REGION", "AWS_ENDPOINT_URL_DYNAMODB", "OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(variable, raising=False)
    for variable, value in WHO.items():
        monkeypatch.setenv(variable, value)
    with running([sys.executable, "-m", "tests.template.account"], tmp_path / "account.log") as log:
        monkeypatch.setenv("AWS_ENDPOINT_URL", awaited(log, re.compile(r"serves at (\S+)"), 120))
        yield Account(tmp_path)


@contextmanager
def provider() -> Iterator[tuple[str, list[str]]]:
    """A host of OpenAI's API: its base URL, and the credentials that it was shown."""
    shown: list[str] = []
    message = {"role": "assistant", "content": "hello"}
    answer = {"id": "1", "object": "chat.completion", "created": 1, "model": "m"}
    answer |= {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            shown.append(self.headers["authorization"])
            body = json.dumps(answer).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None: ...

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", shown
        server.shutdown()


def ask(url: str, key: str, path: str = "/chat/completions", **body: Any) -> tuple[int, dict[str, Any]]:
    body = body or {"model": "demo/openai", "messages": [QUESTION]}
    headers = {"authorization": f"Bearer {key}", "content-type": "application/json"}
    try:
        with urllib.request.urlopen(urllib.request.Request(url + path, json.dumps(body).encode(), headers)) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


def tables() -> list[str]:
    found: list[str] = boto3.client("dynamodb").list_tables()["TableNames"]
    return found


def in_one_minute() -> None:
    """Rates are counted by the minute: what follows has half of one before it."""
    if (second := time.time() % 60) > 30:
        time.sleep(60 - second)


def stage() -> str:
    """The deployment of the one API that its stage shows."""
    gateway = boto3.client("apigateway")
    (api,) = gateway.get_rest_apis()["items"]
    (only,) = gateway.get_stages(restApiId=api["id"])["item"]
    assert only["stageName"] == "v1"
    return str(only["deploymentId"])


def chat() -> dict[str, Any]:
    """What the API calls for POST /chat/completions."""
    gateway = boto3.client("apigateway")
    (api,) = gateway.get_rest_apis()["items"]
    resources = gateway.get_resources(restApiId=api["id"], limit=500)["items"]
    (place,) = (it["id"] for it in resources if it["path"] == "/chat/completions")
    found: dict[str, Any] = gateway.get_integration(restApiId=api["id"], resourceId=place, httpMethod="POST")
    return found


def test_from_the_first_deployment_to_the_stack_that_follows(account: Account, tmp_path: Path) -> None:
    assert "Successfully created/updated stack - toolwire" in account.make("deploy")
    first, function = stage(), account.called("ChatCompletionsFunction")
    assert chat()["uri"].endswith(f":function:{function['FunctionName']}:live/response-streaming-invocations")
    assert (chat()["timeoutInMillis"], int(function["Timeout"])) == (600_000, 600)

    account.make("secret", "PROVIDER=openai", typed="sk-of-the-operator\n")
    settings = tmp_path / "few.toml"
    settings.write_text("requests_per_minute = 2\n")
    with provider() as (host, shown), account.environment("first", OPENAI_BASE_URL=host) as url:
        assert ask(url, "tw_nobody")[0] == 401
        key = account.make("key", "TENANT=acme", "STACK=toolwire").strip()
        few = account.make("key", "TENANT=slow", "STACK=toolwire", f"SETTINGS={settings}").strip()
        assert ask(url, key)[0] == 200
        assert (ask(url, key, model="openai/gpt-4o", messages=[QUESTION])[0], shown) == (
            200,
            ["Bearer sk-of-the-operator"],
        )
        with account.environment("beside") as other:
            in_one_minute()
            answers = [ask(url, few)[0], ask(url, few)[0], ask(other, few)[0]]
        assert answers == [200, 200, 429], "rates are counted in the table"
        _, turn = ask(url, key, model="demo/gemini", tools=[TOOL], messages=[QUESTION])

    account.make("deploy", "PARAMS=StateTtlDays=7 StreamTimeoutSeconds=300")
    after = account.called("ChatCompletionsFunction")
    assert (after["Version"], after["Environment"]["Variables"]["STATE_TTL_DAYS"]) == ("2", "7")
    assert (chat()["timeoutInMillis"], int(after["Timeout"])) == (300_000, 300)
    assert stage() != first, "a changed parameter reaches the stage"
    with account.environment("second") as url:
        message = turn["choices"][0]["message"]
        results = [{"role": "tool", "tool_call_id": call["id"], "content": "12"} for call in message["tool_calls"]]
        history = {"model": "demo/gemini", "tools": [TOOL], "messages": [QUESTION, message, *results]}
        status, translated = ask(url, key, "/native/translate", door="chat_completions", body=history)
        assert (status, "thoughtSignature" in json.dumps(translated)) == (200, True)
        assert "skip_thought_signature_validator" not in json.dumps(translated), "state is in the table"

    account.make("key", "ACTION=revoke", "TENANT=slow", "STACK=toolwire")
    keys = account.outputs()["KeysTable"]
    told = account.make("destroy", typed="y\ny\n")
    assert tables() == [keys]
    assert f'make deploy PARAMS="KeysTableName={keys}"' in told
    assert boto3.client("lambda").list_functions()["Functions"] == []

    account.make("deploy", f"PARAMS=KeysTableName={keys}")
    with account.environment("third") as url:
        assert (ask(url, key)[0], ask(url, few)[0]) == (200, 401)
    account.make("destroy", "KEYS=delete", typed="y\ny\n")
    assert tables() == []


def test_after_a_first_deployment_that_failed(account: Account) -> None:
    """It leaves no table behind, the keys' neither, which would stand in no stack; and the next one is made as ever."""
    logs = boto3.client("logs")
    logs.create_log_group(logGroupName="/aws/lambda/toolwire-catalog")  # of somebody else
    assert "CatalogLogs" in account.make("deploy", fails=True)
    assert tables() == []
    told = account.make("deploy", fails=True)
    assert "CatalogLogs: " in told
    assert "make destroy STACK=toolwire" in told
    account.make("key", "TENANT=acme", "STACK=toolwire", fails=True)
    assert "leaves no keys behind" in account.make("destroy", typed="y\ny\n")

    logs.delete_log_group(logGroupName="/aws/lambda/toolwire-catalog")
    account.make("deploy")
    with account.environment("log") as url:
        assert ask(url, account.make("key", "TENANT=acme", "STACK=toolwire").strip())[0] == 200
