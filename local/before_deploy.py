"""Checks a stack before it is deployed, to report at once what would fail after minutes, or leave a gateway without its
configuration.

    python -m local.before_deploy --stack toolwire [--packed] [--params "Name=value ..."]

`--packed`: this build has a toolwire.toml. `--params`: the template parameters that the deployment sets, whose names
are looked at first. Exit status: 0, or 1 with what to do on standard error.
"""

from __future__ import annotations

import argparse
import difflib
import re
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from local.stack import PACKED_FILE, StackError, find_stack, first_failure

_TEMPLATE = Path(__file__).parents[1] / "template.yaml"

#: Parameters that `make deploy` sets itself.
_BUILT_FOR = {"Architecture": "ARCH=x86_64", "Runtime": "PYTHON=3.13"}

#: A first deployment that failed: CloudFormation updates no such stack, it must be deleted.
_NEVER_MADE = ("ROLLBACK_COMPLETE", "ROLLBACK_FAILED", "CREATE_FAILED", "DELETE_FAILED")


def main(argv: Sequence[str]) -> int:
    """Checks the stack. Returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m local.before_deploy", description="Looks at a stack.")
    parser.add_argument("--stack", required=True)
    parser.add_argument("--packed", action="store_true", help="this build has a toolwire.toml")
    parser.add_argument("--params", default="", help="template parameters that are set")
    arguments = parser.parse_args(argv)
    try:
        problem = _wrong_parameter(arguments.params) or _problem(arguments.stack, arguments.packed, arguments.params)
    except StackError as error:
        problem = str(error)
    if problem is not None:
        print(f"deploy: {problem}", file=sys.stderr)
    return 0 if problem is None else 1


def _wrong_parameter(params: str) -> str | None:
    """CloudFormation would refuse it after the build and its upload, or take what the build is not for."""
    known = re.findall(r"^  (\w+):$", _TEMPLATE.read_text().partition("\nParameters:\n")[2].partition("\n\n")[0], re.M)
    try:
        words = shlex.split(params)
    except ValueError as error:
        return f"PARAMS cannot be read: {str(error).lower()}"
    for word in words:
        name, equals, _ = word.partition("=")
        if name in _BUILT_FOR:
            return f"{name} follows from what the layer is built for: make deploy {_BUILT_FOR[name]}"
        if name not in known:
            like = difflib.get_close_matches(name, known, 1)
            return f"the template has no parameter {name!r}{f'; is it {like[0]}?' if like else ''}"
        if not equals:
            return f'PARAMS has {name} without a value: PARAMS="{name}=..."'
    return None


def _problem(name: str, packed: bool, params: str) -> str | None:
    """The problem with the stack; None if there is none. Raises StackError."""
    stack = find_stack(name)
    if stack is None:
        return None
    problem = _in_the_way(name, stack["StackStatus"])
    if problem is None and "ConfigSource=" not in params:
        problem = _lost_configuration(name, stack, packed)
    return problem


def _in_the_way(name: str, status: str) -> str | None:
    if status in _NEVER_MADE:
        why = first_failure(name)
        return (
            f"the stack {name!r} is left from a deployment that failed ({status}{f': {why}' if why else ''}). "
            f"Delete it, then deploy again:\n  make destroy STACK={name}"
        )
    if status == "UPDATE_ROLLBACK_FAILED":
        return (
            f"an upgrade of the stack {name!r} failed, and so did its way back ({status}). Finish that, then deploy:\n"
            f"  aws cloudformation continue-update-rollback --stack-name {name}"
        )
    if status.endswith("_IN_PROGRESS") and status != "REVIEW_IN_PROGRESS":
        return f"the stack {name!r} is being changed ({status}). Wait until that has ended."
    return None


def _lost_configuration(name: str, stack: dict[str, Any], packed: bool) -> str | None:
    source = {it["ParameterKey"]: it["ParameterValue"] for it in stack.get("Parameters", [])}.get("ConfigSource", "")
    if packed and source not in ("", PACKED_FILE):
        return (
            f"the stack {name!r} reads its configuration from {source}, and this folder's toolwire.toml would take its "
            f'place. Say which:\n  make deploy STACK={name} PARAMS="ConfigSource={source}"\n'
            f'  make deploy STACK={name} PARAMS="ConfigSource={PACKED_FILE}"'
        )
    if packed or source != PACKED_FILE:
        return None
    return (
        f"the stack {name!r} has a toolwire.toml in its layer, and this folder has none: the gateway would lose its "
        f"configuration. Fetch it, or deploy without one on purpose:\n  make config PULL=1 STACK={name}\n"
        f'  make deploy STACK={name} PARAMS="ConfigSource="'
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
