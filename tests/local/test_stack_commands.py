"""The commands around a deployment: what is looked at before it, what is fetched from it, how it is deleted."""

from __future__ import annotations

import io
import subprocess
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from local.before_deploy import main as before_deploy
from local.deployed_config import main as deployed_config
from local.destroy import main as destroy
from tests.gateway import ROOT
from tests.local.fake_stack import FakeCloudFormation, fake_stack
from toolwire.shell.network import aws
from toolwire.shell.network.aws_boto3 import Boto3Client

PACKED = {"ConfigSource": "/opt/toolwire.toml"}
DOCUMENT = '[aliases]\nfast = "openai/gpt-5.6"\n'


@pytest.fixture
def stack() -> Iterator[FakeCloudFormation]:
    with fake_stack() as deployed:
        yield deployed


# ---------------------------------------------------------------- before


@pytest.mark.integration
@pytest.mark.parametrize(
    ("status", "parameters", "arguments", "told"),
    [
        ("CREATE_COMPLETE", {}, (), None),
        ("UPDATE_ROLLBACK_COMPLETE", {}, (), None),  # the last good one serves, and can be updated
        ("REVIEW_IN_PROGRESS", {}, (), None),  # a change set that nobody has carried out
        ("ROLLBACK_COMPLETE", {}, (), "make destroy STACK=toolwire"),
        ("ROLLBACK_COMPLETE", {}, (), "CustomDomain: The certificate is in another region"),
        ("DELETE_FAILED", {}, (), "make destroy STACK=toolwire"),
        ("UPDATE_ROLLBACK_FAILED", {}, (), "aws cloudformation continue-update-rollback --stack-name toolwire"),
        ("UPDATE_IN_PROGRESS", {}, (), "Wait"),
        ("CREATE_COMPLETE", PACKED, (), "make config PULL=1 STACK=toolwire"),
        ("CREATE_COMPLETE", PACKED, ("--packed",), None),
        ("CREATE_COMPLETE", PACKED, ("--params", "LogLevel=DEBUG ConfigSource="), None),
        ("CREATE_COMPLETE", {"ConfigSource": "ssm:/toolwire"}, (), None),
        ("CREATE_COMPLETE", {"ConfigSource": "ssm:/x"}, ("--packed",), 'STACK=toolwire PARAMS="ConfigSource=ssm:/x"'),
        ("CREATE_COMPLETE", {"ConfigSource": "ssm:/x"}, ("--packed", "--params", "ConfigSource=ssm:/x"), None),
    ],
)
def test_before_a_deployment(
    stack: FakeCloudFormation,
    status: str,
    parameters: dict[str, str],
    arguments: tuple[str, ...],
    told: str | None,
    capsys: pytest.CaptureFixture[str],
) -> None:
    stack.status = status
    stack.parameters |= parameters
    stack.events = [  # the newest first
        {"LogicalResourceId": "toolwire", "ResourceStatus": "ROLLBACK_COMPLETE"},
        {"LogicalResourceId": "ToolCallTable", "ResourceStatus": "CREATE_FAILED", "ResourceStatusReason": "cancelled"},
        {
            "LogicalResourceId": "CustomDomain",
            "ResourceStatus": "CREATE_FAILED",
            "ResourceStatusReason": "The certificate is in another region",
        },
    ]

    assert before_deploy(["--stack", "toolwire", *arguments]) == (0 if told is None else 1)

    assert (told or "") in capsys.readouterr().err


@pytest.mark.integration
@pytest.mark.usefixtures("stack")
def test_a_first_deployment_has_nothing_in_its_way() -> None:
    assert before_deploy(["--stack", "another"]) == 0


