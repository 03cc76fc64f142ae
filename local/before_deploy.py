"""Looks at a stack before it is deployed, so that what would fail after minutes, or leave a gateway without its
configuration, is said at once.

    python -m local.before_deploy --stack toolwire [--packed] [--params "Name=value ..."]

`--packed`: this build has a toolwire.toml. `--params`: the template parameters that the deployment sets. Exit status:
0, or 1 with what to do on standard error.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from local.stack import PACKED_FILE, StackError, find_stack, first_failure

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
        stack = find_stack(arguments.stack)
        if stack is None:
            return 0
        problem = _in_the_way(arguments.stack, stack["StackStatus"])
        if problem is None and not arguments.packed and "ConfigSource=" not in arguments.params:
            problem = _lost_configuration(arguments.stack, stack)
    except StackError as error:
        problem = str(error)
    if problem is not None:
        print(f"deploy: {problem}", file=sys.stderr)
    return 0 if problem is None else 1


def _in_the_way(name: str, status: str) -> str | None:
    if status in _NEVER_MADE:
        why = first_failure(name)
        return (
            f"the stack {name!r} is left from a deployment that failed ({status}{f': {why}' if why else ''}). "
            f"Delete it, then deploy again:\n  make destroy STACK={name}"
        )
    if status.endswith("_IN_PROGRESS") and status != "REVIEW_IN_PROGRESS":
        return f"the stack {name!r} is being changed ({status}). Wait until that has ended."
    return None


def _lost_configuration(name: str, stack: dict[str, object]) -> str | None:
    parameters = stack.get("Parameters", [])
    assert isinstance(parameters, list)
    if not any(it["ParameterKey"] == "ConfigSource" and it["ParameterValue"] == PACKED_FILE for it in parameters):
        return None
    return (
        f"the stack {name!r} has a toolwire.toml in its layer, and this folder has none: the gateway would lose its "
        f"configuration. Fetch it, or deploy without one on purpose:\n  make config PULL=1 STACK={name}\n"
        f'  make deploy STACK={name} PARAMS="ConfigSource="'
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
