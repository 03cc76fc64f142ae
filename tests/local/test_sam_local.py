"""`sam local` by one command: the template that it is given, the function that it runs, and what it finds there."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from local.sam_local import for_local_runs, function_of, main, variables
from tests.gateway import ROOT
from tests.template.cloudformation import load
from toolwire.providers.hosts import HOSTS
from toolwire.shell.settings.configuration import load_settings

EVENTS = sorted(path.parent for path in (ROOT / "events").glob("*/event.json"))


@pytest.fixture
def template() -> dict[str, Any]:
    return load()


@pytest.mark.parametrize("folder", EVENTS, ids=lambda folder: folder.name)
def test_the_function_of_an_event_is_in_the_template(template: dict[str, Any], folder: Path) -> None:
    event = json.loads((folder / "event.json").read_text())
    function = template["Resources"][function_of(event)]
    assert (event["resource"], event["httpMethod"]) in {
        (it["Properties"]["Path"], it["Properties"]["Method"].upper())
        for it in function["Properties"]["Events"].values()
    }


@pytest.mark.parametrize("event", [{}, {"resource": "/nothing", "httpMethod": "GET"}, {"resource": "/models"}])
def test_an_event_that_no_function_answers(event: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="no function answers"):
        function_of(event)


def test_every_variable_of_a_provider_is_declared(template: dict[str, Any], tmp_path: Path) -> None:
    """The hosts' own and those that the configuration names, and nothing that the template sets changes."""
    document = tmp_path / "toolwire.toml"
    document.write_text('[providers.acme]\nwire = "gemini"\nbase_url = "https://a.example"\ncredential = "env:ACME"')
    before = dict(template["Globals"]["Function"]["Environment"]["Variables"])

    local = for_local_runs(template, variables({"TOOLWIRE_CONFIG": str(document)}))

    declared = local["Globals"]["Function"]["Environment"]["Variables"]
    assert before.items() <= declared.items()
    assert {declared[name] for name in declared.keys() - before.keys()} == {""}
    hosts = {name for host in HOSTS for name in (*host.credentials, host.base_url_variable) if name}
    assert hosts | {"ACME"} <= declared.keys()


def test_what_answers_any_method_is_not_in_the_way(template: dict[str, Any]) -> None:
    """`sam local start-api` would have it answer in the place of a path's own method."""
    local = for_local_runs(template, [])
    assert "any-method" not in json.dumps(local)
    assert set(local["Resources"]["GatewayApi"]["Properties"]["DefinitionBody"]["paths"]) == set(
        load()["Resources"]["GatewayApi"]["Properties"]["DefinitionBody"]["paths"]
    )


@pytest.mark.parametrize("env", [{}, {"OPENAI_API_KEY": "k"}])
def test_a_key_is_looked_for_in_the_environment_alone(env: dict[str, str]) -> None:
    """The template's prefix of secrets is set there too, and no such secret is."""
    settings = load_settings({"AWS_SAM_LOCAL": "true", "SECRET_PREFIX": "local/", **env})
    assert settings.providers["openai"].credential == "env:OPENAI_API_KEY"


def test_the_configuration_of_the_layer_is_not_the_shells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """SAM lets a variable of the shell win over the template's, and a path of this machine is none in the container."""
    (tmp_path / "template.yaml").write_text(json.dumps(load()))
    document = tmp_path / "toolwire.toml"
    document.write_text('[providers.acme]\nwire = "gemini"\nbase_url = "https://a.example"\ncredential = "env:ACME"')
    monkeypatch.setenv("TOOLWIRE_CONFIG", str(tmp_path / "another.toml"))
    show = "import os; print(os.environ.get('TOOLWIRE_CONFIG'), os.environ['ACME'])"
    monkeypatch.setenv("ACME", "k")

    assert main(["--build", str(tmp_path), "--config", str(document), "--", sys.executable, "-c", show]) == 0

    assert capfd.readouterr().out == "None k\n"
    local = json.loads((tmp_path / "local.json").read_text())
    assert local["Globals"]["Function"]["Environment"]["Variables"]["ACME"] == ""


def test_sam_is_given_the_function_and_the_event(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "template.yaml").write_text(json.dumps(load()))
    show = "import json, sys; print(json.dumps(sys.argv[1:])); sys.exit(7)"

    status = main(["--build", str(tmp_path), "--event", str(EVENTS[0]), "--", sys.executable, "-c", show, "invoke"])

    template, event = tmp_path / "local.json", EVENTS[0] / "event.json"
    function = function_of(json.loads(event.read_text()))
    assert status == 7
    assert json.loads(capfd.readouterr().out) == [
        "invoke",
        "--template",
        str(template),
        function,
        "--event",
        str(event),
    ]
    assert json.loads(template.read_text())["Resources"]


def test_an_event_that_is_not_there(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "template.yaml").write_text(json.dumps(load()))
    assert main(["--build", str(tmp_path), "--event", "events/nothing", "--", "false"]) == 2
    assert "events/nothing" in capfd.readouterr().err
