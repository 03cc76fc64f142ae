"""What is called is a version of each function behind an alias: kept starts, snapshots and gradual upgrades."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.template import cloudformation
from tests.template.cloudformation import ROOT

DOORS = {
    "ChatCompletions": "chat-completions",
    "Responses": "responses",
    "Messages": "messages",
    "Gemini": "gemini",
    "Native": "native",
    "Gateway": "function-url",
}
FUNCTIONS = [f"{name}Function" for name in (*DOORS, "Catalog")]
RELEASES = ("1795914055", "1795914056")
GRADUAL = "Canary10Percent5Minutes"


@pytest.fixture(scope="module")
def deployed() -> dict[str, Any]:
    return cloudformation.transform(Release=RELEASES[0])


def _of_type(template: dict[str, Any], kind: str) -> dict[str, dict[str, Any]]:
    return {name: found for name, found in template["Resources"].items() if found["Type"] == kind}


def test_every_function_is_called_by_its_alias(deployed: dict[str, Any]) -> None:
    """No method, permission or address leads to a function itself, which would be the version of nobody's choice."""
    aliases = _of_type(deployed, "AWS::Lambda::Alias")
    assert aliases.keys() == {f"{function}Aliaslive" for function in FUNCTIONS}
    paths = deployed["Resources"]["GatewayApi"]["Properties"]["Body"]["paths"]
    called = json.dumps(
        [paths, *_of_type(deployed, "AWS::Lambda::Permission").values(), deployed["Resources"]["GatewayUrl"]]
    )
    for function in FUNCTIONS:
        assert f"{function}Aliaslive" in called
        assert f'"Ref": "{function}"' not in called
        assert f"${{{function}.Arn}}/" not in called  # without the alias's name behind it
        assert f'["{function}", "Arn"]' not in called


def test_each_deployment_has_versions_of_its_own(deployed: dict[str, Any]) -> None:
    """SAM hashes names of parameters, not their values: without a number of its own, a deployment that changes a
    parameter would leave the alias where it is."""
    after = cloudformation.transform(Release=RELEASES[1], EnableDemo="0")
    versions = [_of_type(template, "AWS::Lambda::Version").keys() for template in (deployed, after)]
    for found, release in zip(versions, RELEASES, strict=True):
        assert found == {f"{function}Version{release}" for function in FUNCTIONS}
    for name, function in _of_type(after, "AWS::Lambda::Function").items():
        # Lambda makes no version of a function that has not changed.
        assert function["Properties"]["Description"].endswith(f" {RELEASES[1]}"), name
    assert "Release=$$(date +%s)" in (ROOT / "Makefile").read_text()


def test_starts_are_kept_for_the_doors_that_are_named(deployed: dict[str, Any]) -> None:
    conditions = deployed["Conditions"]
    for name, door in DOORS.items():
        alias = deployed["Resources"][f"{name}FunctionAliaslive"]["Properties"]
        kept = {"ProvisionedConcurrentExecutions": {"Ref": "ProvisionedConcurrency"}}
        assert alias["ProvisionedConcurrencyConfig"] == {"Fn::If": [f"Provisions{name}", kept, {"Ref": "AWS::NoValue"}]}
        there, named = conditions[f"Provisions{name}"]["Fn::And"]
        assert there == {"Condition": "HasProvisioned"}
        assert named == {"Fn::Or": [{"Fn::Equals": [{"Ref": "ProvisionedDoor"}, it]} for it in ("all", door)]}
    assert "ProvisionedConcurrencyConfig" not in deployed["Resources"]["CatalogFunctionAliaslive"]["Properties"]
    allowed = deployed["Parameters"]["ProvisionedDoor"]["AllowedValues"]
    assert allowed == ["all", *DOORS.values()]


def test_snapshots_are_of_versions(deployed: dict[str, Any]) -> None:
    for function in _of_type(deployed, "AWS::Lambda::Function").values():
        assert function["Properties"]["SnapStart"] == {
            "ApplyOn": {"Fn::If": ["HasSnapStart", "PublishedVersions", "None"]}
        }