@pytest.mark.parametrize(
    ("params", "told"),
    [
        ("LogRetention=30", "the template has no parameter 'LogRetention'; is it LogRetentionDays?"),
        ("LogLevel=DEBUG Nonsense=1", "the template has no parameter 'Nonsense'"),
        ("LogLevel", 'PARAMS="LogLevel=..."'),
        ("Architecture=x86_64", "make deploy ARCH=x86_64"),
        ("Runtime=python3.12", "make deploy PYTHON=3.13"),
        ("CorsOrigin='*", "PARAMS cannot be read: no closing quotation"),
    ],
)
def test_a_parameter_that_cannot_be_meant_is_told_before_aws_is_asked(
    params: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert before_deploy(["--stack", "toolwire", "--params", params]) == 1
    assert told in capsys.readouterr().err


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ("ARCH=arm", "arm64 and x86_64"),
        ("ARCH=amd64", "arm64 and x86_64"),
        ("PYTHON=python3.13", "3.11, 3.12, 3.13 and 3.14"),
        ("PYTHON=3.99", "3.11, 3.12, 3.13 and 3.14"),
    ],
)
@pytest.mark.parametrize("target", ["build", "deploy"])
def test_nothing_is_built_for_what_lambda_has_not(target: str, setting: str, told: str) -> None:
    """Before the environment is made, which takes minutes."""
    made = ("-o", ".venv/run.stamp", "-o", ".venv-sam/stamp", "-o", "deployable")
    done = subprocess.run(
        ["make", "--no-print-directory", *made, target, setting], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith(f"{setting}: ")
    assert told in done.stderr


# ---------------------------------------------------------------- the configuration


class FakeLambda:
    """The catalog's function with two layers; the second has `files`."""

    def __init__(self, address: str) -> None:
        self.address = address

    def get_function_configuration(self, FunctionName: str) -> dict[str, Any]:  # noqa: N803 - AWS's name
        assert FunctionName == "toolwire-Catalog-1"
        return {"Layers": [{"Arn": "first"}, {"Arn": "second"}]}

    def get_layer_version_by_arn(self, Arn: str) -> dict[str, Any]:  # noqa: N803 - AWS's name
        return {"Content": {"Location": f"{self.address}/{Arn}"}}


@pytest.fixture
def layers(stack: FakeCloudFormation) -> Iterator[dict[str, bytes]]:
    """The archives of the function's layers, served as Lambda does: by address -> bytes."""
    archives = {"/first": _archive({"python/x.py": "x = 1"}), "/second": _archive({"bootstrap": "#!/bin/sh"})}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = archives.get(self.path, b"")
            self.send_response(200 if body else 403)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None: ...

    stack.parameters |= PACKED
    stack.resources["CatalogFunction"] = "toolwire-Catalog-1"
    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        aws.use("lambda", Boto3Client(FakeLambda(f"http://127.0.0.1:{server.server_port}")))
        yield archives
        server.shutdown()


def _archive(files: dict[str, str]) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return written.getvalue()


@pytest.mark.integration
@pytest.mark.enable_socket
def test_a_packed_configuration_is_fetched_once(
    layers: dict[str, bytes], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    layers["/second"] = _archive({"bootstrap": "#!/bin/sh", "toolwire.toml": DOCUMENT})
    file = tmp_path / "toolwire.toml"

    assert deployed_config(["--stack", "toolwire"]) == 0
    assert capsys.readouterr().out == DOCUMENT
    assert deployed_config(["--stack", "toolwire", "--to", str(file)]) == 0
    assert file.read_text() == DOCUMENT
    file.write_text("mine")
    assert deployed_config(["--stack", "toolwire", "--to", str(file)]) == 1
    assert file.read_text() == "mine"
    assert "is there already" in capsys.readouterr().err


@pytest.mark.integration
@pytest.mark.enable_socket
@pytest.mark.parametrize(
    ("second", "told"), [(_archive({"bootstrap": ""}), "has no toolwire.toml"), (b"", "could not be fetched")]
)
def test_a_configuration_that_is_not_there(
    layers: dict[str, bytes], second: bytes, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    layers["/second"] = second
    assert deployed_config(["--stack", "toolwire"]) == 1
    assert told in capsys.readouterr().err


@pytest.mark.integration
@pytest.mark.parametrize(
    ("source", "status", "told"), [("ssm:/toolwire/config", 0, DOCUMENT), ("", 1, "runs without a document")]
)
def test_a_configuration_elsewhere(
    stack: FakeCloudFormation, source: str, status: int, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    stack.parameters["ConfigSource"] = source
    aws.call("ssm", "put_parameter", Name="/toolwire/config", Value=DOCUMENT, Type="SecureString")

    assert deployed_config(["--stack", "toolwire"]) == status
    assert told in "".join(capsys.readouterr())


# ---------------------------------------------------------------- after


@pytest.mark.integration
def test_keys_that_cannot_be_deleted_are_told_before_the_stack_is(
    stack: FakeCloudFormation, capsys: pytest.CaptureFixture[str]
) -> None:
    stack.parameters["ProtectKeysTable"] = "1"

    assert destroy(["--stack", "toolwire", "--delete-keys", "--", "false"]) == 1

    told = capsys.readouterr().err
    assert "protected" in told
    assert 'make deploy STACK=toolwire PARAMS="ProtectKeysTable=0"' in told
    assert "still there" not in told  # nothing was run


@pytest.mark.integration
def test_a_stack_that_was_never_made_is_deleted(
    stack: FakeCloudFormation, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(_: list[str], **__: object) -> object:
        stack.deleted = True
        return type("Done", (), {"returncode": 0})

    stack.status, stack.outputs = "ROLLBACK_COMPLETE", {}
    monkeypatch.setattr("local.destroy.subprocess.run", run)

    assert destroy(["--stack", "toolwire", "--", "sam", "delete"]) == 0
    assert "leaves no keys behind" in capsys.readouterr().out
