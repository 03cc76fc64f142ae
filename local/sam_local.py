"""Runs functions in Lambda's own image by `sam local`: `make invoke` and `make start-api`.

    python -m local.sam_local --build FOLDER [--config toolwire.toml] [--event events/<name>] -- sam local invoke

SAM's command stands behind `--`. It gets an adapted template, since SAM's local runs differ from AWS in two things:

- A variable of the shell reaches a function only where the template declares it. Providers' keys and addresses are
  declared there; in the template that is deployed they are not, since keys belong into the Secrets Manager.
- A path's own method goes before "any method". `sam local start-api` takes whichever comes last, so that what answers
  every other method is left out, with the preflights.

Exit status: SAM's, or 2.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml

from toolwire.model.settings import SettingsError
from toolwire.pages.paths import served
from toolwire.providers.hosts import HOSTS
from toolwire.shell.settings.configuration import load_settings

#: libyaml's loader if there is one, which takes a tenth of the time.
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def main(argv: Sequence[str]) -> int:
    """Writes the template and runs SAM. Returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m local.sam_local", description="Runs functions by sam local.")
    parser.add_argument("--build", required=True, type=Path, help="the folder that `sam build` has built into")
    parser.add_argument("--config", default="", help="the toolwire.toml that is in the layer")
    parser.add_argument("--event", type=Path, help="a folder with an event.json, or such a file")
    parser.add_argument("command", nargs="+", help="SAM's command")
    arguments = parser.parse_args(argv)
    try:
        template = yaml.load((arguments.build / "template.yaml").read_text(encoding="utf-8"), _LOADER)  # noqa: S506
        written = arguments.build / "local.json"
        # What the shell says of the configuration is a path on this machine, and SAM would let it win.
        env = {name: value for name, value in os.environ.items() if name != "TOOLWIRE_CONFIG"}
        names = variables(env | {"TOOLWIRE_CONFIG": arguments.config})
        written.write_text(json.dumps(for_local_runs(template, names)), encoding="utf-8")
        command = [*arguments.command, "--template", str(written)]
        if arguments.event:
            event = arguments.event / "event.json" if arguments.event.is_dir() else arguments.event
            command += [function_of(json.loads(event.read_text(encoding="utf-8"))), "--event", str(event)]
    except (OSError, ValueError, SettingsError) as error:
        print(f"sam local: {error}", file=sys.stderr)
        return 2
    with subprocess.Popen(command, env=env) as sam:  # noqa: S603 - the Makefile's own command
        while True:
            with suppress(KeyboardInterrupt):  # the terminal tells SAM too, which ends its containers first
                return sam.wait()


def variables(env: Mapping[str, str]) -> list[str]:
    """The names of the variables with providers' keys and addresses. Raises SettingsError."""
    own = {name for host in HOSTS for name in (*host.credentials, host.base_url_variable) if name}
    references = [provider.credential for provider in load_settings(env).providers.values()]
    named = {match[1] for it in references if (match := re.fullmatch(r"(?:[a-z]+:)?env:(.+)", it))}
    return sorted(own | named)


def for_local_runs(template: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """The built template with these variables declared, and without the routes for "any method"."""
    declared = template["Globals"]["Function"]["Environment"]["Variables"]
    declared |= {name: "" for name in names if name not in declared}
    for resource in template["Resources"].values():
        if resource["Type"] == "AWS::Serverless::Api":
            paths = resource["Properties"]["DefinitionBody"]["paths"]
            resource["Properties"]["DefinitionBody"]["paths"] = {path: {} for path in paths}
    return template


def function_of(event: Mapping[str, Any]) -> str:
    """The logical id of the function that answers a proxy event. Raises ValueError if none does."""
    folder = served().get(event.get("resource", ""), {}).get(event.get("httpMethod", ""))
    if folder is None:
        raise ValueError(f"no function answers {event.get('httpMethod')} {event.get('resource')}")
    return "".join(word.capitalize() for word in folder.split("_")) + "Function"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