def test_an_upgrade_at_once_needs_no_codedeploy(deployed: dict[str, Any]) -> None:
    assert not [found for found in deployed["Resources"].values() if "CodeDeploy" in json.dumps(found)]
    assert deployed["Parameters"]["TrafficShift"]["Default"] == "AllAtOnce"


@pytest.mark.parametrize(
    "shift",
    [
        pytest.param(it, marks=() if it == GRADUAL else pytest.mark.integration)
        for it in cloudformation.load()["Parameters"]["TrafficShift"]["AllowedValues"]
        if it != "AllAtOnce"
    ],
)
def test_a_gradual_upgrade_is_taken_back_by_an_alarm(shift: str) -> None:
    template = cloudformation.transform(Release=RELEASES[0], TrafficShift=shift)
    groups = _of_type(template, "AWS::CodeDeploy::DeploymentGroup")
    assert groups.keys() == {f"{function}DeploymentGroup" for function in FUNCTIONS}
    for name, group in groups.items():
        condition, alarms, none = group["Properties"]["AlarmConfiguration"]["Fn::If"]
        assert (condition, none) == ("HasAlarms", {})
        assert alarms["Enabled"] is True
        assert [it["Name"]["Ref"] for it in alarms["Alarms"]] == ["BugAlarm", "ServerErrorAlarm", "FunctionAlarm"]
        assert "DEPLOYMENT_STOP_ON_ALARM" in group["Properties"]["AutoRollbackConfiguration"]["Events"]
        assert group["Properties"]["DeploymentConfigName"]["Fn::Sub"][1] == {"ConfigName": shift}
        assert group.get("Condition") == template["Resources"][name.removesuffix("DeploymentGroup")].get("Condition")
    for alias in _of_type(template, "AWS::Lambda::Alias").values():
        assert "CodeDeployLambdaAliasUpdate" in alias["UpdatePolicy"]


#: What the transform makes other resources of.
LINTED: list[dict[str, str]] = [{}, {"TrafficShift": GRADUAL, "FunctionUrl": "NONE"}]


@pytest.mark.integration
def test_cfn_lint_finds_no_fault_in_what_the_transform_makes(tmp_path: Path) -> None:
    """cfn-lint itself tries both outcomes of each condition."""
    paths = []
    for number, values in enumerate(LINTED):
        template = cloudformation.transform(Release=RELEASES[0], **values)
        paths.append(tmp_path / f"{number}.json")
        paths[-1].write_text(json.dumps(template))
    # SAM has used up the parameters and the mapping that nothing names any more.
    command = [".venv-sam/bin/cfn-lint", "-r", "eu-central-1", "-i", "W2001", "-i", "W7001", "--", *map(str, paths)]
    done = subprocess.run(command, cwd=ROOT, env=os.environ, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


#: Prints, as JSON, which function `sam local start-api` asks for each method and path.
ROUTES = """
import json
from samcli.lib.providers.api_provider import ApiProvider
from samcli.lib.providers.sam_stack_provider import SamLocalStackProvider
stacks, _ = SamLocalStackProvider.get_stacks("template.yaml", parameter_overrides={})
print(json.dumps([[route.path, route.function_name] for route in ApiProvider(stacks).api.routes]))
"""


@pytest.mark.integration
def test_sam_local_finds_the_function_of_every_path(deployed: dict[str, Any]) -> None:
    """Also of the methods and paths that are written by hand, behind the alias."""
    environment = {**os.environ, "AWS_DEFAULT_REGION": "eu-central-1"}
    command = [".venv-sam/bin/python", "-c", ROUTES]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found: dict[str, set[str]] = {}
    for path, function in json.loads(done.stdout.splitlines()[-1]):
        found.setdefault(path, set()).add(function)
    paths = deployed["Resources"]["GatewayApi"]["Properties"]["Body"]["paths"]
    served = {path.replace("{path+}", "{proxy+}"): methods for path, methods in paths.items()}
    assert len(found) == len(served)
    assert all("CatalogFunction" in functions for functions in found.values())
